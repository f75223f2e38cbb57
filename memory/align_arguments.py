"""--align-arguments: the alignment of the buffers that a device's kernels get."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import gcd

from ..dialects import arith, func, gpu, memref, packed
from ..dialects.marks import ARENA, ENTRY
from ..ir.attributes import ArrayAttr, DictAttr, I64Attr
from ..ir.core import BlockArgument, Operation, Value
from ..ir.passes import Pass, PassContext
from ..ir.types import MemRefType

WIDEST = 16
"""The most bytes that a thread accesses at once; the device's memory has a larger alignment."""
ALIGN = "llvm.align"


@dataclass(frozen=True)
class AlignArguments(Pass, name="align-arguments", anchor="builtin.module"):
    """Mark each kernel's buffers with the alignment, in bytes, that they have in every launch.

        gpu.func @f(%a: memref<64xf32, #gpu.address_space<global>>) kernel
            ->
        gpu.func @f(%a: memref<64xf32, #gpu.address_space<global>> {llvm.align = 16 : i64}) kernel

    It follows the places in the arena that `--plan-memory` has chosen, views, and the arguments
    that callers of private functions pass. Only alignments of more than an element are written.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        _Alignments(op).write()


class _Alignments:
    """The known alignments of the buffers of one module."""

    def __init__(self, module: Operation) -> None:
        self.module = module
        self.calls: dict[str, list[func.Call]] = defaultdict(list)
        self.launches: dict[str, list[gpu.LaunchFunc]] = defaultdict(list)
        self.known: dict[Value, int] = {}
        for op in module.walk():
            if isinstance(op, func.Call):
                self.calls[op.callee].append(op)
            elif isinstance(op, gpu.LaunchFunc):
                self.launches[op.kernel.nested[-1]].append(op)

    def write(self) -> None:
        """Set the alignment attributes of the kernels' arguments."""
        for kernel in self.module.walk():
            if not isinstance(kernel, gpu.GPUFuncOp) or kernel.sym_name not in self.launches:
                continue
            entries = [dict(one.items()) for one in kernel.arg_attrs or ()]
            entries = entries or [{} for _ in kernel.args]
            for i, arg in enumerate(kernel.args):
                if not isinstance(arg.type, MemRefType):
                    continue
                given = (one.kernelOperands[i] for one in self.launches[kernel.sym_name])
                bytes = min(map(self.of, given))
                if bytes > arg.type.element_type.byte_width:
                    entries[i][ALIGN] = I64Attr(bytes)
            if any(entries):
                kernel.arg_attrs = ArrayAttr(tuple(DictAttr(tuple(e.items())) for e in entries))

    def of(self, value: Value) -> int:
        """The alignment in bytes of a buffer's first element: a power of two up to `WIDEST`."""
        if value not in self.known:
            self.known[value] = WIDEST  # of a function that calls itself: what others pass decides
            self.known[value] = self._found(value)
        return self.known[value]

    def _found(self, value: Value) -> int:
        type = value.type
        assert isinstance(type, MemRefType)
        width: int = type.element_type.byte_width
        if isinstance(value, BlockArgument):
            return self._of_argument(value, width)
        match value.defining_op:
            case memref.Alloc() | gpu.Alloc():
                return WIDEST
            case memref.MemorySpaceCast() as cast if type.memory_space is gpu.GLOBAL:
                # A constant's copy has a block of its own.
                return WIDEST if cast.source.type.memory_space is None else self.of(cast.source)
            case memref.View() as view:
                shift = view.byte_shift.defined_by(arith.Constant)
                known = getattr(shift.value, "value", 1) if shift is not None else 1
                return gcd(self.of(view.source), known)
            case (
                memref.Cast()
                | memref.ExpandShape()
                | memref.CollapseShape()
                | packed.HalfWords() as op
            ):
                return self.of(op._operands[0])
            case memref.ReinterpretCast() as op if memref.begins_alike(op):
                return self.of(op.source)
        return min(width, WIDEST)

    def _of_argument(self, value: BlockArgument, width: int) -> int:
        block = value.owner
        function = block.parent_op
        if not isinstance(function, func.FuncOp) or block is not function.body.blocks[0]:
            return min(width, WIDEST)
        i = block.args.index(value)
        if ENTRY in function.attributes:
            return WIDEST if function.arg_attribute(i, ARENA) is not None else min(width, WIDEST)
        calls = self.calls[function.sym_name]
        if function.sym_visibility != "private" or not calls:
            return min(width, WIDEST)
        return min(self.of(call._operands[i]) for call in calls)

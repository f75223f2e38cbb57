"""--place-buffers: the buffers of a device's kernels are put into the device's memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..dialects import arith, func, gpu, memref, scf
from ..dialects.marks import DEVICE, ENTRY, INPUT_NAMES, INPUTS, KERNEL, ON_HOST
from ..ir.attributes import ArrayAttr
from ..ir.builder import Builder
from ..ir.core import Block, BlockArgument, IRMapping, Operation, Value
from ..ir.passes import Pass, PassContext
from ..ir.traits import is_erasable
from ..ir.types import FunctionType, MemRefType
from ..ir.value_classes import ValueClasses
from .device_note import device_note

_STRUCTURE = (scf.If, scf.For, scf.While, scf.IndexSwitch, scf.ExecuteRegion)
_NO_ACCESS = (
    memref.Dim,
    memref.Rank,
    memref.Alloc,
    memref.Alloca,
    memref.Dealloc,
    gpu.LaunchFunc,
    gpu.Memcpy,
)
"""Operations of the host that use buffers but do not access their elements."""


@dataclass(frozen=True)
class PlaceBuffers(
    Pass,
    name="place-buffers",
    anchor="builtin.module",
    statistics={
        "buffers": "Number of buffers in the device's memory",
        "copies": "Number of copies between the host's memory and the device's",
    },
):
    """Put buffers that launches use into the device's memory, and insert the copies that this
    takes.

        func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {nn.entry} {
          call @relu(%x, %y)
            ->
          %0 = memref.alloc() : memref<4xf32, #gpu.address_space<global>>
          gpu.memcpy %0, %x
          %1 = memref.alloc() : memref<4xf32, #gpu.address_space<global>>
          call @relu(%0, %1)
          gpu.memcpy %y, %1

    A buffer that reaches a launch, in any function, is the device's; constants become the device's
    by `memref.memory_space_cast`. If the host, or a kernel that runs there, accesses such a buffer,
    it works on a copy, which is copied back if the kernel may have written to it.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        placing = _Placing(op)
        placing.place()
        if any(isinstance(one, gpu.LaunchFunc) or ON_HOST in one.attributes for one in op.walk()):
            op.attributes[DEVICE] = device_note(op)
        context.statistic("buffers", placing.buffers)
        context.statistic("copies", placing.copies)


@dataclass
class _Placing:
    """Places the buffers of one module in memory spaces."""

    module: Operation
    buffers: int = 0
    copies: int = 0
    classes: ValueClasses = field(default_factory=ValueClasses)
    old_types: dict[Value, MemRefType] = field(default_factory=dict)

    def place(self) -> None:
        """Move the buffers that kernels use to the device's memory, and insert copies for the host.

        With a buffer move all that are, or may be, the same memory.
        """
        every = [f for f in self.module.body_block if isinstance(f, func.FuncOp)]
        self.functions = {f.sym_name: f for f in every if not f.is_declaration}
        launching = {
            name
            for name, f in self.functions.items()
            if any(isinstance(op, gpu.LaunchFunc) for op in f.walk())
        }
        self.looked_into = {
            name: f
            for name, f in self.functions.items()
            if KERNEL not in f.attributes or name in launching
        }
        for function in self.looked_into.values():
            self._join(function)
        chosen = self.classes.marked()
        if not chosen:
            return
        roots = [v for v in chosen if _is_root(v)]
        entry_arguments = [
            v for v in roots if isinstance(v, BlockArgument) and self._is_of_entry(v)
        ]
        constants = [v for v in roots if v.defined_by(memref.GetGlobal) is not None]
        returned = [v for v in chosen if self._is_made_by_host(v)]
        for value in chosen:
            self.old_types[value] = value.type
            value.type = _on_device(value.type)
        self.buffers = len(roots)
        for value in constants:
            self._cast(value)
        for value in returned:
            self._take_over(value)
        for function in self.looked_into.values():
            self._retype(function)
            self._copy_for_host(function)
        for value in entry_arguments:
            self._stand_in(value)
        self._retype_kernels()

    def _is_of_entry(self, value: Value) -> bool:
        owner = value.owner.parent_op if isinstance(value, BlockArgument) else None
        return isinstance(owner, func.FuncOp) and ENTRY in owner.attributes

    # -- what belongs together -----------------------------------------------------------------

    def _join(self, function: func.FuncOp) -> None:
        for op in function.walk():
            for values in self._alike(op):
                self.classes.join([v for v in values if isinstance(v.type, MemRefType)])
            if isinstance(op, gpu.LaunchFunc):
                for value in op.kernelOperands:
                    if isinstance(value.type, MemRefType):
                        self.classes.mark(value)

    def _alike(self, op: Operation) -> Iterator[Sequence[Value]]:
        """Groups of values that are, or may be, the same buffer."""
        if op.has_trait(memref.ViewLike):
            yield from zip(op.results, op.operands, strict=False)
        match op:
            case arith.Select():
                yield [op.results[0], *op.operands[1:]]
            case scf.For():
                ends = _end(op.body.blocks[0]).operands
                yield from zip(op.inits, op.iter_args, ends, op.results, strict=True)
            case scf.While():
                before, after = op.before.blocks[0], op.after.blocks[0]
                yield from zip(op.inits, before.args, _end(after).operands, strict=True)
                yield from zip(_end(before).operands[1:], after.args, op.results, strict=True)
            case scf.If() | scf.IndexSwitch() | scf.ExecuteRegion():
                ends = [_end(r.blocks[0]).operands for r in op.regions if r.blocks]
                yield from zip(op.results, *ends, strict=True)
            case func.Call() if op.callee in self.looked_into:
                callee = self.looked_into[op.callee]
                yield from zip(op.args, callee.args, strict=True)
                yield from zip(op.results, _returned(callee), strict=True)

    # -- types ---------------------------------------------------------------------------------

    def _cast(self, value: Value) -> None:
        """Insert a cast of a constant for the device; the constant itself stays in the host's
        memory.
        """
        value.type = self.old_types[value]
        made = Builder.after_op(value.defining_op).insert(  # type: ignore[arg-type]
            memref.MemorySpaceCast(value, dest=_on_device(value.type))
        )
        made.dest.name_hint = value.name_hint
        for user, number in list(value.uses):
            if user is not made and not self._is_of_host(user):
                user.set_operand(number, made.dest)

    def _is_made_by_host(self, value: Value) -> bool:
        """Whether a function that stays on the host returns the buffer."""
        call = value.defined_by(func.Call)
        return call is not None and call.callee not in self.looked_into

    def _take_over(self, value: Value) -> None:
        """Replace a buffer that the host has made by a copy in the device's memory."""
        value.type = self.old_types[value]
        builder = Builder.after_op(value.defining_op)  # type: ignore[arg-type]
        made = _new_like(value, builder, gpu.GLOBAL)
        copy = builder.insert(gpu.Memcpy([], made, value))
        for user, number in list(value.uses):
            if user is not copy and not isinstance(user, memref.Dim):
                user.set_operand(number, made)
        if any(isinstance(user, memref.Dealloc) for user in made.users):
            builder.insert(memref.Dealloc(value))
        self.copies += 1

    def _retype(self, function: func.FuncOp) -> None:
        """Set the types of a function's arguments and results, and replace its allocations."""
        if ENTRY not in function.attributes:
            results = tuple(v.type for v in _returned(function))
            inputs = tuple(v.type for v in function.args)
            function.function_type = FunctionType(inputs, results)
        for op in list(function.walk()):
            if isinstance(op, memref.Alloca) and op.memref.type.memory_space is gpu.GLOBAL:
                made = Builder.before_op(op).insert(
                    memref.Alloc(list(op.dynamicSizes), alignment=64, memref=op.memref.type)
                )
                Builder.before_op(_end(made.parent)).insert(memref.Dealloc(made.memref))
                op.replace_with(made.memref)

    def _retype_kernels(self) -> None:
        """Set the types of kernels' arguments and of their views."""
        for kernel in [k for k in self.module.walk() if isinstance(k, gpu.GPUFuncOp)]:
            for argument in kernel.args:
                if isinstance(argument.type, MemRefType):
                    gpu.set_space(argument, gpu.GLOBAL)
            inputs = tuple(v.type for v in kernel.args)
            kernel.function_type = FunctionType(inputs, kernel.function_type.results)

    # -- copies --------------------------------------------------------------------------------

    def _is_of_host(self, op: Operation) -> bool:
        """Whether an operation runs on the host and accesses elements."""
        if isinstance(op, func.Call):
            return op.callee not in self.looked_into
        is_structure = isinstance(op, (*_STRUCTURE, *_NO_ACCESS, arith.Select, scf.Yield))
        is_end = isinstance(op, scf.Condition | func.Return)
        return not (is_structure or is_end or op.has_trait(memref.ViewLike))

    def _copy_for_host(self, function: func.FuncOp) -> None:
        """Give the host copies of the device's buffers whose elements it accesses."""
        for op in list(function.walk()):
            if isinstance(op, func.Return):
                if ENTRY in function.attributes:
                    self._return_copies(function, op)
                continue
            used = [v for v in op.operands if _is_on_device(v)]
            if not used or not self._is_of_host(op):
                continue
            if op.results and not op.has_used_results and is_erasable(op):
                op.erase()
                continue
            if isinstance(op, memref.Copy) and self._copied(op):
                continue
            self._lend(op, used)

    def _copied(self, op: memref.Copy) -> bool:
        """Replace a copy from or to the device by one gpu.memcpy; False if a buffer is not
        contiguous.
        """
        if not all(_is_dense(v.type) for v in (op.source, op.target)):
            return False
        Builder.before_op(op).insert(gpu.Memcpy([], op.target, op.source))
        self.copies += 1
        op.erase()
        return True

    def _lend(self, op: Operation, used: Sequence[Value]) -> None:
        """Let an operation of the host work on copies of the device's buffers that it uses."""
        before, after = Builder.before_op(op), Builder.after_op(op)
        copies: dict[Value, Value] = {}
        mapping = IRMapping()
        for value in dict.fromkeys(used):
            base = memref.base_buffer(value)
            if base not in copies:
                copies[base] = _new_like(base, before, None)
                before.insert(gpu.Memcpy([], copies[base], base))
                mapping[base] = copies[base]
            _view_again(value, before, mapping)
        for number, value in enumerate(op.operands):
            if value in mapping.values:
                op.set_operand(number, mapping[value])
        for base, made in copies.items():
            if not isinstance(op, memref.Load):
                after.insert(gpu.Memcpy([], base, made))
                self.copies += 1
            after.insert(memref.Dealloc(made))
            self.copies += 1

    def _stand_in(self, argument: BlockArgument) -> None:
        """Replace an argument of the entry by a buffer of the device.

        Inputs are copied to the device at the start, outputs to the argument at the end.
        """
        function = argument.owner.parent_op
        assert isinstance(function, func.FuncOp)
        argument.type = self.old_types[argument]
        block = function.body.blocks[0]
        first = Builder.at_start(block)
        made = _new_like(argument, first, gpu.GLOBAL)
        for user, number in list(argument.uses):
            if not isinstance(user, memref.Dim):
                user.set_operand(number, made)
        given = function.attributes.get(INPUTS, function.attributes.get(INPUT_NAMES))
        if isinstance(given, ArrayAttr) and argument.index < len(given):
            first.insert(gpu.Memcpy([], made, argument))
        else:
            Builder.before_op(_end(block)).insert(gpu.Memcpy([], argument, made))
        Builder.before_op(_end(block)).insert(memref.Dealloc(made))
        self.copies += 1

    def _return_copies(self, function: func.FuncOp, op: func.Return) -> None:
        """Return copies, in the host's memory, of results that are on the device."""
        builder = Builder.before_op(op)
        for number, value in enumerate(op.operands):
            if _is_on_device(value):
                made = _new_like(value, builder, None)
                builder.insert(gpu.Memcpy([], made, value))
                base = memref.base_buffer(value)
                if base.defined_by(memref.Alloc) is not None and base.parent_block is op.parent:
                    builder.insert(memref.Dealloc(base))
                op.set_operand(number, made)
                self.copies += 1


# -- buffers -------------------------------------------------------------------------------------


def _end(block: Block | None) -> Operation:
    """The terminator of a block, which all blocks here have."""
    found = block.terminator if block is not None else None
    assert found is not None
    return found


def _is_on_device(value: Value) -> bool:
    return isinstance(value.type, MemRefType) and value.type.memory_space is gpu.GLOBAL


def _is_root(value: Value) -> bool:
    """Whether a value is a buffer itself, not a view and not carried by a loop."""
    if isinstance(value, BlockArgument):
        return isinstance(value.owner.parent_op, func.FuncOp)
    return isinstance(value.defining_op, memref.Alloc | memref.Alloca | memref.GetGlobal)


def _on_device(type: MemRefType) -> MemRefType:
    return MemRefType(type.shape, type.element_type, type.layout, gpu.GLOBAL)


def _is_dense(type: MemRefType) -> bool:
    return type.layout is None


def _new_like(value: Value, builder: Builder, space: object) -> Value:
    """A new contiguous buffer with a value's shape in the memory space."""
    type = value.type
    sizes = []
    for i, extent in enumerate(type.shape):
        if extent is None:
            at = builder.insert(arith.Constant.index(i)).result
            sizes.append(builder.insert(memref.Dim(value, at)).result)
    made = MemRefType(type.shape, type.element_type, None, space)  # type: ignore[arg-type]
    buffer = builder.insert(memref.Alloc(sizes, alignment=64, memref=made)).memref
    buffer.name_hint = value.name_hint
    return buffer


def _view_again(value: Value, builder: Builder, mapping: IRMapping) -> None:
    """Make `value`, a view of a buffer, again as a view of the buffer's copy."""
    if value in mapping.values:
        return
    op = value.defining_op
    assert op is not None
    _view_again(op.operands[op.results.index(value)], builder, mapping)
    made = builder.insert(op.clone(mapping))
    for old, new in zip(op.results, made.results, strict=True):
        if isinstance(new.type, MemRefType):
            new.type = MemRefType(new.type.shape, new.type.element_type, new.type.layout, None)
        mapping[old] = new


def _returned(function: func.FuncOp) -> Sequence[Value]:
    """The operands of a function's return."""
    return _end(function.body.blocks[0]).operands

"""--call-device: launches and copies become calls of the device's runtime on the host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dialects import arith, func, gpu, memref
from ..dialects.marks import ARENA, ENTRY
from ..dialects.memref.layouts import open_parts
from ..ir.attributes import ArrayAttr
from ..ir.builder import Builder
from ..ir.core import Operation, Value
from ..ir.passes import Pass, PassContext
from ..ir.traits import is_pure
from ..ir.types import FloatType, FunctionType, IndexType, IntegerType, MemRefType, Type, i32, i64
from ..runtime.abi import (
    DEVICE_ARENA,
    DEVICE_CONSTANT,
    DEVICE_COPY,
    DEVICE_GIVE,
    DEVICE_LAUNCH,
    DEVICE_TAKE,
)

_INDEX = IndexType()
_BYTES = MemRefType((1,), IntegerType(8), None, gpu.GLOBAL)
_SIGNATURES: dict[str, tuple[tuple[Type, ...], tuple[Type, ...]]] = {
    DEVICE_ARENA: ((_INDEX,), (_BYTES,)),
    DEVICE_CONSTANT: ((_INDEX, _INDEX), (_BYTES,)),
    DEVICE_TAKE: ((_INDEX,), (_BYTES,)),
    DEVICE_GIVE: ((_INDEX,), ()),
    DEVICE_COPY: ((_INDEX, _INDEX, _INDEX, i32), ()),
    DEVICE_LAUNCH: ((i32, _INDEX, _INDEX, _INDEX, _INDEX), ()),
}
TO_DEVICE, TO_HOST, WITHIN, TO_HOST_AT_END = range(4)
"""The kinds of a copy, its last argument. TO_HOST_AT_END is for data that is only read after the
run."""


@dataclass(frozen=True)
class CallDevice(Pass, name="call-device", anchor="builtin.module"):
    """Let the host call functions that launch kernels, copy data, and allocate the device's memory.

        gpu.launch_func @kernels::@f_0 blocks in (%n, %c1, %c1) threads in (%c64, %c1, %c1) args(%a)
        gpu.memcpy %h, %a
            ->
        memref.store %address_of_a, %arguments[%c0] : memref<1xi64>
        call @nnc_device_launch(%number_of_f_0, %n, %c1, %c1, %address_of_arguments)
        call @nnc_device_copy(%address_of_h, %address_of_a, %bytes, %c1)

    An address in the device's memory is a number that only these functions understand. They also
    give the entry's arena in that memory, and the constants for which there is a
    `memref.memory_space_cast`, which are copied there once.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        _Calls(op).run()


class _Calls:
    """Replaces the launches and copies of one module by calls."""

    def __init__(self, module: Operation) -> None:
        self.module = module
        kernels = [k for k in module.walk() if isinstance(k, gpu.GPUFuncOp) and k.is_kernel]
        self.numbers = {k.sym_name: i for i, k in enumerate(kernels)}
        self.declared: dict[str, func.FuncOp] = {}
        self.at_end: set[Operation] = set()

    def run(self) -> None:
        """Rewrite all functions, then declare what they call."""
        for function in list(self.module.body_block):
            if not isinstance(function, func.FuncOp) or function.is_declaration:
                continue
            self._take_arena(function)
            self.at_end |= _at_end(function)
            launches = [op for op in function.walk() if isinstance(op, gpu.LaunchFunc)]
            if launches:
                most = max(1, *(len(_parts(one)) for one in launches))
                first = Builder.at_start(function.body.blocks[0])
                arguments = first.insert(memref.Alloca([], memref=MemRefType((most,), i64))).memref
                for one in launches:
                    self._launch(one, arguments)
            for op in list(function.walk()):
                self._rewrite(op)
        for one in reversed(self.declared.values()):
            self.module.body_block.prepend(one)

    def _rewrite(self, op: Operation) -> None:
        match op:
            case gpu.Memcpy():
                self._copy(op)
            case memref.MemorySpaceCast() if op.dest.type.memory_space is gpu.GLOBAL:
                self._constant(op)
            case memref.Alloc() if op.memref.type.memory_space is gpu.GLOBAL:
                builder = Builder.before_op(op)
                size = _bytes_of(op.memref.type, op.dynamicSizes, builder)
                (made,) = self._call(builder, DEVICE_TAKE, [size])
                op.replace_with(_view(made, op.memref.type, op.dynamicSizes, builder))
            case memref.Dealloc() if op.memref.type.memory_space is gpu.GLOBAL:
                builder = Builder.before_op(op)
                self._call(builder, DEVICE_GIVE, [_address(op.memref, builder)])
                op.erase()

    def _call(self, builder: Builder, name: str, args: Sequence[Value]) -> Sequence[Value]:
        inputs, results = _SIGNATURES[name]
        if name not in self.declared:
            type = FunctionType(inputs, results)
            self.declared[name] = func.FuncOp(name, type, sym_visibility="private")
        return builder.insert(func.Call(name, args, outs=list(results))).results

    # -- memory --------------------------------------------------------------------------------

    def _take_arena(self, function: func.FuncOp) -> None:
        """Allocate a function's arena argument in the device's memory."""
        for i, argument in enumerate(function.args):
            is_arena = function.arg_attribute(i, ARENA) is not None
            if not is_arena or argument.type.memory_space is not gpu.GLOBAL:
                continue
            builder = Builder.at_start(function.body.blocks[0])
            size = builder.insert(arith.Constant.index(argument.type.num_bytes)).result
            (made,) = self._call(builder, DEVICE_ARENA, [size])
            argument.replace_all_uses_with(_view(made, argument.type, (), builder))
            types = function.function_type
            kept = [t for k, t in enumerate(types.inputs) if k != i]
            if function.arg_attrs is not None:
                attributes = [a for k, a in enumerate(function.arg_attrs) if k != i]
                function.arg_attrs = ArrayAttr(tuple(attributes))
            argument.owner.args.remove(argument)
            function.function_type = FunctionType(tuple(kept), types.results)
            return

    def _constant(self, op: memref.MemorySpaceCast) -> None:
        """Replace a constant's cast by its copy in the device's memory."""
        builder = Builder.before_op(op)
        size = builder.insert(arith.Constant.index(op.dest.type.num_bytes)).result
        (made,) = self._call(builder, DEVICE_CONSTANT, [_address(op.source, builder), size])
        op.replace_with(_view(made, op.dest.type, (), builder))

    def _copy(self, op: gpu.Memcpy) -> None:
        builder = Builder.before_op(op)
        spaces = [v.type.memory_space is gpu.GLOBAL for v in (op.dst, op.src)]
        way = WITHIN if all(spaces) else TO_DEVICE if spaces[0] else TO_HOST
        if op in self.at_end:
            way = TO_HOST_AT_END
        type = op.src.type
        sizes = [_dim(op.src, i, builder) for i, n in enumerate(type.shape) if n is None]
        args = [_address(v, builder) for v in (op.dst, op.src)]
        args += [
            _bytes_of(type, sizes, builder),
            builder.insert(arith.Constant.of(way, i32)).result,
        ]
        self._call(builder, DEVICE_COPY, args)
        op.erase()

    # -- launches ------------------------------------------------------------------------------

    def _launch(self, op: gpu.LaunchFunc, arguments: Value) -> None:
        builder = Builder.before_op(op)
        for i, part in enumerate(_parts(op)):
            at = builder.insert(arith.Constant.index(i)).result
            builder.insert(memref.Store(_word(part, builder), arguments, [at]))
        number = builder.insert(arith.Constant.of(self.numbers[op.kernel.nested[-1]], i32)).result
        self._call(builder, DEVICE_LAUNCH, [number, *op.grid, _address(arguments, builder)])
        op.erase()


def _at_end(function: func.FuncOp) -> set[Operation]:
    """An entry's last copies to its caller's memory, after which there are only such copies."""
    found: set[Operation] = set()
    last = function.body.blocks[-1]
    if ENTRY not in function.attributes or not isinstance(last.terminator, func.Return):
        return found
    returned = [memref.base_buffer(v) for v in last.terminator.operands if memref.is_buffer(v)]
    for op in reversed(list(last)):
        if isinstance(op, gpu.Memcpy):
            base = memref.base_buffer(op.dst)
            # What is returned twice is copied once more before the caller has it.
            if base not in function.args and returned.count(base) != 1:
                break
            found.add(op)
        elif not isinstance(op, memref.Alloc | memref.Dealloc | func.Return) and not is_pure(op):
            break
    return found


Part = tuple[str, Value, int]
"""A part of an argument: ("value", v, 0), or a buffer's ("address", v, 0), ("size", v, axis) or
("stride", v, axis).
"""


def parts_of(value: Value) -> list[Part]:
    """The parts of a kernel's argument in order; a buffer's unknown sizes and strides are parts
    too.
    """
    type = value.type
    if not isinstance(type, MemRefType):
        return [("value", value, 0)]
    return [("address", value, 0), *((what, value, axis) for what, axis in open_parts(type))]


def _parts(op: gpu.LaunchFunc) -> list[Part]:
    return [part for value in op.kernelOperands for part in parts_of(value)]


def _word(part: Part, builder: Builder) -> Value:
    """A part of an argument as 64 bits."""
    what, value, axis = part
    if what == "address":
        value = _address(value, builder)
    elif what == "size":
        value = _dim(value, axis, builder)
    elif what == "stride":
        value = builder.insert(memref.ExtractStridedMetadata(value)).strides[axis]
    type = value.type
    if isinstance(type, IndexType):
        return builder.insert(arith.IndexCast(value, out=i64)).out
    if isinstance(type, FloatType):
        type = IntegerType(8 * type.byte_width)
        value = builder.insert(arith.Bitcast(value, out=type)).out
    return value if type is i64 else builder.insert(arith.ExtUI(value, out=i64)).out


def _address(value: Value, builder: Builder) -> Value:
    """The address of a buffer's first element."""
    return builder.insert(memref.ExtractAlignedPointerAsIndex(value)).aligned_pointer


def _dim(value: Value, axis: int, builder: Builder) -> Value:
    at = builder.insert(arith.Constant.index(axis)).result
    return builder.insert(memref.Dim(value, at)).result


def _bytes_of(type: MemRefType, sizes: Sequence[Value], builder: Builder) -> Value:
    """The bytes of a buffer, computed from its extents."""
    known = MemRefType(tuple(n for n in type.shape if n is not None), type.element_type).num_bytes
    total = builder.insert(arith.Constant.index(known)).result
    for size in sizes:
        total = builder.insert(arith.MulI(total, size)).result
    return total


def _view(made: Value, type: MemRefType, sizes: Sequence[Value], builder: Builder) -> Value:
    """A buffer of this type at an address that a function returned."""
    start = builder.insert(arith.Constant.index(0)).result
    return builder.insert(memref.View(made, start, list(sizes), result=type)).result

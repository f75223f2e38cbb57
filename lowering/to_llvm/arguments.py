"""Code that reads the arguments of `nnc_run` and checks them.

The status is NO_ARGUMENT if a pointer is NULL although elements or extents are needed from it. It
is OTHER_SHAPE if an input's shape does not fit the model: an extent differs from the model's number
or is negative, two extents of one name differ, or the tensor has more bytes than can be addressed.
Other errors cannot be seen from an address. The shapes of tensors of static shape are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from ...dialects import func, llvm
from ...dialects.marks import INPUT_DIMS
from ...dialects.nn.dimension_names import names_of
from ...ir.attributes import Attribute, I64Attr
from ...ir.core import Block, Value
from ...ir.diagnostics import PassError
from ...ir.types import MemRefType, TensorType, Type, f64, i32, i64
from ...runtime.abi import NO_ARGUMENT, OTHER_SHAPE
from .casts import resize_integer
from .conversion import FunctionLowering

TENSOR = llvm.StructType((llvm.ptr, llvm.ptr))
"""The C struct nnc_tensor: the addresses of the data and of the shape."""

_ADDRESSES = float(1 << 62)
"""More bytes than any tensor can have. Byte counts up to it do not overflow 64 bits."""


class Arguments(FunctionLowering):
    """Emits code that reads and checks `inputs` and `outputs`, two arrays of nnc_tensor."""

    op: func.FuncOp
    inputs: Value
    outputs: Value

    # -- reading ----------------------------------------------------------------------------------

    def field(self, tensors: Value, number: int, field: int) -> Value:
        """The address of a tensor's pointer to its data (0) or to its shape (1)."""
        at = llvm.GetElementPtr.of(tensors, [number, field], TENSOR, "inbounds")
        return self.append(at).results[0]

    def load(self, pointer: Value, type: Type) -> Value:
        """Load a field of a C struct or array."""
        return self.emit(llvm.Load, [pointer], type, self.alignment(type))

    def alignment(self, type: Type) -> dict[str, Attribute]:
        """The alignment, as C has it, of a field of this type."""
        bits = self.types.index.width if type is llvm.ptr else 64
        return {"alignment": I64Attr(bits // 8)}

    def tensor_argument(self, tensors: Value, number: int, type: MemRefType) -> list[Value]:
        """The values that represent a tensor: the pointer to its data, and its unknown extents."""
        if not type.is_row_major:
            raise PassError(f"an entry function takes contiguous memrefs, not {type}", self.op.loc)
        values = [self.load(self.field(tensors, number, 0), llvm.ptr)]
        dynamic = [i for i, extent in enumerate(type.shape) if extent is None]
        if dynamic:
            shape = self.load(self.field(tensors, number, 1), llvm.ptr)
            extents = [self.load(self.extent(shape, i), i64) for i in dynamic]
            values += [resize_integer(self, n, self.types.index, signed=True) for n in extents]
        return values

    def extent(self, shape: Value, dim: int) -> Value:
        """The address of extent `dim` of a shape."""
        return self.append(llvm.GetElementPtr.of(shape, [dim], i64, "inbounds")).results[0]

    # -- checking ---------------------------------------------------------------------------------

    def check_arguments(
        self, inputs: Sequence[TensorType], outputs: Sequence[TensorType], pointers: Iterable[Value]
    ) -> None:
        """Emit all checks; one that fails returns its status.

        `pointers` are further arguments that must not be NULL.
        """
        arrays = [(self.inputs, inputs), (self.outputs, outputs)]
        wrong = [self._is_null(pointer) for pointer in pointers]
        wrong += [self._is_null(array) for array, types in arrays if types]
        self._return_if(wrong, NO_ARGUMENT)
        wrong = []
        for array, types in arrays:
            for i, type in enumerate(types):
                if not type.has_static_shape:
                    wrong.append(self._is_null(self.load(self.field(array, i, 1), llvm.ptr)))
                elif prod(n or 0 for n in type.shape):
                    wrong.append(self._is_null(self.load(self.field(array, i, 0), llvm.ptr)))
        self._return_if(wrong, NO_ARGUMENT)
        open_ = [i for i, type in enumerate(inputs) if not type.has_static_shape]
        shapes = {i: self._extents(i, inputs[i].rank) for i in open_}
        self._return_if(self._other_shapes(inputs, shapes), OTHER_SHAPE)
        self._return_if([self._lacks_data(i, shapes[i]) for i in open_], NO_ARGUMENT)

    def _extents(self, number: int, rank: int) -> list[Value]:
        shape = self.load(self.field(self.inputs, number, 1), llvm.ptr)
        return [self.load(self.extent(shape, i), i64) for i in range(rank)]

    def _other_shapes(
        self, inputs: Sequence[TensorType], shapes: dict[int, list[Value]]
    ) -> list[Value]:
        """Conditions of which one is true if an input's shape does not fit the model."""
        wrong: list[Value] = []
        known: dict[str, Value] = {}
        names = names_of(self.op.attributes.get(INPUT_DIMS))
        zero = self.integer(0, i64)
        for i, extents in shapes.items():
            bytes = self.number(float(_element_bytes(inputs[i])), f64)
            for axis, (extent, wanted) in enumerate(zip(extents, inputs[i].shape, strict=True)):
                name = names[i][axis] if wanted is None and i < len(names) else ""
                if wanted is not None:
                    wrong.append(self.icmp("ne", extent, self.integer(wanted, i64)))
                elif name in known:
                    wrong.append(self.icmp("ne", extent, known[name]))
                else:
                    wrong.append(self.icmp("slt", extent, zero))
                if name:
                    known.setdefault(name, extent)
                if wanted is None:
                    count = self.emit(llvm.SIToFP, [extent], f64)
                    bytes = self.append(llvm.FMul(bytes, count)).results[0]
            most = self.number(_ADDRESSES / max(1, prod(n for n in inputs[i].shape if n)), f64)
            wrong.append(self.append(llvm.FCmp("ogt", bytes, most)).results[0])
        return wrong

    def _lacks_data(self, number: int, extents: Sequence[Value]) -> Value:
        """Whether an input has elements, but a NULL data pointer."""
        found = self._is_null(self.load(self.field(self.inputs, number, 0), llvm.ptr))
        for extent in extents:
            found = self._both(found, self.icmp("ne", extent, self.integer(0, i64)))
        return found

    def _is_null(self, pointer: Value) -> Value:
        null = self.emit(llvm.Zero, [], llvm.ptr)
        return self.append(llvm.ICmp("eq", pointer, null)).results[0]

    def _both(self, a: Value, b: Value) -> Value:
        return self.append(llvm.And(a, b)).results[0]

    def _return_if(self, conditions: Sequence[Value], status: int) -> None:
        """Emit code that returns the status if any of the conditions is true."""
        if not conditions:
            return
        found, *others = conditions
        for other in others:
            found = self.append(llvm.Or(found, other)).results[0]
        failed = self.branch(found)
        failed.append(llvm.Return(self.integer(status, i32)))

    def branch(self, condition: Value) -> Block:
        """Emit a branch: gives the block for a true condition, and goes on emitting for a false
        one.
        """
        taken, onward = Block(), Block()
        self.append(llvm.CondBr.of(condition, taken, [], onward, []))
        for block in (taken, onward):
            self.func.regions[0].append(block)
        self.block = onward
        return taken


def _element_bytes(type: TensorType) -> int:
    return max(1, MemRefType((1,), type.element_type).num_bytes)

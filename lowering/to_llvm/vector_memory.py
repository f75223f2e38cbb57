"""Lowering of vector loads and stores.

`--lower-tiles` leaves only contiguous ones and those of single lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from ...dialects import llvm, vector
from ...ir.attributes import Attribute, IntegerAttr
from ...ir.core import Operation, Value
from ...ir.types import IndexType, Type, VectorType, i32
from .casts import resize_integer
from .conversion import FunctionLowering, lowers
from .emitter import Linear
from .memory import access_properties, element_address
from .rearrange import splat
from .types import byte_width, storage_type
from .vectors import bind_rows


def _masked_access(element_type: Type, op: Any) -> dict[str, Attribute]:
    alignment = getattr(op, "alignment", None) or byte_width(element_type)
    return {"alignment": IntegerAttr(alignment, i32)}


def to_memory(f: FunctionLowering, row: Value, element_type: Type) -> Value:
    """A row in the type that its elements have in memory, where i1 takes a byte."""
    stored = VectorType(row.type.shape, storage_type(element_type))
    if row.type is stored:
        return row
    return f.emit(llvm.SExt if isinstance(element_type, IndexType) else llvm.ZExt, [row], stored)


def read_row(
    f: FunctionLowering,
    cls: type[Operation],
    operands: Sequence[Value],
    row: VectorType,
    element_type: Type,
    properties: dict[str, Attribute] | None = None,
) -> Value:
    """Emit an operation that reads a row from memory, and convert its elements from
    the type there.
    """
    stored = VectorType(row.shape, storage_type(element_type))
    read = f.emit(cls, operands, stored, properties)
    return read if stored is row else f.emit(llvm.Trunc, [read], row)


# -- contiguous access -------------------------------------------------------------------------


def _row_addresses(
    f: FunctionLowering, base: Value, indices: Sequence[Value], shape: tuple[int, ...]
) -> list[Value]:
    """The addresses of the rows of a vector that extends along the last dimensions of a memref."""
    memref = f.memref(base)
    start = [f.linear(i) for i in indices]
    first = len(start) - len(shape)
    addresses = []
    for step in product(*map(range, shape[:-1])):
        at = list(start)
        for d, i in enumerate(step):
            at[first + d] = at[first + d].plus(Linear((), i))
        addresses.append(f.address(memref, base.type, at))
    return addresses


@lowers(vector.Load)
def _load(f: FunctionLowering, op: vector.Load) -> None:
    type, element_type = op.results[0].type, op.base.type.element_type
    properties = access_properties(element_type, op)
    rows = [
        read_row(f, llvm.Load, [pointer], f.types.row(type), element_type, properties)
        for pointer in _row_addresses(f, op.base, op.indices, type.shape)
    ]
    bind_rows(f, op.results[0], rows)


@lowers(vector.Store)
def _store(f: FunctionLowering, op: vector.Store) -> None:
    value, element_type = op.valueToStore, op.base.type.element_type
    properties = access_properties(element_type, op)
    pointers = _row_addresses(f, op.base, op.indices, value.type.shape)
    for row, pointer in zip(f.rows(value), pointers, strict=True):
        f.emit(llvm.Store, [to_memory(f, row, element_type), pointer], None, properties)


@lowers(vector.MaskedLoad)
def _maskedload(f: FunctionLowering, op: vector.MaskedLoad) -> None:
    type, element_type = op.results[0].type, op.base.type.element_type
    properties = _masked_access(element_type, op)
    pointers = _row_addresses(f, op.base, op.indices, type.shape)
    rows = []
    for pointer, mask, through in zip(pointers, f.rows(op.mask), f.rows(op.pass_thru), strict=True):
        operands = [pointer, mask, to_memory(f, through, element_type)]
        cls = llvm.IntrMaskedLoad
        rows.append(read_row(f, cls, operands, f.types.row(type), element_type, properties))
    bind_rows(f, op.results[0], rows)


@lowers(vector.MaskedStore)
def _maskedstore(f: FunctionLowering, op: vector.MaskedStore) -> None:
    element_type = op.base.type.element_type
    properties = _masked_access(element_type, op)
    pointers = _row_addresses(f, op.base, op.indices, op.valueToStore.type.shape)
    for row, pointer, mask in zip(f.rows(op.valueToStore), pointers, f.rows(op.mask), strict=True):
        operands = [to_memory(f, row, element_type), pointer, mask]
        f.emit(llvm.IntrMaskedStore, operands, None, properties)


@lowers(vector.ExpandLoad)
def _expandload(f: FunctionLowering, op: vector.ExpandLoad) -> None:
    type, element_type = f.types.row(op.pass_thru.type), op.base.type.element_type
    pointer = element_address(f, op.base, op.indices)
    operands = [pointer, f.value(op.mask), to_memory(f, f.value(op.pass_thru), element_type)]
    f.bind(op.results[0], read_row(f, llvm.IntrMaskedExpandLoad, operands, type, element_type))


@lowers(vector.CompressStore)
def _compressstore(f: FunctionLowering, op: vector.CompressStore) -> None:
    row = to_memory(f, f.value(op.valueToStore), op.base.type.element_type)
    pointer = element_address(f, op.base, op.indices)
    f.emit(llvm.IntrMaskedCompressStore, [row, pointer, f.value(op.mask)])


# -- gather and scatter ------------------------------------------------------------------------


def element_pointers(
    f: FunctionLowering, base: Value, offsets: Sequence[Value], indices: Value
) -> Value:
    """The addresses of the elements at the indices in a vector, along the last dimension."""
    pointer, stride = element_address(f, base, offsets), f.memref(base).strides[-1]
    if stride != 1:
        wide = resize_integer(f, indices, f.types.index, signed=True)
        size = wide.type.shape[0]
        factor = splat(f, f.size_value(stride), size)
        indices = f.emit(llvm.Mul, [wide, factor], wide.type)
    stored = storage_type(base.type.element_type)
    return f.append(llvm.GetElementPtr.of(pointer, [indices], stored)).results[0]


@lowers(vector.Gather)
def _gather(f: FunctionLowering, op: vector.Gather) -> None:
    type, element_type = f.types.row(op.results[0].type), op.base.type.element_type
    pointers = element_pointers(f, op.base, op.offsets, f.value(op.indices))
    operands = [pointers, f.value(op.mask), to_memory(f, f.value(op.pass_thru), element_type)]
    properties = _masked_access(element_type, op)
    cls = llvm.IntrMaskedGather
    f.bind(op.results[0], read_row(f, cls, operands, type, element_type, properties))


@lowers(vector.Scatter)
def _scatter(f: FunctionLowering, op: vector.Scatter) -> None:
    element_type = op.base.type.element_type
    pointers = element_pointers(f, op.base, op.offsets, f.value(op.indices))
    row = to_memory(f, f.value(op.valueToStore), element_type)
    operands, properties = [row, pointers, f.value(op.mask)], _masked_access(element_type, op)
    f.emit(llvm.IntrMaskedScatter, operands, None, properties)

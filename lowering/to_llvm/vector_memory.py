"""Lowering of vectors to and from memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from ...dialects import llvm, vector
from ...ir.affine import AffineDim
from ...ir.attributes import Attribute, DenseElements, IntegerAttr
from ...ir.core import Value
from ...ir.diagnostics import NncError
from ...ir.types import MemRefType, Type, VectorType, i1, i32, i64
from .casts import resize_integer
from .conversion import FunctionLowering, lowers
from .elementwise import icmp
from .emitter import Linear
from .memory import access_properties, load_scalar, store_scalar
from .rearrange import as_rows, element, from_scalars, positions, rearrange, splat
from .types import MemRef, byte_width, row_type, storage_type
from .vectors import bind_rows, lanes_below


def stored_row(type: VectorType, element_type: Type) -> VectorType:
    """How a row lies in memory."""
    return VectorType(row_type(type).shape, storage_type(element_type))


def _masked_access(element_type: Type, op: Any) -> dict[str, Attribute]:
    alignment = getattr(op, "alignment", None) or byte_width(element_type)
    return {"alignment": IntegerAttr(alignment, i32)}


def to_register(f: FunctionLowering, row: Value, type: VectorType) -> Value:
    """A row as it lies in memory, in the form of values."""
    want = row_type(type)
    return row if row.type is want else f.emit(llvm.Trunc, [row], want)


def to_memory(f: FunctionLowering, row: Value, element_type: Type) -> Value:
    """A row of values as it lies in memory."""
    stored = VectorType(row.type.shape, storage_type(element_type))  # type: ignore[attr-defined]
    return row if row.type is stored else f.emit(llvm.ZExt, [row], stored)


def load_row(
    f: FunctionLowering, pointer: Value, type: VectorType, element_type: Type, op: Any
) -> Value:
    """A contiguous row at an address."""
    stored = stored_row(type, element_type)
    row = f.emit(llvm.Load, [pointer], stored, access_properties(element_type, op))
    return to_register(f, row, type)


def store_row(f: FunctionLowering, row: Value, pointer: Value, element_type: Type, op: Any) -> None:
    """Write a contiguous row to an address."""
    row = to_memory(f, row, element_type)
    f.emit(llvm.Store, [row, pointer], None, access_properties(element_type, op))


def masked_load_row(
    f: FunctionLowering, pointer: Value, mask: Value, through: Value, element_type: Type, op: Any
) -> Value:
    """A contiguous row, read where the mask is set."""
    stored = to_memory(f, through, element_type)
    properties = _masked_access(element_type, op)
    row = f.emit(llvm.IntrMaskedLoad, [pointer, mask, stored], stored.type, properties)
    return row if row.type is through.type else f.emit(llvm.Trunc, [row], through.type)


def masked_store_row(
    f: FunctionLowering, row: Value, pointer: Value, mask: Value, element_type: Type, op: Any
) -> None:
    """Write a contiguous row where the mask is set."""
    properties = _masked_access(element_type, op)
    operands = [to_memory(f, row, element_type), pointer, mask]
    f.emit(llvm.IntrMaskedStore, operands, None, properties)


# -- contiguous access -------------------------------------------------------------------------


def _row_addresses(
    f: FunctionLowering, base: Value, indices: Sequence[Value], shape: tuple[int, ...]
) -> list[Value]:
    """The addresses of the rows of a vector that runs along the last dimensions."""
    type: MemRefType = base.type  # type: ignore[assignment]
    memref = f.memref(base)
    start = [f.linear(i) for i in indices]
    leading = shape[:-1]
    first = len(start) - len(shape)
    addresses = []
    for step in product(*map(range, leading)):
        at = list(start)
        for d, i in enumerate(step):
            at[first + d] = at[first + d].plus(Linear((), i))
        addresses.append(f.address(memref, type, at))
    return addresses


@lowers(vector.Load)
def _load(f: FunctionLowering, op: vector.Load) -> None:
    type = op.results[0].type
    element_type = op.base.type.element_type
    rows = [
        load_row(f, pointer, type, element_type, op)
        for pointer in _row_addresses(f, op.base, op.indices, type.shape)
    ]
    bind_rows(f, op.results[0], rows)


@lowers(vector.Store)
def _store(f: FunctionLowering, op: vector.Store) -> None:
    value, element_type = op.valueToStore, op.base.type.element_type
    pointers = _row_addresses(f, op.base, op.indices, value.type.shape)
    for row, pointer in zip(f.rows(value), pointers, strict=True):
        store_row(f, row, pointer, element_type, op)


@lowers(vector.MaskedLoad)
def _maskedload(f: FunctionLowering, op: vector.MaskedLoad) -> None:
    type, element_type = op.results[0].type, op.base.type.element_type
    pointers = _row_addresses(f, op.base, op.indices, type.shape)
    parts = zip(pointers, f.rows(op.mask), f.rows(op.pass_thru), strict=True)
    bind_rows(f, op.results[0], [masked_load_row(f, *part, element_type, op) for part in parts])


@lowers(vector.MaskedStore)
def _maskedstore(f: FunctionLowering, op: vector.MaskedStore) -> None:
    element_type = op.base.type.element_type
    pointers = _row_addresses(f, op.base, op.indices, op.valueToStore.type.shape)
    for row, pointer, mask in zip(f.rows(op.valueToStore), pointers, f.rows(op.mask), strict=True):
        masked_store_row(f, row, pointer, mask, element_type, op)


@lowers(vector.ExpandLoad)
def _expandload(f: FunctionLowering, op: vector.ExpandLoad) -> None:
    element_type = op.base.type.element_type
    (pointer,) = _row_addresses(f, op.base, op.indices, op.pass_thru.type.shape)
    through = f.value(op.pass_thru)
    stored = to_memory(f, through, element_type)
    operands = [pointer, f.value(op.mask), stored]
    row = f.emit(llvm.IntrMaskedExpandLoad, operands, stored.type)
    f.bind(op.results[0], to_register(f, row, op.pass_thru.type))


@lowers(vector.CompressStore)
def _compressstore(f: FunctionLowering, op: vector.CompressStore) -> None:
    element_type = op.base.type.element_type
    (pointer,) = _row_addresses(f, op.base, op.indices, op.valueToStore.type.shape)
    row = to_memory(f, f.value(op.valueToStore), element_type)
    f.emit(llvm.IntrMaskedCompressStore, [row, pointer, f.value(op.mask)])


# -- gather and scatter ------------------------------------------------------------------------


def element_pointers(
    f: FunctionLowering, base: Value, offsets: Sequence[Linear], indices: Value
) -> Value:
    """The addresses of elements at an index vector along the last dimension."""
    type: MemRefType = base.type  # type: ignore[assignment]
    memref = f.memref(base)
    pointer = f.address(memref, type, offsets)
    stride = memref.strides[-1]
    if stride != 1:
        wide = resize_integer(f, indices, i64, signed=True)
        size = wide.type.shape[0]  # type: ignore[attr-defined]
        factor = splat(f, f.size_value(stride), size)
        indices = f.emit(llvm.Mul, [wide, factor], wide.type)
    stored = storage_type(type.element_type)
    return f.append(llvm.GetElementPtr.of(pointer, [indices], stored)).results[0]


@lowers(vector.Gather)
def _gather(f: FunctionLowering, op: vector.Gather) -> None:
    element_type = op.base.type.element_type
    offsets = [f.linear(i) for i in op.offsets]
    rows = []
    for index, mask, through in zip(
        f.rows(op.indices), f.rows(op.mask), f.rows(op.pass_thru), strict=True
    ):
        pointers = element_pointers(f, op.base, offsets, index)
        stored = to_memory(f, through, element_type)
        properties = _masked_access(element_type, op)
        row = f.emit(llvm.IntrMaskedGather, [pointers, mask, stored], stored.type, properties)
        rows.append(row if row.type is through.type else f.emit(llvm.Trunc, [row], through.type))
    bind_rows(f, op.results[0], rows)


@lowers(vector.Scatter)
def _scatter(f: FunctionLowering, op: vector.Scatter) -> None:
    element_type = op.base.type.element_type
    offsets = [f.linear(i) for i in op.offsets]
    for index, mask, row in zip(
        f.rows(op.indices), f.rows(op.mask), f.rows(op.valueToStore), strict=True
    ):
        pointers = element_pointers(f, op.base, offsets, index)
        properties = _masked_access(element_type, op)
        operands = [to_memory(f, row, element_type), pointers, mask]
        f.emit(llvm.IntrMaskedScatter, operands, None, properties)


# -- transfers ---------------------------------------------------------------------------------


class Transfer:
    """One transfer_read or transfer_write: where its rows lie and which lanes count."""

    def __init__(self, f: FunctionLowering, op: Any, type: VectorType) -> None:
        if isinstance(op.base.type.element_type, VectorType):
            raise NncError("memrefs of vectors are not supported")
        self.f, self.op, self.type = f, op, type
        self.base_type: MemRefType = op.base.type
        self.memref: MemRef = f.memref(op.base)
        self.start = [f.linear(i) for i in op.indices]
        self.dims = [e.position if isinstance(e, AffineDim) else None for e in op.map.results]
        self.bounds = op.bounds
        self.masks = self._mask_rows()

    def _mask_rows(self) -> list[Value] | None:
        """The rows of the mask in the vector's own order; one of a broadcast lane has width 1."""
        mask = self.op.mask
        if mask is None:
            return None
        order = sorted(d for d in self.dims if d is not None)
        index = positions(mask.type.shape).transpose(
            [order.index(d) for d in self.dims if d is not None]
        )
        for lane, d in enumerate(self.dims):
            if d is None:
                index = index.reshape(*index.shape[:lane], 1, *index.shape[lane:])
        import numpy as np

        index = np.broadcast_to(index, self.type.shape)  # type: ignore[arg-type]
        return rearrange(self.f, self.f.rows(mask), as_rows(index))

    @property
    def lane_dim(self) -> int | None:
        """The dimension of the memory that the lanes of a row run along; None repeats."""
        return self.dims[-1] if self.dims else None

    @property
    def width(self) -> int:
        """How many lanes a row has."""
        return row_type(self.type).shape[0]  # type: ignore[return-value]

    @property
    def is_contiguous(self) -> bool:
        """Whether the lanes of a row lie next to each other in memory."""
        lane = self.lane_dim
        return lane is not None and (self.memref.strides[lane] == 1 or self.width == 1)

    def rows(self) -> list[tuple[list[Linear], Value | None]]:
        """Per row, the indices of its first element, and the mask of lanes that count."""
        found = []
        for number, step in enumerate(product(*map(range, self.type.shape[:-1]))):  # type: ignore[arg-type]
            at = list(self.start)
            inside: Value | None = None
            for i, dim, bounded in zip(step, self.dims, self.bounds, strict=False):
                if dim is not None:
                    at[dim] = at[dim].plus(Linear((), i))
                    if not bounded:
                        inside = self._both(inside, self._is_inside(dim, at[dim]))
            mask = self._lanes(at)
            if self.masks is not None:
                own = self.masks[number]
                mask = own if mask is None else self.f.emit(llvm.And, [mask, own], own.type)
            found.append((at, self._restricted(mask, inside)))
        return found

    def _both(self, a: Value | None, b: Value | None) -> Value | None:
        if a is None or b is None:
            return b if a is None else a
        return self.f.emit(llvm.And, [a, b], i1)

    def _rest(self, dim: int, at: Linear) -> Linear:
        """How many elements there are from an index on."""
        return self.f.size(self.memref.sizes[dim]).plus(at.scaled(-1))

    def _is_inside(self, dim: int, at: Linear) -> Value | None:
        rest = self._rest(dim, at)
        if not rest.terms:
            return None if rest.constant > 0 else self.f.integer(0, i1)
        return icmp(self.f, "sgt", self.f.materialize(rest), self.f.integer(0))

    def _lanes(self, at: list[Linear]) -> Value | None:
        """The lanes that are inside along the lanes' own dimension; None for all."""
        lane = self.lane_dim
        if lane is None or self.bounds[-1]:
            return None
        rest = self._rest(lane, at[lane])
        if not rest.terms and rest.constant >= self.width:
            return None
        return lanes_below(self.f, rest, self.width)

    def _restricted(self, mask: Value | None, inside: Value | None) -> Value | None:
        if inside is None:
            return mask
        spread = splat(self.f, inside, self.width)
        return spread if mask is None else self.f.emit(llvm.And, [mask, spread], mask.type)

    def address(self, at: list[Linear]) -> Value:
        """The address of an element."""
        return self.f.address(self.memref, self.base_type, at)

    def lane_pointers(self, at: list[Linear]) -> Value:
        """The addresses of all lanes of a row that is not contiguous."""
        f, lane = self.f, self.lane_dim
        stride = self.memref.strides[lane] if lane is not None else 0
        lanes = VectorType((self.width,), i64)
        steps = f.constant(DenseElements.from_list(list(range(self.width)), lanes), lanes)
        if stride != 1:
            factor = splat(f, f.size_value(stride), self.width)
            steps = f.emit(llvm.Mul, [steps, factor], lanes)
        stored = storage_type(self.base_type.element_type)
        return f.append(llvm.GetElementPtr.of(self.address(at), [steps], stored)).results[0]


@lowers(vector.TransferRead)
def _transfer_read(f: FunctionLowering, op: vector.TransferRead) -> None:
    type = op.vector_type
    transfer = Transfer(f, op, type)
    element_type = transfer.base_type.element_type
    padding = splat(f, f.value(op.padding), transfer.width)
    rows = []
    for at, mask in transfer.rows():
        if transfer.is_contiguous:
            pointer = transfer.address(at)
            if mask is None:
                rows.append(load_row(f, pointer, type, element_type, None))
            else:
                rows.append(masked_load_row(f, pointer, mask, padding, element_type, None))
        elif mask is not None:
            pointers = transfer.lane_pointers(at)
            stored = to_memory(f, padding, element_type)
            properties = _masked_access(element_type, None)
            row = f.emit(llvm.IntrMaskedGather, [pointers, mask, stored], stored.type, properties)
            rows.append(to_register(f, row, type))
        else:
            rows.append(_read_by_element(f, transfer, at))
    bind_rows(f, op.results[0], rows)


def _read_by_element(f: FunctionLowering, transfer: Transfer, at: list[Linear]) -> Value:
    """A row that repeats an element, or that is read element by element."""
    element_type, lane = transfer.base_type.element_type, transfer.lane_dim
    if lane is None:
        return splat(f, load_scalar(f, transfer.address(at), element_type), transfer.width)
    scalars = []
    for i in range(transfer.width):
        here = list(at)
        here[lane] = here[lane].plus(Linear((), i))
        scalars.append(load_scalar(f, transfer.address(here), element_type))
    return from_scalars(f, scalars)


@lowers(vector.TransferWrite)
def _transfer_write(f: FunctionLowering, op: vector.TransferWrite) -> None:
    transfer = Transfer(f, op, op.vector_type)
    element_type, lane = transfer.base_type.element_type, transfer.lane_dim
    for row, (at, mask) in zip(f.rows(op.valueToStore), transfer.rows(), strict=True):
        if transfer.is_contiguous or lane is None:
            pointer = transfer.address(at)
            if mask is None:
                store_row(f, row, pointer, element_type, None)
            else:
                masked_store_row(f, row, pointer, mask, element_type, None)
        elif mask is not None:
            operands = [to_memory(f, row, element_type), transfer.lane_pointers(at), mask]
            properties = _masked_access(element_type, None)
            f.emit(llvm.IntrMaskedScatter, operands, None, properties)
        else:
            for i in range(transfer.width):
                here = list(at)
                here[lane] = here[lane].plus(Linear((), i))
                store_scalar(f, element(f, row, i), transfer.address(here), element_type)

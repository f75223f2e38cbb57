"""How well the threads of a subgroup share lines of global memory and banks of workgroup memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...dialects import arith, gpu, memref, scf, vector
from ...ir.affine import AffineDim
from ...ir.core import Block, Operation, Value
from ...ir.lazy import np
from ...ir.rewriting import constant_int
from ...ir.traits import ReadsMemory, WritesMemory
from ...targets.transactions import DeviceMemory
from .numbers import NotKnownError, Numbers


@dataclass(frozen=True)
class Count:
    """The cost of an access, and its least cost for any layout of the elements.

    Units: lines of global memory, or cycles of the banks of workgroup memory.
    """

    op: Operation
    is_global: bool
    taken: int
    least: int


@dataclass(frozen=True)
class _Access:
    """A vector of elements, and along which dimension of a buffer each dimension of it lies."""

    buffer: Value
    indices: Sequence[Value]
    shape: tuple[int, ...] = ()
    along: tuple[int | None, ...] = ()
    mask: Value | None = None


class Counting:
    """The accesses of a kernel to memory by its first subgroup, each counted once.

    A vector is accessed in rows of what a thread accesses at once. `unknown` has the operations
    whose addresses are not known.
    """

    def __init__(self, numbers: Numbers, memory: DeviceMemory) -> None:
        self.numbers, self.memory = numbers, memory
        self.unknown: list[Operation] = []
        self._active: Any = np.True_

    def block(self, block: Block) -> Iterator[Count]:
        """The cost of each access in a block."""
        for op in block:
            active = self._active
            for i, region in enumerate(op.regions):
                if isinstance(op, scf.If):
                    self._active = active & self._taken(op.condition, i == 0)
                for inner in region.blocks:
                    yield from self.block(inner)
            self._active = active
            if not op.regions and (op.has_trait(ReadsMemory) or op.has_trait(WritesMemory)):
                yield from self._operation(op)

    def _taken(self, condition: Value, wanted: bool) -> Any:
        """The threads in which a branch is taken, as an array; all if that is not known."""
        try:
            return np.equal(self.numbers.of(condition), wanted)
        except NotKnownError:
            return True

    def _operation(self, op: Operation) -> Iterator[Count]:
        if isinstance(op, memref.Prefetch | memref.Dealloc | gpu.Barrier):
            return
        access = _access_of(op)
        if access is None:
            self.unknown.append(op)
            return
        is_global = access.buffer.type.memory_space is not gpu.WORKGROUP  # type: ignore[attr-defined]
        base = memref.base_buffer(access.buffer).defining_op
        if is_global and base is not None and base.parent_of(gpu.GPUFuncOp) is not None:
            return  # A thread's own.
        try:
            yield Count(op, is_global, *self._count(access, is_global))
        except NotKnownError:
            self.unknown.append(op)

    def first(self, op: Operation) -> Any:
        """The place of the first element that an access of each thread touches, in its buffer.

        One for all, or one for each thread. Raises NotKnownError.
        """
        access = _access_of(op)
        if access is None:
            raise NotKnownError
        place, strides = self.numbers.strides(access.buffer)
        for index, stride in zip(access.indices, strides, strict=True):
            place = place + self.numbers.of(index) * stride
        return place

    def _count(self, access: _Access, is_global: bool) -> tuple[int, int]:
        rank = len(access.shape)
        places = [_by_thread(self.numbers.of(i), rank) for i in access.indices]
        active = _by_thread(self._active, rank)
        lanes: dict[int, Any] = {}
        for lane, position in zip(np.indices(access.shape, sparse=True), access.along, strict=True):
            if position is not None:
                places[position] = places[position] + lane
                lanes[position] = lane
        for place, extent in zip(places, self.numbers.extents(access.buffer), strict=True):
            active = active & (place < extent)
        active = active & self._mask(access.mask, [lanes[p] for p in sorted(lanes)], rank)
        start, strides = self.numbers.strides(access.buffer)
        address = _by_thread(start, rank)
        for place, stride in zip(places, strides, strict=True):
            address = address + place * _by_thread(stride, rank)
        size = max(1, getattr(access.buffer.type.element_type, "byte_width", 8))  # type: ignore[attr-defined]
        beside = (d for d, p in enumerate(access.along) if p is not None and strides[p] == 1)
        whole = (self.numbers.thread.size, *access.shape)
        address, active = (np.broadcast_to(a, whole) for a in (address * size, active))
        return self.memory.count(address, active, size, next(beside, None), is_global)

    def _mask(self, mask: Value | None, lanes: Sequence[Any], rank: int) -> Any:
        """The elements that are active under a mask, as an array; all if that is not known."""
        op = mask.defining_op if mask is not None else None
        match op:
            case arith.AndI():
                one, other = (self._mask(v, lanes, rank) for v in op.operands)
                return one & other
            case arith.XOrI() if constant_int(op.rhs) and _is_mask(op.lhs):
                return ~np.asarray(self._mask(op.lhs, lanes, rank))
            case vector.CreateMask():
                sizes: Sequence[Any] = [_by_thread(self._size(v), rank) for v in op.sizes]
            case vector.ConstantMask():
                sizes = op.mask_dim_sizes
            case _:
                return np.True_
        inside = np.True_
        for lane, size in zip(lanes, sizes, strict=True):
            inside = inside & (lane < size)
        return inside

    def _size(self, value: Value) -> Any:
        try:
            return self.numbers.of(value)
        except NotKnownError:
            return np.iinfo(np.int64).max


def _is_mask(value: Value) -> bool:
    return isinstance(value.defining_op, vector.CreateMask | vector.ConstantMask)


def _by_thread(value: Any, rank: int) -> np.ndarray:
    """A number for each thread, or one for all, beside the dimensions of a vector."""
    return np.asarray(value).reshape(-1, *[1] * rank)


def _access_of(op: Operation) -> _Access | None:
    """The access of an operation; None if it is not understood."""
    match op:
        case memref.Load() | memref.Store():
            return _Access(op.memref, op.indices)
        case vector.TransferRead() | vector.TransferWrite():
            along = tuple(e.position if isinstance(e, AffineDim) else None for e in op.map.results)
            return _Access(op.base, op.indices, op.vector_type.shape, along, op.mask)
        case vector.Load() | vector.MaskedLoad():
            shape = op.result.type.shape  # type: ignore[attr-defined]
        case vector.Store() | vector.MaskedStore():
            shape = op.valueToStore.type.shape  # type: ignore[attr-defined]
        case _:
            return None
    rank = len(op.indices)
    along = tuple(range(rank - len(shape), rank))
    return _Access(op.base, op.indices, shape, along, getattr(op, "mask", None))

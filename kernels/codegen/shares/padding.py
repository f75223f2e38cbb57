"""Rows of workgroup memory are longer so that threads that step together want other banks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ....dialects import gpu, vector
from ....ir.affine import AffineDim
from ....ir.core import Operation, Value
from ....ir.lazy import np
from ....ir.types import MemRefType
from ...model.transactions import DeviceMemory
from ...model.trips import trips
from .layouts import Layout


def padding_of_rows(
    layouts: Sequence[Layout],
    shape: Sequence[int],
    size: int,
    threads: int,
    memory: DeviceMemory,
) -> int:
    """How many elements more rows of a buffer need, in which vectors have these layouts.

    None, a bank's word, or once or twice what a thread accesses at once: the first with the
    fewest turns.
    """
    whole = [(layout, shape, tuple(range(len(shape))), 1) for layout in layouts]
    found = _best_shape(whole, _longer(shape, len(shape) - 1, size, memory), size, threads, memory)
    return found[-1] - shape[-1]


def pad_buffers(
    kernel: gpu.GPUFuncOp,
    layout_of: Callable[[Value], Layout],
    threads: int,
    memory: DeviceMemory,
) -> None:
    """Make rows of a group's buffers longer where vectors are then accessed in fewer turns."""
    for buffer in kernel.workgroup_buffers:
        type = buffer.type
        assert isinstance(type, MemRefType)
        users = [user for user, _ in buffer.uses]
        if type.rank < 2 or type.layout is not None or not users:
            continue
        if not all(map(_is_plain, users)):
            continue
        accesses = [_access(user, layout_of, trips(user, kernel)) for user in users]
        shape: list[int] = list(type.shape)  # type: ignore[arg-type]
        size = max(1, getattr(type.element_type, "byte_width", 8))
        shapes = [one for d in range(1, type.rank) for one in _longer(shape, d, size, memory)]
        best = _best_shape(accesses, shapes, size, threads, memory)
        buffer.type = MemRefType(tuple(best), type.element_type, None, type.memory_space)


def _is_plain(op: Operation) -> bool:
    """Whether an operation accesses a vector that lies along dimensions of a buffer."""
    return isinstance(op, vector.TransferRead | vector.TransferWrite) and all(
        isinstance(along, AffineDim) for along in op.map.results
    )


_Access = tuple[Layout, Sequence[int], Sequence[int], int]
"""The layout and shape of a vector, along which dimensions of a buffer it lies, and how often it is
accessed."""


def _access(op: Operation, layout_of: Callable[[Value], Layout], often: int) -> _Access:
    assert isinstance(op, vector.TransferRead | vector.TransferWrite)
    value = op.results[0] if isinstance(op, vector.TransferRead) else op.valueToStore
    along = [along.position for along in op.map.results]  # type: ignore[attr-defined]
    return layout_of(value), value.type.shape, along, often  # type: ignore[attr-defined]


def _longer(shape: Sequence[int], dim: int, size: int, memory: DeviceMemory) -> list[list[int]]:
    """The shape of a buffer, and with rows that are longer along a dimension."""
    found = [list(shape)]
    longer = memory.bank_bytes, memory.vector_bytes, 2 * memory.vector_bytes
    for bytes in longer if shape[dim] > 1 else ():
        found.append([*shape[:dim], shape[dim] + max(1, bytes // size), *shape[dim + 1 :]])
    return found


def _best_shape(
    accesses: Sequence[_Access],
    shapes: Sequence[Sequence[int]],
    size: int,
    threads: int,
    memory: DeviceMemory,
) -> Sequence[int]:
    """The shape with the fewest turns, and of equal ones the smallest."""

    def cost(rows: Sequence[int]) -> tuple[int, int]:
        strides = [prod(rows[d + 1 :]) for d in range(len(rows))]
        turns = sum(
            often * _turns(layout, whole, [strides[d] for d in along], size, threads, memory)
            for layout, whole, along, often in accesses
        )
        return turns, prod(rows)

    return min(shapes, key=cost)


def _turns(
    layout: Layout,
    shape: Sequence[int],
    strides: Sequence[int],
    size: int,
    threads: int,
    memory: DeviceMemory,
) -> int:
    """The turns of the banks that threads which step together take to access a vector."""
    rank, thread = len(shape), np.arange(threads)
    fastest = next((d for d, stride in enumerate(strides) if stride == 1), None)
    turns = 0
    for piece in layout.pieces():
        address, active = np.zeros((1,) * (rank + 1), int), np.True_
        for d, (along, begin) in enumerate(zip(layout.dims, piece, strict=True)):
            first = thread // along.stride % along.threads * along.run + along.place(begin)
            place = np.expand_dims(
                first[:, None] + np.arange(along.run), tuple(i + 1 for i in range(rank) if i != d)
            )
            active = active & (place < shape[d])
            address = address + place * (size * strides[d])
        active = np.broadcast_to(active, address.shape)
        turns += memory.count(address, active, size, fastest, is_global=False)[0]
    return turns

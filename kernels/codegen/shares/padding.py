"""Padding of rows in workgroup memory, so that threads in lockstep access different banks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from ....dialects import gpu, memref, vector
from ....ir.affine import AffineConstant, AffineDim
from ....ir.builder import Builder
from ....ir.core import Operation, Value
from ....ir.lazy import np
from ....ir.types import MemRefType, row_major_strides
from ....targets.attribute import target_of
from ....targets.transactions import DeviceMemory
from ...kernel_costs import buffer_bytes
from ...model.trips import trips
from .layouts import Layout


def padding_of_rows(
    layouts: Sequence[Layout],
    shape: Sequence[int],
    size: int,
    threads: int,
    memory: DeviceMemory,
) -> int:
    """By how many elements to pad the rows of a buffer that vectors of these layouts access.

    Tries none, a bank's word, and once or twice what a thread accesses at once. The padding with
    the fewest bank cycles is taken, of equal ones the smallest.
    """
    each = [tuple(int(e == d) for e in range(len(shape))) for d in range(len(shape))]
    whole = [(layout, shape, each, 1) for layout in layouts]
    found = _best_shape(whole, _longer(shape, len(shape) - 1, size, memory), size, threads, memory)
    return found[-1] - shape[-1]


def pad_buffers(
    kernel: gpu.GPUFuncOp,
    layout_of: Callable[[Value], Layout],
    threads: int,
    memory: DeviceMemory,
) -> None:
    """Pad the rows of workgroup buffers if that reduces bank conflicts, and if memory suffices.

    Buffers that the kernel allocates are in workgroup memory, too, once threads share its work.
    """
    made = [op.results[0] for op in kernel.walk() if isinstance(op, memref.Alloca)]
    buffers = [*kernel.workgroup_buffers, *made]
    taken = sum(buffer_bytes(b.type) or 0 for b in buffers)  # type: ignore[arg-type]
    room = target_of(kernel).machine.nearest_memory.bytes - taken
    for buffer in buffers:
        type = buffer.type
        assert isinstance(type, MemRefType)
        if type.rank < 2 or None in type.shape or type.layout is not None or not buffer.has_uses:
            continue
        shape: list[int] = list(type.shape)  # type: ignore[arg-type]
        found = [_view_of(user, shape) for user, _ in buffer.uses]
        views = [view for view in found if view is not None]
        if len(views) < len(found):
            continue
        accesses = [
            _access(user, view, layout_of, trips(user, kernel))
            for view in views
            for user in view.users
        ]
        size = max(1, getattr(type.element_type, "byte_width", 8))
        sides = [d for d in range(1, type.rank) if not any(view.ends_at(d) for view in views)]
        shapes = [one for d in sides for one in _longer(shape, d, size, memory)]
        shapes = [one for one in shapes if (prod(one) - prod(shape)) * size <= room]
        best = _best_shape(accesses, [shape, *shapes], size, threads, memory)
        if best == shape:
            continue
        room -= (prod(best) - prod(shape)) * size
        buffer.type = MemRefType(tuple(best), type.element_type, None, type.memory_space)
        for view in views:
            view.move(row_major_strides(best))


Digits = tuple[int, ...]
"""A distance in a buffer as the number of steps along each of its dimensions."""


@dataclass(frozen=True)
class _View:
    """How a buffer is accessed: by one transfer, or by transfers of a view within its rows."""

    op: Operation
    start: Digits
    steps: Sequence[Digits]
    """The distances of the view's elements along each of its dimensions."""

    @property
    def users(self) -> list[Operation]:
        """The transfers that access the view."""
        if isinstance(self.op, memref.ReinterpretCast):
            return [user for user, _ in self.op.result.uses]
        return [self.op]

    def ends_at(self, dim: int) -> bool:
        """Whether elements beyond the end of a dimension of the buffer read as a padding value."""
        op = self.op
        return isinstance(op, vector.TransferRead) and any(
            not inside and isinstance(along, AffineDim) and along.position == dim
            for along, inside in zip(op.map.results, op.bounds, strict=True)
        )

    def move(self, strides: Sequence[int]) -> None:
        """Replace the view by one of a buffer with these strides."""
        op = self.op
        if not isinstance(op, memref.ReinterpretCast):
            return
        type = op.result.type
        assert isinstance(type, MemRefType)
        steps = [_distance(step, strides) for step in self.steps]
        start = _distance(self.start, strides)
        new = memref.ReinterpretCast.of(op.source, start, list(type.shape), steps)
        op.replace_with(Builder.before_op(op).insert(new).result)


def _view_of(op: Operation, shape: Sequence[int]) -> _View | None:
    """The view of a buffer that an operation accesses; None if rows must stay contiguous."""
    rank = len(shape)
    if _is_plain(op):
        steps = [tuple(int(e == d) for e in range(rank)) for d in range(rank)]
        return _View(op, (0,) * rank, steps)
    if not isinstance(op, memref.ReinterpretCast):
        return None
    type = op.result.type
    assert isinstance(type, MemRefType)
    strides, start = type.strides_and_offset() or ((None,), None)
    known = [*strides, start, *type.shape]
    if any(number is None or number < 0 for number in known):
        return None
    if not all(_is_plain(user) for user, _ in op.result.uses):
        return None
    first, *steps = (_digits(number, shape) for number in (start, *strides))  # type: ignore[arg-type]
    for d, extent in enumerate(shape):
        last = sum((n - 1) * step[d] for n, step in zip(type.shape, steps, strict=True))  # type: ignore[operator]
        if first[d] + last >= extent:
            return None  # Some elements along it lie in the next row.
    return _View(op, first, steps)


def _digits(distance: int, shape: Sequence[int]) -> Digits:
    """A distance as steps along the dimensions of a buffer, outer dimensions first."""
    found = []
    for stride in row_major_strides(shape):
        found.append(distance // stride)
        distance %= stride
    return tuple(found)


def _distance(digits: Digits, strides: Sequence[int]) -> int:
    return sum(digit * stride for digit, stride in zip(digits, strides, strict=True))


def _is_plain(op: Operation) -> bool:
    """Whether an operation accesses a vector that lies along dimensions of a buffer."""
    return isinstance(op, vector.TransferRead | vector.TransferWrite) and all(
        isinstance(along, AffineDim) or along == AffineConstant(0) for along in op.map.results
    )


_Access = tuple[Layout, Sequence[int], Sequence[Digits], int]
"""The layout and shape of a vector, the distances in a buffer along each of its dimensions, and how
often it is accessed."""


def _access(
    op: Operation, view: _View, layout_of: Callable[[Value], Layout], often: int
) -> _Access:
    assert isinstance(op, vector.TransferRead | vector.TransferWrite)
    value = op.results[0] if isinstance(op, vector.TransferRead) else op.valueToStore
    none = (0,) * len(view.start)
    along = [
        view.steps[one.position] if isinstance(one, AffineDim) else none for one in op.map.results
    ]
    return layout_of(value), value.type.shape, along, often  # type: ignore[attr-defined]


def _longer(shape: Sequence[int], dim: int, size: int, memory: DeviceMemory) -> list[list[int]]:
    """The shapes to consider: `shape` itself, and with dimension `dim` padded."""
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
    """The shape for which accesses take the fewest bank cycles; of equal ones the smallest."""

    def cost(rows: Sequence[int]) -> tuple[int, int]:
        strides = row_major_strides(rows)
        turns = sum(
            often
            * _turns(layout, whole, [_distance(d, strides) for d in along], size, threads, memory)
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
    """How many cycles the banks take when threads in lockstep access a vector."""
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

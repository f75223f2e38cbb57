"""Operators that move elements: parts along an axis, slices, padding, repetition, transposes."""

from __future__ import annotations

from ...dialects.nn.movement import slice_bounds
from .words import *

FAR = 2**31 - 1
"""An end of this or more means "to the end": exporters write it so."""

Index = int | Value
"""A position or a number of elements: a number, or a 0-d tensor of i64."""


def bounds(begin: Dim, end: Dim, step: Dim, extent: Dim) -> tuple[Dim, int, int] | None:
    """(extent of the result, first element, step); None if known at run time only."""
    if begin is None or step is None:
        return None
    if extent is None:
        to_end = end is not None and end >= FAR
        return (None, begin, 1) if to_end and step == 1 and begin >= 0 else None
    if end is None:
        return None
    count, first = slice_bounds(begin, end, step, extent)
    return count, first, step if count else 1


Range = tuple[Index, Index | None, int]
"""(begin, end, step) of a slice; without an end it is one element."""


def slice_axis(n: Layer, x: Value, axis: int, begin: Index, end: Index, step: int = 1) -> Value:
    """x[.., begin:end:step, ..], with Python's meaning of negative positions."""
    return sliced(n, x, {axis: (begin, end, step)})


def sliced(n: Layer, x: Value, ranges: Mapping[int, Range]) -> Value:
    """x[begin:end:step, ..] along some axes: one op for all known ranges, one for each other."""
    rank = x.type.rank
    shape, starts, steps = list(x.type.shape), [0] * rank, [1] * rank
    late = {}
    for axis, (first, last, step) in ranges.items():
        extent, start = shape[axis], _number(n, first)
        if last is None and start is not None and extent is not None:
            if not -extent <= start < extent:
                raise n.error(f"index {start} is out of range for {extent} elements")
            shape[axis], starts[axis] = 1, start % extent
            continue
        found = None if last is None else bounds(start, _number(n, last), step, extent)
        if found is None:
            late[axis] = first, last, step
        else:
            shape[axis], starts[axis], steps[axis] = found
    x = portion(n, x, starts, shape, steps)
    for axis, (first, last, step) in late.items():
        if last is None:
            x = n(nn.Gather(x, as_vector(n, first), axis=axis))
            continue
        begin, end, at, by = (as_vector(n, v) for v in (first, last, axis, step))
        left = [None if i == axis else d for i, d in enumerate(x.type.shape)]
        x = sliced_by(n, x, begin, end, at, by, left)
    return x


def portion(
    n: Layer, x: Value, starts: Sequence[int], shape: Sequence[Dim], steps: Sequence[int] = ()
) -> Value:
    """The slice of x that begins at `starts` and has this shape."""
    out = TensorType(tuple(shape), x.type.element_type)
    if not any(starts) and not set(steps) - {1} and out is x.type:
        return x
    return n(nn.Slice(x, starts=tuple(starts), steps=tuple(steps) or (1,) * len(shape), out=out))


def sliced_by(
    n: Layer,
    x: Value,
    starts: Value,
    ends: Value,
    axes: Value,
    steps: Value,
    shape: Sequence[Dim] | None = None,
) -> Value:
    """The slice of x by 1-D integer tensors; `shape` is what is known of the result's shape."""
    out = TensorType(tuple(shape or (None,) * x.type.rank), x.type.element_type)
    return n(nn.SliceDynamic(x, *(n.cast(v, i64) for v in (starts, ends, axes, steps)), out=out))


def _number(n: Layer, value: Index) -> int | None:
    if isinstance(value, int):
        return value
    known = n.known(value)
    return None if known is None else int(known)


def as_vector(n: Layer, value: Index) -> Value:
    """A number as a 1-D tensor of one element."""
    if isinstance(value, int):
        return n.constant(np.array([value], np.int64))
    return n(nn.Reshape(n.cast(value, i64), out=TensorType((1,), i64)))


def column(n: Layer, x: Value, axis: int, at: Index) -> Value:
    """The slice at index `at` of an axis, without this axis; negative ones count from the end."""
    extent = x.type.shape[axis]
    if isinstance(at, int) and (extent is not None or at >= 0):
        if extent is not None and not -extent <= at < extent:
            raise n.error(f"index {at} is out of range for axis {axis} of {extent} elements")
        place = at if extent is None else at % extent
        part = slice_axis(n, x, axis, place, place + 1)
        if part.type.shape[axis] == 1:
            return reshape(n, part, [(part, i) for i in range(x.type.rank) if i != axis])
    index = n.constant(at, i64) if isinstance(at, int) else n.cast(at, i64)
    return n(nn.Gather(x, index, axis=axis))


def transposed(n: Layer, x: Value, order: Sequence[int]) -> Value:
    """x with its dimensions permuted to `order`."""
    if tuple(order) == tuple(range(len(order))):
        return x
    return n(nn.Transpose(x, permutation=tuple(order)))


def swapped(n: Layer, x: Value, first: int, second: int) -> Value:
    """x with two dimensions exchanged."""
    order = list(range(x.type.rank))
    order[first], order[second] = order[second], order[first]
    return transposed(n, x, order)


def concat(n: Layer, inputs: Sequence[Value], axis: int) -> Value:
    """Values concatenated along an axis; empty ones are left out."""
    parts = [value for value in inputs if value.type.shape[axis] != 0] or [inputs[0]]
    return concatenated(n, parts, axis)


def unsqueezed(n: Layer, x: Value, *axes: int) -> Value:
    """x with a new dimension of extent 1 inserted at each axis in turn."""
    extents = dims(x)
    for axis in axes:
        extents.insert(axis if axis >= 0 else axis + len(extents) + 1, 1)
    return reshape(n, x, extents)


def squeezed(n: Layer, x: Value, *axes: int) -> Value:
    """x without these axes, of extent 1; they count from the front."""
    return reshape(n, x, [(x, i) for i in range(x.type.rank) if i not in axes])


def stacked(n: Layer, values: Sequence[Value], axis: int) -> Value:
    """Values of one shape stacked along a new axis."""
    parts = [unsqueezed(n, value, axis) for value in values]
    return concatenated(n, parts, axis)


def padded_by(
    n: Layer,
    x: Value,
    pads: Sequence[int],
    value: Value | float | None = None,
    mode: str = "constant",
) -> Value:
    """x padded by `pads`, the begins of all dimensions, then their ends; negative ones cut.

    `value` is the value of new elements in the mode "constant", by default 0.
    """
    if not any(pads):
        return x
    if mode != "constant":
        return n(nn.Pad(x, None, pads=tuple(pads), mode=mode))
    fill = value if isinstance(value, Value) else n.scalar(value or 0, x)
    return n(nn.Pad(x, fill, pads=tuple(pads), mode=mode))


def reversed_axes(n: Layer, x: Value, axes: Sequence[int]) -> Value:
    """x with the elements of some axes in reverse order."""
    if 0 in x.type.shape:
        return x
    for axis in (i for i in axes if x.type.shape[i] is None):
        last, down = extent(n, (x, axis)) - 1, n.constant(-1, i64)
        order = n(nn.Range(last.value, down, down, out=TensorType((None,), i64)))
        x = n(nn.Gather(x, order, axis=axis))
    axes = [axis for axis in axes if x.type.shape[axis] not in (1, None)]
    if not axes:
        return x
    starts = [d - 1 if i in axes else 0 for i, d in enumerate(x.type.shape)]
    steps = tuple(-1 if i in axes else 1 for i in range(x.type.rank))
    return n(nn.Slice(x, starts=tuple(starts), steps=steps, out=x.type))


def rolled(n: Layer, x: Value, axis: int, shift: int) -> Value:
    """x with element i of an axis moved to (i + shift) modulo the extent."""
    whole = x.type.shape[axis]
    if whole is not None:
        shift = shift % whole if whole else 0
    if not shift:
        return x
    at = -shift if whole is not None else _around(n, x, axis, shift)
    parts = [slice_axis(n, x, axis, at, FAR), slice_axis(n, x, axis, 0, at)]
    return concat(n, parts, axis)


def rolled_at_run_time(n: Layer, x: Value, axis: int, shift: Term) -> Value:
    """`rolled` by a shift that is known at run time only, a 0-d i64."""
    own = extent(n, (x, axis))
    places = (counting(n, own) - shift) % own.max(1)
    return n(nn.Gather(x, places.value, axis=axis))


def _around(n: Layer, x: Value, axis: int, shift: int) -> Value:
    """The index of the element that `rolled` puts first, for an unknown extent."""
    own = n(nn.Gather(shape_of(n, x), n.constant(axis, i64), axis=0))
    some = n(nn.Max(own, n.constant(1, i64)))
    return n(nn.Mod(n.constant(-shift, i64), some))


def channels_shuffled(n: Layer, x: Value, groups: int) -> Value:
    """[N, G * C, D..] as [N, C * G, D..]: the first channel of each group comes first."""
    channels = x.type.shape[1]
    if groups == 1:
        return x
    if channels is None or groups < 1 or channels % groups:
        raise n.error(f"{channels or '?'} channels do not split into {groups} groups")
    rest = dims(x)[2:]
    apart = reshape(n, x, [(x, 0), groups, channels // groups, *rest])
    return reshape(n, swapped(n, apart, 1, 2), [(x, 0), channels, *rest])


def split_into(n: Layer, x: Value, axis: int, sizes: Sequence[int]) -> list[Value]:
    """Consecutive parts of these sizes along the axis; empty parts need no op."""
    types = [_part_type(x, axis, size) for size in sizes]
    filled = [type for type, size in zip(types, sizes, strict=True) if size]
    if len(filled) == 1:
        parts = iter([x])
    elif filled:
        parts = iter(n(nn.Split(x, axis=axis, outs=filled)))
    else:
        parts = iter(())
    return [
        next(parts) if size else n(nn.Slice(x, starts=(0,) * x.type.rank, out=type))
        for type, size in zip(types, sizes, strict=True)
    ]


def _part_type(x: Value, axis: int, size: int) -> TensorType:
    shape = tuple(size if i == axis else d for i, d in enumerate(x.type.shape))
    return TensorType(shape, x.type.element_type)


def split_evenly(n: Layer, x: Value, axis: int, count: int) -> list[Value]:
    """`count` equal parts along an axis. Raises NncError where its extent does not divide."""
    extent = n.extent(x, axis)
    if count < 1 or extent % count:
        raise n.error(f"{extent} elements do not split into {count} equal parts")
    return split_into(n, x, axis, (extent // count,) * count)


def tiled(n: Layer, x: Value, repeats: Value) -> Value:
    """The whole tensor repeated along each dimension, as often as a 1-D tensor of i64 says."""
    if n.known(repeats) is None:
        return _tiled_at_run_time(n, x, repeats)
    counts = n.known_ints(repeats, "repeats")
    if len(counts) != x.type.rank or min(counts, default=0) < 0:
        raise n.error(f"repeats are {list(counts)}, expected {x.type.rank} numbers from 0 on")
    return n(nn.Tile(x, repeats=counts)) if set(counts) != {1} else x


def _tiled_at_run_time(n: Layer, x: Value, repeats: Value) -> Value:
    """`tiled` by repeats known only at run time: [d] becomes [1, d], broadcast to [repeat, d]."""
    rank, element = x.type.rank, x.type.element_type
    if rank == 0:
        return x
    own = shape_of(n, x)
    ones = n.constant(np.ones(rank, np.int64))
    pairs = [n(nn.Concat([_as_column(n, v), _as_column(n, own)], axis=1)) for v in (ones, repeats)]
    apart, wide = (n(nn.Reshape(v, out=TensorType((2 * rank,), i64))) for v in pairs)
    twice = TensorType((None,) * (2 * rank), element)
    spread = n(nn.ReshapeDynamic(x, apart, out=twice))
    repeated = n(nn.BroadcastDynamic(spread, wide, out=twice))
    shape = [
        None if d is None or r is None else d * r
        for d, r in zip(x.type.shape, n.extents(repeats) or (None,) * rank, strict=True)
    ]
    total = n(nn.Mul(own, repeats))
    return n(nn.ReshapeDynamic(repeated, total, out=TensorType(tuple(shape), element)))


def _as_column(n: Layer, vector: Value) -> Value:
    return n(nn.Reshape(vector, out=TensorType((vector.type.shape[0], 1), i64)))

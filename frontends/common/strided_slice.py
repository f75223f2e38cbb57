"""TensorFlow's strided slices: one specification for each dimension, modified by bit masks."""

from __future__ import annotations

from dataclasses import dataclass, field

from .movement import FAR, Index, Range, sliced
from .words import *


@dataclass(frozen=True)
class Masks:
    """Bit masks: bit i of each mask describes specification i.

    With its bit set, the specification begins at the first element (`begin`), ends at the last
    (`end`), stands for all dimensions without a specification (`ellipsis`), inserts a dimension
    (`new_axis`), or takes one element of a dimension, which is dropped (`shrink`). With
    `drops_at_begin`, as in TensorFlow Lite, that is the first element if `begin` is set, too.
    """

    begin: int = 0
    end: int = 0
    ellipsis: int = 0
    new_axis: int = 0
    shrink: int = 0
    drops_at_begin: bool = field(default=False, kw_only=True)


def strided_slice(
    n: Layer, x: Value, begin: Value, end: Value, strides: Value, masks: Masks
) -> Value:
    """x[begin:end:strides, ..] by 1-D tensors of integers; only strides must be known."""
    steps = n.known_ints(strides, "strides")
    begins, ends = (elements(n, v, len(steps)) for v in (begin, end))
    places = _places(n, x, len(steps), masks)
    dropped = [axis for i, axis in places.items() if masks.shrink >> i & 1]
    ranges: dict[int, Range] = {}
    for i, axis in places.items():
        first, last, step = begins[i], ends[i], steps[i]
        if step == 0:
            raise n.error("a stride is 0")
        is_dropped, from_begin = masks.shrink >> i & 1, masks.begin >> i & 1
        if is_dropped:
            at_begin = masks.drops_at_begin and from_begin
            ranges[axis] = 0 if at_begin else first, None, 1
            continue
        if from_begin:
            first = 0 if step > 0 else FAR
        if masks.end >> i & 1:
            last = FAR if step > 0 else -FAR
        ranges[axis] = first, last, step
    return _shaped(n, sliced(n, x, ranges), len(steps), masks, places, dropped)


def elements(n: Layer, vector: Value, count: int) -> list[Index]:
    """The elements of a vector: numbers, or 0-d tensors where they are computed at run time."""
    vector = of_length(n, vector, count)
    known = n.extents(vector)
    if known is None or len(known) != count:
        raise n.error(f"begin, end and strides of a slice must be {count} numbers each")
    wide = as_i64(n, vector)
    return [
        as_scalar(n, part_of_vector(n, wide, i, i + 1)) if d is None else int(d)
        for i, d in enumerate(known)
    ]


def _places(n: Layer, x: Value, count: int, masks: Masks) -> dict[int, int]:
    """The dimension of each specification that has one."""
    places, axis = {}, 0
    real = [i for i in range(count) if not (masks.ellipsis | masks.new_axis) >> i & 1]
    if len(real) > x.type.rank:
        raise n.error(f"a slice of {len(real)} dimensions of a tensor of rank {x.type.rank}")
    for i in range(count):
        if masks.ellipsis >> i & 1:
            axis = x.type.rank - sum(j > i for j in real)
        elif i in real:
            places[i] = axis
            axis += 1
    return places


def _shaped(
    n: Layer, x: Value, count: int, masks: Masks, places: dict[int, int], dropped: list[int]
) -> Value:
    """The slice with its new dimensions inserted, and without the dropped ones."""
    extents: list[Extent] = []
    axis = 0

    def upto(end: int) -> None:
        nonlocal axis
        extents.extend((x, a) for a in range(axis, end) if a not in dropped)
        axis = max(axis, end)

    for i in range(count):
        if i in places:
            upto(places[i] + 1)
        elif masks.ellipsis >> i & 1:
            following = [places[j] for j in range(i, count) if j in places]
            upto(following[0] if following else x.type.rank)
        else:
            extents.append(1)
    upto(x.type.rank)
    return reshape(n, x, extents)

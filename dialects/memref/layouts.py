"""Memref types of views: strides and offsets of subviews, reshapes and transposes."""

from __future__ import annotations

from itertools import pairwise

from ...ir.attributes import StridedLayoutAttr
from ...ir.types import Dim
from ..index_lists import to_dims
from ..vocabulary import *


def open_parts(type: MemRefType) -> tuple[tuple[str, int], ...]:
    """The sizes and strides of a memref type that are not known: ("size", i) and ("stride", i).

    They are passed to functions along with the pointer. A contiguous memref needs no strides, since
    they follow from its sizes.
    """
    parts = [("size", i) for i, extent in enumerate(type.shape) if extent is None]
    if type.layout is not None:
        strides, _ = type.strides_and_offset() or ((), None)
        parts += [("stride", i) for i, stride in enumerate(strides) if stride is None]
    return tuple(parts)


def product(*factors: Dim) -> Dim:
    """The product of dimensions: None if a factor is unknown, but 0 if one is 0."""
    if any(f is None for f in factors):
        return 0 if 0 in factors else None
    total = 1
    for factor in factors:
        total *= factor  # type: ignore[operator]
    return total


def strided(
    type: MemRefType, shape: Sequence[Dim], strides: Sequence[Dim], offset: Dim
) -> MemRefType:
    """The type with another shape, strides and offset; without a layout if it is contiguous."""
    layout = StridedLayoutAttr(tuple(strides), offset)
    made = MemRefType(tuple(shape), type.element_type, layout, type.memory_space)
    return made.with_layout(None) if made.is_row_major else made


def reshaped(
    type: MemRefType, shape: Sequence[Dim], strides: Sequence[Dim], offset: Dim
) -> MemRefType:
    """As `strided`, but a contiguous memref stays so even if its strides are unknown."""
    if type.layout is None:
        return MemRefType(tuple(shape), type.element_type, None, type.memory_space)
    return strided(type, shape, strides, offset)


def subview_type(
    source: MemRefType, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
) -> MemRefType:
    """The type that `memref.subview` infers from its static lists (not rank-reduced)."""
    found = source.strides_and_offset()
    if found is None:
        found = (None,) * source.rank, None
    source_strides, offset = found
    for at, stride in zip(to_dims(offsets), source_strides, strict=True):
        step = product(at, stride)
        offset = None if step is None or offset is None else offset + step
    new = [product(a, b) for a, b in zip(source_strides, to_dims(strides), strict=True)]
    layout = StridedLayoutAttr(tuple(new), offset)
    return MemRefType(to_dims(sizes), source.element_type, layout, source.memory_space)


def rank_reduced(inferred: MemRefType, shape: Sequence[Dim]) -> MemRefType | None:
    """The inferred type without some dimensions of size 1, so that it has the given shape.

    None if that is not possible. Where there is a choice, the first dimensions are kept, as
    upstream does.
    """
    found = inferred.strides_and_offset()
    assert found is not None
    strides, offset = found
    kept: list[int] = []
    wanted = list(shape)
    for i, extent in enumerate(inferred.shape):
        if len(kept) < len(wanted) and extent == wanted[len(kept)]:
            kept.append(i)
        elif extent != 1:
            return None
    if len(kept) != len(wanted):
        return None
    return strided(inferred, wanted, [strides[i] for i in kept], offset)


def expanded_strides(
    source: MemRefType, groups: Sequence[Sequence[int]], shape: Sequence[Dim]
) -> tuple[list[Dim], Dim] | None:
    """The strides and offset of a memref whose dimensions were split; None if they are unknown."""
    found = source.strides_and_offset()
    if found is None:
        return None
    return expand(groups, shape, found[0], product), found[1]


def expand(
    groups: Sequence[Sequence[int]], sizes: Sequence[Any], strides: Sequence[Any], times: Any
) -> list[Any]:
    """The strides of split dimensions, from the `strides` of the groups that they were split from.

    `times` multiplies two sizes or strides, which may be numbers or values.
    """
    made: list[Any] = [1] * len(sizes)
    for group, step in zip(groups, strides, strict=True):
        for i in reversed(group):
            made[i] = step
            if i != group[0]:
                step = times(step, sizes[i])
    return made


def collapse(
    groups: Sequence[Sequence[int]], sizes: Sequence[Any], strides: Sequence[Any], times: Any
) -> tuple[list[Any], list[Any]]:
    """The sizes and strides of joined dimensions.

    `times` multiplies two sizes, which may be numbers or values.
    """
    found: tuple[list[Any], list[Any]] = [], []
    for group in groups:
        size: Any = 1
        for i in group:
            size = times(size, sizes[i])
        # Of the innermost dimension that is not of size 1, whose stride means nothing.
        inner = [i for i in group if sizes[i] != 1] or group[-1:]
        found[0].append(size)
        found[1].append(strides[inner[-1]] if inner else 1)
    return found


def collapsed_strides(
    source: MemRefType, groups: Sequence[Sequence[int]]
) -> tuple[list[Dim], Dim] | None:
    """The strides and offset after joining groups of dimensions; None if a group is not contiguous.

    A group is assumed to be contiguous if that does not follow from the type. The stride of a group
    is that of its last dimension that does not have size 1; if that one's size is unknown, it may
    turn out to be 1, and then the stride is unknown too.
    """
    found = source.strides_and_offset()
    if found is None:
        return None
    source_strides, offset = found
    strides: list[Dim] = []
    for group in groups:
        last = next((i for i in reversed(group) if source.shape[i] != 1), group[0])
        certain = source.shape[last] is not None or last == group[0]
        strides.append(source_strides[last] if certain else None)
        step: Dim = strides[-1]
        for outer, inner in reversed(list(pairwise(group))):
            step = product(step, source.shape[inner])
            known = source_strides[outer]
            if source.shape[outer] != 1 and not compatible(step, known):
                return None
    return strides, offset


def compatible(a: Any, b: Any) -> bool:
    """Whether two dimensions, strides or offsets may be equal at run time; None is unknown."""
    return a is None or b is None or a == b


def dropped_dimensions(
    whole: MemRefType, part: MemRefType, static_sizes: Sequence[int]
) -> set[int] | None:
    """Which dimensions of size 1 of `whole` are not in `part`, a part of lower rank.

    Where there are more of size 1 than are dropped, those whose strides `part` has are kept. None
    if the types do not fit.
    """
    missing = whole.rank - part.rank
    if not missing:
        return set()
    ones = [i for i, size in enumerate(static_sizes) if size == 1]
    if len(ones) == missing:
        return set(ones)
    strides, kept = whole.strides_and_offset(), part.strides_and_offset()
    if strides is None or kept is None:
        return None
    left = list(strides[0])
    dropped = set()
    for i in ones:
        stride = strides[0][i]
        if left.count(stride) < kept[0].count(stride):
            return None
        if left.count(stride) > kept[0].count(stride):
            left.remove(stride)
            dropped.add(i)
    return dropped if len(dropped) == missing else None


def same_layout(a: MemRefType, b: MemRefType) -> bool:
    """Whether two types of one shape have the same strides and offset."""
    found, wanted = a.strides_and_offset(), b.strides_and_offset()
    if found is None or wanted is None:
        return a.layout is b.layout
    # The stride of a dimension of size 1 says nothing.
    strides = zip(found[0], wanted[0], a.shape, strict=True)
    return found[1] == wanted[1] and all(x == y or n == 1 for x, y, n in strides)


def element_strides(array: Any) -> list[int]:
    """The strides of an array in elements, not bytes."""
    return [s // array.itemsize for s in array.strides]

"""Types of views: strides and offsets of subviews, reshapes and transposes."""

from __future__ import annotations

from itertools import pairwise

from ...ir.attributes import StridedLayoutAttr
from ...ir.types import Dim
from ..index_lists import to_dims
from ..vocabulary import *


def open_parts(type: MemRefType) -> tuple[tuple[str, int], ...]:
    """The dynamic parts of a memref type: ("size", dim) and ("stride", dim), passed with a pointer.

    The strides of a contiguous memref follow from its sizes, so it needs none.
    """
    parts = [("size", i) for i, extent in enumerate(type.shape) if extent is None]
    if type.layout is not None:
        strides, _ = type.strides_and_offset() or ((), None)
        parts += [("stride", i) for i, stride in enumerate(strides) if stride is None]
    return tuple(parts)


def product(*factors: Dim) -> Dim:
    """The product, unknown where a factor is; a zero factor makes it zero."""
    if any(f is None for f in factors):
        return 0 if 0 in factors else None
    total = 1
    for factor in factors:
        total *= factor  # type: ignore[operator]
    return total


def strided(
    type: MemRefType, shape: Sequence[Dim], strides: Sequence[Dim], offset: Dim
) -> MemRefType:
    """A type like another with shape, strides and offset; contiguous ones lose the layout."""
    layout = StridedLayoutAttr(tuple(strides), offset)
    made = MemRefType(tuple(shape), type.element_type, layout, type.memory_space)
    return made.with_layout(None) if made.is_row_major else made


def reshaped(
    type: MemRefType, shape: Sequence[Dim], strides: Sequence[Dim], offset: Dim
) -> MemRefType:
    """Like `strided`, where a contiguous memref stays one although its strides are not known."""
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
    """The inferred type without some of its size-1 dimensions, so that the shape matches.

    None where the shape is no such reduction. Where several dimensions could go, the first
    ones are kept, as upstream does.
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
    """Strides of an expanded shape, and the offset."""
    found = source.strides_and_offset()
    if found is None:
        return None
    return expand(groups, shape, found[0], product), found[1]


def expand(
    groups: Sequence[Sequence[int]], sizes: Sequence[Any], strides: Sequence[Any], times: Any
) -> list[Any]:
    """Strides of expanded dimensions, from those of the groups; `times` multiplies sizes."""
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
    """Sizes and strides of collapsed dimensions; `times` multiplies sizes."""
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
    """Strides of a collapsed shape, and the offset; None where a group is not contiguous.

    A group whose contiguity cannot be told from the type is taken to be contiguous. Its stride
    is that of its last dimension; one of unknown size may turn out to have size 1, and then its
    stride says nothing.
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
    """Whether two dimensions, strides or offsets may be equal at run time."""
    return a is None or b is None or a == b


def dropped_dimensions(
    whole: MemRefType, part: MemRefType, static_sizes: Sequence[int]
) -> set[int] | None:
    """Which dimensions of size 1 a part of lower rank leaves out; None if that cannot be.

    A dimension is left out if its stride is: of several of size 1, those whose strides the part
    has stay.
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
    """Strides in elements."""
    return [s // array.itemsize for s in array.strides]

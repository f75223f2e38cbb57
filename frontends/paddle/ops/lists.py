"""Arrays of tensors, which loops write: a tensor whose first dimension counts the elements."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import PaddleLayer, rows


@rows("create_array")
def create(n: PaddleLayer) -> Value:
    """An array without elements; extents that are unknown are 0 until the first write."""
    shape = (0, *(max(d, 0) for d in n.ints("shape")))
    return n.constant(np.zeros(shape), n.element("dtype", f32))


@rows("array_write_")
def write(n: PaddleLayer, array: Value, item: Value, index: Value) -> Value:
    """The array with an element replaced, or with one more behind its last."""
    n.get("shape")
    at = Term(n, as_scalar(n, as_i64(n, index)))
    own = [(item, i) for i in range(item.type.rank)]
    before = _elements(n, array, counting(n, at.min(extent(n, (array, 0)))), own)
    behind = counting(n, (extent(n, (array, 0)) - at - 1).max(0)) + at + 1
    parts = [before, reshape(n, item, [1, *own]), _elements(n, array, behind, own)]
    return concat(n, parts, 0)


def _elements(n: PaddleLayer, array: Value, places: Term, own: list[Any]) -> Value:
    """The elements of an array at `places`, with the extents `own`, even if the array is empty."""
    found = Term(n, array).gather(places).value
    return reshape(n, found, [(found, 0), *own])


@rows("assign_out_")
def assign(n: PaddleLayer, x: Value, old: Value) -> Value:
    return x


@rows("array_read")
def read(n: PaddleLayer, array: Value, index: Value) -> Value:
    return column(n, array, 0, as_scalar(n, as_i64(n, index)))


@rows("array_length")
def length(n: PaddleLayer, array: Value) -> Value:
    return extent(n, (array, 0)).value


@rows("array_to_tensor")
def joined_elements(n: PaddleLayer, array: Value) -> list[Value | None]:
    """The elements along a new dimension, or joined along one that they have."""
    stacks, rank = n.flag("use_stack"), array.type.rank
    axis = n.int("axis") % (rank if stacks else rank - 1)
    order = (*range(1, axis + 1), 0, *range(axis + 1, rank))
    found = transposed(n, array, order)
    if not stacks:
        groups = [(i, i + 1) for i in range(rank) if i < axis or i > axis + 1]
        found = merge(n, found, sorted([*groups, (axis, axis + 2)]))
    return [found, None]

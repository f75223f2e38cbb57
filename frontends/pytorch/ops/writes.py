"""Writes through views: a tensor with the elements that a view reads replaced."""

from __future__ import annotations

from ...common.bits import as_unsigned
from ...common.diagonals import diagonal_places
from ...common.vocabulary import *
from ..arguments import words
from ..layer import AtenLayer, Size
from ..rows import ROWS
from .views import (
    ORDERS,
    PARTS,
    order_of,
    part_sizes,
    strided_places,
    unfold,
    unsqueeze,
)

_SAME = words(
    """
    alias detach contiguous to type_as dropout feature_dropout lift_fresh
    """
)
_RESHAPES = words(
    """
    view reshape _unsafe_view _reshape_alias view_as flatten unflatten unsqueeze squeeze
    """
)

_GATHERED = {"unfold": unfold}
"""Views that read elements at positions, which are written there."""


@ROWS("nnc.write")
def written(
    n: AtenLayer, self: Value, value: Value, view: str, part: int, arguments: dict[str, Any]
) -> Value:
    return write(n, self, value, view, part, arguments)


def write(
    n: AtenLayer, x: Value, value: Value, kind: str, part: int, arguments: dict[str, Any]
) -> Value:
    """x with the part that the view operator `kind` reads replaced by `value`."""
    name = kind.split(".")[1]
    value = n.cast(value, x.type.element_type)
    if name in _SAME:
        return value
    if name in _RESHAPES:
        return n.reshape(value, n.shape(x))
    if name in ORDERS:
        order = order_of(n, name, x.type.rank, arguments)
        return transposed(n, value, [order.index(i) for i in range(len(order))])
    if name in PARTS or name in ("slice", "narrow", "select", "unbind"):
        return _along(n, x, value, name, part, arguments)
    if name == "diagonal":
        return _diagonal(n, x, value, **arguments)
    if name == "as_strided":
        return _strided(n, x, value, **arguments)
    if name in _GATHERED:
        count = Term(n, shape_of(n, x)).product(0)
        places = n.reshape(counting(n, count).value, n.shape(x))
        return _scattered(n, x, value, _GATHERED[name](n, places, **arguments))
    if name in ("expand", "expand_as") and value.type.shape == x.type.shape:
        return value
    raise n.error(f"a write through a view of {kind} is not supported")


def _strided(n: AtenLayer, x: Value, value: Value, size: Any, stride: Any, **given: Any) -> Value:
    places = strided_places(n, x, size, stride, given.get("storage_offset"))
    return _scattered(n, x, value, places)


def _scattered(n: AtenLayer, x: Value, value: Value, places: Value) -> Value:
    """x with the elements at these flat places replaced.

    Where several elements of a view are one of x, a write through a part of the view changes some
    of them only: those that are as before are not written.
    """
    flat, rows, at = (Term(n, v).flat() for v in (x, value, places))
    known = n.known(places)
    if known is not None and np.unique(known).size == known.size:
        found = n(nn.ScatterElements(flat.value, at.value, rows.value))
        return n.reshape(found, n.shape(x))
    before, after = (as_unsigned(n, v.value) for v in (flat.gather(at), rows))
    count = extent(n, (flat.value, 0))
    at = after.equals(before).choose(count, at)
    longer = concat(n, [flat.value, n.constant(np.zeros(1), x.type.element_type)], 0)
    found = n(nn.ScatterElements(longer, at.value, rows.value))
    return n.reshape(slice_axis(n, found, 0, 0, -1), n.shape(x))


def _along(
    n: AtenLayer, x: Value, value: Value, name: str, part: int, given: dict[str, Any]
) -> Value:
    """x with a part of an axis replaced: the elements before, the value, and those after."""
    axis = n.axis(given.get("dim", 0), x.type.rank)
    step, end = 1, None
    if name == "slice":
        start, step = n.number(given.get("start")) or 0, n.int(given.get("step", 1))
    elif name == "narrow":
        start = n.number(given["start"])
    elif name in ("select", "unbind"):
        start = part if name == "unbind" else n.number(given["index"])
        value = unsqueeze(n, value, axis)
    else:
        others = [v for k, v in given.items() if k != "dim"]
        start = _sum(n, part_sizes(n, name, x, axis, others[0], part + 1)[:part])
    extent = x.type.shape[axis]
    if isinstance(start, int) and start < 0 and extent is not None:
        start = max(start + extent, 0)
    if isinstance(start, Value) or step != 1 or value.type.shape[axis] is None or start < 0:
        return _placed(n, x, value, axis, start, step)
    if value.type.shape[axis] == extent:
        return value
    end = start + value.type.shape[axis]
    behind = slice_axis(n, x, axis, end, FAR)
    return concat(n, [slice_axis(n, x, axis, 0, start), value, behind], axis)


def _sum(n: AtenLayer, sizes: Sequence[Size]) -> Size:
    if not any(isinstance(size, Value) for size in sizes):
        return sum(sizes)  # type: ignore[arg-type]
    return n.number(Term(n, n.vector(sizes)).sum(0).value)


def _placed(n: AtenLayer, x: Value, value: Value, axis: int, start: Any, step: int) -> Value:
    places = counting(n, extent(n, (value, axis))) * step + Term(n, n.as_value(start, i64))
    wide = n.expand(places.spread(0, x.type.rank - 1 - axis).value, n.shape(value))
    return n(nn.ScatterElements(x, wide, value, axis=axis))


def _diagonal(
    n: AtenLayer, x: Value, value: Value, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Value:
    rank = x.type.rank
    a, b = n.axis(dim1, rank), n.axis(dim2, rank)
    order = [a, b, *(i for i in range(rank) if i not in (a, b))]
    places = diagonal_places(n, x, offset, a, b)
    last = value.type.rank - 1
    rows = transposed(n, value, [last, *range(last)])
    done = n(nn.ScatterNd(transposed(n, x, order), places, rows))
    return transposed(n, done, [order.index(i) for i in range(rank)])

"""Scattering: elements are replaced, or combined with others, where indices say.

A negative index counts from the end. An index out of range ends the run with a status.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects import arith, nn, vector
from ...ir.core import Value
from ...ir.types import FloatType, IntegerType, Type, VectorType, i1
from .bounds import LANES, require_in_range, wrapped
from .emitter import Emitter
from .extents import Size
from .indexing import require_extents
from .reshaping import reinterpreted
from .scalars import apply, compute_type, convert, narrow
from .storage import storage_type
from .table import lowers
from .updates import Search


def _require_updates(
    e: Emitter, updates: Value, indices: Sequence[Size], rest: Sequence[Size] = ()
) -> None:
    """Emit checks that the shape of the updates is `indices` followed by `rest`."""
    for axis, (found, wanted) in enumerate(zip(e.sizes(updates), [*indices, *rest], strict=True)):
        text = f"extent {axis} of its updates does not fit its indices and data"
        e.require_equal(found, wanted, text)


@lowers(nn.ScatterElements)
def lower_scatter_elements(e: Emitter, op: nn.ScatterElements) -> None:
    """Copy the data, then apply the updates one after the other."""
    data, indices = e.buffer(op.data), e.buffer(op.indices)
    updates = e.buffer(op.updates)
    bounds = e.sizes(indices)
    require_extents(e, indices, data, op.axis)
    _require_updates(e, updates, bounds)
    out = e.destination(op.out, e.sizes(data))
    e.copy(data, out)
    extent = e.size(out, op.axis)
    element = op.out.type.element_type

    def update(where: Sequence[Size]) -> None:
        at = wrapped(e, e.load(indices, where), extent)
        places = [*where]
        places[op.axis] = at
        e.require(e.compare("ult", at, extent), "an index is out of range")
        _update(e, op.reduction, out, places, e.load(updates, where), element)

    if not e.globals.has_groups:
        with e.loops(bounds) as where:
            update(where)
        return
    reached = _reached(e, out, bounds, op.axis)
    search = Search(e, element, reached, updates, op.axis, indices)
    if search.pays(op, op.reduction):
        require_in_range(e, op.indices, [extent])
        search.apply(op.reduction)
        return
    count = bounds.pop(op.axis)
    with e.parallel(bounds) as others, e.loop(count) as i:  # Only along the axis do updates meet.
        update([*others[: op.axis], i, *others[op.axis :]])


def _reached(e: Emitter, out: Value, bounds: Sequence[Size], axis: int) -> Value:
    """The part of a result that updates may change: all, but for what is beyond the indices."""
    reached = [*bounds[:axis], e.size(out, axis), *bounds[axis + 1 :]]
    if all(n is whole for n, whole in zip(reached, e.sizes(out), strict=True)):
        return out
    return e.subview(out, [0] * len(reached), reached)


@lowers(nn.ScatterNd)
def lower_scatter_nd(e: Emitter, op: nn.ScatterNd) -> None:
    """Copy the data, then apply the updates (elements or slices) one after the other."""
    data, indices = e.buffer(op.data), e.buffer(op.indices)
    updates = e.buffer(op.updates)
    extents, shape = e.sizes(data), e.sizes(indices)
    length = op.indices.type.shape[-1]
    _require_updates(e, updates, shape[:-1], extents[length:])
    out = e.destination(op.out, extents)
    e.copy(data, out)
    element = op.out.type.element_type
    rest = e.sizes(updates)[len(shape) - 1 :]
    if length and e.globals.has_groups:
        count = e.product(shape[:-1])
        index_rows = reinterpreted(e, indices, [count, length])
        update_rows = reinterpreted(e, updates, [count, *rest])
        search = Search(e, element, out, update_rows, 0, index_rows, length, has_rows=True)
        if search.pays(op, op.reduction):
            require_in_range(e, op.indices, extents[:length])
            search.apply(op.reduction)
            return
    # Rows of elements are updated in vectors; a device has a thread for each column instead.
    columns = rest if e.globals.has_groups else []
    with e.parallel(columns) as column, e.loops(shape[:-1]) as where:
        places: list[Size] = []
        inside = e.constant(1, i1)
        for i in range(length):
            at = wrapped(e, e.load(indices, [*where, i]), extents[i])
            fits = e.compare("ult", at, extents[i])
            inside = e.insert(arith.AndI(inside, fits)).result
            places.append(at)

        def update(inner: Sequence[Size], lanes: int = 0) -> None:
            value = _load(e, updates, [*where, *inner], lanes)
            _update(e, op.reduction, out, [*places, *inner], value, element, lanes)

        e.require(inside, "an index is out of range")
        row = rest[-1] if rest else None
        if columns:
            update(column)
        elif isinstance(row, int) and _has_vectors(element):
            with e.loops(rest[:-1]) as before:
                _along_row(e, row, lambda at, lanes: update([*before, at], lanes))
        else:
            with e.loops(rest) as inner:
                update(inner)


def _has_vectors(element: Type) -> bool:
    """Whether an element type has vectors, and is computed in the type that it has in memory."""
    is_number = isinstance(element, FloatType | IntegerType) and element is not i1
    return is_number and compute_type(element) is storage_type(element)


def _along_row(e: Emitter, extent: int, update: Callable[[Size, int], None]) -> None:
    """Call `update(first, lanes)` for vectors of `LANES` elements, then for the smaller rest."""
    count, rest = divmod(extent, LANES)
    if count > 1:
        with e.loop(count) as i:
            update(e.mul(i, LANES), LANES)
    elif count:
        update(0, LANES)
    at, lanes = count * LANES, LANES // 2
    while lanes:
        if rest & lanes:
            update(at, lanes)
            at += lanes
        lanes //= 2


def _load(e: Emitter, buffer: Value, at: Sequence[Size], lanes: int) -> Value:
    """Load an element, or `lanes` elements as a vector if that is not 0."""
    if not lanes:
        return e.load(buffer, at)
    type = VectorType((lanes,), buffer.type.element_type)
    return e.insert(vector.Load(buffer, [e.value(i) for i in at], result=type)).result


def _update(
    e: Emitter,
    reduction: str,
    out: Value,
    at: Sequence[Size],
    value: Value,
    element: Type,
    lanes: int = 0,
) -> None:
    """Set elements, or combine them with what is there by `reduction`."""
    if lanes:
        if reduction != "none":
            value = apply(e, reduction, element, [_load(e, out, at, lanes), value])
        e.insert(vector.Store(value, out, [e.value(i) for i in at]))
        return
    if reduction != "none":
        wide = compute_type(element)
        both = [convert(e, v, element, wide) for v in (e.load(out, at), value)]
        value = narrow(e, apply(e, reduction, element, both), element)
    e.store(value, out, at)

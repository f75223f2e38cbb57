"""Gathering and scattering: elements whose indices are read from memory.

A negative index counts from the end. An index out of range ends the run with a status before any
memory outside of the operand is accessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects import arith, nn, vector
from ...ir.affine import AffineDim, AffineMap
from ...ir.core import Value
from ...ir.types import FloatType, IntegerType, MemRefType, Type, VectorType, i1, i64
from .bounds import LANES, require_in_range, within, wrapped
from .emitter import Emitter
from .extents import Size
from .scalars import apply, compute_type, convert, narrow
from .storage import storage_type
from .table import lowers


@lowers(nn.Gather)
def lower_gather(e: Emitter, op: nn.Gather) -> None:
    """out[a.., i.., b..] = data[a.., indices[i..], b..]"""
    data, indices = e.buffer(op.data), e.buffer(op.indices)
    axis, count = op.axis, op.indices.type.rank
    extents = e.sizes(data)
    sizes = [*extents[:axis], *e.sizes(indices), *extents[axis + 1 :]]
    out = e.destination(op.out, sizes)
    rank = len(sizes)
    read = AffineMap(rank, 0, tuple(AffineDim(axis + i) for i in range(count)))
    require_in_range(e, op.indices, [extents[axis]])

    def pick(e: Emitter, at: Value, _: Value) -> Value:
        places: list[Size] = [
            *(e.position(d) for d in range(axis)),
            within(e, at, extents[axis]),
            *(e.position(d + count - 1) for d in range(axis + 1, len(extents))),
        ]
        return e.load(data, places)

    e.generic([indices], [out], [read, AffineMap.identity(rank)], ["parallel"] * rank, pick)


def _require_within(e: Emitter, indices: Value, data: Value, axis: int) -> None:
    """Emit checks that `indices` is not larger than `data` along the axes other than `axis`."""
    for other, (count, extent) in enumerate(zip(e.sizes(indices), e.sizes(data), strict=True)):
        if other != axis:
            e.require_at_most(count, extent, f"its indices are more than the data along {other}")


def _require_updates(
    e: Emitter, updates: Value, indices: Sequence[Size], rest: Sequence[Size] = ()
) -> None:
    """Emit checks that the shape of the updates is `indices` followed by `rest`."""
    for axis, (found, wanted) in enumerate(zip(e.sizes(updates), [*indices, *rest], strict=True)):
        text = f"extent {axis} of its updates does not fit its indices and data"
        e.require_equal(found, wanted, text)


@lowers(nn.GatherElements)
def lower_gather_elements(e: Emitter, op: nn.GatherElements) -> None:
    """out[i, j] = data[indices[i, j], j] for axis 0, and so on"""
    data, indices = e.buffer(op.data), e.buffer(op.indices)
    extents = e.sizes(data)
    out = e.destination(op.out, e.sizes(indices))
    _require_within(e, indices, data, op.axis)
    require_in_range(e, op.indices, [extents[op.axis]])

    def pick(e: Emitter, at: Value, _: Value) -> Value:
        places: list[Size] = [e.position(d) for d in range(len(extents))]
        places[op.axis] = within(e, at, extents[op.axis])
        return e.load(data, places)

    e.elementwise([indices], out, pick)


@lowers(nn.GatherNd)
def lower_gather_nd(e: Emitter, op: nn.GatherNd) -> None:
    """out[b.., i.., r..] = data[b.., indices[b.., i.., 0], indices[b.., i.., 1], .., r..]"""
    data, indices = e.buffer(op.data), e.buffer(op.indices)
    batch, extents, shape = op.batch_dims, e.sizes(data), e.sizes(indices)
    length = op.indices.type.shape[-1]
    sizes = [*shape[:-1], *extents[batch + length :]]
    out = e.destination(op.out, sizes)
    lead = len(shape) - 1
    for axis in range(batch):
        e.require_equal(shape[axis], extents[axis], f"its indices do not fit extent {axis}")
    require_in_range(e, op.indices, extents[batch : batch + length])

    def pick(e: Emitter, _: Value) -> Value:
        where = [e.position(d) for d in range(lead)]
        places: list[Size] = [*where[:batch]]
        for i in range(length):
            at = e.load(indices, [*where, i])
            places.append(within(e, at, extents[batch + i]))
        places += [e.position(lead + d) for d in range(len(sizes) - lead)]
        return e.load(data, places)

    e.elementwise([], out, pick)


@lowers(nn.ScatterElements)
def lower_scatter_elements(e: Emitter, op: nn.ScatterElements) -> None:
    """Copy the data, then apply the updates one after the other."""
    data, indices = e.buffer(op.data), e.buffer(op.indices)
    updates = e.buffer(op.updates)
    bounds = e.sizes(indices)
    _require_within(e, indices, data, op.axis)
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
    count = bounds.pop(op.axis)
    with e.parallel(bounds) as others, e.loop(count) as i:  # Only along the axis do updates meet.
        update([*others[: op.axis], i, *others[op.axis :]])


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
    type = VectorType((lanes,), buffer.type.element_type)  # type: ignore[attr-defined]
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


@lowers(nn.OneHot)
def lower_one_hot(e: Emitter, op: nn.OneHot) -> None:
    """Write the second of the two values where the index along the new dimension is the given one,
    else the first.
    """
    indices = e.buffer(op.indices)
    held = e.operand(op.depth)
    depth: Value | int = held
    if isinstance(held.type, MemRefType):
        depth = e.load(held, [0] * op.depth.type.rank)
    depth_type = op.depth.type.element_type
    known = op.out.type.shape[op.axis]
    extent: Size = known if known is not None else e.extent(convert(e, depth, depth_type, i64))
    sizes = e.sizes(indices)
    sizes.insert(op.axis, extent)
    out = e.destination(op.out, sizes)
    values = e.operand(op.values)
    off, on = (
        (e.load(values, [0]), e.load(values, [1]))
        if isinstance(values.type, MemRefType)
        else (values, values)
    )
    rank = len(sizes)
    read = AffineMap(rank, 0, tuple(AffineDim(d) for d in range(rank) if d != op.axis))
    element = op.indices.type.element_type

    def choose(e: Emitter, at: Value, _: Value) -> Value:
        place = wrapped(e, convert(e, at, element, i64), extent)
        return e.insert(arith.Select(e.compare("eq", place, e.position(op.axis)), on, off)).result

    e.generic([indices], [out], [read, AffineMap.identity(rank)], ["parallel"] * rank, choose)

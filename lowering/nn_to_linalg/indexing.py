"""Gathering: elements whose indices are read from memory.

A negative index counts from the end. An index out of range ends the run with a status before any
memory outside of the operand is accessed.
"""

from __future__ import annotations

from ...dialects import arith, nn
from ...ir.affine import AffineDim, AffineMap
from ...ir.core import Value
from ...ir.types import MemRefType, i64
from .bounds import require_in_range, within, wrapped
from .emitter import Emitter
from .extents import Size
from .scalars import convert
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


def require_extents(e: Emitter, indices: Value, data: Value, axis: int) -> None:
    """Emit checks that `indices` is not larger than `data` along the axes other than `axis`."""
    for other, (count, extent) in enumerate(zip(e.sizes(indices), e.sizes(data), strict=True)):
        if other != axis:
            e.require_at_most(count, extent, f"its indices are more than the data along {other}")


@lowers(nn.GatherElements)
def lower_gather_elements(e: Emitter, op: nn.GatherElements) -> None:
    """out[i, j] = data[indices[i, j], j] for axis 0, and so on"""
    data, indices = e.buffer(op.data), e.buffer(op.indices)
    extents = e.sizes(data)
    out = e.destination(op.out, e.sizes(indices))
    require_extents(e, indices, data, op.axis)
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

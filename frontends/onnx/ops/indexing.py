"""Gathering and scattering, and unique rows."""

from __future__ import annotations

from ...common.unique import unique_slices
from ...common.vocabulary import *
from ..node import Node
from ..registry import add_rows, converter

_REDUCTIONS = ("none", "add", "mul", "max", "min")


@converter("Gather")
def gather(n: Node, data: Value, indices: Value) -> Value:
    axis = normalize_axis(n, n.int("axis"), data.type.rank)
    return gathered(n, data, indices, axis)


@converter("GatherElements")
def gather_elements(n: Node, data: Value, indices: Value) -> Value:
    axis = normalize_axis(n, n.int("axis"), data.type.rank)
    return gathered_elements(n, data, indices, axis)


@converter("GatherND")
def gather_nd(n: Node, data: Value, indices: Value) -> Value:
    batch, rank = n.int("batch_dims"), n.declared_rank(0)
    if not 0 <= batch < min(data.type.rank, indices.type.rank):
        raise n.error(f"attribute 'batch_dims' is {batch}, expected less than the operands' ranks")
    if rank is not None:
        indices = _in_rows(n, indices, indices.type.rank - 1 + data.type.rank - batch - rank)
    return gathered_nd(n, data, indices, batch)


def _in_rows(n: Node, indices: Value, length: int) -> Value:
    """Indices typed with `length`, which follows from ranks, as their last extent."""
    last = indices.type.rank - 1
    if indices.type.shape[last] is not None:
        return indices
    return reshape(n, indices, [*((indices, i) for i in range(last)), length])


@converter("ScatterElements", "Scatter")
def scatter_elements(n: Node, data: Value, indices: Value, updates: Value) -> Value:
    axis = normalize_axis(n, n.int("axis"), data.type.rank)
    reduction = n.string("reduction", "none", _REDUCTIONS)
    return n(nn.ScatterElements(data, indices, updates, axis=axis, reduction=reduction))


@converter("ScatterND")
def scatter_nd(n: Node, data: Value, indices: Value, updates: Value) -> Value:
    reduction = n.string("reduction", "none", _REDUCTIONS)
    indices = _in_rows(n, indices, indices.type.rank - 1 + data.type.rank - updates.type.rank)
    return n(nn.ScatterNd(data, indices, updates, reduction=reduction))


@converter("OneHot")
def one_hot_(n: Node, indices: Value, depth: Value, values: Value) -> Value:
    return one_hot(n, indices, depth, values, n.int("axis", -1))


add_rows(direct("NonZero"))


@converter("Compress")
def compress(n: Node, x: Value, condition: Value) -> Value:
    """The elements, or slices of an axis, at which the condition holds.

    Elements of the condition beyond the extent are ignored, as in ONNX Runtime.
    """
    if n.has("axis"):
        axis = normalize_axis(n, n.int("axis"), x.type.rank)
    else:
        axis, x = 0, Term(n, x).flat().value
    condition = slice_axis(n, condition, 0, 0, extent(n, (x, axis)).value)
    places = n(nn.NonZero(condition))
    return gathered(n, x, n(nn.Reshape(places, out=TensorType((None,), i64))), axis)


@converter("TensorScatter")
def tensor_scatter(n: Node, cache: Value, update: Value, start: Value | None = None) -> Value:
    """The cache with the update written from index `start` on, for each element of the batch."""
    axis = normalize_axis(n, n.int("axis", -2), cache.type.rank)
    circular = n.string("mode", "linear", ("linear", "circular")) == "circular"
    rank = cache.type.rank
    if update.type.rank != rank:
        raise n.error(f"the update is '{update.type}', the cache '{cache.type}'")
    places = counting(n, extent(n, (update, axis))).spread(0, rank - 1 - axis)
    if start is not None:
        places = places + Term(n, as_i64(n, start)).spread(0, rank - 1)
    if circular:
        places = places % extent(n, (cache, axis))
    indices = broadcast_by(n, places.value, shape_of(n, update))
    return n(nn.ScatterElements(cache, indices, update, axis=axis))


@converter("Unique")
def unique(n: Node, x: Value) -> list[Value]:
    """The unique slices along the axis, or the unique elements, with indices and counts."""
    axis = normalize_axis(n, n.int("axis"), x.type.rank) if n.has("axis") else None
    values, found = unique_slices(n, x, axis, bool(n.int("sorted", 1)))
    return [values, found.first, found.inverse, found.counts]

"""Gathers of elements by their indices, reversed sequences, and one-hot vectors."""

from __future__ import annotations

from .movement import transposed
from .shapes import limits_of
from .words import *


def gathered(n: Layer, data: Value, indices: Value, axis: int = 0, batch_dims: int = 0) -> Value:
    """data [B.., M.., K, R..], indices [B.., I..] -> [B.., M.., I.., R..]"""
    known, extent = n.known(indices), data.type.shape[axis]
    if known is not None and extent is not None and known.size:  # noqa: SIM102
        if known.min() < -extent or known.max() >= extent:
            raise n.error(f"an index is out of range for axis {axis} of {extent} elements")
    if not batch_dims:
        return n(nn.Gather(data, indices, axis=axis))
    rank = data.type.rank
    if not batch_dims <= axis < rank or batch_dims > indices.type.rank:
        raise n.error(f"{batch_dims} dimensions of a batch before axis {axis}")
    order = (*range(batch_dims), axis, *(i for i in range(batch_dims, rank) if i != axis))
    rows = transposed(n, data, order)
    found = n(nn.GatherNd(rows, Term(n, indices).spread(0, 1).value, batch_dims=batch_dims))
    inner = indices.type.rank - batch_dims
    middle = axis - batch_dims
    places = list(range(found.type.rank))
    head, index = places[:batch_dims], places[batch_dims : batch_dims + inner]
    between = places[batch_dims + inner : batch_dims + inner + middle]
    return transposed(n, found, (*head, *between, *index, *places[batch_dims + inner + middle :]))


def gathered_nd(n: Layer, data: Value, indices: Value, batch_dims: int = 0) -> Value:
    """The elements or slices of `data` at the index tuples in the last dimension of `indices`."""
    return n(nn.GatherNd(data, _as_places(n, indices), batch_dims=batch_dims))


def gathered_elements(n: Layer, data: Value, indices: Value, axis: int) -> Value:
    """out[.., i, ..] = data[.., indices[.., i, ..], ..], where i counts along the axis."""
    return n(nn.GatherElements(data, _as_places(n, indices), axis=axis))


def true_places(n: Layer, mask: Value) -> Value:
    """The indices of a mask's true elements, in order: [M, rank]."""
    return n(nn.Transpose(n(nn.NonZero(mask)), permutation=(1, 0)))


def _as_places(n: Layer, indices: Value) -> Value:
    """Indices as integers of 32 or 64 bits."""
    return indices if indices.type.element_type is i32 else as_i64(n, indices)


def reverse_sequence(n: Layer, x: Value, lengths: Value, time: int, batch: int) -> Value:
    """x with the first `lengths[b]` elements of sequence b reversed along the axis `time`."""
    time, batch = (normalize_axis(n, axis, x.type.rank) for axis in (time, batch))
    front = [batch, time, *(i for i in range(x.type.rank) if i not in (batch, time))]
    rows = transposed(n, x, front)
    steps = counting(n, extent(n, (rows, 1))).spread(1, 0)
    ends = Term(n, as_i64(n, lengths)).spread(0, 1)
    source = (steps < ends).choose(ends - 1 - steps, steps).spread(0, 1)
    found = n(nn.GatherNd(rows, source.value, batch_dims=1))
    return transposed(n, found, [front.index(i) for i in range(x.type.rank)])


def one_hot(n: Layer, indices: Value, depth: Value, values: Value, axis: int) -> Value:
    """A new axis of `depth` elements: values[1] at the index, values[0] elsewhere."""
    axis = normalize_axis(n, axis, indices.type.rank + 1)
    depth = as_scalar(n, as_i64(n, depth))
    known = n.known(depth)
    shape = list(indices.type.shape)
    shape.insert(axis, None if known is None else int(known))
    out = TensorType(tuple(shape), values.type.element_type)
    return n(nn.OneHot(as_i64(n, indices), depth, values, axis=axis, out=out))


def reduced_elements(
    n: Layer, x: Value, axis: int, places: Value, source: Value, reduction: str, with_own: bool
) -> Term:
    """x with a source reduced into it along an axis; `with_own` includes x's own elements.

    `reduction` is one of `nn.scatter_elements`.
    """
    if not with_own and reduction != "none":
        # The elements to write to start as the reduction's neutral element.
        element = x.type.element_type
        least, greatest = limits_of(element)
        neutral = {"add": 0, "mul": 1, "max": least, "min": greatest}[reduction]
        start = _filled(n, n.constant(neutral, element), source)
        x = n(nn.ScatterElements(x, places, start, axis=axis, reduction="none"))
    return Term(n, n(nn.ScatterElements(x, places, source, axis=axis, reduction=reduction)))


def counts_of_elements(
    n: Layer, x: Value, axis: int, places: Value, source: Value, with_own: bool
) -> Term:
    """The number of elements that `reduced_elements` reduces to each, in i64, and at least 1."""
    start = _filled(n, n.constant(int(with_own), i64), x)
    ones = _filled(n, n.constant(1, i64), source)
    counts = nn.ScatterElements(start, places, ones, axis=axis, reduction="add")
    return Term(n, n(counts)).max(1)


def _filled(n: Layer, value: Value, like: Value) -> Value:
    """A tensor of a scalar, as large as another tensor."""
    return Term(n, value).filled(Term(n, shape_of(n, like))).value

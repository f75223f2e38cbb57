"""Gathering, scattering, reductions, and what looks for elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType, i32, i64
from ...common.gathering import gathered
from ...common.reductions import largest, reduced
from ...common.shapes import (
    as_i64,
    as_scalar,
    normalize_axes,
    normalize_axis,
    reshape,
    shape_of,
)
from ...common.terms import Term, counting, extent
from ..layer import TfliteLayer, moved, real
from ..rows import ROWS


@ROWS("GATHER")
@moved
def gather(n: TfliteLayer, data: Value, indices: Value) -> Value:
    axis = normalize_axis(n, n.options.axis, data.type.rank)
    batch = normalize_axis(n, n.options.batch_dims, indices.type.rank + 1)
    return gathered(n, data, indices, axis, batch)


@ROWS("GATHER_ND")
@moved
def gather_nd(n: TfliteLayer, data: Value, indices: Value) -> Value:
    return n(nn.GatherNd(data, as_i64(n, indices)))


@ROWS("EMBEDDING_LOOKUP")
def embedding_lookup(n: TfliteLayer, indices: Value, table: Value) -> Value:
    rows = n(nn.Gather(table, indices))
    if n.is_quantized(1):
        return n.quantized(0, n.real(1, rows))
    return rows


@ROWS("SCATTER_ND")
def scatter_nd(n: TfliteLayer, indices: Value, updates: Value, shape: Value) -> Value:
    zeros = _zeros(n, shape, updates)
    return n(nn.ScatterNd(zeros, as_i64(n, indices), updates, reduction="add"))


@ROWS("SPARSE_TO_DENSE")
def sparse_to_dense(
    n: TfliteLayer, indices: Value, shape: Value, values: Value, default: Value
) -> Value:
    whole = Term(n, as_scalar(n, default)).filled(Term(n, as_i64(n, shape))).value
    places = Term(n, as_i64(n, indices))
    if places.rank < 2:
        places = places.reshape(1 if places.rank == 0 else (places.value, 0), 1)
        if whole.type.rank > 1:
            places = places.reshape(1, whole.type.rank)
    count = places.shape[0]
    if values.type.rank == 0:
        values = n(nn.BroadcastTo(values, out=TensorType((count,), values.type.element_type)))
    return n(nn.ScatterNd(whole, places.value, values))


def _zeros(n: TfliteLayer, shape: Value, like: Value) -> Value:
    return Term(n, n.scalar(0, like)).filled(Term(n, as_i64(n, shape))).value


@ROWS("DYNAMIC_UPDATE_SLICE")
@moved
def dynamic_update_slice(n: TfliteLayer, x: Value, update: Value, start: Value) -> Value:
    """x with a part written that begins at `start`, or as near as it fits."""
    rank = x.type.rank
    if None in x.type.shape or None in update.type.shape:
        raise n.error("the extents must be known")
    room = np.array(x.type.shape, np.int64) - np.array(update.type.shape, np.int64)
    first = n(nn.Clip(as_i64(n, start), n.constant(0, i64), n.constant(int(room.max()), i64)))
    first = n(nn.Min(first, n.constant(room)))
    places = np.indices(update.type.shape, np.int64).transpose(*range(1, rank + 1), 0)
    index = n(nn.Add(n.constant(places), first))
    return n(nn.ScatterNd(x, index, update))


@ROWS("ONE_HOT")
def one_hot(n: TfliteLayer, indices: Value, depth: Value, on: Value, off: Value) -> Value:
    axis = normalize_axis(n, n.options.axis, indices.type.rank + 1)
    depth = as_scalar(n, as_i64(n, depth))
    known, shape = n.known(depth), list(indices.type.shape)
    shape.insert(axis, None if known is None else int(known))
    pair = n(nn.Concat([reshape(n, v, [1]) for v in (off, on)], axis=0))
    out = TensorType(tuple(shape), on.type.element_type)
    return n(nn.OneHot(as_i64(n, indices), depth, pair, axis=axis, out=out))


@ROWS("WHERE")
def where(n: TfliteLayer, condition: Value) -> Value:
    return n(nn.Transpose(n(nn.NonZero(condition)), permutation=(1, 0)))


@ROWS("MATRIX_DIAG")
def matrix_diag(n: TfliteLayer, diagonal: Value) -> Value:
    size, axis = diagonal.type.shape[-1], diagonal.type.rank - 1
    if size is None:
        raise n.error("the extents must be known")
    spread = Term(n, diagonal).reshape(*((diagonal, i) for i in range(axis)), 1, size)
    return n(nn.Where(n.constant(np.eye(size, dtype=bool)), spread.value, n.scalar(0, diagonal)))


@ROWS("MATRIX_SET_DIAG")
def matrix_set_diag(n: TfliteLayer, x: Value, diagonal: Value) -> Value:
    rows, columns = x.type.shape[-2:]
    if rows is None or columns is None:
        raise n.error("the extents must be known")
    mask = np.eye(rows, columns, dtype=bool)
    place = n.constant(np.minimum(np.arange(columns), min(rows, columns) - 1))
    spread = n(nn.Gather(diagonal, place, axis=diagonal.type.rank - 1))
    lead = [(spread, i) for i in range(spread.type.rank - 1)]
    row = reshape(n, spread, [*lead, 1, columns])
    return n(nn.Where(n.constant(mask), row, x))


@ROWS("REVERSE_SEQUENCE")
@moved
def reverse_sequence(n: TfliteLayer, x: Value, lengths: Value) -> Value:
    """Element t of each sequence is element length - 1 - t, up to its length."""
    rank = x.type.rank
    time = normalize_axis(n, n.options.time, rank)
    batch = normalize_axis(n, n.options.batch, rank)
    order = (batch, time, *(i for i in range(rank) if i not in (batch, time)))
    rows = n(nn.Transpose(x, permutation=order))
    ends = Term(n, as_i64(n, lengths)).spread(0, 1)
    steps = counting(n, extent(n, (x, time)))
    source = (steps < ends).choose(ends - 1 - steps, steps + ends * 0)
    found = n(nn.GatherNd(rows, source.spread(0, 1).value, batch_dims=1))
    return n(nn.Transpose(found, permutation=tuple(np.argsort(order).tolist())))


# -- reductions ------------------------------------------------------------------------------------


def _reduction(op: Any) -> Callable[..., Value]:
    @real
    def convert(n: TfliteLayer, x: Value, axes: Value) -> Value:
        found = normalize_axes(n, n.known_ints(axes, "axes"), x.type.rank)
        return reduced(n, x, op, tuple(sorted(found)), bool(n.options.keep_dims))

    return convert


ROWS.add(
    {
        "MEAN": _reduction(nn.ReduceMean),
        "SUM": _reduction(nn.ReduceSum),
        "REDUCE_PROD": _reduction(nn.ReduceProd),
        "REDUCE_MAX": _reduction(nn.ReduceMax),
        "REDUCE_MIN": _reduction(nn.ReduceMin),
        "REDUCE_ANY": _reduction(nn.ReduceMax),
        "REDUCE_ALL": _reduction(nn.ReduceMin),
    }
)


def _extreme(op: Any) -> Callable[..., Value]:
    def convert(n: TfliteLayer, x: Value, axis: Value) -> Value:
        place = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank)
        return n.cast(n(op(x, axis=place)), n.output_type())

    return convert


ROWS.add({"ARG_MAX": _extreme(nn.Argmax), "ARG_MIN": _extreme(nn.Argmin)})


@ROWS("TOPK_V2")
def top_k(n: TfliteLayer, x: Value, k: Value) -> list[Value]:
    values, places = largest(n, x, k, x.type.rank - 1)
    return [values, n.cast(places, n.output_type(1) if n.wants(1) else i32)]


@ROWS("CUMSUM")
def cumsum(n: TfliteLayer, x: Value, axis: Value) -> Value:
    place = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank)
    o = n.options
    return n(nn.Cumsum(x, axis=place, exclusive=o.exclusive, reverse=o.reverse))


def _segments(reduction: str, first: Callable[[Any], Any]) -> Callable[..., Value]:
    """A reduction of rows by the numbers of their segments; negative ones count for none."""

    def convert(n: TfliteLayer, x: Value, segments: Value, count: Value | None = None) -> Value:
        if count is None:
            last = n.known(segments)
            if last is None:
                raise n.error("the segments must be known")
            count = n.constant(int(last.max(initial=-1)) + 1, i64)
        total = Term(n, as_scalar(n, as_i64(n, count)))
        lead = segments.type.rank
        tail = shape_of(n, x)
        rows = [total.reshape(1).value]
        if x.type.rank > lead:
            whole = n.constant(np.arange(lead, x.type.rank))
            rows.append(n(nn.Gather(tail, whole)))
        shape = Term(n, n(nn.Concat(rows, axis=0)) if len(rows) > 1 else rows[0])
        start = n.scalar(first(np.dtype(_numpy(x))), x)
        index = Term(n, as_i64(n, segments)).spread(0, 1).value
        filled = Term(n, start).filled(shape).value
        return n(nn.ScatterNd(filled, index, x, reduction=reduction))

    return convert


def _numpy(x: Value) -> Any:
    from ....ir.numpy_types import type_to_numpy

    return type_to_numpy(x.type.element_type)


def _least(dtype: np.dtype) -> Any:
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min


def _most(dtype: np.dtype) -> Any:
    return np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max


ROWS.add(
    {
        "SEGMENT_SUM": _segments("add", lambda dtype: 0),
        "UNSORTED_SEGMENT_SUM": _segments("add", lambda dtype: 0),
        "UNSORTED_SEGMENT_PROD": _segments("mul", lambda dtype: 1),
        "UNSORTED_SEGMENT_MAX": _segments("max", _least),
        "UNSORTED_SEGMENT_MIN": _segments("min", _most),
    }
)

"""Gathering, scattering, reductions, and searches."""

from __future__ import annotations

from ...common import tensorflow as tf
from ...common.unique import unique_rows
from ...common.vocabulary import *
from ..layer import TfliteLayer, moved, real
from ..rows import ROWS

_REDUCTIONS = {
    "SUM": nn.ReduceSum,
    "REDUCE_PROD": nn.ReduceProd,
    "REDUCE_MAX": nn.ReduceMax,
    "REDUCE_MIN": nn.ReduceMin,
    "REDUCE_ANY": nn.ReduceMax,
    "REDUCE_ALL": nn.ReduceMin,
}
_SEGMENTS = {
    "SEGMENT_SUM": "add",
    "UNSORTED_SEGMENT_SUM": "add",
    "UNSORTED_SEGMENT_PROD": "mul",
    "UNSORTED_SEGMENT_MAX": "max",
    "UNSORTED_SEGMENT_MIN": "min",
}

ROWS.add(
    {
        kind: real(
            lambda n, x, axes, *, op=op: tf.reduction(
                n, x, n.axes(x, axes), op, bool(n.options.keep_dims)
            )
        )
        for kind, op in _REDUCTIONS.items()
    }
)
ROWS.add(
    {
        kind: lambda n, x, ids, count=None, *, how=how: tf.segments(n, x, ids, count, how)
        for kind, how in _SEGMENTS.items()
    }
)
ROWS.add(
    {
        "ARG_MAX": lambda n, x, axis: tf.arg_extreme(n, x, axis, nn.Argmax, n.output_type(), True),
        "ARG_MIN": lambda n, x, axis: tf.arg_extreme(n, x, axis, nn.Argmin, n.output_type(), True),
        "CUMSUM": lambda n, x, axis: tf.running(
            n, x, axis, nn.Cumsum, n.options.exclusive, n.options.reverse
        ),
        "MATRIX_DIAG": lambda n, x: on_diagonal(n, x),
        "ONE_HOT": lambda n, indices, depth, on, off: tf.one_hot(
            n, indices, depth, on, off, n.options.axis
        ),
        "SCATTER_ND": tf.scatter_nd,
        "TOPK_V2": lambda n, x, k: tf.top_k(n, x, k, n.output_type(1) if n.wants(1) else i32),
        "WHERE": tf.where,
    }
)


@ROWS("MEAN")
@real
def mean(n: TfliteLayer, x: Value, axes: Value) -> Value:
    return tf.mean(n, x, n.axes(x, axes), bool(n.options.keep_dims))


@ROWS("UNIQUE")
def unique(n: TfliteLayer, x: Value) -> list[Value]:
    """The distinct elements in order of occurrence, and the index of each element among them."""
    found = unique_rows(n, reshape(n, x, [(x, 0), 1]), in_order=False)
    return [gathered(n, x, found.first), n.cast(found.inverse, n.output_type(1))]


@ROWS("EMBEDDING_LOOKUP")
def embedding_lookup(n: TfliteLayer, indices: Value, table: Value) -> Value:
    """Rows of a table; of a quantized one, their real numbers by scales that go with them."""
    if not n.is_quantized(1):
        return gathered(n, table, indices)
    return n.quantized(0, n.real_rows(1, table, indices))


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


@ROWS("DYNAMIC_UPDATE_SLICE")
@moved
def dynamic_update_slice(n: TfliteLayer, x: Value, update: Value, start: Value) -> Value:
    return tf.dynamic_update_slice(n, x, update, start)


@ROWS("MATRIX_SET_DIAG")
def matrix_set_diag(n: TfliteLayer, x: Value, diagonal: Value) -> Value:
    return tf.with_diagonal(n, x, diagonal)

"""Unique: sorting, and comparing neighbours.

    %x: [2, 1, 2, 5]  ->  order [1, 0, 2, 3], groups [0, 1, 1, 2] that start at [0, 1, 3]
                      ->  values [1, 2, 5], first places [1, 0, 3], counts [1, 2, 1]

Source: ONNX Unique-11. NaN is one value, as in NumPy.
"""

from __future__ import annotations

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import FloatType, TensorType, i64
from ...common.shapes import as_scalar, flatten, normalize_axis, reshape, shape_vector
from ..node import Node
from ..registry import converter

_SOME = TensorType((None,), i64)


@converter("Unique")
def unique(n: Node, x: Value) -> list[Value]:
    """Rows are what is compared: slices along the axis, or single elements."""
    rank = x.type.rank
    if n.has("axis"):
        axis = normalize_axis(n, n.int("axis"), rank)
        slices = _moved(n, x, axis, 0)
        rows = flatten(n, slices, 1)
    else:
        axis, rows = 0, flatten(n, x, rank)
        slices = reshape(n, rows, [(rows, 0)])
    order = n(nn.SortRows(rows))
    starts, group = _groups(n, n(nn.Gather(rows, order)))
    first = n(nn.Gather(order, starts))
    after = n(nn.Concat([_without_first(n, starts), shape_vector(n, [(rows, 0)])], axis=0))
    counts = n(nn.Sub(after, starts))
    inverse = n(nn.ScatterElements(order, order, group))
    if not n.int("sorted", 1):
        by_place = _in_order(n, first)
        first, counts = n(nn.Gather(first, by_place)), n(nn.Gather(counts, by_place))
        inverse = n(nn.Gather(_in_order(n, by_place), inverse))
    return [_moved(n, n(nn.Gather(slices, first)), 0, axis), first, inverse, counts]


def _moved(n: Node, x: Value, source: int, target: int) -> Value:
    """x with one dimension moved."""
    order = [i for i in range(x.type.rank) if i != source]
    order.insert(target, source)
    return x if source == target else n(nn.Transpose(x, permutation=tuple(order)))


def _groups(n: Node, rows: Value) -> tuple[Value, Value]:
    """Where groups of equal rows start, which stand together; the group of each row."""
    zero, one = n.constant(0, i64), n.constant(1, i64)
    count = as_scalar(n, shape_vector(n, [(rows, 0)]))
    own = n(nn.Range(zero, count, one, out=TensorType(rows.type.shape[:1], i64)))
    before = n(nn.Gather(rows, n(nn.Max(n(nn.Sub(own, one)), zero))))
    differ = n(nn.Not(n(nn.Equal(rows, before))))
    if isinstance(rows.type.element_type, FloatType):
        both = n(nn.And(n(nn.IsNan(rows)), n(nn.IsNan(before))))
        differ = n(nn.And(differ, n(nn.Not(both))))
    number = n(nn.ReduceSum(n.cast(differ, i64), axes=(1,)))
    begins = n(nn.Or(n(nn.Greater(number, zero)), n(nn.Equal(own, zero))))
    group = n(nn.Sub(n(nn.Cumsum(n.cast(begins, i64), axis=0)), one))
    return n(nn.Reshape(n(nn.NonZero(begins)), out=_SOME)), group


def _without_first(n: Node, x: Value) -> Value:
    start, end, axis, step = (
        n.constant(np.array([v], np.int64)) for v in (1, np.iinfo(np.int64).max, 0, 1)
    )
    return n(nn.SliceDynamic(x, start, end, axis, step, out=_SOME))


def _in_order(n: Node, keys: Value) -> Value:
    """Where the smallest of the keys is, then the next one, and so on."""
    return n(nn.SortRows(reshape(n, keys, [(keys, 0), 1])))

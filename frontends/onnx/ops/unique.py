"""Unique. Source: ONNX Unique-11."""

from __future__ import annotations

from ....dialects import nn
from ....ir.core import Value
from ...common.shapes import flatten, normalize_axis, reshape
from ...common.unique import unique_rows
from ..node import Node
from ..registry import converter


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
    found = unique_rows(n, rows, bool(n.int("sorted", 1)))
    values = _moved(n, n(nn.Gather(slices, found.first)), 0, axis)
    return [values, found.first, found.inverse, found.counts]


def _moved(n: Node, x: Value, source: int, target: int) -> Value:
    """x with one dimension moved."""
    order = [i for i in range(x.type.rank) if i != source]
    order.insert(target, source)
    return x if source == target else n(nn.Transpose(x, permutation=tuple(order)))

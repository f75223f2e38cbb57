"""Rows with the same segment number, combined, as in TensorFlow and PaddlePaddle."""

from __future__ import annotations

from .tensorflow import segments
from .words import *

HOW = {"Sum": "add", "Prod": "mul", "Max": "max", "Min": "min"}


def count_of(n: Layer, ids: Value) -> Value:
    """The number of segments: 1 + the largest of the rows' segment numbers."""
    known = n.known(ids)
    if known is not None:
        return n.constant(int(known.max(initial=-1)) + 1, i64)
    numbers = Term(n, as_i64(n, ids))
    return (numbers.largest(0).max(-1) + 1).value


def combined_segments(n: Layer, x: Value, ids: Value, count: Value, how: str) -> Value:
    """The combined rows of each segment; a segment without rows is 0, or 1 for a product."""
    found = segments(n, x, ids, count, how, infinite=True)
    if how not in ("max", "min"):
        return found
    empty = sizes(n, x, ids, count).equals(0)
    return empty.choose(0, Term(n, found)).value


def sizes(n: Layer, x: Value, ids: Value, count: Value) -> Term:
    """The number of rows of each segment: [segments, 1..]."""
    ones = Term(n, n.scalar(1, x)).filled(Term(n, shape_of(n, ids)))
    found = Term(n, segments(n, ones.value, ids, count, "add"))
    return found.spread(0, x.type.rank - 1)


def segment_means(n: Layer, x: Value, ids: Value, count: Value, root: bool = False) -> Value:
    """The mean of each segment's rows; with `root`, their sum / sqrt(the number of rows)."""
    sums = Term(n, segments(n, x, ids, count, "add"))
    number = sizes(n, x, ids, count).max(1)
    return (sums / (number.function(nn.Sqrt) if root else number)).value

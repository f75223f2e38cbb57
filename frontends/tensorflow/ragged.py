"""Ragged rows: all values concatenated, and the splits between rows.

values [K, ..], splits [N + 1]  <->  padded rows [N, W, ..], counts [N]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import i64
from ..common import tensorflow as tf
from ..common.layer import Layer
from ..common.shapes import as_i64, as_scalar, shape_of
from ..common.terms import Term, constant, counting, extent, joined


@dataclass(frozen=True)
class Partition:
    """A partition into rows: the row of each element, its index there, and the number of rows."""

    row: Term
    place: Term
    count: Term

    @property
    def width(self) -> Term:
        """The length of the longest row, a 0-d i64."""
        return largest(self.place) + 1


def largest(numbers: Term) -> Term:
    """The largest of some numbers; -1 if there are none."""
    n = numbers.n
    return joined([numbers, constant(n, np.array([-1]))], 0).largest(0)


def count_of(x: Term) -> Term:
    """The extent of the first dimension, a 0-d i64."""
    return extent(x.n, (x.value, 0))


def positions(mask: Term) -> Term:
    """The indices where a mask holds, one per row: [K, rank]"""
    return Term(mask.n, tf.where(mask.n, mask.value))


def split_rows(splits: Term) -> Partition:
    """The partition with these splits [N + 1]."""
    n, count = splits.n, count_of(splits) - 1
    last = splits.column(-1, 0)
    inner = splits.gather(counting(n, (count - 1).max(0)) + 1)
    ones = (inner * 0 + 1).value
    zeros = constant(n, 0, i64).filled((last + 1).reshape(1))
    marks = n(nn.ScatterNd(zeros.value, inner.spread(0, 1).value, ones, reduction="add"))
    index = counting(n, last)
    row = Term(n, n(nn.Cumsum(marks, axis=0))).gather(index)
    return Partition(row, index - splits.gather(row), count)


def numbered_rows(row: Term, count: Term) -> Partition:
    """The partition of elements with ascending row numbers."""
    starts = splits_of(lengths_of(row, count))
    return Partition(row, counting(row.n, count_of(row)) - starts.gather(row), count)


def lengths_of(row: Term, count: Term) -> Term:
    """The number of elements of each row: [N]"""
    n = row.n
    zeros = constant(n, 0, i64).filled(count.reshape(1))
    ones = (row * 0 + 1).value
    return Term(n, n(nn.ScatterNd(zeros.value, row.spread(0, 1).value, ones, reduction="add")))


def splits_of(lengths: Term) -> Term:
    """The splits of rows with these lengths: [N] -> [N + 1]"""
    n = lengths.n
    ends = Term(n, n(nn.Cumsum(lengths.value, axis=0)))
    return joined([constant(n, np.zeros(1, np.int64)), ends], 0)


def places_of(partitions: list[Partition]) -> list[Term]:
    """The coordinates of each element in nested ragged rows, one term [K] for each dimension."""
    (last, *outer) = partitions[::-1]
    found, row = [last.place], last.row
    for one in outer:
        found.insert(0, one.place.gather(row))
        row = one.row.gather(row)
    return [row, *found]


def filled_up(values: Term, partitions: list[Partition], default: Term, sizes: list[Term]) -> Term:
    """Values as a dense tensor of `sizes` (0-d each), with a default where rows are too short."""
    n = values.n
    index = joined([place.spread(0, 1) for place in places_of(partitions)], 1)
    bounds = joined([size.reshape(1) for size in sizes], 0)
    inside = (index < bounds).cast(i64).sum(1).equals(len(sizes))
    kept = positions(inside).column(0)
    shape = bounds
    if values.rank > 1:
        inner = Term(n, shape_of(n, values.value)).part(0, 1, values.rank)
        shape = joined([bounds, inner], 0)
    whole = tf.broadcast_to(n, default.value, shape.value)
    index, values = index.gather(kept), values.gather(kept)
    return Term(n, n(nn.ScatterNd(whole, index.value, values.value, reduction="none")))


def padded(values: Term, splits: Term, default: Value) -> tuple[Term, Term]:
    """Rows padded with `default` to the longest one [N, W], and their lengths [N]."""
    rows = split_rows(splits)
    index = joined([rows.row.spread(0, 1), rows.place.spread(0, 1)], 1)
    n, shape = values.n, joined([rows.count.reshape(1), rows.width.reshape(1)], 0)
    whole = Term(n, default).filled(shape).value
    found = Term(n, n(nn.ScatterNd(whole, index.value, values.value, reduction="none")))
    count = count_of(splits) - 1
    after, before = (splits.gather(counting(n, count) + i) for i in (1, 0))
    return found, after - before


def inside(rows: Term, counts: Term) -> Term:
    """Which elements of padded rows are within the row's length: [N, W]."""
    places = counting(rows.n, extent(rows.n, (rows.value, rows.rank - 1)))
    return places < counts.spread(0, 1)


def term64(n: Layer, x: Value) -> Term:
    """A tensor of integers as i64."""
    return Term(n, as_i64(n, x))


def number(n: Layer, x: Value) -> Term:
    """The element of a tensor of one element, as a 0-d i64."""
    return Term(n, as_scalar(n, as_i64(n, x)))


def moved_up(n: Layer, words: Term, mask: Term) -> list[Value]:
    """The elements [rows, columns] where a mask is true, as a sparse tensor: indices [K, 2], values
    [K], shape. In each row they move up.
    """
    here = positions(mask)
    found = words.gather_nd(here)
    place = Term(n, n(nn.Cumsum(mask.cast(i64).value, axis=1))) - 1
    place = place.gather_nd(here)
    index = joined([here.part(1, 0, 1), place.spread(0, 1)], 1)
    longest = mask.cast(i64).sum(1)
    longest = joined([longest, constant(n, np.zeros(1, np.int64))], 0).largest(0)
    shape = joined([Term(n, shape_of(n, words.value)).part(0, 0, 1), longest.reshape(1)], 0)
    return [index.value, found.value, shape.value]

"""Rows in runs: embeddings that are summed for each run, as in recommendation models."""

from __future__ import annotations

from ...common.segments import combined_segments, segment_means
from ...common.vocabulary import *
from ..layer import Caffe2Layer, rows


def _runs(n: Caffe2Layer, x: Value, lengths: Value) -> Value:
    """The number of each row's run, from the lengths of all runs: [rows]."""
    own, count = Term(n, n.cast(lengths, i64)), extent(n, (x, 0))
    fits = own.sum(0).equals(count) & (own < 0).cast(i64).sum(0).equals(0)
    text = "the lengths of runs do not add up to the number of rows"
    own = own.made(nn.Assume(own.value, fits.value, text))
    ends = own.made(nn.Cumsum(own.value, axis=0))
    place = counting(n, count).spread(0, 1)
    return (place >= ends).cast(i64).sum(1).value


def _combined(n: Caffe2Layer, x: Value, lengths: Value) -> Value:
    """The combined rows of each run: [runs, ..]; 0 for a run without rows."""
    count, runs = extent(n, (lengths, 0)).value, _runs(n, x, lengths)
    if n.kind.endswith("Mean"):
        return segment_means(n, x, runs, count)
    return combined_segments(n, x, runs, count, "max" if n.kind.endswith("Max") else "add")


@rows("LengthsSum", "LengthsMean", "LengthsMax")
def of_rows(n: Caffe2Layer, x: Value, lengths: Value) -> Value:
    return _combined(n, x, lengths)


@rows("SparseLengthsSum", "SparseLengthsMean")
def of_table(n: Caffe2Layer, table: Value, indices: Value, lengths: Value) -> Value:
    """The rows of a table at the indices, combined for each run."""
    return _combined(n, gathered(n, table, indices), lengths)


@rows("SparseLengthsWeightedSum")
def weighted(n: Caffe2Layer, table: Value, weight: Value, indices: Value, lengths: Value) -> Value:
    """The rows of a table at the indices, each times a number, summed for each run."""
    found = Term(n, gathered(n, table, indices))
    scaled = found * Term(n, weight).spread(0, found.rank - 1)
    return _combined(n, scaled.value, lengths)


@rows("OneHot")
def one_hot_(n: Caffe2Layer, indices: Value, size: Value) -> Value:
    """1 at each index, else 0: [indices, size]."""
    count = n.known_int(size, "the size")
    place = counting(n, Term(n, n.constant(count, i64)))
    return Term(n, indices).spread(0, 1).equals(place).cast(f32).value

"""Rows combined by number: segments, counts, and searches in sorted rows."""

from __future__ import annotations

from ...common import tensorflow as tf
from ...common.formulas import assured
from ...common.scans import logcumsumexp
from ...common.segments import HOW, combined_segments, count_of, segment_means
from ...common.vocabulary import *
from ..layer import TfLayer, rows


@rows(*(f"Segment{name}" for name in (*HOW, "Mean")))
def segment(n: TfLayer, x: Value, ids: Value) -> Value:
    ids = tf.from_begin(n, ids)
    how, count = n.kind.removeprefix("Segment"), count_of(n, ids)
    if how == "Mean":
        return segment_means(n, x, ids, count)
    return combined_segments(n, x, ids, count, HOW[how])


@rows(*(f"UnsortedSegment{name}" for name in HOW))
def unsorted(n: TfLayer, x: Value, ids: Value, count: Value) -> Value:
    return tf.segments(n, x, ids, count, HOW[n.kind.removeprefix("UnsortedSegment")])


@rows(*(f"SparseSegment{name}" for name in ("Sum", "Mean", "SqrtN")),
      *(f"SparseSegment{name}WithNumSegments" for name in ("Sum", "Mean", "SqrtN")))  # fmt: skip
def sparse_segment(
    n: TfLayer, x: Value, indices: Value, ids: Value, count: Value | None = None
) -> Value:
    """Segment reductions of selected rows of x."""
    ids = tf.from_begin(n, ids)
    picked, number = tf.gather(n, x, indices), count_of(n, ids) if count is None else count
    kind = n.kind.removeprefix("SparseSegment").removesuffix("WithNumSegments")
    if kind == "Sum":
        return tf.segments(n, picked, ids, number, "add")
    return segment_means(n, picked, ids, number, root=kind == "SqrtN")


@rows("Bincount", "DenseBincount")
def bincount(n: TfLayer, x: Value, size: Value, weights: Value) -> Value:
    """The count of each number below `size`, or the sums of weights."""
    if x.type.rank == 2:
        return _counted_rows(n, x, size, weights)
    if x.type.rank != 1:
        raise n.error(f"counts of a tensor of rank {x.type.rank} are not supported")
    numbers = assured(Term(n, as_i64(n, x)), Term(n, x) >= 0, "a number to be counted is negative")
    most = Term(n, as_scalar(n, as_i64(n, size)))
    element = weights.type.element_type
    given = 0 not in weights.type.shape
    added = Term(n, weights) if given else (numbers * 0 + 1).cast(element)
    if n.flag("binary_output"):
        added = added * 0 + 1
    # Numbers beyond the end count for one more segment, which is left out.
    ids = numbers.min(most)
    found = tf.segments(n, added.value, ids.value, (most + 1).value, "add")
    found = Term(n, found).gather(counting(n, most))
    return found.min(1).value if n.flag("binary_output") else found.value


@rows("HistogramFixedWidth")
def histogram(n: TfLayer, x: Value, ends: Value, bins: Value) -> Value:
    """The counts of elements in `bins` equal parts of a range; outliers count in the first and
    last.
    """
    count = Term(n, as_scalar(n, as_i64(n, bins)))
    low, high = (Term(n, ends).column(i, 0) for i in range(2))
    step = (high - low) / count.cast(low.element)
    place = ((Term(n, x).flat() - low) / step).function(nn.Floor).max(0.0)
    ids = place.min(count.cast(low.element) - 1.0).cast(i64)
    ones = (ids * 0 + 1).cast(n.element("dtype") if n.has("dtype") else i32)
    return tf.segments(n, ones.value, ids.value, count.value, "add")


def _counted_rows(n: TfLayer, x: Value, size: Value, weights: Value) -> Value:
    """The counts for each row, by offsetting the row's numbers."""
    most, own = Term(n, as_scalar(n, as_i64(n, size))), Term(n, as_i64(n, x))
    own = assured(own, own >= 0, "a number to be counted is negative")
    count, element = extent(n, (x, 0)), weights.type.element_type
    ids = own.min(most) + (counting(n, count) * (most + 1)).spread(0, 1)
    is_weighted = 0 not in weights.type.shape and not n.flag("binary_output")
    added = Term(n, weights) if is_weighted else (own * 0 + 1).cast(element)
    whole = count * (most + 1)
    found = Term(n, tf.segments(n, added.flat().value, ids.flat().value, whole.value, "add"))
    table = found.shaped(joined([count.reshape(1), (most + 1).reshape(1)], 0))
    table = table.gather(counting(n, most), 1)
    return table.min(1).value if n.flag("binary_output") else table.value


@rows("LowerBound", "UpperBound")
def bound(n: TfLayer, table: Value, x: Value) -> Value:
    """How many elements of a sorted row are below (or not above) x: [B, N], [B, M] -> [B, M]"""
    row, value = Term(n, table), Term(n, x)
    row = row.reshape((table, 0), 1, (table, 1))
    below = row < value.spread(0, 1) if n.kind == "LowerBound" else row <= value.spread(0, 1)
    element = n.element("out_type") if n.has("out_type") else IntegerType(32)
    return below.cast(element).sum(2).value


@rows("NthElement")
def nth_element(n: TfLayer, x: Value, number: Value) -> Value:
    """The number-th smallest element of each row, or the largest if `reverse`."""
    at, last = Term(n, as_scalar(n, as_i64(n, number))), x.type.rank - 1
    count = extent(n, (x, last))
    at = assured(at, (at >= 0) & (at < count), "n is not a place in a row")
    place = at if n.flag("reverse") else count - 1 - at
    values, _ = tf.top_k(n, x, count.value)
    return Term(n, values).gather(place, last).value


@rows("CumulativeLogsumexp")
def cumulative_logsumexp(n: TfLayer, x: Value, axis: Value) -> Value:
    place = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank)
    turned = n.flag("reverse")
    given = reversed_axes(n, x, [place]) if turned else x
    found = logcumsumexp(n, given, place)
    if n.flag("exclusive"):  # all but the last, behind the logarithm of no sum
        pads = [0] * (2 * x.type.rank)
        pads[place], pads[place + x.type.rank] = 1, -1
        found = padded_by(n, found, pads, -math.inf)
    return reversed_axes(n, found, [place]) if turned else found

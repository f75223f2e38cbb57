"""Reductions, searches, sorting and counting, along axes and by segment ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import ALL, FLOATS, INTEGERS, MOVED, Given, Room, numbers, positions, tf, types_of

room = Room()
SHAPES = [[2, 3, 4], [6], [0, 3], [2, 1, 5, 3]]
HOW = ["plain", "odd", "ties"]
IDS = [[0, 0, 1, 3, 3], [0, 1, 2, 3, 4], [2, 2, 2, 2, 2]]


@room("Sum Mean Max Min Prod EuclideanNorm", type=ALL, shape=SHAPES, values=HOW, keep=[False, True],
      axes=[[0], [-1], [], [0, 1], [-1, 0], 0, "all"], index=["int32", "int64"])  # fmt: skip
def reduced(
    rng: Any, op: Any, type: str, shape: list[int], values: str, keep: bool, axes: Any, index: str
) -> Given:
    along = np.array(range(len(shape)) if axes == "all" else axes, index)
    return (lambda x: op(x, along, keep_dims=keep)), [numbers(rng, shape, type, values)]


@room("All Any", shape=SHAPES, keep=[False, True], axes=[[0], [-1], [], [0, 1], 0, "all"])
def decided(rng: Any, op: Any, shape: list[int], keep: bool, axes: Any) -> Given:
    along = np.array(range(len(shape)) if axes == "all" else axes, np.int32)
    return (lambda x: op(x, along, keep_dims=keep)), [numbers(rng, shape, "bool")]


@room(
    "ArgMax ArgMin",
    type=[*ALL, "bool", "int16", "uint16"],
    shape=[[2, 3, 4], [6], [0, 3]],
    axis=[0, -1, 1],
    values=HOW,
    out=["int64", "int32"],
)
def extreme(
    rng: Any, op: Any, type: str, shape: list[int], axis: int, values: str, out: str
) -> Given:
    x = numbers(rng, shape, type, values)
    return (lambda x: op(x, axis, output_type=tf.as_dtype(out))), [x]


@room("Cumsum Cumprod", type=ALL, shape=SHAPES, axis=[0, -1, 1], exclusive=[False, True],
      reverse=[False, True], values=["plain", "odd"])  # fmt: skip
def running(
    rng: Any, op: Any, type: str, shape: list[int], axis: int, exclusive: bool, reverse: bool,
    values: str,
) -> Given:  # fmt: skip
    x = numbers(rng, shape, type, values)
    return (lambda x: op(x, axis, exclusive=exclusive, reverse=reverse)), [x]


@room("CumulativeLogsumexp", type=["float32", "float64", "float16"], shape=SHAPES, axis=[0, -1],
      exclusive=[False, True], reverse=[False, True], values=["plain", "odd"])  # fmt: skip
def running_log(
    rng: Any, op: Any, type: str, shape: list[int], axis: int, exclusive: bool, reverse: bool,
    values: str,
) -> Given:  # fmt: skip
    x = numbers(rng, shape, type, values)
    return (lambda x: op(x, axis, exclusive=exclusive, reverse=reverse)), [x]


@room("TopKV2", type=ALL, shape=[[2, 3, 4], [6], [0, 4]], k=[2, 0, 4], values=HOW,
      index=["int32", "int64"], given=[False, True])  # fmt: skip
def top(
    rng: Any, op: Any, type: str, shape: list[int], k: int, values: str, index: str, given: bool
) -> Given:
    xs, how = [numbers(rng, shape, type, values)], {"index_type": tf.as_dtype(index)}
    if given:
        return (lambda x, k: op(x, k, **how)), [*xs, np.array(k, np.int32)]
    return (lambda x: op(x, k, **how)), xs


@room("TopK", type=ALL, shape=[[2, 3, 4], [6]], k=[2, 0, 4], values=HOW)
def top_of_old(rng: Any, op: Any, type: str, shape: list[int], k: int, values: str) -> Given:
    return (lambda x: op(x, k=k)), [numbers(rng, shape, type, values)]


@room(
    "NthElement",
    type=["float32", "float64", "int32", "int64", "uint8"],
    shape=[[2, 3, 4], [6]],
    at=[0, 2, 3],
    reverse=[False, True],
    values=["plain", "ties"],
    given=[False, True],
)
def nth(
    rng: Any, op: Any, type: str, shape: list[int], at: int, reverse: bool, values: str, given: bool
) -> Given:
    xs = [numbers(rng, shape, type, values)]
    if given:
        return (lambda x, n: op(x, n, reverse=reverse)), [*xs, np.array(at, np.int32)]
    return (lambda x: op(x, at, reverse=reverse)), xs


@room("InTopK InTopKV2", k=[1, 2, 0, 9], targets=["int32", "int64"], values=HOW, low=[0, -1],
      high=[4, 6], rows=[5, 0, 1])  # fmt: skip
def in_top(
    rng: Any, op: Any, k: int, targets: str, values: str, low: int, high: int, rows: int
) -> Given:
    scores = numbers(rng, [rows, 4], "float32", values)
    wanted = rng.integers(low, high, [rows]).astype(targets)
    if op.name == "InTopK":
        return (lambda x, t: op(x, t, k=k)), [scores, wanted]
    return (lambda x, t: op(x, t, np.array(k, targets))), [scores, wanted]


@room("Unique UniqueWithCounts", type=MOVED, count=[8, 0, 1], out=["int32", "int64"])
def unique(rng: Any, op: Any, type: str, count: int, out: str) -> Given:
    return (lambda x: op(x, out_idx=tf.as_dtype(out))), [numbers(rng, [count], type, "ties")]


@room("UniqueV2 UniqueWithCountsV2", type=MOVED, shape=[[8], [4, 2], [0]], axis=[[], [0], [-1]],
      out=["int32", "int64"])  # fmt: skip
def unique_rows(rng: Any, op: Any, type: str, shape: list[int], axis: list[int], out: str) -> Given:
    x, along = numbers(rng, shape, type, "ties"), np.array(axis, np.int32)
    return (lambda x: op(x, along, out_idx=tf.as_dtype(out))), [x]


# -- segments --------------------------------------------------------------------------------------


@room("SegmentSum SegmentMean SegmentMax SegmentMin SegmentProd", type=ALL, ids=[*IDS, []],
      inner=[[3], [], [2, 2], [0]], index=["int32", "int64"], values=["plain", "odd"],
      known=[False, True])  # fmt: skip
def segment(
    rng: Any, op: Any, type: str, ids: list[int], inner: list[int], index: str, values: str,
    known: bool,
) -> Given:  # fmt: skip
    at, x = np.array(ids, index), numbers(rng, [len(ids), *inner], type, values)
    return ((lambda x: op(x, at)), [x]) if known else (op, [x, at])


@room("UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd", type=ALL,
      ids=[[1, 0, 3, 0, 1], [-1, 0, 2, -7, 2], [-1, -1, -1, -1, -1], [], [[0, 1], [-1, 1]]],
      count=[4, 5, 0], inner=[[3], [], [2, 2], [0]], index=["int32", "int64"],
      values=["plain", "odd"], known=["no", "ids", "count", "both"])  # fmt: skip
def unsorted(
    rng: Any, op: Any, type: str, ids: Any, count: int, inner: list[int], index: str, values: str,
    known: str,
) -> Given:  # fmt: skip
    at, many = np.array(ids, index), np.array(count, np.int32)
    x = numbers(rng, [*at.shape, *inner], type, values)
    if op.name[-3:] in ("Max", "Min") and tf.as_dtype(type).is_floating:
        x = np.where(np.isnan(x), x.dtype.type(1), x)  # the kernels begin anew after a NaN
    if known == "both":
        return (lambda x: op(x, at, many)), [x]
    if known == "ids":
        return (lambda x, c: op(x, at, c)), [x, many]
    return ((lambda x, i: op(x, i, many)), [x, at]) if known == "count" else (op, [x, at, many])


@room("SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN", type=FLOATS, ids=[*IDS, []],
      inner=[[3], [], [0]], index=["int32", "int64"], known=[False, True])  # fmt: skip
def sparse_segment(
    rng: Any, op: Any, type: str, ids: list[int], inner: list[int], index: str, known: bool
) -> Given:
    x, at = numbers(rng, [4, *inner], type), positions(rng, [len(ids)], 4, index)
    numbers_ = np.array(ids, np.int32)
    return ((lambda x: op(x, at, numbers_)), [x]) if known else (op, [x, at, numbers_])


@room("SparseSegmentSumWithNumSegments SparseSegmentMeanWithNumSegments "
      "SparseSegmentSqrtNWithNumSegments", type=FLOATS, ids=[*IDS, []], inner=[[3], [0]],
      count=[5, 7], index=["int32", "int64"])  # fmt: skip
def sparse_segments(
    rng: Any, op: Any, type: str, ids: list[int], inner: list[int], count: int, index: str
) -> Given:
    x, at = numbers(rng, [4, *inner], type), positions(rng, [len(ids)], 4, index)
    return op, [x, at, np.array(ids, np.int32), np.array(count, np.int32)]


# -- counts ----------------------------------------------------------------------------------------


@room("Bincount", type=["int32", "int64", "float32", "float64"], count=[9, 0], size=[5, 0, 12],
      weighted=[False, True])  # fmt: skip
def bincount(rng: Any, op: Any, type: str, count: int, size: int, weighted: bool) -> Given:
    x = positions(rng, [count], 8)
    weights = numbers(rng, [count if weighted else 0], type)
    return (lambda x, w: op(x, size, w)), [x, weights]


@room(
    "DenseBincount",
    type=["int32", "int64", "float32", "float64"],
    shape=[[9], [2, 5], [0], [0, 3]],
    size=[5, 0, 12],
    weighted=[False, True],
    binary=[False, True],
    index=["int32", "int64"],
)
def dense_bincount(
    rng: Any, op: Any, type: str, shape: list[int], size: int, weighted: bool, binary: bool,
    index: str,
) -> Given:  # fmt: skip
    x, weights = positions(rng, shape, 8, index), numbers(rng, shape if weighted else [0], type)
    many = np.array(size, index)
    return (lambda x, w: op(x, many, w, binary_output=binary)), [x, weights]


@room(
    "LowerBound UpperBound",
    type=[*ALL],
    shapes=[[[2, 5], [2, 3]], [[1, 1], [1, 4]], [[2, 0], [2, 2]], [[2, 3], [2, 0]]],
    out=["int32", "int64"],
    values=["plain", "ties"],
)
def bound(rng: Any, op: Any, type: str, shapes: list[list[int]], out: str, values: str) -> Given:
    table, x = (numbers(rng, shape, type, values) for shape in shapes)
    return (lambda t, x: op(t, x, out_type=tf.as_dtype(out))), [np.sort(table, 1), x]


@room("ApproximateEqual", type=[*FLOATS, *INTEGERS], shape=SHAPES, tolerance=[1e-5, 0.5, 2.0],
      values=HOW)  # fmt: skip
def nearly(rng: Any, op: Any, type: str, shape: list[int], tolerance: float, values: str) -> Given:
    xs = [numbers(rng, shape, type, values) for _ in range(2)]
    return (lambda x, y: op(x, y, tolerance=tolerance)), xs


# -- losses ----------------------------------------------------------------------------------------


@room("SoftmaxCrossEntropyWithLogits", type=FLOATS, values=["plain", "odd", "unit"],
      shapes=[[[3, 4], [3, 4]], [[3, 4], [1, 4]], [[0, 4], [0, 4]], [[1, 4], [3, 4]]])  # fmt: skip
def cross_entropy(rng: Any, op: Any, type: str, values: str, shapes: list[list[int]]) -> Given:
    labels = numbers(rng, shapes[1], type, "positive")
    return op, [numbers(rng, shapes[0], type, values), labels]


@room("SparseSoftmaxCrossEntropyWithLogits", type=FLOATS, values=["plain", "odd", "unit"],
      rows=[3, 0, 1], index=types_of("SparseSoftmaxCrossEntropyWithLogits", "Tlabels"))  # fmt: skip
def sparse_cross_entropy(rng: Any, op: Any, type: str, values: str, rows: int, index: str) -> Given:
    return op, [numbers(rng, [rows, 4], type, values), positions(rng, [rows], 4, index)]


subjects = room.subjects

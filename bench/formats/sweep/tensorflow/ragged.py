"""Sparse and ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import ALL, Given, Room, numbers, positions, tf

room = Room()
NUMBERS = ["float32", "float64", "int32", "int64"]
ROWS = [[0, 3, 3, 5], [0, 5], [0, 0, 0], [0]]


def _sparse(rng: Any, shape: list[int], count: int, type: str) -> list[np.ndarray]:
    """A random sparse tensor: sorted indices, values and the shape."""
    whole = int(np.prod(shape))
    at = np.sort(rng.choice(whole, min(count, whole), replace=False))
    index = np.stack(np.unravel_index(at, shape), 1).astype(np.int64)
    return [index, numbers(rng, [len(at)], type), np.array(shape, np.int64)]


@room(
    "SparseToDense",
    type=[*NUMBERS, "bool", "string"],
    shape=[[3, 4], [5], [2, 2, 3]],
    count=[4, 0],
    index=["int64", "int32"],
    one=[False, True],
)
def to_dense(
    rng: Any, op: Any, type: str, shape: list[int], count: int, index: str, one: bool
) -> Given:
    at, values, size = _sparse(rng, shape, count, type)
    default, given = numbers(rng, [], type), numbers(rng, [], type) if one else values
    return op, [at.astype(index), size.astype(index), given, default]


@room("SparseTensorDenseMatMul", type=NUMBERS, count=[5, 0], a=[False, True], b=[False, True])
def dense_product(rng: Any, op: Any, type: str, count: int, a: bool, b: bool) -> Given:
    at, values, size = _sparse(rng, [3, 4], count, type)
    dense = numbers(rng, [3 if a else 4, 2], type)
    dense = np.ascontiguousarray(dense.T) if b else dense
    return (lambda i, v, s, d: op(i, v, s, d, adjoint_a=a, adjoint_b=b)), [at, values, size, dense]


@room(
    "SparseReduceSum SparseReduceMax",
    type=NUMBERS,
    axes=[[0], [-1], [0, 1], []],
    keep=[False, True],
    count=[5, 1],
)
def sparse_reduced(rng: Any, op: Any, type: str, axes: list[int], keep: bool, count: int) -> Given:
    along = np.array(axes, np.int32)
    return (lambda i, v, s: op(i, v, s, along, keep_dims=keep)), _sparse(rng, [3, 4], count, type)


@room("SparseReorder", type=[*NUMBERS, "string"], shape=[[3, 4], [2, 2, 3]], count=[5, 0])
def reordered(rng: Any, op: Any, type: str, shape: list[int], count: int) -> Given:
    at, values, size = _sparse(rng, shape, count, type)
    order = rng.permutation(len(at))
    return op, [at[order], values[order], size]


@room("SparseReshape", shape=[[3, 4], [2, 2, 3]], to=[[2, 6], [-1], [4, -1], [12]], count=[5, 0])
def sparse_reshaped(rng: Any, op: Any, shape: list[int], to: list[int], count: int) -> Given:
    at, _, size = _sparse(rng, shape, count, "float32")
    return op, [at, size, np.array(to, np.int64)]


@room("SparseFillEmptyRows", type=[*NUMBERS, "string"], shape=[[4, 3], [2, 2]], count=[3, 0, 1])
def filled(rng: Any, op: Any, type: str, shape: list[int], count: int) -> Given:
    return op, [*_sparse(rng, shape, count, type), numbers(rng, [], type)]


@room("SparseConcat", type=[*NUMBERS, "string"], axis=[0, 1, -1], counts=[[3, 4], [0, 2], [2, 0]])
def sparse_concat(rng: Any, op: Any, type: str, axis: int, counts: list[int]) -> Given:
    a, b = (_sparse(rng, [3, 4], count, type) for count in counts)
    xs = [v for pair in zip(a, b, strict=True) for v in pair]
    return (lambda i, j, v, w, s, t: op([i, j], [v, w], [s, t], concat_dim=axis)), xs


@room(
    "SparseSlice",
    type=NUMBERS,
    begin=[[0, 0], [1, 2], [3, 0]],
    size=[[2, 2], [9, 9], [0, 1]],
    count=[6, 0],
)
def sparse_slice(
    rng: Any, op: Any, type: str, begin: list[int], size: list[int], count: int
) -> Given:
    parts = [np.array(v, np.int64) for v in (begin, size)]
    return (lambda i, v, s, b, c: op(i, v, s, b, c)), [*_sparse(rng, [3, 4], count, type), *parts]


@room(
    "SparseBincount",
    type=NUMBERS,
    rows=[True, False],
    size=[5, 0, 12],
    weighted=[False, True],
    binary=[False, True],
    count=[6, 0],
)
def sparse_counts(
    rng: Any, op: Any, type: str, rows: bool, size: int, weighted: bool, binary: bool, count: int
) -> Given:
    at, _, shape = _sparse(rng, [3, 4] if rows else [12], count, "int32")
    values = positions(rng, [len(at)], 9, "int64")
    weights = numbers(rng, [len(at) if weighted else 0], type)
    many = np.array(size, np.int64)
    return (lambda i, v, s, w: op(i, v, s, many, w, binary_output=binary)), [
        at,
        values,
        shape,
        weights,
    ]


@room(
    "RaggedBincount",
    type=NUMBERS,
    rows=ROWS,
    size=[5, 0, 12],
    weighted=[False, True],
    binary=[False, True],
)
def ragged_counts(
    rng: Any, op: Any, type: str, rows: list[int], size: int, weighted: bool, binary: bool
) -> Given:
    values = positions(rng, [rows[-1]], 9)
    weights = numbers(rng, [rows[-1] if weighted else 0], type)
    many = np.array(size, np.int32)
    return (lambda s, v, w: op(s, v, many, w, binary_output=binary)), [
        np.array(rows, np.int64),
        values,
        weights,
    ]


@room(
    "RaggedTensorToTensor",
    type=[*ALL, "bool", "string"],
    rows=ROWS,
    shape=[-1, [-1, -1], [4, 2], [2, -1]],
    by=["ROW_SPLITS", "VALUE_ROWIDS"],
    inner=[[], [2]],
    index=["int64", "int32"],
)
def to_tensor(
    rng: Any, op: Any, type: str, rows: list[int], shape: Any, by: str, inner: list[int], index: str
) -> Given:
    values, default = numbers(rng, [rows[-1], *inner], type), numbers(rng, [], type)
    size = np.array(shape if isinstance(shape, int) else [*shape, *inner], index)
    splits = np.array(rows, index)
    if by == "ROW_SPLITS":
        kinds, parts = ["ROW_SPLITS"], [splits]
    else:
        kinds = ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]
        ids = np.repeat(np.arange(len(rows) - 1), np.diff(splits)).astype(index)
        parts = [np.array(len(rows) - 1, index), ids]
    return (lambda v, d, *p: op(size, v, d, p, row_partition_types=kinds)), [
        values,
        default,
        *parts,
    ]


@room(
    "RaggedTensorToSparse",
    type=[*ALL, "bool", "string"],
    rows=ROWS,
    inner=[[], [2]],
    index=["int64", "int32"],
)
def to_sparse(rng: Any, op: Any, type: str, rows: list[int], inner: list[int], index: str) -> Given:
    values = numbers(rng, [rows[-1], *inner], type)
    return (lambda s, v: op([s], v)), [np.array(rows, index), values]


@room(
    "RaggedGather",
    type=[*ALL, "bool", "string"],
    rows=ROWS[:3],
    at=[[0, 0], [], [1, 0]],
    index=["int64", "int32"],
    splits=["int64", "int32"],
)
def ragged_gather(
    rng: Any, op: Any, type: str, rows: list[int], at: list[int], index: str, splits: str
) -> Given:
    values = numbers(rng, [rows[-1]], type)
    given = [np.array(rows, splits), values, np.array(at, index)]
    return (lambda s, v, i: op([s], v, i, OUTPUT_RAGGED_RANK=1)), given


@room(
    "RaggedRange",
    type=["int32", "int64", "float32", "float64"],
    rows=[[[0, 3, 5], [4, 3, 1], [1, 1, -2]], [[], [], []]],
    one=[False, True],
    splits=["int64", "int32"],
)
def ragged_range(rng: Any, op: Any, type: str, rows: Any, one: bool, splits: str) -> Given:
    starts, limits, deltas = (np.array(v, type) for v in rows)
    xs = [np.array(0, type), limits, np.array(2, type)] if one else [starts, limits, deltas]
    return (lambda a, b, c: op(a, b, c, Tsplits=tf.as_dtype(splits))), xs


FUNCTIONS = {
    "to_tensor": lambda r: r.to_tensor(),
    "sum": lambda r: tf.reduce_sum(r, 1),
    "mean": lambda r: tf.reduce_mean(r, 1),
    "max": lambda r: tf.reduce_max(r, 1),
    "lengths": lambda r: r.row_lengths(),
    "double": lambda r: (r * 2).to_tensor(),
    "concat": lambda r: tf.concat([r, r + 1], 1).to_tensor(),
    "rows": lambda r: r.value_rowids(),
    "from sparse": lambda r: tf.sparse.to_dense(r.to_sparse()),
    "stack": lambda r: tf.concat([r, r], 0).to_tensor(),
    "gather": lambda r: tf.gather(r, [0, 0]).to_tensor(),
    "mask": lambda r: tf.ragged.boolean_mask(r, r > 0).to_tensor(),
    "reverse": lambda r: tf.reverse(r, [1]).to_tensor(),
    "map": lambda r: tf.ragged.map_flat_values(tf.abs, r).to_tensor(),
}


@room("ragged_functions", function=list(FUNCTIONS), type=NUMBERS, rows=ROWS[:3])
def functions(rng: Any, op: Any, function: str, type: str, rows: list[int]) -> Given:
    values, splits = numbers(rng, [rows[-1]], type), np.array(rows, np.int64)
    return (lambda v, s: FUNCTIONS[function](tf.RaggedTensor.from_row_splits(v, s))), [
        values,
        splits,
    ]


subjects = room.subjects

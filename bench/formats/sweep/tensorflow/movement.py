"""Operators that rearrange, repeat, concatenate and create elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import ALL, FLOATS, MOVED, Given, Room, numbers, positions, tf

room = Room()
SHAPES = [[2, 3, 4], [6], [0, 3], [2, 1, 5, 1]]
AXES = [0, -1, 1]


def _tensor(rng: Any, shape: list[int], type: str) -> list[np.ndarray]:
    return [numbers(rng, shape, type)]


@room("Reshape", type=MOVED, shape=SHAPES, to=["flat", "back", "rows"], given=[False, True])
def reshape(rng: Any, op: Any, type: str, shape: list[int], to: str, given: bool) -> Given:
    wanted = {"flat": [-1], "back": shape[::-1], "rows": [shape[0], -1, 1]}[to]
    xs = _tensor(rng, shape, type)
    if given:
        return op, [*xs, np.array(wanted, np.int64)]
    return (lambda x: op(x, wanted)), xs


@room("Transpose ConjugateTranspose", type=MOVED[:-1], shape=SHAPES, order=["back", "roll", "same"])
def transpose(rng: Any, op: Any, type: str, shape: list[int], order: str) -> Given:
    places = list(range(len(shape)))
    wanted = {"back": places[::-1], "roll": places[1:] + places[:1], "same": places}[order]
    return (lambda x: op(x, wanted)), _tensor(rng, shape, type)


@room("ConcatV2 Concat", type=MOVED, shape=SHAPES, axis=AXES, count=[2, 1, 3], known=[False, True])
def concat(
    rng: Any, op: Any, type: str, shape: list[int], axis: int, count: int, known: bool
) -> Given:
    sizes = [list(shape) for _ in range(count)]
    for i, size in enumerate(sizes):
        size[axis] += i
    xs = [numbers(rng, size, type) for size in sizes]
    rest = xs[1:] if known else []
    given = xs[:1] if known else xs
    if op.name == "Concat":
        return (lambda *x: op(axis, [*x, *rest])), given
    return (lambda *x: op([*x, *rest], axis)), given


@room("Pack", type=MOVED, shape=[[2, 3], [], [0, 2]], axis=AXES, count=[2, 1, 3])
def pack(rng: Any, op: Any, type: str, shape: list[int], axis: int, count: int) -> Given:
    return (lambda *x: op(x, axis=axis)), [numbers(rng, shape, type) for _ in range(count)]


@room("Unpack", type=MOVED, shape=SHAPES, axis=AXES)
def unpack(rng: Any, op: Any, type: str, shape: list[int], axis: int) -> Given:
    return (lambda x: op(x, num=shape[axis], axis=axis)), _tensor(rng, shape, type)


@room("Split", type=MOVED, shape=[[2, 6, 4], [6], [0, 6]], axis=AXES, parts=[2, 1, 3])
def split(rng: Any, op: Any, type: str, shape: list[int], axis: int, parts: int) -> Given:
    return (lambda x: op(axis, x, num_split=parts)), _tensor(rng, shape, type)


@room("SplitV", type=MOVED, shape=[[4, 4], [4, 2, 4]], axis=[0, -1],
      sizes=[[1, 3], [4], [-1, 1], [2, 0, 2], [0, -1]], given=[False, True])  # fmt: skip
def split_v(
    rng: Any, op: Any, type: str, shape: list[int], axis: int, sizes: list[int], given: bool
) -> Given:
    xs, count = _tensor(rng, shape, type), len(sizes)
    if given:
        return (lambda x, s: op(x, s, axis, num_split=count)), [*xs, np.array(sizes, np.int32)]
    return (lambda x: op(x, sizes, axis, num_split=count)), xs


@room(
    "Slice", type=MOVED, shape=SHAPES, begin=[0, 1], size=[-1, 1, 0], given=["no", "begin", "all"]
)
def slice_(
    rng: Any, op: Any, type: str, shape: list[int], begin: int, size: int, given: str
) -> Given:
    first = np.array([min(begin, d) for d in shape], np.int32)
    many = np.array([min(size, d - b) for d, b in zip(shape, first, strict=True)], np.int32)
    xs = _tensor(rng, shape, type)
    if given == "all":
        return op, [*xs, first, many]
    if given == "begin":
        return (lambda x, b: op(x, b, many)), [*xs, first]
    return (lambda x: op(x, first, many)), xs


@room("StridedSlice", type=["float32", "int64", "bool", "string"], shape=[[4, 5, 3], [7], [0, 3]],
      begin=[0, 1, -2, 9], end=[3, -1, 100, 0], stride=[1, 2, -1, -3], begin_mask=[0, 1, 3],
      end_mask=[0, 2, 1], shrink=[0, 1, 2], new=[0, 1, 2], ellipsis=[0, 1, 2],
      given=[False, True])  # fmt: skip
def strided_slice(
    rng: Any, op: Any, type: str, shape: list[int], begin: int, end: int, stride: int,
    begin_mask: int, end_mask: int, shrink: int, new: int, ellipsis: int, given: bool,
) -> Given:  # fmt: skip
    count = min(2, len(shape))
    masks = {"begin_mask": begin_mask, "end_mask": end_mask, "shrink_axis_mask": shrink,
             "new_axis_mask": new, "ellipsis_mask": ellipsis}  # fmt: skip
    bounds = [np.full(count, v, np.int32) for v in (begin, end)]
    steps, xs = np.full(count, stride, np.int32), _tensor(rng, shape, type)
    if given:
        return (lambda x, b, e: op(x, b, e, steps, **masks)), [*xs, *bounds]
    return (lambda x: op(x, *bounds, steps, **masks)), xs


@room("GatherV2", type=MOVED, shape=[[4, 3, 5], [6], [2, 4, 0]], axis=AXES, batch=[0, 1],
      indices=[[2], [], [2, 3], [0]], index=["int32", "int64"], known=[False, True])  # fmt: skip
def gather(
    rng: Any, op: Any, type: str, shape: list[int], axis: int, batch: int, indices: list[int],
    index: str, known: bool,
) -> Given:  # fmt: skip
    size = [shape[0], *indices] if batch else indices
    at, xs = positions(rng, size, shape[axis], index), _tensor(rng, shape, type)
    if known:
        return (lambda x: op(x, at, axis, batch_dims=batch)), xs
    return (lambda x, i: op(x, i, axis, batch_dims=batch)), [*xs, at]


@room("Gather", type=MOVED, shape=SHAPES, indices=[[2], [], [2, 3]], index=["int32", "int64"])
def gather_first(
    rng: Any, op: Any, type: str, shape: list[int], indices: list[int], index: str
) -> Given:
    return op, [*_tensor(rng, shape, type), positions(rng, indices, shape[0], index)]


@room(
    "GatherNd",
    type=MOVED,
    shape=[[2, 3, 4], [6], [3, 1]],
    last=[1, 0, 2],
    lead=[[2], [], [2, 3], [0]],
    index=["int32", "int64"],
    known=[False, True],
)
def gather_nd(
    rng: Any, op: Any, type: str, shape: list[int], last: int, lead: list[int], index: str,
    known: bool,
) -> Given:  # fmt: skip
    at = positions(rng, [*lead, last], min(shape[:last], default=1), index)
    xs = _tensor(rng, shape, type)
    return ((lambda x: op(x, at)), xs) if known else (op, [*xs, at])


@room("ScatterNd", type=[*ALL, "bool", "string"], shape=[[4, 3], [5], [3, 2, 2]], last=[1, 2],
      count=[2, 0, 7], index=["int32", "int64"], known=[False, True])  # fmt: skip
def scatter_nd(
    rng: Any, op: Any, type: str, shape: list[int], last: int, count: int, index: str, known: bool
) -> Given:
    at = positions(rng, [count, last], min(shape[:last]), index)
    updates, size = numbers(rng, [count, *shape[last:]], type), np.array(shape, index)
    if known:
        return (lambda u: op(at, u, size)), [updates]
    return op, [at, updates, size]


@room("TensorScatterUpdate TensorScatterAdd TensorScatterSub TensorScatterMax TensorScatterMin",
      type=[*ALL, "bool"], shape=[[4, 3], [5], [3, 2, 2]], last=[1, 2], count=[2, 0, 1],
      index=["int32", "int64"])  # fmt: skip
def tensor_scatter(
    rng: Any, op: Any, type: str, shape: list[int], last: int, count: int, index: str
) -> Given:
    at = positions(rng, [count, last], min(shape[:last]), index)
    if "Update" in op.name:  # of the same place any may be the last one
        at[:, 0] = rng.permutation(shape[0])[:count]
    return op, [*_tensor(rng, shape, type), at, numbers(rng, [count, *shape[last:]], type)]


@room("Tile", type=MOVED, shape=SHAPES, times=[2, 1, 0, 3], given=[False, True])
def tile(rng: Any, op: Any, type: str, shape: list[int], times: int, given: bool) -> Given:
    by, xs = np.array([times, *[2] * len(shape)][: len(shape)], np.int32), _tensor(rng, shape, type)
    return (op, [*xs, by]) if given else ((lambda x: op(x, by)), xs)


@room("Pad PadV2", type=MOVED, shape=SHAPES, pads=[[1, 2], [0, 0], [3, 0]], given=[False, True])
def pad(rng: Any, op: Any, type: str, shape: list[int], pads: list[int], given: bool) -> Given:
    by = np.array([pads] * len(shape), np.int32)
    xs, value = _tensor(rng, shape, type), numbers(rng, [], type)
    more = [value] if op.name == "PadV2" else []
    if given:
        return op, [*xs, by, *more]
    return (lambda x, *v: op(x, by, *v)), [*xs, *more]


@room(
    "MirrorPad",
    type=MOVED,
    shape=[[3, 4], [6], [2, 3, 2]],
    pads=[[1, 1], [0, 0], [0, 1], [2, 1]],
    mode=["REFLECT", "SYMMETRIC"],
    given=[False, True],
)
def mirror(
    rng: Any, op: Any, type: str, shape: list[int], pads: list[int], mode: str, given: bool
) -> Given:
    by, xs = np.array([pads] * len(shape), np.int32), _tensor(rng, shape, type)
    if given:
        return (lambda x, p: op(x, p, mode=mode)), [*xs, by]
    return (lambda x: op(x, by, mode=mode)), xs


@room("ReverseV2", type=MOVED, shape=SHAPES, axes=[[0], [-1], [], [0, -1], [1]])
def reverse(rng: Any, op: Any, type: str, shape: list[int], axes: list[int]) -> Given:
    return (lambda x: op(x, np.array(axes, np.int32))), _tensor(rng, shape, type)


@room("ReverseSequence", type=MOVED, shape=[[3, 4], [4, 3, 2], [3, 4, 0]], axes=[[1, 0], [0, 1]],
      lengths=["some", "none", "all"], index=["int32", "int64"])  # fmt: skip
def reverse_sequence(
    rng: Any, op: Any, type: str, shape: list[int], axes: list[int], lengths: str, index: str
) -> Given:
    along, batch = axes
    most, count = shape[along], shape[batch]
    some = {"some": positions(rng, [count], most + 1, index), "none": np.zeros(count, index),
            "all": np.full(count, most, index)}[lengths]  # fmt: skip
    return (lambda x, n: op(x, n, seq_dim=along, batch_dim=batch)), [
        *_tensor(rng, shape, type),
        some,
    ]


@room("Roll", type=MOVED, shape=SHAPES, by=[1, 0, -2, 7], axis=[0, -1, [0, 1], [0, 0]],
      given=[False, True])  # fmt: skip
def roll(rng: Any, op: Any, type: str, shape: list[int], by: int, axis: Any, given: bool) -> Given:
    shift = np.array(by if isinstance(axis, int) else [by, 1], np.int32)
    xs = _tensor(rng, shape, type)
    if given:
        return (lambda x, s: op(x, s, axis)), [*xs, shift]
    return (lambda x: op(x, shift, axis)), xs


@room("ExpandDims", type=MOVED, shape=SHAPES, axis=[0, -1, 1, -2])
def expand(rng: Any, op: Any, type: str, shape: list[int], axis: int) -> Given:
    return (lambda x: op(x, axis)), _tensor(rng, shape, type)


@room("Squeeze", type=MOVED, shape=[[2, 1, 3, 1], [1], [1, 0]], axes=[[], [1], [-1], [0]])
def squeeze(rng: Any, op: Any, type: str, shape: list[int], axes: list[int]) -> Given:
    return (lambda x: op(x, axis=axes)), _tensor(rng, shape, type)


@room(
    "BroadcastTo",
    type=MOVED,
    given=[False, True],
    shapes=[[[3], [2, 3]], [[2, 1], [2, 4]], [[], [2]], [[1, 3], [0, 3]], [[2], [2]]],
)
def broadcast_to(rng: Any, op: Any, type: str, given: bool, shapes: list[list[int]]) -> Given:
    xs, wanted = _tensor(rng, shapes[0], type), np.array(shapes[1], np.int32)
    return (op, [*xs, wanted]) if given else ((lambda x: op(x, wanted)), xs)


@room("BroadcastArgs", type=["int32", "int64"], given=[False, True],
      shapes=[[[3], [2, 3]], [[2, 1], [1, 4]], [[], [2]], [[1, 3], [0, 3]]])  # fmt: skip
def broadcast_args(rng: Any, op: Any, type: str, given: bool, shapes: list[list[int]]) -> Given:
    first, second = (np.array(s, type) for s in shapes)
    if given:
        return op, [first, second]
    return (lambda x: op(tf.cast(tf.shape(x), type), second)), [np.zeros(shapes[0], np.float32)]


@room("Fill", type=MOVED, shape=[[2, 3], [], [0, 2], [5]], index=["int32", "int64"],
      given=[False, True])  # fmt: skip
def fill(rng: Any, op: Any, type: str, shape: list[int], index: str, given: bool) -> Given:
    size, value = np.array(shape, index), numbers(rng, [], type)
    return (op, [size, value]) if given else ((lambda v: op(size, v)), [value])


@room("Range", type=["int32", "int64", "float32", "float64"], given=[False, True],
      numbers=[[0, 5, 1], [3, -4, -2], [2, 2, 1], [1, 9, 4], [5, 1, 2]])  # fmt: skip
def range_(rng: Any, op: Any, type: str, given: bool, numbers: list[int]) -> Given:
    start, limit, delta = (np.array(v, type) for v in numbers)
    if given:
        return op, [start, limit, delta]
    return (lambda x: op(start, limit, delta) + x), [np.array(1, type)]


@room("LinSpace", type=["float32", "float64"], count=[5, 1, 2], ends=[[0, 1], [3, -2], [1, 1]],
      given=[False, True])  # fmt: skip
def linspace(rng: Any, op: Any, type: str, count: int, ends: list[int], given: bool) -> Given:
    first, last = (np.array(v, type) for v in ends)
    number = np.array(count, np.int32)
    return (
        (op, [first, last, number]) if given else ((lambda a, b: op(a, b, number)), [first, last])
    )


@room(
    "OneHot",
    type=[*ALL, "bool", "string"],
    shape=[[3], [2, 2], [], [0]],
    depth=[4, 1, 0],
    axis=[-1, 0, 1],
    index=["int32", "int64", "uint8", "int8"],
    low=[0, -3],
    given=[False, True],
)
def one_hot(
    rng: Any, op: Any, type: str, shape: list[int], depth: int, axis: int, index: str, low: int,
    given: bool,
) -> Given:  # fmt: skip
    at = rng.integers(low if "u" not in index else 0, 6, shape).astype(index)
    on, off = (numbers(rng, [], type) for _ in range(2))
    if given:
        return (lambda *xs: op(*xs, axis=axis)), [at, np.array(depth, np.int32), on, off]
    return (lambda i: op(i, depth, on, off, axis=axis)), [at]


@room("Where", type=[*ALL, "bool"], shape=[[2, 3, 4], [6], [0, 3], []])
def where(rng: Any, op: Any, type: str, shape: list[int]) -> Given:
    x = numbers(rng, shape, type, "ties") if type != "bool" else numbers(rng, shape, type)
    return op, [x]


@room("InvertPermutation", type=["int32", "int64"], count=[5, 1, 0], given=[False, True])
def invert(rng: Any, op: Any, type: str, count: int, given: bool) -> Given:
    order = rng.permutation(count).astype(type)
    return (op, [order]) if given else ((lambda x: op(order) + x), [np.array(1, type)])


@room(
    "DynamicPartition",
    type=MOVED,
    shape=[[5, 2], [4], [0, 2]],
    parts=[3, 1, 6],
    known=[False, True],
    numbers_rank=[1, 2],
)
def partition(
    rng: Any, op: Any, type: str, shape: list[int], parts: int, known: bool, numbers_rank: int
) -> Given:
    which = positions(rng, shape[:numbers_rank], parts)
    xs = _tensor(rng, shape, type)
    if known:
        return (lambda x: op(x, which, num_partitions=parts)), xs
    return (lambda x, p: op(x, p, num_partitions=parts)), [*xs, which]


@room("DynamicStitch ParallelDynamicStitch", type=MOVED, inner=[[], [2], [0]],
      indices=["apart", "repeated", "table"], known=[True, False])  # fmt: skip
def stitch(rng: Any, op: Any, type: str, inner: list[int], indices: str, known: bool) -> Given:
    at = {"apart": [[0, 2, 5], [1, 3, 4]], "repeated": [[0, 1, 2], [2, 0]],
          "table": [[[0, 3], [1, 2]], [4]]}[indices]  # fmt: skip
    if "Parallel" in op.name and indices == "repeated":
        at = [[0, 1], [2]]  # which of equal ones is last is not said
    places = [np.array(a, np.int32) for a in at]
    data = [numbers(rng, [*p.shape, *inner], type) for p in places]
    if known:
        return (lambda *d: op(places, d)), data
    return (lambda a, b, c, d: op([a, b], [c, d])), [*places, *data]


@room("SpaceToBatchND", type=MOVED, block=[[2, 2], [1, 3], [2]], pads=[[0, 0], [1, 0], [1, 1]],
      channels=[[2], [], [0]], known=[True, False])  # fmt: skip
def space_to_batch(
    rng: Any, op: Any, type: str, block: list[int], pads: list[int], channels: list[int],
    known: bool,
) -> Given:  # fmt: skip
    x = numbers(rng, [2, *(b * 3 - sum(pads) for b in block), *channels], type)
    by = np.array([pads] * len(block), np.int32)
    if known:
        return (lambda x: op(x, block, by)), [x]
    return (lambda x, p: op(x, block, p)), [x, by]


@room("BatchToSpaceND", type=MOVED, block=[[2, 2], [1, 3], [2]], pads=[[0, 0], [1, 0], [1, 1]],
      channels=[[2], [], [0]], known=[True, False])  # fmt: skip
def batch_to_space(
    rng: Any, op: Any, type: str, block: list[int], pads: list[int], channels: list[int],
    known: bool,
) -> Given:  # fmt: skip
    x = numbers(rng, [2 * int(np.prod(block)), *([3] * len(block)), *channels], type)
    by = np.array([pads] * len(block), np.int32)
    if known:
        return (lambda x: op(x, block, by)), [x]
    return (lambda x, p: op(x, block, p)), [x, by]


@room("SpaceToBatch BatchToSpace", type=MOVED, block=[2, 3], pads=[[0, 0], [1, 2]])
def old_batches(rng: Any, op: Any, type: str, block: int, pads: list[int]) -> Given:
    by = np.array([pads, pads], np.int32)
    back = op.name == "BatchToSpace"
    edge = 3 if back else block * 3 - sum(pads)
    x = numbers(rng, [2 * (block**2 if back else 1), edge, edge, 2], type)
    return (lambda x: op(x, by, block_size=block)), [x]


@room("DepthToSpace SpaceToDepth", type=MOVED, block=[2, 3], layout=["NHWC", "NCHW"], batch=[2, 1])
def depth(rng: Any, op: Any, type: str, block: int, layout: str, batch: int) -> Given:
    channels, edge = (block**2 * 2, 3) if op.name.startswith("Depth") else (3, block * 2)
    size = [edge, edge, channels] if layout == "NHWC" else [channels, edge, edge]
    x = numbers(rng, [batch, *size], type)
    return (lambda x: op(x, block_size=block, data_format=layout)), [x]


@room("MatrixDiag", type=ALL, shape=[[3], [2, 4], [0], [2, 0]])
def matrix_diag(rng: Any, op: Any, type: str, shape: list[int]) -> Given:
    return op, _tensor(rng, shape, type)


@room("MatrixDiagV2 MatrixDiagV3", type=[*ALL, "bool"], shape=[[3], [2, 4], [2, 2, 3]],
      k=[0, 1, -2, [0, 1], [-1, 0]], extents=[[-1, -1], [4, 5], [6, -1]],
      align=["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"])  # fmt: skip
def matrix_diag_at(
    rng: Any, op: Any, type: str, shape: list[int], k: Any, extents: list[int], align: str
) -> Given:
    fill = numbers(rng, [], type)
    more = {"align": align} if op.name.endswith("3") else {}
    return (lambda x: op(x, k, *extents, fill, **more)), _tensor(rng, shape, type)


@room("MatrixDiagPart", type=ALL, shape=[[3, 3], [2, 4, 3], [2, 5], [0, 3]])
def matrix_diag_part(rng: Any, op: Any, type: str, shape: list[int]) -> Given:
    return op, _tensor(rng, shape, type)


@room("MatrixDiagPartV2 MatrixDiagPartV3", type=[*ALL, "bool"], shape=[[3, 3], [2, 4, 3], [2, 5]],
      k=[0, 1, -1, [0, 1], [-1, 1]],
      align=["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"])  # fmt: skip
def matrix_diag_part_at(
    rng: Any, op: Any, type: str, shape: list[int], k: Any, align: str
) -> Given:
    fill = numbers(rng, [], type)
    more = {"align": align} if op.name.endswith("3") else {}
    return (lambda x: op(x, k, fill, **more)), _tensor(rng, shape, type)


@room("MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3", type=[*ALL, "bool"],
      shape=[[3, 3], [2, 4, 3], [2, 5]], k=[0, 1, -1, [0, 1]],
      align=["RIGHT_LEFT", "LEFT_RIGHT"])  # fmt: skip
def matrix_set_diag(rng: Any, op: Any, type: str, shape: list[int], k: Any, align: str) -> Given:
    low, high = k if isinstance(k, list) else (k, k)
    height, width = shape[-2:]
    longest = min(height + min(high, 0), width - max(low, 0))
    several = [high - low + 1] if high > low else []
    values = numbers(rng, [*shape[:-2], *several, longest], type)
    more = [] if op.name == "MatrixSetDiag" else [k]
    how = {"align": align} if op.name.endswith("3") else {}
    return (lambda x, d: op(x, d, *more, **how)), [*_tensor(rng, shape, type), values]


@room("MatrixBandPart", type=[*ALL, "bool"], shape=[[3, 4], [2, 4, 3], [0, 3]], lower=[0, -1, 1, 2],
      upper=[0, -1, 1, 3], index=["int32", "int64"], given=[False, True])  # fmt: skip
def band(
    rng: Any, op: Any, type: str, shape: list[int], lower: int, upper: int, index: str, given: bool
) -> Given:
    limits = [np.array(v, index) for v in (lower, upper)]
    xs = _tensor(rng, shape, type)
    return (op, [*xs, *limits]) if given else ((lambda x: op(x, *limits)), xs)


@room("Cross", type=ALL, shape=[[3], [2, 3], [0, 3]])
def cross(rng: Any, op: Any, type: str, shape: list[int]) -> Given:
    return op, [numbers(rng, shape, type) for _ in range(2)]


@room("Shape Size", type=MOVED, shape=[*SHAPES, []], out=["int32", "int64"])
def shape_of(rng: Any, op: Any, type: str, shape: list[int], out: str) -> Given:
    return (lambda x: op(x, out_type=tf.as_dtype(out))), _tensor(rng, shape, type)


@room("ShapeN", type=MOVED, shape=[*SHAPES, []], count=[2, 1])
def shapes_of(rng: Any, op: Any, type: str, shape: list[int], count: int) -> Given:
    return (lambda *xs: op(xs)), [numbers(rng, shape, type) for _ in range(count)]


@room("Rank Identity ZerosLike OnesLike Snapshot StopGradient", type=MOVED, shape=[*SHAPES, []])
def plain(rng: Any, op: Any, type: str, shape: list[int]) -> Given:
    return op, _tensor(rng, shape, type)


@room("CheckNumerics", type=FLOATS, shape=SHAPES)
def checked(rng: Any, op: Any, type: str, shape: list[int]) -> Given:
    return (lambda x: op(x, message="odd")), _tensor(rng, shape, type)


@room("EnsureShape", type=MOVED, shape=SHAPES, known=["all", "none", "first"])
def ensured(rng: Any, op: Any, type: str, shape: list[int], known: str) -> Given:
    wanted = {"all": shape, "none": [None] * len(shape), "first": [shape[0], *[None] * len(shape)]}
    return (lambda x: op(x, shape=wanted[known][: len(shape)])), _tensor(rng, shape, type)


@room(
    "DataFormatVecPermute",
    type=["int32", "int64"],
    src=["NHWC", "NCHW"],
    dst=["NCHW", "NHWC", "HWNC"],
    shape=[[4], [4, 2], [2], [2, 2]],
)
def permuted(rng: Any, op: Any, type: str, src: str, dst: str, shape: list[int]) -> Given:
    return (lambda x: op(x, src_format=src, dst_format=dst)), _tensor(rng, shape, type)


subjects = room.subjects

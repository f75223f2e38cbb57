"""Shapes, slices, what moves elements, and what makes tensors."""

from __future__ import annotations

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import Dim, IntegerType, TensorType, i1, i64
from ...common.movement import (
    FAR,
    Index,
    column,
    concat,
    padded_by,
    rolled,
    slice_axis,
    split_into,
    tiled,
    transposed,
)
from ...common.reshaping import expand_by, reshape_by
from ...common.shapes import (
    as_i64,
    as_scalar,
    normalize_axes,
    normalize_axis,
    product,
    reshape,
    shape_of,
)
from ...common.terms import Term, constant, counting, extent, joined
from ...common.windows import pad_by_vector
from ..layer import TfLayer, rows

i32 = IntegerType(32)


@rows("Identity", "StopGradient", "PreventGradient", "Snapshot", "CheckNumerics",
      "PlaceholderWithDefault", "EnsureShape", "Copy", "CopyHost")  # fmt: skip
def identity(n: TfLayer, x, *others):
    return x


@rows("IdentityN")
def identities(n: TfLayer, *inputs):
    return list(inputs)


# -- shapes ----------------------------------------------------------------------------------------


@rows("Shape")
def shape(n: TfLayer, x: Value) -> Value:
    return n.cast(shape_of(n, x), n.element("out_type") if n.has("out_type") else i32)


@rows("ShapeN")
def shapes(n: TfLayer, *inputs: Value) -> list[Value]:
    return [shape(n, x) for x in inputs]


@rows("Size")
def size(n: TfLayer, x: Value) -> Value:
    element = n.element("out_type") if n.has("out_type") else i32
    count = product(x.type.shape)
    if count is not None:
        return n.constant(count, element)
    return n.cast(n(nn.ReduceProd(shape_of(n, x), axes=(0,))), element)


@rows("Rank")
def rank(n: TfLayer, x: Value) -> Value:
    return n.constant(x.type.rank, i32)


def wanted(n: TfLayer, vector: Value) -> tuple[Dim, ...]:
    """The extents that a vector asks for, None for what only the run tells."""
    found = n.extents(vector) if vector.type.rank == 1 else None
    if found is None:
        raise n.error("the number of dimensions of the result must be known")
    return tuple(None if d is None else int(d) for d in found)


@rows("Reshape")
def reshape_(n: TfLayer, x: Value, shape: Value) -> Value:
    extents = wanted(n, shape)
    if extents.count(-1) > 1:
        raise n.error(f"shape {list(extents)} has more than one -1")
    return reshape_by(n, x, shape, list(extents))


@rows("BroadcastTo")
def broadcast_to(n: TfLayer, x: Value, shape: Value) -> Value:
    return expand_by(n, x, as_i64(n, shape), wanted(n, shape))


@rows("ExpandDims")
def expand_dims(n: TfLayer, x: Value, axis: Value) -> Value:
    at = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank + 1)
    own = [(x, i) for i in range(x.type.rank)]
    return reshape(n, x, [*own[:at], 1, *own[at:]])


@rows("Squeeze")
def squeeze(n: TfLayer, x: Value) -> Value:
    axes = n.ints("squeeze_dims") or n.ints("axis")
    found = normalize_axes(n, axes, x.type.rank)
    if not axes:
        if None in x.type.shape:
            raise n.error("the dimensions to drop are not given, and an extent is unknown")
        found = tuple(i for i, d in enumerate(x.type.shape) if d == 1)
    for axis in found:
        if x.type.shape[axis] not in (1, None):
            raise n.error(f"axis {axis} has {x.type.shape[axis]} elements, expected 1")
    return reshape(n, x, [(x, i) for i in range(x.type.rank) if i not in found])


@rows("BroadcastArgs")
def broadcast_args(n: TfLayer, x: Value, y: Value) -> Value:
    """The shape that two shapes broadcast to."""
    count = max(x.type.shape[0] or 0, y.type.shape[0] or 0)
    parts = []
    for v in (x, y):
        lead = constant(n, np.ones(count - v.type.shape[0]), v.type.element_type)
        parts.append(joined([lead, Term(n, v)], 0) if lead.shape != (0,) else Term(n, v))
    return parts[0].equals(1).choose(parts[1], parts[0]).value


# -- slices ----------------------------------------------------------------------------------------


def at(n: TfLayer, vector: Value, i: int) -> Index:
    """An element of a vector of integers: a number where it is known."""
    found = n.extents(vector)
    known = None if found is None else found[i]
    return int(known) if known is not None else column(n, as_i64(n, vector), 0, i)


@rows("StridedSlice")
def strided_slice(n: TfLayer, x: Value, begin: Value, end: Value, strides: Value) -> Value:
    steps = n.known_ints(strides, "strides")
    masks = {name: n.int(f"{name}_mask", 0) for name in (
        "begin", "end", "ellipsis", "new_axis", "shrink_axis")}  # fmt: skip
    has = {name: [bool(mask >> i & 1) for i in range(len(steps))] for name, mask in masks.items()}
    taken = sum(not e and not a for e, a in zip(has["ellipsis"], has["new_axis"], strict=True))
    if taken > x.type.rank or sum(has["ellipsis"]) > 1 or 0 in steps:
        raise n.error(f"{taken} slices of a tensor of rank {x.type.rank}")
    axis, kept = 0, []
    for i, step in enumerate(steps):
        if has["ellipsis"][i]:
            skipped = x.type.rank - axis - _taken_behind(has, i)
            kept += range(axis, axis + skipped)
            axis += skipped
        elif has["new_axis"][i]:
            kept.append(-1)
        elif has["shrink_axis"][i]:
            x = _one(n, x, axis, at(n, begin, i))
            axis += 1
        else:
            first = (0 if step > 0 else FAR) if has["begin"][i] else at(n, begin, i)
            last = (FAR if step > 0 else -FAR) if has["end"][i] else at(n, end, i)
            x = slice_axis(n, x, axis, first, last, step)
            kept.append(axis)
            axis += 1
    kept += range(axis, x.type.rank)
    return reshape(n, x, [1 if i < 0 else (x, i) for i in kept])


def _taken_behind(has: dict[str, list[bool]], i: int) -> int:
    """How many dimensions the slices behind an ellipsis are for."""
    return sum(not new for new in has["new_axis"][i + 1 :])


def _one(n: TfLayer, x: Value, axis: int, place: Index) -> Value:
    """x with one element along an axis."""
    part = column(n, x, axis, place)
    own = [(part, i) for i in range(part.type.rank)]
    return reshape(n, part, [*own[:axis], 1, *own[axis:]])


@rows("Slice")
def slice_(n: TfLayer, x: Value, begin: Value, sizes: Value) -> Value:
    for axis in range(x.type.rank):
        first, count = at(n, begin, axis), at(n, sizes, axis)
        if isinstance(count, int):
            last: Index = FAR if count == -1 else _sum(n, first, count)
        else:
            whole = Term(n, count)
            last = (whole < 0).choose(FAR, whole + Term(n, n.cast(_value(n, first), i64))).value
        x = _sized(n, slice_axis(n, x, axis, first, last), axis, count)
    return x


def _value(n: TfLayer, index: Index) -> Value:
    return n.constant(index, i64) if isinstance(index, int) else index


def _sum(n: TfLayer, first: Index, count: int) -> Index:
    if isinstance(first, int):
        return first + count
    return n(nn.Add(first, n.constant(count, i64)))


def _sized(n: TfLayer, x: Value, axis: int, count: Index) -> Value:
    """x with the extent that its slice was given, where the type lacks it."""
    if x.type.shape[axis] is not None or not isinstance(count, int) or count < 0:
        return x
    shape = tuple(count if i == axis else d for i, d in enumerate(x.type.shape))
    if shape.count(None):
        return reshape(n, x, [count if i == axis else (x, i) for i in range(x.type.rank)])
    return n(nn.Reshape(x, out=TensorType(shape, x.type.element_type)))


@rows("GatherV2", "Gather", "ResourceGather")
def gather(n: TfLayer, x, indices: Value, axis: Value | None = None) -> Value:
    if n.kind == "ResourceGather":
        x = x.read(n)
    rank = x.type.rank
    place = 0 if axis is None else normalize_axis(n, n.known_int(axis, "axis"), rank)
    batch = normalize_axis(n, n.int("batch_dims", 0), indices.type.rank + 1)
    if indices.type.element_type not in (i32, i64):
        indices = as_i64(n, indices)
    if not batch:
        return n(nn.Gather(x, indices, axis=place))
    if place < batch:
        raise n.error(f"axis {place} is one of the {batch} of the batch")
    before = list(range(batch, place))
    front = [*range(batch), place, *before, *range(place + 1, rank)]
    own = [(indices, i) for i in range(indices.type.rank)]
    found = n(
        nn.GatherNd(transposed(n, x, front), reshape(n, indices, [*own, 1]), batch_dims=batch)
    )
    count = indices.type.rank - batch
    order = [*range(batch), *range(batch + count, batch + count + len(before))]
    order += range(batch, batch + count)
    return transposed(n, found, [*order, *range(len(order), found.type.rank)])


@rows("GatherNd", "ResourceGatherNd")
def gather_nd(n: TfLayer, x, indices: Value) -> Value:
    x = x.read(n) if n.kind == "ResourceGatherNd" else x
    return n(nn.GatherNd(x, indices, batch_dims=n.int("batch_dims", 0)))


@rows("ScatterNd")
def scatter_nd(n: TfLayer, indices: Value, updates: Value, shape: Value) -> Value:
    zeros = fill(n, shape, n.scalar(0, updates))
    return n(nn.ScatterNd(zeros, indices, updates, reduction="add"))


_SCATTERS = {"Update": "none", "Add": "add", "Sub": "sub", "Max": "max", "Min": "min"}


@rows(*(f"TensorScatter{name}" for name in _SCATTERS))
def tensor_scatter(n: TfLayer, x: Value, indices: Value, updates: Value) -> Value:
    how = _SCATTERS[n.kind.removeprefix("TensorScatter")]
    if how == "sub":
        how, updates = "add", n(nn.Neg(updates))
    return n(nn.ScatterNd(x, indices, updates, reduction=how))


# -- parts and orders ------------------------------------------------------------------------------


@rows("ConcatV2")
def concat_(n: TfLayer, *inputs: Value) -> Value:
    *parts, axis = inputs
    if not parts:
        raise n.error("no tensors")
    return concat(n, parts, normalize_axis(n, n.known_int(axis, "axis"), parts[0].type.rank))


@rows("Concat")
def concat_by_first(n: TfLayer, axis: Value, *parts: Value) -> Value:
    return concat_(n, *parts, axis)


@rows("Pack")
def pack(n: TfLayer, *inputs: Value) -> Value:
    axis = normalize_axis(n, n.int("axis", 0), inputs[0].type.rank + 1)
    wide = []
    for x in inputs:
        own = [(x, i) for i in range(x.type.rank)]
        wide.append(reshape(n, x, [*own[:axis], 1, *own[axis:]]))
    return wide[0] if len(wide) == 1 else n(nn.Concat(wide, axis=axis))


@rows("Unpack")
def unpack(n: TfLayer, x: Value) -> list[Value]:
    axis = normalize_axis(n, n.int("axis", 0), x.type.rank)
    return [column(n, x, axis, i) for i in range(n.int("num"))]


@rows("Split")
def split(n: TfLayer, axis: Value, x: Value) -> list[Value]:
    place = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank)
    count, extent = n.int("num_split"), x.type.shape[place]
    if extent is None or count < 1 or extent % count:
        raise n.error(f"{'?' if extent is None else extent} elements do not make {count} parts")
    return split_into(n, x, place, [extent // count] * count)


@rows("SplitV")
def split_v(n: TfLayer, x: Value, sizes: Value, axis: Value) -> list[Value]:
    place = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank)
    parts, extent = list(n.known_ints(sizes, "sizes")), x.type.shape[place]
    if -1 in parts and extent is not None:
        parts[parts.index(-1)] = extent - sum(parts) - 1
    if min(parts) < 0 or (extent is not None and sum(parts) != extent):
        raise n.error(f"{extent} elements do not make parts of {parts}")
    return split_into(n, x, place, parts)


@rows("Transpose", "ConjugateTranspose")
def transpose(n: TfLayer, x: Value, order: Value) -> Value:
    return transposed(n, x, normalize_axes(n, n.known_ints(order, "perm"), x.type.rank))


@rows("InvertPermutation")
def invert_permutation(n: TfLayer, x: Value) -> Value:
    return n.constant(np.argsort(n.known_ints(x, "the permutation")), x.type.element_type)


@rows("ReverseV2")
def reverse(n: TfLayer, x: Value, axes: Value) -> Value:
    for axis in normalize_axes(n, n.known_ints(axes, "axes"), x.type.rank):
        x = slice_axis(n, x, axis, FAR, -FAR, -1)
    return x


@rows("ReverseSequence")
def reverse_sequence(n: TfLayer, x: Value, lengths: Value) -> Value:
    """x with element t of the sequences taken from length - 1 - t, where t < length."""
    time, batch = n.int("seq_dim"), n.int("batch_dim", 0)
    front = [batch, time, *(i for i in range(x.type.rank) if i not in (batch, time))]
    moved = transposed(n, x, front)
    steps = counting(n, extent(n, (moved, 1))).spread(1, 0)
    row = Term(n, as_i64(n, lengths)).spread(0, 1)
    source = (steps < row).choose(row - 1 - steps, steps).spread(0, 1)
    found = n(nn.GatherNd(moved, source.value, batch_dims=1))
    return transposed(n, found, [front.index(i) for i in range(x.type.rank)])


@rows("Roll")
def roll(n: TfLayer, x: Value, shift: Value, axis: Value) -> Value:
    pairs = zip(n.known_ints(shift, "shift"), n.known_ints(axis, "axis"), strict=True)
    for by, place in pairs:
        x = rolled(n, x, normalize_axis(n, place, x.type.rank), by)
    return x


@rows("Pad", "PadV2", "MirrorPad")
def pad(n: TfLayer, x: Value, paddings: Value, value: Value | None = None) -> Value:
    mode = "constant"
    if n.kind == "MirrorPad":
        mode = "reflect"
        if n.text("mode") == "SYMMETRIC":
            return _symmetric(n, x, np.array(n.known_ints(paddings, "paddings")).reshape(-1, 2))
    order = n(nn.Transpose(as_i64(n, paddings), permutation=(1, 0)))
    by = reshape(n, order, [2 * x.type.rank])
    if n.known(by) is None:
        fill = None if mode != "constant" else n.scalar(0, x) if value is None else value
        return pad_by_vector(n, x, by, fill, mode)
    return padded_by(n, x, n.known_ints(by, "paddings"), value, mode)


def _symmetric(n: TfLayer, x: Value, pads: np.ndarray) -> Value:
    """Mirrored at the border, which is repeated."""
    for axis, (before, after) in enumerate(pads.tolist()):
        parts = [x]
        if before:
            lead = slice_axis(n, x, axis, 0, before)
            parts.insert(0, slice_axis(n, lead, axis, FAR, -FAR, -1))
        if after:
            tail = slice_axis(n, x, axis, -after, FAR)
            parts.append(slice_axis(n, tail, axis, FAR, -FAR, -1))
        x = concat(n, parts, axis)
    return x


@rows("Tile")
def tile(n: TfLayer, x: Value, multiples: Value) -> Value:
    return tiled(n, x, as_i64(n, multiples))


# -- new tensors -----------------------------------------------------------------------------------


@rows("Fill")
def fill(n: TfLayer, shape: Value, value: Value) -> Value:
    extents = wanted(n, shape)
    if not extents:
        return value
    return Term(n, as_scalar(n, value)).filled(Term(n, as_i64(n, shape))).value


@rows("ZerosLike", "OnesLike")
def filled_like(n: TfLayer, x):
    if not isinstance(x, Value):
        return x.cleared()
    number = n.scalar(0 if n.kind == "ZerosLike" else 1, x)
    return Term(n, number).filled(Term(n, shape_of(n, x))).value if x.type.rank else number


@rows("Empty")
def empty(n: TfLayer, shape: Value) -> Value:
    return fill(n, shape, n.constant(0, n.element("dtype")))


@rows("Range")
def range_(n: TfLayer, start: Value, limit: Value, delta: Value) -> Value:
    known = [n.known(v) for v in (start, limit, delta)]
    length = None
    if all(v is not None for v in known):
        first, last, step = (v.item() for v in known)  # type: ignore[union-attr]
        if not step:
            raise n.error("the step is 0")
        length = max(0, int(np.ceil((last - first) / step)))
    out = TensorType((length,), start.type.element_type)
    return n(nn.Range(start, limit, delta, out=out))


@rows("LinSpace")
def linspace(n: TfLayer, start: Value, stop: Value, count: Value) -> Value:
    number = n.known_int(count, "the number of elements")
    places = constant(n, np.arange(number) / max(number - 1, 1), start.type.element_type)
    return (Term(n, start) + places * (Term(n, stop) - Term(n, start))).value


@rows("OneHot")
def one_hot(n: TfLayer, indices: Value, depth: Value, on: Value, off: Value) -> Value:
    axis = normalize_axis(n, n.int("axis", -1), indices.type.rank + 1)
    values = n(nn.Concat([reshape(n, as_scalar(n, v), [1]) for v in (off, on)], axis=0))
    number = as_scalar(n, as_i64(n, depth))
    known = n.known(number)
    shape = list(indices.type.shape)
    shape.insert(axis, None if known is None else int(known))
    out = TensorType(tuple(shape), on.type.element_type)
    index = as_i64(n, indices)
    # A negative index names nothing.
    index = n(nn.Where(n(nn.Less(index, n.constant(0, i64))), number, index))
    return n(nn.OneHot(index, number, values, axis=axis, out=out))


@rows("MatrixBandPart")
def band(n: TfLayer, x: Value, lower: Value, upper: Value) -> Value:
    below, above = (n.known_int(v, "the width of the band") for v in (lower, upper))
    if below >= 0:
        x = n(nn.Trilu(x, n.constant(-below, i64), upper=True))
    if above >= 0:
        x = n(nn.Trilu(x, n.constant(above, i64), upper=False))
    return x


@rows("MatrixDiag", "MatrixDiagV2", "MatrixDiagV3")
def diagonal(n: TfLayer, x: Value, k: Value | None = None, *others: Value) -> Value:
    if k is not None and any(n.known_ints(k, "k")):
        raise n.error("only the main diagonal is supported")
    extent = x.type.shape[-1]
    if extent is None:
        raise n.error("the extent of the diagonal must be known")
    mask = n.constant(np.eye(extent, dtype=np.bool_), i1)
    return Term(n, mask).choose(Term(n, x).spread(0, 1), 0).value

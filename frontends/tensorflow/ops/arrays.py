"""Operators on shapes and slices, and those that move or create tensors."""

from __future__ import annotations

from ...common import tensorflow as tf
from ...common.complexes import Pair
from ...common.formulas import assured
from ...common.shapes import product
from ...common.strided_slice import Masks, strided_slice
from ...common.vocabulary import *
from ..layer import TfLayer, rows
from ..lists import TensorList
from ..variables import Variable


@rows("Identity", "StopGradient", "PreventGradient", "Snapshot", "CheckNumerics",
      "PlaceholderWithDefault", "Copy", "CopyHost", "GuaranteeConst")  # fmt: skip
def identity(n: TfLayer, x: Any, *others: Any) -> Any:
    return x


@rows("EnsureShape")
def ensured(n: TfLayer, x: Value) -> Value:
    """x, checked at run time to have the given extents."""
    wanted = n.shape("shape")
    if wanted is None:
        return x
    if len(wanted) != x.type.rank:
        raise n.error(f"the input is '{x.type}', expected rank {len(wanted)}")
    found, extents = Term(n, x), []
    for axis, (own, size) in enumerate(zip(x.type.shape, wanted, strict=True)):
        if None not in (own, size) and own != size:
            raise n.error(f"dimension {axis} has {own} elements, expected {size}")
        if own is None and size is not None:
            text = f"dimension {axis} has not {size} elements"
            found = assured(found, extent(n, (x, axis)).equals(size), text)
        extents.append((x, axis) if size is None else size)
    return found.reshape(*extents).value


@rows("IdentityN")
def identities(n: TfLayer, *inputs: Any) -> list[Any]:
    return list(inputs)


# -- shapes ----------------------------------------------------------------------------------------


rows.add({
    "Reshape": tf.reshape_to,
    "BroadcastTo": tf.broadcast_to,
    "BroadcastArgs": tf.broadcast_args,
    "ExpandDims": tf.expand_dims,
    "Squeeze": lambda n, x: tf.squeeze(n, x, n.ints("squeeze_dims") or n.ints("axis")),
})  # fmt: skip


@rows("Rank")
def rank(n: TfLayer, x: Any) -> Value:
    return n.constant(x.type.rank, i32)


@rows("Shape")
def shape(n: TfLayer, x: Any) -> Value:
    """The shape of a real or complex tensor."""
    found = shape_of(n, x.real if isinstance(x, Pair) else x)
    return n.cast(found, n.element("out_type") if n.has("out_type") else i32)


@rows("ShapeN")
def shapes(n: TfLayer, *inputs: Any) -> list[Value]:
    return [shape(n, x) for x in inputs]


@rows("Size")
def size(n: TfLayer, x: Any) -> Value:
    x = x.real if isinstance(x, Pair) else x
    element = n.element("out_type") if n.has("out_type") else i32
    count = product(x.type.shape)
    if count is not None:
        return n.constant(count, element)
    return n.cast(reduced(n, shape_of(n, x), nn.ReduceProd, (0,)), element)


# -- slices ----------------------------------------------------------------------------------------


rows.add({
    "Slice": tf.slice_,
    "GatherNd": lambda n, x, indices: gather_nd(n, x, indices),
    "ScatterNd": tf.scatter_nd,
    "XlaDynamicUpdateSlice": tf.dynamic_update_slice,
})  # fmt: skip


@rows("StridedSlice")
def strided_slice_(n: TfLayer, x: Value, begin: Value, end: Value, strides: Value) -> Value:
    names = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    masks = Masks(*(n.int(f"{name}_mask", 0) for name in names))
    return strided_slice(n, x, begin, end, strides, masks)


def numbered(n: TfLayer, shape: Value) -> Value:
    """The elements of a tensor of this shape, counted from 0."""
    count = Term(n, as_i64(n, shape)).product(0)
    return tf.reshape_to(n, counting(n, count).value, shape)


@rows("ResourceGather")
def gather_variable(n: TfLayer, x: Variable, indices: Value) -> Value:
    return gather(n, x.read(n), indices)


@rows("ResourceGatherNd")
def gather_nd_variable(n: TfLayer, x: Variable, indices: Value) -> Value:
    return gather_nd(n, x.read(n), indices)


@rows("GatherV2", "Gather")
def gather(n: TfLayer, x: Value, indices: Value, axis: Value | None = None) -> Value:
    place = 0 if axis is None else n.known_int(axis, "axis")
    return tf.gather(n, x, indices, place, n.int("batch_dims", 0))


def gather_nd(n: TfLayer, x: Value, indices: Value) -> Value:
    return gathered_nd(n, x, tf.from_begin(n, indices), n.int("batch_dims", 0))


_SCATTERS = {"Update": "none", "Add": "add", "Sub": "sub", "Max": "max", "Min": "min"}


@rows(*(f"TensorScatter{name}" for name in _SCATTERS))
def tensor_scatter(n: TfLayer, x: Value, indices: Value, updates: Value) -> Value:
    how = _SCATTERS[n.kind.removeprefix("TensorScatter")]
    if how == "sub":
        how, updates = "add", n(nn.Neg(updates))
    places = tf.places_of(n, indices, x.type.rank, updates)
    return n(nn.ScatterNd(x, places, updates, reduction=how))


# -- parts and orders ------------------------------------------------------------------------------


rows.add({
    "Pack": lambda n, *parts: tf.pack(n, parts, n.int("axis", 0)),
    "Unpack": lambda n, x: tf.unpack(n, x, n.int("axis", 0), n.int("num")),
    "Split": lambda n, axis, x: tf.split(n, axis, x, n.int("num_split")),
    "SplitV": lambda n, x, sizes, axis: tf.split_v(n, x, sizes, axis, n.int("num_split")),
    "Transpose": tf.transpose,
    "ReverseV2": tf.reverse,
    "Tile": lambda n, x, multiples: tiled(n, x, as_i64(n, multiples)),
    "SpaceToBatchND": tf.space_to_batch_nd,
    "BatchToSpaceND": tf.batch_to_space_nd,
})  # fmt: skip


@rows("ConjugateTranspose")
def conjugate_transpose(n: TfLayer, x: Any, order: Value) -> Any:
    if not isinstance(x, Pair):
        return tf.transpose(n, x, order)
    return Pair(tf.transpose(n, x.real, order), n(nn.Neg(tf.transpose(n, x.imag, order))))


@rows("ReverseSequence")
def reverse_parts(n: TfLayer, x: Value, lengths: Value) -> Value:
    given = Term(n, lengths)
    given = assured(given, given >= 0, "a length is negative")
    return reverse_sequence(n, x, given.value, n.int("seq_dim"), n.int("batch_dim", 0))


@rows("ConcatV2")
def concat_(n: TfLayer, *inputs: Value) -> Value:
    *parts, axis = inputs
    if not parts:
        raise n.error("no tensors")
    return concat(n, parts, normalize_axis(n, n.known_int(axis, "axis"), parts[0].type.rank))


@rows("Concat")
def concat_by_first(n: TfLayer, axis: Value, *parts: Value) -> Value:
    return concat_(n, *parts, axis)


@rows("InvertPermutation")
def invert_permutation(n: TfLayer, x: Value) -> Value:
    if n.known(x) is not None:
        order = np.argsort(n.known_ints(x, "the permutation"))
        return n.constant(order, x.type.element_type)
    places = reshape(n, tf.from_begin(n, x), [(x, 0), 1])
    own = counting(n, extent(n, (x, 0))).cast(x.type.element_type)
    return n(nn.ScatterNd(x, as_i64(n, places), own.value))


@rows("UnravelIndex")
def unravelled(n: TfLayer, indices: Value, dims: Value) -> Value:
    """The positions [dimensions, ..] of elements that are counted along the last dimension."""
    sizes, place = n.known_ints(dims, "the dimensions"), Term(n, indices)
    axes = range(place.rank)
    is_inside = (place.largest(*axes) < math.prod(sizes)) & (place.least(*axes) >= 0)
    place = assured(place, is_inside, f"an index is not of an element of {list(sizes)}")
    steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    element = indices.type.element_type
    by, modulus = (
        constant(n, np.reshape(one, (-1, *[1] * place.rank)), element) for one in (steps, sizes)
    )
    return (place / by % modulus).value


@rows("ListDiff")
def list_diff(n: TfLayer, x: Value, y: Value) -> list[Value]:
    """The elements of x that are not in y, and their indices."""
    element = n.element("out_idx") if n.has("out_idx") else i32
    known = n.known(x), n.known(y)
    if known[0] is not None and known[1] is not None:
        places = np.flatnonzero(~np.isin(known[0], known[1]))
        return [n.constant(known[0][places], x.type.element_type), n.constant(places, element)]
    same = Term(n, x).spread(0, 1).equals(Term(n, y)).cast(i64).sum(1)
    found = tf.where(n, same.equals(0).value)
    places = reshape(n, found, [(found, 0)])
    return [gathered(n, x, places), n.cast(places, element)]


@rows("Roll")
def roll(n: TfLayer, x: Value, shift: Value, axis: Value) -> Value:
    axes = [normalize_axis(n, place, x.type.rank) for place in n.known_ints(axis, "axis")]
    if n.known(shift) is not None:
        for by, place in zip(n.known_ints(shift, "shift"), axes, strict=True):
            x = rolled(n, x, place, by)
        return x
    steps = Term(n, as_i64(n, shift)).reshape(len(axes))
    for i, place in enumerate(axes):
        x = rolled_at_run_time(n, x, place, steps.column(i))
    return x


@rows("Pad", "PadV2", "MirrorPad")
def pad(n: TfLayer, x: Value, paddings: Value, value: Value | None = None) -> Value:
    mode = n.text("mode").lower() if n.kind == "MirrorPad" else "constant"
    return tf.pad(n, x, paddings, value, mode=mode)


# -- new tensors -----------------------------------------------------------------------------------


rows.add({
    "Fill": tf.fill,
    "Empty": lambda n, shape: tf.fill(n, shape, n.constant(0, n.element("dtype"))),
    "Range": ranged,
    "OneHot": lambda n, indices, depth, on, off: tf.one_hot(
        n, indices, depth, on, off, n.int("axis", -1)
    ),
})  # fmt: skip


@rows("ZerosLike", "OnesLike")
def filled_like(n: TfLayer, x: Any) -> Any:
    if isinstance(x, TensorList):
        return x.cleared()
    if isinstance(x, Pair):
        ones = filled_like(n, x.real)
        return Pair(ones, n(nn.Sub(ones, ones)))
    number = n.scalar(0 if n.kind == "ZerosLike" else 1, x)
    return Term(n, number).filled(Term(n, shape_of(n, x))).value if x.type.rank else number


@rows("LinSpace")
def linspace(n: TfLayer, start: Value, stop: Value, count: Value) -> Value:
    number, element = Term(n, as_scalar(n, as_i64(n, count))), start.type.element_type
    places = counting(n, number).cast(f64) / (number - 1).max(1).cast(f64)
    return (Term(n, start) + places.cast(element) * (Term(n, stop) - Term(n, start))).value


@rows("MatrixBandPart")
def band(n: TfLayer, x: Value, lower: Value, upper: Value) -> Value:
    below, above = (Term(n, as_scalar(n, as_i64(n, v))) for v in (lower, upper))
    x = n(nn.Trilu(x, (below < 0).choose(-FAR, -below).value, upper=True))
    return n(nn.Trilu(x, (above < 0).choose(FAR, above).value, upper=False))

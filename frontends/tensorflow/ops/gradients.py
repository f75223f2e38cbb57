"""Gradients of operators, as nodes of training steps and of models that differentiate.

Those that only move elements are made of the numbers of their places: the operator is applied to
the elements' numbers, and what comes out says where each gradient is added.
"""

from __future__ import annotations

from ...common import tensorflow as tf
from ...common.vocabulary import *
from ..layer import TfLayer, rows
from .arrays import numbered, strided_slice_
from .networks import on_channels_first, windows_of


def _added(n: TfLayer, shape: Value, places: Value, dy: Value) -> Value:
    """A tensor of this shape, zeros to which the elements of dy are added at their flat places."""
    count = Term(n, as_i64(n, shape)).product(0)
    zeros = Term(n, n.scalar(0, dy)).filled(count.reshape(1)).value
    index = Term(n, as_i64(n, places)).flat().spread(0, 1).value
    found = n(nn.ScatterNd(zeros, index, Term(n, dy).flat().value, reduction="add"))
    return tf.reshape_to(n, found, shape)


@rows("StridedSliceGrad")
def of_strided_slice(
    n: TfLayer, shape: Value, begin: Value, end: Value, strides: Value, dy: Value
) -> Value:
    places = strided_slice_(n, numbered(n, shape), begin, end, strides)
    return _added(n, shape, places, dy)


@rows("MirrorPadGrad")
def of_mirror_pad(n: TfLayer, dy: Value, paddings: Value) -> Value:
    pads = Term(n, as_i64(n, paddings))
    shape = (Term(n, shape_of(n, dy)) - pads.sum(1)).value
    places = tf.pad(n, numbered(n, shape), paddings, None, mode=n.text("mode").lower())
    return _added(n, shape, places, dy)


@rows("BroadcastGradientArgs")
def broadcast_axes(n: TfLayer, x: Value, y: Value) -> list[Value]:
    """The axes along which each of two shapes is broadcast, which gradients are summed along.

    Two unknown extents are equal: TensorFlow reshapes the sums to the operand's shape, which fails
    at run time where they are not.
    """
    shapes = [shape for v in (x, y) if (shape := n.extents(v)) is not None]
    if len(shapes) < 2:
        raise n.error("the ranks must be known")
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    found = ([i for i, d in enumerate(shape) if d == 1] for shape in padded)
    return [n.constant(np.array(axes, np.int64), x.type.element_type) for axes in found]


# -- elementwise -----------------------------------------------------------------------------------


@rows("BiasAddGrad")
def of_bias(n: TfLayer, dy: Value) -> Value:
    rank = dy.type.rank
    channels = rank - 1 if n.nhwc(dy) else 1
    return Term(n, dy).sum(*(i for i in range(rank) if i != channels)).value


@rows("SoftsignGrad")
def of_softsign(n: TfLayer, dy: Value, x: Value) -> Value:
    root = Term(n, x).function(nn.Abs) + 1.0
    return (Term(n, dy) / (root * root)).value


@rows("LeakyReluGrad")
def of_leaky_relu(n: TfLayer, dy: Value, x: Value) -> Value:
    given = Term(n, dy)
    return (Term(n, x) > 0.0).choose(given, given * n.float("alpha", 0.2)).value


# -- resized images --------------------------------------------------------------------------------


@rows("ResizeNearestNeighborGrad")
def of_nearest(n: TfLayer, dy: Value, size: Value) -> Value:
    flags = n.flag("align_corners"), n.flag("half_pixel_centers")
    wide = as_i64(n, size)
    height, width = (part_of_vector(n, wide, i, i + 1) for i in range(2))
    one = n.constant([1])
    own = shape_of(n, dy)
    image = joined([Term(n, v) for v in (one, height, width, one)], 0)
    places = tf.resize_image(
        n, numbered(n, image.value), part_of_vector(n, own, 1, 3), "nearest", *flags
    )
    batch, channels = (Term(n, part_of_vector(n, own, i, i + 1)) for i in (0, 3))
    shape = joined([batch, Term(n, wide), channels], 0)
    plane = Term(n, wide).product(0)
    count = extent(n, (dy, 3))
    place = counting(n, extent(n, (dy, 0))).spread(0, 3) * plane + Term(n, places)
    place = place * count + counting(n, count)
    return _added(n, shape.value, place.value, dy)


@rows("ResizeBilinearGrad", "ResizeBicubicGrad")
def of_resized(n: TfLayer, dy: Value, x: Value) -> Value:
    """The gradient of the image x, by the weights with which its rows and columns were summed."""
    mode = "linear" if n.kind == "ResizeBilinearGrad" else "cubic"
    flags = n.flag("align_corners"), n.flag("half_pixel_centers")

    def weights(axis: int) -> Term:
        """[result, x]: a unit matrix is resized along its rows."""
        own = extent(n, (x, axis))
        places = counting(n, own)
        unit = places.spread(0, 1).equals(places).cast(f32).reshape(1, (x, axis), (x, axis), 1)
        size = joined([extent(n, (dy, axis)).reshape(1), own.reshape(1)], 0)
        found = tf.resize_image(n, unit.value, size.value, mode, *flags)
        return Term(n, reshape(n, found, [(dy, axis), (x, axis)]))

    rows_, columns = weights(1), weights(2)
    found = einsum(n, "nhwc,hi,wj->nijc", [n.cast(dy, f32), rows_.value, columns.value])
    return n.cast(found, x.type.element_type)


# -- normalization ---------------------------------------------------------------------------------


@rows("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def of_batch_norm(
    n: TfLayer,
    dy: Value,
    x: Value,
    scale: Value,
    mean: Value,
    variance: Value,
    reserved: Value | None = None,
) -> list[Value]:
    """The gradients of x, scale and offset, and two that are unused.

    `mean` and `variance` are those that the operator has used.
    """
    channels = x.type.rank - 1 if n.nhwc(x) else 1
    axes = tuple(i for i in range(x.type.rank) if i != channels)
    after = x.type.rank - 1 - channels
    given, image = (Term(n, n.cast(v, f32)) for v in (dy, x))
    inverse = (Term(n, variance) + n.float("epsilon", 1e-4)).function(nn.Rsqrt).spread(0, after)
    normal = (image - Term(n, mean).spread(0, after)) * inverse
    offset_sum, scale_sum = given.sum(*axes), (given * normal).sum(*axes)
    found = given
    if n.flag("is_training", True):
        count = constant(n, 1, i64)
        for axis in axes:
            count = count * extent(n, (x, axis))
        shares = [(v / count.cast(f32)).spread(0, after) for v in (offset_sum, scale_sum)]
        found = given - shares[0] - normal * shares[1]
    found = found * inverse * Term(n, scale).spread(0, after)
    zeros = Term(n, mean).zeros().value
    return [n.cast(found.value, x.type.element_type), scale_sum.value, offset_sum.value] + [
        zeros
    ] * 2


@rows("LRNGrad")
def of_lrn(n: TfLayer, dy: Value, x: Value, y: Value) -> Value:
    """The gradient of x [N, H, W, C], whose elements are divided by sums over near channels."""
    radius, alpha = n.int("depth_radius", 5), n.float("alpha", 1.0)
    beta, bias = n.float("beta", 0.5), n.float("bias", 1.0)
    given, image, out = (Term(n, v) for v in (dy, x, y))
    place = counting(n, extent(n, (x, 3)))
    apart = (place.spread(0, 1) - place).function(nn.Abs)
    near = (apart <= radius).cast(image.element)
    norm = (image * image) @ near * alpha + bias
    spread = (given * out / norm) @ near
    return (given * norm ** (-beta) - image * spread * (2 * alpha * beta)).value


# -- windows ---------------------------------------------------------------------------------------


@rows("MaxPoolGrad", "MaxPool3DGrad")
def of_max_pool(n: TfLayer, x: Value, y: Value, dy: Value) -> Value:
    """Each gradient goes to the first largest element of its window."""

    def work(image: Value) -> Value:
        given = channels_first(n, dy) if n.nhwc(x) else dy
        _, places = max_pooled_with_indices(n, image, windows_of(n, x))
        return _added(n, shape_of(n, image), places, given)

    return on_channels_first(n, x, work)

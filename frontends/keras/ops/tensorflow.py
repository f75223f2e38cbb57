"""TensorFlow's functions that models of Keras 2 call on their tensors (`TFOpLambda`).

Keras stores those that have an older form under its name, `compat.v1.transpose`, also where the
model calls the newer one.
"""

from __future__ import annotations

from ...common import tensorflow
from ...common.vocabulary import *
from ..layer import KerasLayer, element_type, layer
from .convolution import on_channels_first
from .functions import (
    add,
    axes_of,
    binary,
    floor_divided,
    formula,
    norm_of,
    reduction,
    spread,
    two,
    unary,
    unequal,
)


def _comparison(op: Callable[[Value, Value], Any]) -> Callable[[KerasLayer], Value]:
    return lambda n: n(op(*(term.value for term in two(n))))


def _remainder(n: KerasLayer) -> Value:
    """x modulo y, with the sign of y."""
    a, b = two(n)
    if isinstance(a.element, FloatType):
        return (a - (a / b).function(nn.Floor) * b).value
    return (a % b).value


def _squared_difference(n: KerasLayer) -> Value:
    a, b = two(n)
    return ((a - b) * (a - b)).value


def _place(op: Any) -> Callable[[KerasLayer], Value]:
    """A converter of the index of an extreme along an axis, by default the first one."""

    def convert(n: KerasLayer) -> Value:
        x = n.tensor()
        given = n.argument(1, "axis", n.argument(1, "dimension"))
        axis = normalize_axis(n, 0 if given is None else given, x.type.rank)
        wanted = element_type(n.argument(2, "output_type") or "int64")
        return n.cast(extreme_at(n, x, op, axis), wanted or i64)

    return convert


def _running(op: Any) -> Callable[[KerasLayer], Value]:
    """A converter of sums or products along an axis, by default the first one."""

    def convert(n: KerasLayer) -> Value:
        x = n.tensor()
        axis = normalize_axis(n, n.argument(1, "axis", 0), x.type.rank)
        exclusive, backward = (bool(n.keyword(name, False)) for name in ("exclusive", "reverse"))
        return n(op(x, axis=axis, exclusive=exclusive, reverse=backward))

    return convert


add(
    {
        "math.log1p": unary(nn.Log1p),
        "math.expm1": unary(nn.Expm1),
        "math.sin": unary(nn.Sin),
        "math.cos": unary(nn.Cos),
        "math.ceil": unary(nn.Ceil),
        "math.round": lambda n: n(nn.Round(n.floating(n.tensor()))),
        "math.sign": lambda n: n(nn.Sign(n.tensor())),
        "math.reciprocal": unary(nn.Reciprocal),
        "math.softplus": formula(lambda x: x.function(nn.Softplus)),
        "math.greater_equal": _comparison(nn.GreaterEqual),
        "math.less_equal": _comparison(nn.LessEqual),
        "__operators__.eq": _comparison(nn.Equal),
        "math.not_equal __operators__.ne": unequal,
        "math.logical_and": binary(nn.And),
        "math.logical_or": binary(nn.Or),
        "math.logical_not": lambda n: n(nn.Not(n.tensor())),
        "math.floordiv math.floor_div compat.v1.floor_div": floor_divided,
        "math.floormod math.mod": _remainder,
        "math.squared_difference": _squared_difference,
        "math.reduce_variance": spread(root=False),
        "math.reduce_std": spread(root=True),
        "math.reduce_prod": reduction(nn.ReduceProd),
        "math.reduce_any": reduction(nn.ReduceMax),
        "math.reduce_all": reduction(nn.ReduceMin),
        "math.reduce_logsumexp": reduction(nn.ReduceLogSumExp),
        "math.argmax compat.v1.argmax": _place(nn.Argmax),
        "math.argmin compat.v1.argmin": _place(nn.Argmin),
        "math.cumsum": _running(nn.Cumsum),
        "math.cumprod": _running(nn.Cumprod),
    }
)


@layer("tf.compat.v1.norm", "tf.norm")
def norm(n: KerasLayer) -> Value:
    """The norm of vectors along an axis, or of all elements."""
    x, order, given = Term(n, n.tensor()), n.argument(1, "ord", "euclidean"), n.argument(2, "axis")
    axes = axes_of(n, x.value, given)
    if order not in ("euclidean", 1, 2) or (order == 2 and len(axes) == 2 and given is not None):
        raise n.error(f"a norm of order {order!r} along axes {list(axes)} is not supported")
    found = norm_of(x, axes, 1 if order == 1 else 2).value
    return found if n.argument(3, "keepdims") else squeezed(n, found, *axes)


@layer("tf.math.l2_normalize", "tf.nn.l2_normalize", "tf.linalg.l2_normalize")
def l2_normalize(n: KerasLayer) -> Value:
    x = Term(n, n.tensor())
    axes = axes_of(n, x.value, n.argument(1, "axis"))
    squares = (x * x).sum(*axes, keep=True).max(float(n.argument(2, "epsilon", 1e-12)))
    return (x * squares.function(nn.Rsqrt)).value


@layer("tf.reverse")
def reverse(n: KerasLayer) -> Value:
    x = n.tensor()
    return reversed_axes(n, x, axes_of(n, x, n.argument(1, "axis")))


@layer("tf.math.top_k", "tf.nn.top_k")
def top_k(n: KerasLayer) -> list[Value]:
    x, count = n.tensor(), n.argument(1, "k", 1)
    k = count if isinstance(count, Value) else n.constant(int(count), i64)
    values, places = largest(n, x, k, x.type.rank - 1)
    return [values, n.cast(places, i32)]


@layer("tf.one_hot")
def one_hot_(n: KerasLayer) -> Value:
    """A new axis of `depth` elements, 1 at the index; nowhere for one that is out of range."""
    given = n.keyword("dtype")
    element = element_type(given)
    if element is None:
        raise n.error(f"elements of type '{given}' are not supported")
    parts = [n.keyword("on_value"), n.keyword("off_value")]
    on, off = (default if v is None else v for v, default in zip(parts, (1, 0), strict=True))
    depth, axis = n.constant(int(n.argument(1, "depth")), i64), n.keyword("axis")
    on, off = n.constant(on, element), n.constant(off, element)
    return tensorflow.one_hot(n, n.tensor(), depth, on, off, -1 if axis is None else axis)


@layer("tf.shape", "tf.compat.v1.shape")
def shape(n: KerasLayer) -> Value:
    """The extents of a tensor, as integers."""
    wanted = element_type(n.argument(1, "out_type") or "int32")
    return n.cast(shape_of(n, n.tensor()), wanted or i32)


@layer("tf.unstack")
def unstack(n: KerasLayer) -> list[Value]:
    x = n.tensor()
    axis = normalize_axis(n, n.argument(2, "axis", 0), x.type.rank)
    count = x.type.shape[axis]
    if count is None or n.argument(1, "num", None) not in (None, count):
        raise n.error(f"the extent of axis {axis} must be known; give the shape")
    return [column(n, x, axis, i) for i in range(count)]


@layer("tf.zeros_like", "tf.ones_like", "tf.compat.v1.zeros_like", "tf.compat.v1.ones_like")
def like(n: KerasLayer) -> Value:
    x, given = n.tensor(), n.argument(1, "dtype")
    element = x.type.element_type if given is None else element_type(given)
    number = n.constant(int("ones" in n.kind), element or f32)
    return broadcast(n, number, [(x, i) for i in range(x.type.rank)])


@layer("tf.compat.v1.depth_to_space", "tf.compat.v1.space_to_depth",
       "tf.nn.depth_to_space", "tf.nn.space_to_depth")  # fmt: skip
def blocks(n: KerasLayer) -> Value:
    """Blocks of pixels from channels, or channels from blocks."""
    size = int(n.argument(1, "block_size"))
    if n.argument(3, "data_format", "NHWC") != "NHWC":
        raise n.error("channels that come first are not supported")
    op = nn.DepthToSpace if "depth_to" in n.kind else nn.SpaceToDepth
    return on_channels_first(n, n.tensor(), lambda x: n(op(x, block=size)))


def _vector(n: KerasLayer, given: Any) -> Value:
    """A list of numbers and scalar tensors, or a tensor of them, as a vector of i64."""
    if isinstance(given, Value):
        return n.cast(given, i64)
    listed = given if isinstance(given, list | tuple) else [given]
    if not any(isinstance(one, Value) for one in listed):
        return n.constant(np.array([-1 if d is None else d for d in listed], np.int64))
    parts = [v if isinstance(v, Value) else n.constant(v, i64) for v in listed]
    return n(nn.Concat([reshape(n, n.cast(v, i64), [1]) for v in parts], axis=0))


@layer("tf.reshape")
def reshape_to(n: KerasLayer) -> Value:
    return tensorflow.reshape_to(n, n.tensor(), _vector(n, n.argument(1, "shape")))


@layer("tf.broadcast_to")
def broadcast_to(n: KerasLayer) -> Value:
    return tensorflow.broadcast_to(n, n.tensor(), _vector(n, n.argument(1, "shape")))


METHODS = {"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}
"""The methods of `tf.image.resize`."""


@layer("tf.image.resize")
def resize_images(n: KerasLayer) -> Value:
    """Images [N, H, W, C] resized, as floats unless `nearest`."""
    method = n.argument(2, "method", "bilinear")
    if method not in METHODS:
        raise n.error(f"'method' is {method!r}, expected one of {', '.join(METHODS)}")
    x = n.tensor() if method == "nearest" else n.cast(n.tensor(), f32)
    size = _vector(n, n.argument(1, "size"))
    return tensorflow.resize_image(n, x, size, METHODS[method], corners=False, half=True)

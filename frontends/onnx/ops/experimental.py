"""Removed experimental operators of the first opsets: Caffe2's, written by CoreML's converters.

Source: ONNX's operators of version 1 that were marked as experimental.
"""

from __future__ import annotations

from ...common.vocabulary import *
from ..node import Node
from ..registry import add_rows, converter
from ..tensors import element_type
from .movement import slice_


@converter("Crop")
def crop(n: Node, x: Value) -> Value:
    """An image [N, C, H, W] without a border (left, top, right, bottom), or cropped to `scale`."""
    left, top, right, bottom = n.ints("border") or (0, 0, 0, 0)
    size, begins = n.ints("scale"), (top, left)
    for i, (begin, end) in enumerate(zip(begins, (bottom, right), strict=True)):
        stop = begin + size[i] if size else -end or FAR
        x = slice_axis(n, x, 2 + i, begin, stop)
    return x


@converter("ConstantFill")
def constant_fill(n: Node, given: Value | None = None) -> Value:
    """A constant in the shape given by an attribute, by the input's shape, or by its elements."""
    element = element_type(n.int("dtype", 1))
    if given is None:
        shape = constant(n, np.array(n.ints("shape") or (), np.int64))
    else:
        shape = Term(n, as_i64(n, given) if n.int("input_as_shape") else shape_of(n, given))
        more = constant(n, np.array(n.ints("extra_shape") or (), np.int64))
        shape = joined([shape, more], 0)
    return constant(n, n.float("value"), element).filled(shape).value


@converter("MeanVarianceNormalization")
def mean_variance_normalization(n: Node, x: Value) -> Value:
    """(x - mean) / deviation, for each image and channel, or over all channels."""
    if n.opset >= 9:
        axes = normalize_axes(n, n.ints("axes") or (0, 2, 3), x.type.rank)
    else:
        axes = tuple(range(1 if n.int("across_channels") else 2, x.type.rank))
    has_deviation = n.opset >= 9 or n.int("normalize_variance", 1)
    return deviations(n, x, axes, 1e-9 if has_deviation else None)


@converter("ImageScaler")
def image_scaler(n: Node, x: Value) -> Value:
    """An image [N, C, H, W] times a scale, plus a bias for each channel."""
    scaled = Term(n, x) * n.float("scale", 1.0)
    bias = n.floats("bias")
    if bias is None:
        return scaled.value
    return (scaled + constant(n, np.array(bias), scaled.element).spread(0, 2)).value


def _scaled_tanh(n: Node, x: Value) -> Value:
    return activation(n, "ScaledTanh", x, n.float("alpha"), n.float("beta"))


def _softplus(n: Node, x: Value) -> Value:
    inner = (Term(n, x) * n.float("beta")).function(nn.Softplus)
    return (inner * n.float("alpha")).value


add_rows(
    {
        "Affine": lambda n, x: (Term(n, x) * n.float("alpha", 1.0) + n.float("beta")).value,
        "DynamicSlice": slice_,
        "ParametricSoftplus": _softplus,
        "Scale": lambda n, x: (Term(n, x) * n.float("scale", 1.0)).value,
        "ScaledTanh": _scaled_tanh,
    }
)

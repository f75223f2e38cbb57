"""Layers of weights, of single elements and of images."""

from __future__ import annotations

import math

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType
from ...common.activations import activation
from ...common.convolution import convolution
from ...common.movement import concat, slice_axis
from ...common.pooling import Windows, max_pooled
from ...common.shapes import flatten, reshape
from ...common.terms import Term
from .. import rows
from ..layer import DarknetLayer

EPSILON = 1e-6

_NAMES = {"logistic": "sigmoid", "swish": "silu"}
_SAME = ("relu", "tanh", "mish", "elu", "selu", "gelu")


def activated(n: DarknetLayer, x: Value, default: str) -> Value:
    """What the section's activation makes of its result."""
    name = n.text("activation", default)
    match name:
        case "linear":
            return x
        case "leaky":
            return n(nn.LeakyRelu(x, alpha=0.1))
        case "relu6":
            return Term(n, x).max(0.0).min(6.0).value
        case "ramp":
            t = Term(n, x)
            return (t.max(0.0) + t * 0.1).value
        case "loggy":
            return (Term(n, x).function(nn.Sigmoid) * 2.0 - 1.0).value
        case "hardtan":
            return Term(n, x).max(-1.0).min(1.0).value
    if name not in _NAMES and name not in _SAME:
        raise n.error(f"activation '{name}' is not supported")
    return activation(n, _NAMES.get(name, name), x)


def _channels(n: DarknetLayer, x: Value) -> int:
    if x.type.rank < 2 or x.type.shape[1] is None:
        raise n.error("it needs inputs of a known number of channels")
    return x.type.shape[1]


def _normalized(n: DarknetLayer, x: Value, bias: Value, statistics: list[Value]) -> Value:
    scale, mean, variance = statistics
    return n(nn.BatchNorm(x, scale, bias, mean, variance, epsilon=EPSILON))


@rows("convolutional")
def convolutional(n: DarknetLayer, x: Value) -> Value:
    filters, size, groups = n.int("filters", 1), n.int("size", 1), n.int("groups", 1)
    stride = n.int("stride", 1)
    strides = (n.int("stride_y", stride), n.int("stride_x", stride))
    dilation = n.int("dilation", 1)
    channels = _channels(n, x)
    if groups < 1 or channels % groups or min(strides) < 1 or dilation < 1:
        raise n.error(f"{channels} channels in {groups} groups, strides {list(strides)}")
    if n.int("binary") or n.int("xnor"):
        raise n.error("binary weights are not supported")
    pad = size // 2 if n.int("pad") else n.int("padding")
    bias = n.vector("bias", filters)
    normalizes = n.int("batch_normalize")
    names = ("scale", "mean", "variance") if normalizes else ()
    statistics = [n.vector(name, filters) for name in names]
    weight = n.matrix("weight", filters, channels // groups, size, size)
    found = convolution(
        n,
        x,
        weight,
        None if normalizes else bias,
        strides=strides,
        dilations=(dilation, dilation),
        padding=(pad,) * 4,
        groups=groups,
    )
    found = _normalized(n, found, bias, statistics) if normalizes else found
    return activated(n, found, "logistic")


@rows("connected")
def connected(n: DarknetLayer, x: Value) -> Value:
    flat = flatten(n, x, 1)
    size, count = flat.type.shape[1], n.int("output", 1)
    if size is None:
        raise n.error("it needs inputs of known extents")
    bias = n.vector("bias", count)
    weight = n(nn.Transpose(n.matrix("weight", count, size), permutation=(1, 0)))
    found = n(nn.Matmul(flat, weight))
    if n.int("batch_normalize"):
        statistics = [n.vector(name, count) for name in ("scale", "mean", "variance")]
        found = _normalized(n, found, bias, statistics)
    else:
        found = n(nn.Add(found, bias))
    return activated(n, found, "logistic")


@rows("local")
def local(n: DarknetLayer, x: Value) -> Value:
    """A convolution with weights of its own for each position."""
    filters, size, stride = n.int("filters", 1), n.int("size", 1), n.int("stride", 1)
    pad = size // 2 if n.int("pad") else 0
    if x.type.rank != 4 or None in x.type.shape or min(filters, size, stride) < 1:
        raise n.error("it needs images of known extents")
    x = n(nn.Pad(x, n.scalar(0, x), pads=(0, 0, pad, pad, 0, 0, pad, pad)))
    batch, channels, *spatial = x.type.shape
    counts = [(extent - size) // stride + 1 for extent in spatial]
    places = math.prod(counts)
    bias = n.matrix("bias", filters, *counts)
    weight = n.matrix("weight", places, filters, channels * size * size)
    for i, count in enumerate(counts):
        at = np.arange(size)[:, None] + np.arange(count) * stride
        x = n(nn.Gather(x, n.constant(at.astype(np.int64)), axis=2 + 2 * i))
    # [batch, channels, kh, oh, kw, ow] -> [oh * ow, channels * kh * kw, batch]
    x = n(nn.Transpose(x, permutation=(3, 5, 1, 2, 4, 0)))
    columns = reshape(n, x, [places, channels * size * size, batch])
    found = n(nn.Transpose(n(nn.Matmul(weight, columns)), permutation=(2, 1, 0)))
    found = n(nn.Add(reshape(n, found, [batch, filters, *counts]), bias))
    return activated(n, found, "logistic")


# -- single elements -------------------------------------------------------------------------------


@rows("dropout", "cost", "detection")
def same(n: DarknetLayer, x: Value, *rest: Value) -> Value:
    return x


@rows("activation")
def only_activation(n: DarknetLayer, x: Value) -> Value:
    return activated(n, x, "linear")


@rows("batchnorm")
def batchnorm(n: DarknetLayer, x: Value) -> Value:
    count = _channels(n, x)
    bias, *statistics = (n.vector(v, count) for v in ("bias", "scale", "mean", "variance"))
    return _normalized(n, x, bias, statistics)


@rows("softmax")
def softmax(n: DarknetLayer, x: Value) -> Value:
    if n.text("tree"):
        raise n.error("a tree of classes is not supported")
    groups, temperature = n.int("groups", 1), n.float("temperature", 1.0)
    scaled = x if temperature == 1 else (Term(n, x) / temperature).value
    if groups == 1:
        return n(nn.Softmax(scaled, axis=1))
    flat = flatten(n, scaled, 1)
    size = flat.type.shape[1]
    if size is None or groups < 1 or size % groups:
        raise n.error(f"{size or '?'} elements do not split into {groups} groups")
    parts = reshape(n, flat, [(flat, 0), groups, size // groups])
    own = [(x, i) for i in range(x.type.rank)]
    return reshape(n, n(nn.Softmax(parts, axis=2)), own)


@rows("shortcut")
def shortcut(n: DarknetLayer, *inputs: Value) -> Value:
    """The last layer plus others, of as many of whose channels and elements as it has."""
    *others, x = inputs
    if n.float("beta") or n.text("weights_type", "none") != "none":
        raise n.error("weights of its inputs are not supported")
    alpha, count = n.float("alpha", 1.0), _channels(n, x)
    total = Term(n, x) if alpha == 1 else Term(n, x) * alpha
    for other in others:
        for axis in (2, 3):  # of larger images, every second or so element
            here, there = x.type.shape[axis], other.type.shape[axis]
            if here and there and there > here:
                other = slice_axis(n, other, axis, 0, there // here * here, there // here)
        have = _channels(n, other)
        if have > count:
            other = slice_axis(n, other, 1, 0, count)
        elif have < count:
            other = n(nn.Pad(other, n.scalar(0, x), pads=(0, 0, 0, 0, 0, count - have, 0, 0)))
        total = total + Term(n, other)
    return activated(n, total.value, "linear")


@rows("scale_channels", "sam")
def scaled(n: DarknetLayer, other: Value, x: Value) -> Value:
    return activated(n, n(nn.Mul(other, x)), "linear")


# -- images ----------------------------------------------------------------------------------------


@rows("maxpool")
def maxpool(n: DarknetLayer, x: Value) -> Value:
    stride = n.int("stride", 2 if "size" not in n.attributes else 1)
    size = n.int("size", stride)
    strides = (n.int("stride_y", stride), n.int("stride_x", stride))
    padding = n.int("padding", size - 1)
    if size < 1 or min(strides) < 1 or n.int("maxpool_depth"):
        raise n.error(f"windows of {size} at strides {list(strides)}, or along channels")
    small, large = padding // 2, padding - padding // 2
    return max_pooled(n, x, Windows((size, size), strides, (small, small, large, large)))


@rows("avgpool")
def avgpool(n: DarknetLayer, x: Value) -> Value:
    return n(nn.ReduceMean(x, axes=(2, 3), keep_dims=True))


@rows("route")
def route(n: DarknetLayer, *inputs: Value) -> Value:
    groups, group = n.int("groups", 1), n.int("group_id")
    parts = list(inputs)
    if groups != 1:
        if groups < 1 or not 0 <= group < groups:
            raise n.error(f"group {group} of {groups}")
        sizes = [_channels(n, x) // groups for x in parts]
        parts = [
            slice_axis(n, x, 1, size * group, size * (group + 1))
            for x, size in zip(parts, sizes, strict=True)
        ]
    return concat(n, parts, 1)


@rows("upsample")
def upsample(n: DarknetLayer, x: Value) -> Value:
    stride = n.int("stride", 2)
    if stride < 1:
        raise n.error(f"a stride of {stride}")
    shape = (*x.type.shape[:2], *(None if d is None else d * stride for d in x.type.shape[2:]))
    found = n(
        nn.Resize(
            x,
            mode="nearest",
            coordinate_transform="asymmetric",
            nearest_mode="floor",
            scales=(1.0, 1.0, float(stride), float(stride)),
            out=TensorType(shape, x.type.element_type),
        )
    )
    factor = n.float("scale", 1.0)
    return found if factor == 1 else (Term(n, found) * factor).value


@rows("reorg")
def reorg(n: DarknetLayer, x: Value) -> Value:
    """Squares as channels, in Darknet's order: it reads the channels as if they were rows.

    [N, C, H, W] -> [N, C*H/(s*s), s, W, s] -> [N, s, s, C*H/(s*s), W] -> [N, C*s*s, H/s, W/s]
    """
    s = n.int("stride", 1)
    if x.type.rank != 4 or None in x.type.shape[1:] or s < 1:
        raise n.error("it needs images of known extents")
    c, h, w = x.type.shape[1:]
    if c * h % (s * s) or h % s or w % s:
        raise n.error(f"squares of {s} do not fill images of {c} x {h} x {w}")
    batch = (x, 0)
    split = reshape(n, x, [batch, c * h // (s * s), s, w, s])
    moved = n(nn.Transpose(split, permutation=(0, 2, 4, 1, 3)))
    return reshape(n, moved, [batch, c * s * s, h // s, w // s])

"""Products, convolutions, pooling, normalization and images.

Channels are the last dimension where nothing else is said; what works on them sees them behind the
batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType, f32, i64
from ...common.activations import activation
from ...common.convolution import (
    channels_first,
    channels_last,
    convolution,
    transposed_convolution,
)
from ...common.einsum import einsum
from ...common.movement import swapped
from ...common.normalization import batch_norm
from ...common.pooling import Windows, average_pooled, max_pooled, max_pooled_with_indices
from ...common.resize import resized
from ...common.shapes import as_i64, merge, part_of_vector, product, reshape, shape_of
from ...common.terms import Term
from ...common.windows import Padding
from ..layer import TfLayer, rows
from .elementwise import bias_add


def on_channels_first(n: TfLayer, x: Value, work: Callable[[Value], Value]) -> Value:
    """What `work` makes of the images with channels behind the batch, in the layout of x."""
    if not n.nhwc(x) or x.type.rank < 3:
        return work(x)
    return channels_last(n, work(channels_first(n, x)))


def spatial(n: TfLayer, name: str, x: Value) -> tuple[int, ...]:
    """An attribute with a number for each dimension, of which those of space are given."""
    rank = x.type.rank
    values = n.ints(name) or (1,) * rank
    if len(values) != rank or rank < 3:
        raise n.error(f"attribute '{name}' is {list(values)}, expected {rank} numbers")
    inner = values[1:-1] if n.nhwc(x) else values[2:]
    others = (values[0], values[-1] if n.nhwc(x) else values[1])
    if others != (1, 1) or min(inner) < 1:
        raise n.error(f"attribute '{name}' is {list(values)}; batch and channels must have 1")
    return tuple(inner)


def padding_of(n: TfLayer, x: Value) -> Padding:
    """The attribute `padding`."""
    mode = n.text("padding", "VALID", ("SAME", "VALID", "EXPLICIT"))
    if mode != "EXPLICIT":
        return "SAME_UPPER" if mode == "SAME" else "VALID"
    pads = n.ints("explicit_paddings")
    if len(pads) != 2 * x.type.rank:
        raise n.error(f"attribute 'explicit_paddings' is {list(pads)}")
    pads = pads[2:-2] if n.nhwc(x) else pads[4:]
    return (*pads[::2], *pads[1::2])


# -- products --------------------------------------------------------------------------------------


@rows("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def matmul(n: TfLayer, x: Value, y: Value) -> Value:
    names = ("adj_x", "adj_y") if n.kind.startswith("Batch") else ("transpose_a", "transpose_b")
    x, y = (
        swapped(n, v, v.type.rank - 2, v.type.rank - 1) if n.flag(name) else v
        for v, name in zip((x, y), names, strict=True)
    )
    return n(nn.Matmul(x, y))


@rows("Einsum")
def einsum_(n: TfLayer, *inputs: Value) -> Value:
    return einsum(n, n.text("equation"), list(inputs))


def _ranks(n: TfLayer, x: Value, weight: Value) -> None:
    if weight.type.rank != x.type.rank or x.type.rank < 3:
        raise n.error(f"the filter is '{weight.type}', the input '{x.type}'")


@rows("Conv2D", "Conv3D")
def conv(n: TfLayer, x: Value, weight: Value) -> Value:
    _ranks(n, x, weight)
    rank = x.type.rank
    kernel = n(nn.Transpose(weight, permutation=(rank - 1, rank - 2, *range(rank - 2))))
    channels, own = x.type.shape[-1 if n.nhwc(x) else 1], weight.type.shape[-2]
    groups = channels // own if channels and own else 1
    how: dict[str, Any] = {
        "strides": spatial(n, "strides", x),
        "dilations": spatial(n, "dilations", x),
        "padding": padding_of(n, x),
        "groups": groups,
    }
    return on_channels_first(n, x, lambda v: convolution(n, v, kernel, **how))


@rows("DepthwiseConv2dNative")
def depthwise_conv(n: TfLayer, x: Value, weight: Value) -> Value:
    _ranks(n, x, weight)
    *_, channels, times = weight.type.shape
    if channels is None or times is None:
        raise n.error(f"the filter is '{weight.type}', expected a known number of channels")
    kernel = n(nn.Transpose(weight, permutation=(2, 3, 0, 1)))
    kernel = reshape(n, kernel, [channels * times, 1, (kernel, 2), (kernel, 3)])
    how: dict[str, Any] = {
        "strides": spatial(n, "strides", x),
        "dilations": spatial(n, "dilations", x),
        "padding": padding_of(n, x),
        "groups": channels,
    }
    return on_channels_first(n, x, lambda v: convolution(n, v, kernel, **how))


@rows("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def conv_transposed(n: TfLayer, sizes: Value, weight: Value, x: Value) -> Value:
    """The convolution whose gradient it is had an input of these sizes, which its result has."""
    _ranks(n, x, weight)
    rank = x.type.rank
    kernel = n(nn.Transpose(weight, permutation=(rank - 1, rank - 2, *range(rank - 2))))
    strides, padding = spatial(n, "strides", x), padding_of(n, x)
    begin = 1 if n.nhwc(x) else 2
    wanted = (n.extents(sizes) or (None,) * rank)[begin : begin + rank - 2]
    how: dict[str, Any] = {
        "strides": strides,
        "dilations": spatial(n, "dilations", x),
        "padding": padding,
    }
    known = [int(d) for d in wanted if d is not None]
    if len(known) == len(wanted):
        return on_channels_first(
            n, x, lambda v: transposed_convolution(n, v, kernel, extents=known, **how)
        )
    if padding == "VALID":
        extents = weight.type.shape[: rank - 2]
        pairs = zip(strides, extents, strict=True)
        how["output_padding"] = [max(s - k, 0) if k is not None else 0 for s, k in pairs]
    out = on_channels_first(n, x, lambda v: transposed_convolution(n, v, kernel, **how))
    found = part_of_vector(n, shape_of(n, out), begin, begin + rank - 2)
    asked = part_of_vector(n, as_i64(n, sizes), begin, begin + rank - 2)
    same = n(nn.ReduceMin(n.cast(n(nn.Equal(found, asked)), i64), axes=(0,)))
    text = "the extents asked for are not those that strides and padding give"
    return n(nn.Assume(out, n(nn.Greater(same, n.constant(0, i64))), text))


# -- pooling and normalization ---------------------------------------------------------------------


def _windows(n: TfLayer, x: Value) -> Windows:
    return Windows(spatial(n, "ksize", x), spatial(n, "strides", x), padding_of(n, x))


@rows("MaxPool", "MaxPool3D")
def max_pool(n: TfLayer, x: Value) -> Value:
    return on_channels_first(n, x, lambda v: max_pooled(n, v, _windows(n, x)))


@rows("MaxPoolWithArgmax")
def max_pool_with_argmax(n: TfLayer, x: Value) -> list[Value]:
    """Positions count an image's elements, or those of the whole batch, channels last."""
    out, places = max_pooled_with_indices(n, channels_first(n, x), _windows(n, x))
    channels, plane = x.type.shape[3], product(x.type.shape[1:3])
    if channels is None or plane is None:
        raise n.error("the extents of images must be known")
    image, inside = Term(n, places) / plane, Term(n, places) % plane
    found = inside * channels + image % channels
    if n.flag("include_batch_in_index"):
        found = found + image / channels * (plane * channels)
    element = n.element("Targmax") if n.has("Targmax") else i64
    return [channels_last(n, out), channels_last(n, found.cast(element).value)]


@rows("AvgPool", "AvgPool3D")
def average_pool(n: TfLayer, x: Value) -> Value:
    return on_channels_first(n, x, lambda v: average_pooled(n, v, _windows(n, x)))


@rows("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(
    n: TfLayer, x: Value, scale: Value, offset: Value, mean: Value, spread: Value
) -> list:
    if n.flag("is_training", True):
        raise n.error("it is in training mode, expected an inference graph")
    epsilon = n.float("epsilon", 1e-4)
    parameters = (scale, offset, mean, spread)
    out = on_channels_first(n, x, lambda v: batch_norm(n, v, *parameters, epsilon))
    return [out, mean, spread, mean, spread, mean]


@rows("LRN")
def lrn(n: TfLayer, x: Value) -> Value:
    size = 2 * n.int("depth_radius", 5) + 1
    how = {
        "size": size,
        "alpha": n.float("alpha", 1.0) * size,
        "beta": n.float("beta", 0.5),
        "bias": n.float("bias", 1.0),
    }
    return on_channels_first(n, x, lambda v: n(nn.Lrn(v, **how)))


# -- what TensorFlow's optimizer has fused -----------------------------------------------------


@rows("_FusedConv2D", "_FusedDepthwiseConv2dNative", "_FusedMatMul")
def fused(n: TfLayer, x: Value, weight: Value, *more: Value) -> Value:
    """A product, and what follows it, with operands of their own."""
    products = {"_FusedConv2D": conv, "_FusedMatMul": matmul}
    y, rest = products.get(n.kind, depthwise_conv)(n, x, weight), list(more)
    for name in n.texts("fused_ops"):
        if name == "FusedBatchNorm" and len(rest) >= 4:
            scale, offset, mean, spread, *rest = rest
            how = (scale, offset, mean, spread, n.float("epsilon", 1e-4))
            y = on_channels_first(n, y, lambda v, how=how: batch_norm(n, v, *how))
        elif name in ("BiasAdd", "Add") and rest:
            operand = rest.pop(0)
            y = bias_add(n, y, operand) if name == "BiasAdd" else n(nn.Add(y, operand))
        else:
            y = _activated(n, name, y)
    return y


@rows("_FusedBatchNormEx")
def fused_batch_norm_ex(
    n: TfLayer,
    x: Value,
    scale: Value,
    offset: Value,
    mean: Value,
    spread: Value,
    side: Value | None = None,
) -> list:
    y, *statistics = fused_batch_norm(n, x, scale, offset, mean, spread)
    if side is not None:
        y = n(nn.Add(y, side))
    return [_activated(n, n.text("activation_mode", "Identity"), y), *statistics]


def _activated(n: TfLayer, name: str, x: Value) -> Value:
    """x after an activation that an optimizer names."""
    known = {"Identity": "affine", "_FusedHardSwish": "hardswish", "GeluExact": "gelu"}
    if name == "GeluApproximate":
        return n(nn.Gelu(x, approximate="tanh"))
    alpha = n.float("leakyrelu_alpha", 0.2) if name == "LeakyRelu" else None
    return activation(n, known.get(name, name.lower()), x, alpha)


# -- images ----------------------------------------------------------------------------------------


@rows("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic")
def resize(n: TfLayer, x: Value, size: Value) -> Value:
    corners, half = n.flag("align_corners"), n.flag("half_pixel_centers")
    wanted = n.extents(size) or (None, None)
    if n.kind == "ResizeNearestNeighbor" and n.nhwc(x) and _is_uneven(x.type.shape[1:3], wanted):
        for axis, count in zip((1, 2), wanted, strict=True):
            x = n(nn.Gather(x, n.constant(_nearest(n, x.type.shape[axis], count)), axis=axis))
        return x
    modes = {"ResizeBilinear": "linear", "ResizeNearestNeighbor": "nearest"}
    how: dict[str, Any] = {
        "mode": modes.get(n.kind, "cubic"),
        "coordinate_transform": (
            "align_corners" if corners else "half_pixel" if half else "asymmetric"
        ),
        # floor((i + 0.5) * scale) is half_pixel's position plus a half, rounded down.
        "nearest_mode": "round_prefer_ceil" if corners or half else "floor",
        "cubic_coeff_a": -0.5 if half else -0.75,
        "exclude_outside": n.kind == "ResizeBicubic" and half,
    }
    if n.kind != "ResizeNearestNeighbor":
        x = n.cast(x, f32)
    return on_channels_first(n, x, lambda v: resized(n, v, as_i64(n, size), (2, 3), how))


def _is_uneven(own: Sequence[int | None], wanted: Sequence[int | None]) -> bool:
    """Whether extents are known, and results lie at places that rounding decides on."""
    pairs = list(zip(own, wanted, strict=True))
    known = all(d and w for d, w in pairs)
    return known and any(w % d for d, w in pairs)  # type: ignore[operator]


def _nearest(n: TfLayer, extent: Any, count: Any) -> np.ndarray:
    """Which element each of the result's is, in numbers of 32 bits."""
    corners, half = n.flag("align_corners") and count > 1, n.flag("half_pixel_centers")
    scale = (
        np.float32(extent - 1) / np.float32(count - 1) if corners else extent / np.float32(count)
    )
    places = (np.arange(count, dtype=np.float32) + np.float32(0.5 if half else 0)) * scale
    found = np.floor(places + np.float32(0.5)) if corners else np.floor(places)
    return np.clip(found, 0, extent - 1).astype(np.int64)


@rows("DepthToSpace")
def depth_to_space(n: TfLayer, x: Value) -> Value:
    block = n.int("block_size")
    return on_channels_first(n, x, lambda v: n(nn.DepthToSpace(v, block=block)))


@rows("SpaceToDepth")
def space_to_depth(n: TfLayer, x: Value) -> Value:
    block = n.int("block_size")
    return on_channels_first(n, x, lambda v: n(nn.SpaceToDepth(v, block=block)))


@rows("SpaceToBatchND")
def space_to_batch(n: TfLayer, x: Value, block: Value, paddings: Value) -> Value:
    """Every so many positions of space as an image of its own."""
    blocks = n.known_ints(block, "block_shape")
    pads = np.array(n.known_ints(paddings, "paddings"), np.int64).reshape(-1, 2)
    rest = x.type.rank - 1 - len(blocks)
    begins, ends = ([0, *pads[:, i].tolist(), *[0] * rest] for i in range(2))
    if any(begins) or any(ends):
        x = n(nn.Pad(x, n.scalar(0, x), pads=(*begins, *ends)))
    inner = _divided(n, x, blocks)
    split: list[Any] = [(x, 0)]
    for b, extent in zip(blocks, inner, strict=True):
        split += [extent, b]
    tail = range(len(blocks) + 1, x.type.rank)
    apart = reshape(n, x, [*split, *((x, i) for i in tail)])
    count = len(blocks)
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2)]
    order += range(2 * count + 1, apart.type.rank)
    moved = n(nn.Transpose(apart, permutation=tuple(order)))
    return _joined_batch(n, moved, count)


@rows("BatchToSpaceND")
def batch_to_space(n: TfLayer, x: Value, block: Value, crops: Value) -> Value:
    """Images of every so many positions as one image."""
    blocks = n.known_ints(block, "block_shape")
    cuts = np.array(n.known_ints(crops, "crops"), np.int64).reshape(-1, 2)
    count = len(blocks)
    batch = x.type.shape[0]
    times = int(np.prod(blocks))
    if batch is None:
        extents = _with_batch(n, x, times)
        lead = TensorType((*blocks, None, *x.type.shape[1:]), x.type.element_type)
        apart = n(nn.ReshapeDynamic(x, extents(blocks), out=lead))
    else:
        own = [(x, i) for i in range(1, x.type.rank)]
        apart = reshape(n, x, [*blocks, batch // times, *own])
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    order += range(2 * count + 1, apart.type.rank)
    moved = n(nn.Transpose(apart, permutation=tuple(order)))
    shape: list[Any] = [(moved, 0)]
    for i, b in enumerate(blocks):
        extent = x.type.shape[1 + i]
        if extent is None:
            raise n.error("the extents of space must be known")
        shape.append(extent * b)
    shape += [(moved, i) for i in range(2 * count + 1, moved.type.rank)]
    whole = reshape(n, moved, shape)
    if not cuts.any():
        return whole
    rest = whole.type.rank - 1 - count
    sides = [[0, *(-cuts[:, i]).tolist(), *[0] * rest] for i in range(2)]
    return n(nn.Pad(whole, n.scalar(0, whole), pads=(*sides[0], *sides[1])))


def _with_batch(n: TfLayer, x: Value, times: int) -> Callable[[Sequence[int]], Value]:
    """Makes the shape with the batch divided."""

    def shape(blocks: Sequence[int]) -> Value:
        own = shape_of(n, x)
        batch = n(nn.Div(part_of_vector(n, own, 0, 1), n.constant(np.array([times], np.int64))))
        lead = n.constant(np.array(blocks, np.int64))
        return n(nn.Concat([lead, batch, part_of_vector(n, own, 1, x.type.rank)], axis=0))

    return shape


def _divided(n: TfLayer, x: Value, blocks: Sequence[int]) -> list[int]:
    """The extents of space in blocks."""
    found = []
    for b, extent in zip(blocks, x.type.shape[1:], strict=False):
        if extent is None or b < 1 or extent % b:
            raise n.error(f"{'?' if extent is None else extent} positions do not divide by {b}")
        found.append(extent // b)
    return found


def _joined_batch(n: TfLayer, x: Value, count: int) -> Value:
    """The first dimensions, blocks and batch, as one."""
    return merge(n, x, [(0, count + 1), *((i, i + 1) for i in range(count + 1, x.type.rank))])

"""Convolutions and poolings; channels are moved to the front and back."""

from __future__ import annotations

from ...common.vocabulary import *
from ..functions import activated
from ..layer import KerasLayer, layer
from .functions import operand
from .reshaping import is_channels_first

PADDINGS = {"valid": "VALID", "same": "SAME_UPPER"}


def on_channels_first(n: KerasLayer, x: Value, work: Callable[[Value], Value]) -> Value:
    """Apply `work` with channels first, whatever the layer's layout."""
    if x.type.rank < 3:
        raise n.error(f"the input is '{x.type}', expected at least 3 dimensions")
    if is_channels_first(n):
        return work(x)
    return channels_last(n, work(channels_first(n, x)))


def kernels(n: KerasLayer, *names: str) -> list[Value]:
    """The kernels of a layer, and its bias, from weights or from an operation's arguments."""
    if not n.kind.startswith("ops."):
        return n.weights(len(names) + bool(n.option("use_bias", True)))
    element = n.tensor().type.element_type
    return [operand(n, n.argument(i, name), element).value for i, name in enumerate(names, 1)]


def kernel_first(n: KerasLayer, kernel: Value) -> Value:
    """A kernel [K.., C, M] as [M, C, K..]."""
    rank = kernel.type.rank
    return n(nn.Transpose(kernel, permutation=(rank - 1, rank - 2, *range(rank - 2))))


def depthwise_first(n: KerasLayer, kernel: Value) -> Value:
    """A kernel of single channels [K.., C, M] as [C * M, 1, K..]."""
    rank = kernel.type.rank
    moved = n(nn.Transpose(kernel, permutation=(rank - 2, rank - 1, *range(rank - 2))))
    channels, multiplier, *window = moved.type.shape
    return reshape(n, moved, [channels * multiplier, 1, *window])


def convolved(n: KerasLayer, x: Value, kernel: Value, bias: Value | None, groups: int) -> Value:
    """The convolution of the layer's configuration, channels first."""
    count = x.type.rank - 2
    strides = n.integers("strides", count, 1)
    dilations = n.integers("dilation_rate", count, 1)
    padding = n.choice("padding", "valid", "same", "causal", default="valid")
    if padding == "causal":
        reach = (kernel.type.shape[2] - 1) * dilations[0]
        x, padding = padded_by(n, x, (0, 0, reach, 0, 0, 0)), "valid"
    return convolution(
        n,
        x,
        kernel,
        bias,
        strides=strides,
        dilations=dilations,
        padding=PADDINGS[padding],
        groups=groups,
    )


@layer("Conv1D", "Conv2D", "Conv3D", "Convolution1D", "Convolution2D", "Convolution3D", "ops.Conv")
def conv(n: KerasLayer) -> Value:
    kernel, *bias = kernels(n, "kernel")
    first = kernel_first(n, kernel)
    given, groups = bias[0] if bias else None, n.integer("groups", 1)
    y = on_channels_first(n, n.tensor(), lambda x: convolved(n, x, first, given, groups))
    return activated(n, y, n.option("activation", None))


@layer("DepthwiseConv1D", "DepthwiseConv2D", "ops.DepthwiseConv")
def depthwise_conv(n: KerasLayer) -> Value:
    kernel, *bias = kernels(n, "kernel")
    channels, first = kernel.type.shape[-2], depthwise_first(n, kernel)
    given = bias[0] if bias else None
    y = on_channels_first(n, n.tensor(), lambda x: convolved(n, x, first, given, channels))
    return activated(n, y, n.option("activation", None))


@layer("SeparableConv1D", "SeparableConv2D", "ops.SeparableConv")
def separable_conv(n: KerasLayer) -> Value:
    depthwise, pointwise, *bias = kernels(n, "depthwise_kernel", "pointwise_kernel")
    channels, first = depthwise.type.shape[-2], depthwise_first(n, depthwise)
    second = kernel_first(n, pointwise)

    def work(x: Value) -> Value:
        ones = (1,) * (x.type.rank - 2)
        apart = convolved(n, x, first, None, channels)
        given = bias[0] if bias else None
        how = {"strides": ones, "dilations": ones, "padding": "VALID"}
        return convolution(n, apart, second, given, **how)

    y = on_channels_first(n, n.tensor(), work)
    return activated(n, y, n.option("activation", None))


@layer(
    "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose", "Deconvolution2D", "ops.ConvTranspose"
)
def conv_transpose(n: KerasLayer) -> Value:
    """A transposed convolution with a kernel [K.., M, C]."""
    kernel, *bias = kernels(n, "kernel")
    first = kernel_first(n, kernel)
    count = first.type.rank - 2
    strides = n.integers("strides", count, 1)
    dilations = n.integers("dilation_rate", count, 1)
    same = n.choice("padding", "valid", "same", default="valid") == "same"
    given = n.option("output_padding", None)
    more = None if given is None else n.integers("output_padding", count)
    pads, extra = [], []
    for i, (k, stride) in enumerate(zip(first.type.shape[2:], strides, strict=True)):
        begin, end = _cut(k, stride, dilations[i], same, None if more is None else more[i])
        pads.append((begin, max(0, end)))
        extra.append(max(0, -end))
    begins, ends = zip(*pads, strict=True)

    def work(x: Value) -> Value:
        return transposed_convolution(
            n,
            x,
            first,
            bias[0] if bias else None,
            strides=strides,
            dilations=dilations,
            padding=(*begins, *ends),
            output_padding=extra,
        )

    y = on_channels_first(n, n.tensor(), work)
    return activated(n, y, n.option("activation", None))


def _cut(kernel: int, stride: int, dilation: int, same: bool, more: int | None) -> tuple[int, int]:
    """How much to cut at either end of the full result, of (D - 1) * stride + reach elements.

    With `same`, the result has D * stride elements, else what the windows cover. With `more`, it
    has that many more than the windows cover; `same` then cuts half a window at both ends.
    """
    reach = (kernel - 1) * dilation + 1
    if not same:
        return 0, -(max(stride - reach, 0) if more is None else more)
    total = reach - stride if more is None else 2 * (reach // 2) - more
    begin = max(total, 0) // 2
    return begin, total - begin


# -- pooling ---------------------------------------------------------------------------------------


def _windows(n: KerasLayer, count: int) -> Windows:
    kernel = n.integers("pool_size" if "pool_size" in n.config else "pool_length", count, 2)
    given = n.option("strides", None)
    strides = kernel if given is None else n.integers("strides", count)
    return Windows(kernel, strides, PADDINGS[n.choice("padding", *PADDINGS, default="valid")])


@layer("MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "ops.MaxPool")
def max_pooling(n: KerasLayer) -> Value:
    return on_channels_first(
        n, n.tensor(), lambda x: max_pooled(n, x, _windows(n, x.type.rank - 2))
    )


@layer("AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "ops.AveragePool")
def average_pooling(n: KerasLayer) -> Value:
    return on_channels_first(
        n, n.tensor(), lambda x: average_pooled(n, x, _windows(n, x.type.rank - 2))
    )


def _spatial(n: KerasLayer, x: Value) -> tuple[int, ...]:
    return tuple(range(2, x.type.rank) if is_channels_first(n) else range(1, x.type.rank - 1))


@layer("GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D")
def global_max_pooling(n: KerasLayer) -> Value:
    x, keep = n.tensor(), bool(n.option("keepdims", False))
    return reduced(n, x, nn.ReduceMax, _spatial(n, x), keep=keep)


@layer("GlobalAveragePooling2D", "GlobalAveragePooling3D")
def global_average_pooling(n: KerasLayer) -> Value:
    x, keep = n.floating(n.tensor()), bool(n.option("keepdims", False))
    return reduced(n, x, nn.ReduceMean, _spatial(n, x), keep=keep)


@layer("GlobalAveragePooling1D")
def global_average_pooling_of_steps(n: KerasLayer) -> Value:
    mask = n.mask
    if mask is None:
        return global_average_pooling(n)
    x, keep = n.floating(n.tensor()), bool(n.option("keepdims", False))
    axes = _spatial(n, x)
    place = 1 if axes == (2,) else 2
    extents = [(mask, 0), (mask, 1)]
    extents.insert(place, 1)  # type: ignore[arg-type]
    counts = n.cast(reshape(n, mask, extents), x.type.element_type)
    total = reduced(n, n(nn.Mul(x, counts)), nn.ReduceSum, axes, keep=keep)
    return n(nn.Div(total, reduced(n, counts, nn.ReduceSum, axes, keep=keep)))


@layer(
    *(f"Adaptive{kind}Pooling{d}D" for kind in ("Average", "Max") for d in (1, 2, 3)),
    "ops.AdaptiveAveragePool",
    "ops.AdaptiveMaxPool",
)
def adaptive_pooling(n: KerasLayer) -> Value:
    """Pooling by windows between multiples of extent / size, which overlap if it is fractional."""
    x = n.tensor()
    size = n.integers("output_size", x.type.rank - 2)
    return on_channels_first(n, x, lambda x: adaptive_pooled(n, x, size, "Max" in n.kind))

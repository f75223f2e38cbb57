"""Products, convolutions, pooling, normalization and images.

Channels are last by default; the work is done with channels after the batch.
"""

from __future__ import annotations

from functools import reduce

from ...common import tensorflow as tf
from ...common.complexes import Pair, flat_parts, pair, terms
from ...common.formulas import assured
from ...common.shapes import product
from ...common.vocabulary import *
from ..complexes import complex_of
from ..layer import TfLayer, rows
from .elementwise import bias_add


def on_channels_first(n: TfLayer, x: Value, work: Callable[[Value], Value]) -> Value:
    """Apply `work` with channels after the batch, and restore the layout of x."""
    if not n.nhwc(x) or x.type.rank < 3:
        return work(x)
    return channels_last(n, work(channels_first(n, x)))


def spatial(n: TfLayer, name: str, x: Value) -> tuple[int, ...]:
    """The spatial numbers of an attribute that has one for each dimension."""
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
def matmul(n: TfLayer, x: Any, y: Any) -> Any:
    if isinstance(x, Pair) or isinstance(y, Pair):
        return _complex_product(n, complex_of(n, x), complex_of(n, y))
    names = ("adj_x", "adj_y") if n.kind.startswith("Batch") else ("transpose_a", "transpose_b")
    x, y = (
        swapped(n, v, v.type.rank - 2, v.type.rank - 1) if n.flag(name) else v
        for v, name in zip((x, y), names, strict=True)
    )
    if n.has("Tout"):
        x, y = (n.cast(v, n.element("Tout")) for v in (x, y))
    return n(nn.Matmul(x, y))


def _complex_product(n: TfLayer, x: Pair, y: Pair) -> Pair:
    """The product of complex matrices; `adj` takes conjugates too, `transpose` does not."""
    adjoint = n.kind.startswith("Batch")
    parts = []
    for one, name in zip((x, y), "xy" if adjoint else "ab", strict=True):
        a, b = terms(n, one)
        if n.flag(f"{'adj' if adjoint else 'transpose'}_{name}"):
            a, b = a.mT, b.mT
            b = -b if adjoint else b
        parts.append((a, b))
    (a, b), (c, d) = parts
    return pair(a @ c - b @ d, a @ d + b @ c)


@rows("Einsum")
def einsum_(n: TfLayer, *inputs: Any) -> Any:
    equation = n.text("equation")
    if not any(isinstance(v, Pair) for v in inputs):
        return einsum(n, equation, list(inputs))
    if len(inputs) == 1:
        return Pair(*(einsum(n, equation, [v]) for v in flat_parts(inputs)))

    def of(x: Value, y: Value) -> Term:
        return Term(n, einsum(n, equation, [x, y]))

    x, y = (complex_of(n, v) for v in inputs)
    real = of(x.real, y.real) - of(x.imag, y.imag)
    return pair(real, of(x.real, y.imag) + of(x.imag, y.real))


def _ranks(n: TfLayer, x: Value, weight: Value) -> None:
    if weight.type.rank != x.type.rank or x.type.rank < 3:
        raise n.error(f"the filter is '{weight.type}', the input '{x.type}'")


def _how(n: TfLayer, x: Value) -> dict[str, Any]:
    return {
        "strides": spatial(n, "strides", x),
        "dilations": spatial(n, "dilations", x),
        "padding": padding_of(n, x),
    }


@rows("Conv2D", "Conv3D")
def conv(n: TfLayer, x: Value, weight: Value) -> Value:
    _ranks(n, x, weight)
    rank = x.type.rank
    kernel = n(nn.Transpose(weight, permutation=(rank - 1, rank - 2, *range(rank - 2))))
    channels, own = x.type.shape[-1 if n.nhwc(x) else 1], weight.type.shape[-2]
    groups, how = channels // own if channels and own else 1, _how(n, x)
    return on_channels_first(n, x, lambda v: convolution(n, v, kernel, groups=groups, **how))


@rows("DepthwiseConv2dNative")
def depthwise_conv(n: TfLayer, x: Value, weight: Value) -> Value:
    _ranks(n, x, weight)
    *_, channels, times = weight.type.shape
    if channels is None or times is None:
        raise n.error(f"the filter is '{weight.type}', expected a known number of channels")
    kernel = n(nn.Transpose(weight, permutation=(2, 3, 0, 1)))
    kernel = reshape(n, kernel, [channels * times, 1, (kernel, 2), (kernel, 3)])
    how = _how(n, x)
    return on_channels_first(n, x, lambda v: convolution(n, v, kernel, groups=channels, **how))


@rows("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def conv_transposed(n: TfLayer, sizes: Value, weight: Value, x: Value) -> Value:
    """A transposed convolution; `sizes` is the shape of its result."""
    _ranks(n, x, weight)
    rank = x.type.rank
    kernel = n(nn.Transpose(weight, permutation=(rank - 1, rank - 2, *range(rank - 2))))
    channels = (n.extents(sizes) or (None,) * rank)[-1 if n.nhwc(x) else 1]
    own = weight.type.shape[-2]
    return transposed_as(n, sizes, kernel, x, int(channels) // own if channels and own else 1)


def transposed_as(n: TfLayer, sizes: Value, kernel: Value, x: Value, groups: int) -> Value:
    """The transposed convolution of x in the node's layout, with a kernel [C, O / groups, K..]."""
    rank, how = x.type.rank, _how(n, x)
    begin = 1 if n.nhwc(x) else 2
    wanted = (n.extents(sizes) or (None,) * rank)[begin : begin + rank - 2]
    known = [int(d) for d in wanted if d is not None]
    is_known, is_explicit = len(known) == len(wanted), not isinstance(how["padding"], str)
    asked = part_of_vector(n, as_i64(n, sizes), begin, begin + rank - 2)
    if is_explicit or not is_known:
        asked = _checked_sizes(n, x, kernel, asked, how)
    extents = known if is_known else asked
    return on_channels_first(
        n,
        x,
        lambda v: transposed_convolution(
            n, v, kernel, extents=extents, keeps_begin=is_explicit, groups=groups, **how
        ),
    )


_OTHER_SIZES = "the extents asked for are not those that strides and padding give"


def _checked_sizes(n: TfLayer, x: Value, kernel: Value, asked: Value, how: dict[str, Any]) -> Value:
    """The requested extents, checked to give those of x by a convolution."""
    count, begin, padding = x.type.rank - 2, 1 if n.nhwc(x) else 2, how["padding"]
    sides = [0] * count * 2 if isinstance(padding, str) else padding
    own = Term(n, part_of_vector(n, shape_of(n, x), begin, begin + count))
    reach = Term(n, part_of_vector(n, shape_of(n, kernel), 2, 2 + count)) - 1
    pads, strides, dilations = (
        Term(n, n.constant(np.array(v, np.int64)))
        for v in (
            [a + b for a, b in zip(sides[:count], sides[count:], strict=True)],
            how["strides"],
            how["dilations"],
        )
    )
    # SAME pads by what the kernel reaches beyond an element.
    lost = reach.zeros() if padding == "SAME_UPPER" else reach * dilations
    given = (Term(n, asked) + pads - lost - 1) / strides + 1
    return assured(Term(n, asked), given.equals(own).cast(i64).least(0) > 0, _OTHER_SIZES).value


# -- pooling and normalization ---------------------------------------------------------------------


def windows_of(n: TfLayer, x: Value) -> Windows:
    """The windows of a pooling of x."""
    return Windows(spatial(n, "ksize", x), spatial(n, "strides", x), padding_of(n, x))


@rows("MaxPool", "MaxPool3D")
def max_pool(n: TfLayer, x: Value) -> Value:
    return on_channels_first(n, x, lambda v: max_pooled(n, v, windows_of(n, x)))


@rows("MaxPoolWithArgmax")
def max_pool_with_argmax(n: TfLayer, x: Value) -> list[Value]:
    """Max pooling with indices, which count an image's elements (or the batch's), channels last."""
    out, places = max_pooled_with_indices(n, channels_first(n, x), windows_of(n, x))
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
    return on_channels_first(n, x, lambda v: average_pooled(n, v, windows_of(n, x)))


@rows("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(
    n: TfLayer, x: Value, scale: Value, offset: Value, mean: Value, spread: Value
) -> list:
    epsilon = n.float("epsilon", 1e-4)
    if n.flag("is_training", True):
        return _by_own_statistics(n, x, (scale, offset, mean, spread), epsilon)
    parameters = (scale, offset, mean, spread)
    out = on_channels_first(n, x, lambda v: batch_norm(n, v, *parameters, epsilon))
    return [out, mean, spread, mean, spread, mean]


@rows("BatchNormWithGlobalNormalization")
def batch_norm_of_old_graphs(
    n: TfLayer, x: Value, mean: Value, spread: Value, offset: Value, scale: Value
) -> Value:
    given = (scale if n.flag("scale_after_normalization") else None, offset, mean, spread)
    epsilon = n.float("variance_epsilon", 0.0)
    return on_channels_first(n, x, lambda v: batch_norm(n, v, *given, epsilon))


def _by_own_statistics(
    n: TfLayer, x: Value, parameters: Sequence[Value], epsilon: float
) -> list[Any]:
    """Batch normalization in training mode: by the batch's statistics, which are also returned.

    The returned variance is that of a sample; both are averaged with the previous ones.
    """
    scale, offset, *before = parameters
    first = channels_first(n, x) if n.nhwc(x) else x
    y, mean, spread = batch_norm_now(n, first, scale, offset, scale.type.element_type, epsilon)
    axes = [(first, i) for i in range(first.type.rank) if i != 1]
    count = reduce(lambda total, one: total * extent(n, one), axes, Term(n, n.constant(1, i64)))
    wide = count.cast(scale.type.element_type)
    now = [Term(n, mean), Term(n, spread) * wide / (wide - 1).max(1)]
    share = n.float("exponential_avg_factor", 1.0)
    if share != 1.0:
        now = [
            Term(n, old) * (1 - share) + new * share for old, new in zip(before, now, strict=True)
        ]
    kept = [one.value for one in now]
    return [channels_last(n, y) if n.nhwc(x) else y, *kept, mean, spread, mean]


@rows("LRN")
def lrn(n: TfLayer, x: Value) -> Value:
    size = 2 * n.int("depth_radius", 5) + 1
    how = size, n.float("alpha", 1.0) * size, n.float("beta", 0.5), n.float("bias", 1.0)
    return on_channels_first(n, x, lambda v: local_response(n, v, *how))


# -- what TensorFlow's optimizer has fused -----------------------------------------------------


@rows("_FusedConv2D", "_FusedDepthwiseConv2dNative", "_FusedMatMul")
def fused(n: TfLayer, x: Value, weight: Value, *more: Value) -> Value:
    """A fused product and the operations after it, with operands of their own."""
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
    """x after an activation, by an optimizer's name."""
    known = {"Identity": "affine", "_FusedHardSwish": "hardswish", "GeluExact": "gelu"}
    if name == "GeluApproximate":
        return n(nn.Gelu(x, approximate="tanh"))
    alpha = n.float("leakyrelu_alpha", 0.2) if name == "LeakyRelu" else None
    return activation(n, known.get(name, name.lower()), x, alpha)


# -- images ----------------------------------------------------------------------------------------


_MODES = {"ResizeBilinear": "linear", "ResizeNearestNeighbor": "nearest", "ResizeBicubic": "cubic"}


@rows(*_MODES)
def resize(n: TfLayer, x: Value, size: Value) -> Value:
    mode, flags = _MODES[n.kind], (n.flag("align_corners"), n.flag("half_pixel_centers"))
    return tf.resize_image(n, x if mode == "nearest" else n.cast(x, f32), size, mode, *flags)


@rows("DepthToSpace", "SpaceToDepth")
def depth_and_space(n: TfLayer, x: Value) -> Value:
    op, block = getattr(nn, n.kind), n.int("block_size")
    return on_channels_first(n, x, lambda v: n(op(v, block=block)))

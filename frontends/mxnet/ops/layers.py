"""Layers with parameters: convolutions, poolings, normalizations."""

from __future__ import annotations

from ...common.activations import activation as activate
from ...common.arrays import moveaxis
from ...common.formulas import cbrt
from ...common.vocabulary import *
from ..layer import MxnetLayer, rows

_LAST = ("NWC", "NHWC", "NDHWC")


def channels_first(n: MxnetLayer, x: Value) -> Value:
    """x, which has the layer's layout, as [N, C, D..]."""
    if n.attributes.get("layout") not in _LAST:
        return x
    return n.transposed(x, 0, x.type.rank - 1, *range(1, x.type.rank - 1))


def channels_back(n: MxnetLayer, x: Value) -> Value:
    """[N, C, D..] converted to the layer's layout."""
    if n.attributes.get("layout") not in _LAST:
        return x
    return n.transposed(x, 0, *range(2, x.type.rank), 1)


# -- products ----------------------------------------------------------------------------------


@rows("Convolution", "Convolution_v1", "_npx_convolution")
def convolved(n: MxnetLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    x, weight = channels_first(n, x), channels_first(n, weight)
    count = x.type.rank - 2
    out = convolution(
        n,
        x,
        weight,
        None if n.flag("no_bias") else bias,
        strides=n.ints("stride", (1,) * count, count),
        dilations=n.ints("dilate", (1,) * count, count),
        padding=n.ints("pad", (0,) * count, count) * 2,
        groups=n.size("num_group", 1),
    )
    return channels_back(n, out)


@rows("Deconvolution", "_npx_deconvolution")
def deconvolution(n: MxnetLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    x, weight = channels_first(n, x), channels_first(n, weight)
    count = x.type.rank - 2
    strides = n.ints("stride", (1,) * count, count)
    dilations = n.ints("dilate", (1,) * count, count)
    pads, more = n.ints("pad", (0,) * count, count), n.ints("adj", (0,) * count, count)
    if target := n.ints("target_shape", (), count):
        kernel = [n.extent(weight, 2 + i) for i in range(count)]
        total = [
            (n.extent(x, 2 + i) - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 - target[i]
            for i in range(count)
        ]
        if min(total) < 0:
            raise n.error(f"attribute 'target_shape' is {target}, more than the layer can give")
        pads, more = tuple((t + 1) // 2 for t in total), tuple(t % 2 for t in total)
    out = transposed_convolution(
        n,
        x,
        weight,
        None if n.flag("no_bias", True) else bias,
        strides=strides,
        dilations=dilations,
        padding=pads * 2,
        output_padding=more,
        groups=n.size("num_group", 1),
    )
    return channels_back(n, out)


@rows("FullyConnected", "_npx_fully_connected", "_sparse_FullyConnected")
def fully_connected(n: MxnetLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    if n.flag("flatten", True):
        x = flatten(n, x, 1)
    out = n(nn.Matmul(x, n.transposed(weight, 1, 0)))
    return out if bias is None or n.flag("no_bias") else n(nn.Add(out, bias))


@rows("Embedding", "_npx_embedding", "_contrib_SparseEmbedding", "_sparse_Embedding")
def embedding(n: MxnetLayer, x: Value, weight: Value) -> Value:
    index = n.term(x).cast(i64).max(0).min(n.extent(weight, 0) - 1)
    return gathered(n, weight, index.value, 0)


# -- pooling -----------------------------------------------------------------------------------


@rows("Pooling", "Pooling_v1", "_npx_pooling")
def pooling(n: MxnetLayer, x: Value) -> Value:
    x = channels_first(n, x)
    kind = n.text("pool_type", "max", "max", "avg", "sum", "lp")
    if n.flag("global_pool"):
        return channels_back(n, _global_pool(n, x, kind))
    count = x.type.rank - 2
    if count < 1:
        raise n.error(f"input is '{x.type}', expected spatial dimensions")
    kernel = n.ints("kernel", (), count)
    if len(kernel) != count or min(kernel) < 1:
        raise n.error(f"attribute 'kernel' is {kernel}, expected {count} positive integers")
    if min(n.ints("stride", (1,) * count, count)) < 1:
        raise n.error(f"attribute 'stride' is {n.ints('stride')}, expected positive integers")
    strides, pads = n.ints("stride", (1,) * count, count), n.ints("pad", (0,) * count, count)
    if n.kind == "Pooling_v1":
        return _old_pool(n, x, kind, kernel, strides, pads)
    more, ceil = _last_windows(n, x, kernel, strides, pads)
    ends = [p + m for p, m in zip(pads, more, strict=True)]
    windows = Windows(kernel, strides, (*pads, *ends), ceil=ceil)
    counts_all = n.flag("count_include_pad", True)
    if kind == "lp":
        out = _root(n, sum_pooled(n, _power(n, x).value, windows)).value
    elif kind == "max":
        out = max_pooled_from_lowest(n, x, windows)
    elif kind == "avg" and not any(more):
        out = average_pooled(n, x, windows, counts_all)
    else:
        out = sum_pooled(n, x, windows)
        if kind == "avg":
            counted = pads if counts_all else (0,) * count
            out = (n.term(out) / _counts(n, x, out, windows, counted)).value
    return channels_back(n, out)


def _old_pool(n: MxnetLayer, x: Value, kind: str, kernel, strides, pads) -> Value:
    """Pooling_v1, which pads with zeros also for maxima; means are of the kernel's whole area."""
    full = n.text("pooling_convention", "valid", "valid", "full") == "full"
    windows = Windows(kernel, strides, (0,) * 2 * len(kernel), ceil=full)
    x = padded_by(n, x, (0, 0, *pads) * 2)
    if kind == "max":
        return max_pooled(n, x, windows)
    total = n.term(sum_pooled(n, x, windows))
    return (total / math.prod(kernel) if kind == "avg" else total).value


def _last_windows(n: MxnetLayer, x: Value, kernel, strides, pads) -> tuple[tuple[int, ...], bool]:
    """Extra padding at the ends for the pooling convention, and whether output extents are rounded
    up.
    """
    kind = n.text("pooling_convention", "valid", "valid", "full", "same")
    spatial = x.type.shape[2:]
    if kind == "valid":
        return (0,) * len(kernel), False
    if kind == "full" and None in spatial:
        return (0,) * len(kernel), True
    more = []
    for i in range(len(kernel)):
        whole = n.extent(x, 2 + i) + 2 * pads[i]
        if kind == "same":
            count = math.ceil(whole / strides[i])
        else:
            count = math.ceil((whole - kernel[i]) / strides[i]) + 1
        more.append((count - 1) * strides[i] + kernel[i] - whole)
    # A last window is cut off at the end of the padding, as it is where extents are rounded up.
    rounded = all(
        m < s and w + p > (w + 2 * p + m - k) // s * s
        for m, s, k, p, w in zip(more, strides, kernel, pads, spatial, strict=True)
    )
    if kind == "full" and rounded and min(more) >= 0:
        return (0,) * len(kernel), True
    return tuple(max(0, m) for m in more), False


def _counts(n: MxnetLayer, x: Value, out: Value, windows: Windows, counted: Sequence[int]) -> Term:
    """The number of elements in each window: those of x, and of padding that counts."""
    total = np.ones((), np.float64)
    for i in range(len(counted)):
        begin = np.arange(n.extent(out, 2 + i)) * windows.strides[i] - int(windows.padding[i])
        low = np.maximum(begin, -counted[i])
        high = np.minimum(begin + windows.kernel[i], x.type.shape[2 + i] + counted[i])
        total = total[..., None] * np.maximum(high - low, 1)
    return n.term(n.constant(total, x.type.element_type))


_ROOTS: dict[int, Callable[[Term], Term]] = {
    1: lambda x: x,
    2: lambda x: x.function(nn.Sqrt),
    3: cbrt,
}


def _power(n: MxnetLayer, x: Value) -> Term:
    """The summands of Lp pooling: powers of x, with its sign for odd exponents."""
    p = n.size("p_value", 2)
    if p not in _ROOTS:
        raise n.error(f"attribute 'p_value' is {p}, expected 1, 2 or 3")
    return math.prod([n.term(x)] * (p - 1), start=n.term(x))


def _root(n: MxnetLayer, x: Value) -> Term:
    return _ROOTS[n.size("p_value", 2)](n.term(x))


def _global_pool(n: MxnetLayer, x: Value, kind: str) -> Value:
    axes = tuple(range(2, x.type.rank))
    if kind == "lp":
        return _root(n, _power(n, x).sum(*axes, keep=True).value).value
    op = {"max": nn.ReduceMax, "avg": nn.ReduceMean, "sum": nn.ReduceSum}[kind]
    return reduced(n, x, op, axes, keep=True)


@rows("_contrib_AdaptiveAvgPooling2D")
def adaptive_average_pooling(n: MxnetLayer, x: Value) -> Value:
    """Adaptive average pooling, with window bounds rounded outwards."""
    size = n.ints("output_size", (1,))
    if len(size) not in (1, 2) or not 0 < min(size) <= max(size) < 1 << 31:
        raise n.error(f"attribute 'output_size' is {size}, expected one or two numbers above 0")
    return adaptive_pooled(n, x, size * 2 if len(size) == 1 else size, largest=False)


# -- normalization -----------------------------------------------------------------------------


@rows(
    "BatchNorm", "BatchNorm_v1", "CuDNNBatchNorm", "_npx_batch_norm", "_contrib_SyncBatchNorm",
    "_contrib_BatchNormWithReLU",
)  # fmt: skip
def batch_norm_(
    n: MxnetLayer, x: Value, gamma: Value, beta: Value, mean: Value, var: Value
) -> list[Value]:
    axis = n.axis("axis", 1, x.type.rank)
    if n.flag("fix_gamma", True):
        gamma = n.zeros(gamma.type.shape, gamma.type.element_type, 1)
    order = moveaxis(x.type.rank, [axis], [1])
    epsilon = n.float("eps", 1e-3)
    out = batch_norm(n, n.transposed(x, *order), gamma, beta, mean, var, epsilon)
    out = n.transposed(out, *(int(i) for i in np.argsort(order)))
    if n.kind == "_contrib_BatchNormWithReLU":
        out = n(nn.Relu(out))
    return [out, mean, var]


@rows("LayerNorm", "_npx_layer_norm")
def layer_norm(n: MxnetLayer, x: Value, gamma: Value, beta: Value) -> Value:
    last = x.type.rank - 1
    axis, epsilon = n.axis("axis", -1, x.type.rank), n.float("eps", 1e-5)
    order = [*range(last + 1)]
    order[axis], order[last] = last, axis
    x = layer_normed(n, n.transposed(x, *order), gamma, beta, (last,), epsilon)
    return n.transposed(x, *order)


rows.add(
    {
        "InstanceNorm": instance_norm_row("x gamma beta", eps=("eps", 1e-3)),
        "LRN": local_response_row(
            size="nsize", alpha=("alpha", 1e-4), beta=("beta", 0.75), bias=("knorm", 2.0)
        ),
    }
)


@rows("GroupNorm")
def group_norm(n: MxnetLayer, x: Value, gamma: Value, beta: Value) -> Value:
    """Group normalization; older versions have one scale and bias per group, not per channel."""
    groups, channels = n.size("num_groups", 1), n.extent(x, 1)
    scale, bias = (
        v if v.type.shape[0] == channels else of_groups(n, v, groups, channels)
        for v in (gamma, beta)
    )
    return group_normed(n, x, scale, bias, groups, n.float("eps", 1e-5))


@rows("L2Normalization")
def l2_normalization(n: MxnetLayer, x: Value) -> Value:
    mode = n.text("mode", "instance", "instance", "channel", "spatial")
    first, last = {"instance": (1, None), "channel": (1, 2), "spatial": (2, None)}[mode]
    axes = range(x.type.rank)[first:last]
    term = n.term(x)
    length = ((term * term).sum(*axes, keep=True) + n.float("eps", 1e-10)).function(nn.Sqrt)
    return (term / length).value


# -- softmax -----------------------------------------------------------------------------------


@rows("SoftmaxOutput", "Softmax")
def softmax_output(n: MxnetLayer, x: Value) -> Value:
    if n.flag("multi_output"):
        return n(nn.Softmax(x, axis=1))
    if n.flag("preserve_shape") or x.type.rank < 3:
        return n(nn.Softmax(x, axis=x.type.rank - 1))
    out = n(nn.Softmax(flatten(n, x, 1), axis=1))
    return reshape(n, out, dims(x))


@rows("SoftmaxActivation")
def softmax_activation(n: MxnetLayer, x: Value) -> Value:
    channel = n.text("mode", "instance", "instance", "channel") == "channel"
    return n(nn.Softmax(x, axis=1 if channel else x.type.rank - 1))


@rows("softmax", "_npx_softmax", "log_softmax", "_npx_log_softmax", "softmin")
def softmax(n: MxnetLayer, x: Value, length: Value | None = None) -> Value:
    axis, rank = n.axis("axis", -1, x.type.rank), x.type.rank
    term = n.term(x)
    if (element := n.element("dtype", term.element)) is not term.element:
        term = term.cast(element)
    if (temperature := n.get("temperature")) is not None:
        term = term / float(temperature)
    if n.kind == "softmin":
        term = -term
    if length is None or not n.flag("use_length"):
        op = nn.LogSoftmax if "log" in n.kind else nn.Softmax
        return term.made(op(term.value, axis=axis)).value
    inside = positions(n, x, axis) < per_row(n, length, axis, rank)
    found = inside.choose(term, -math.inf)
    return inside.choose(found.made(nn.Softmax(found.value, axis=axis)), 0.0).value


def positions(n: MxnetLayer, x: Value, axis: int) -> Term:
    """0, 1, .. along an axis, to be broadcast."""
    return counting(n, extent(n, (x, axis))).spread(0, x.type.rank - 1 - axis)


def per_row(n: MxnetLayer, lengths: Value, axis: int, rank: int) -> Term:
    """The lengths of rows along an axis, in the shape of x without it, shaped to broadcast to x."""
    own = dims(lengths)
    own.insert(axis, 1)  # type: ignore[arg-type]
    return n.term(lengths).cast(i64).reshape(*own, *[1] * (rank - len(own)))


# -- activations -------------------------------------------------------------------------------


@rows("Activation", "_npx_activation")
def activation(n: MxnetLayer, x: Value) -> Value:
    kind = n.text("act_type", "", "relu", "sigmoid", "tanh", "softrelu", "softsign")
    return activate(n, "softplus" if kind == "softrelu" else kind, x)


@rows("LeakyReLU", "_npx_leaky_relu")
def leaky_relu(n: MxnetLayer, x: Value, slopes: Value | None = None) -> Value:
    slope = n.float("slope", 0.25)
    kind = n.text("act_type", "leaky", "leaky", "elu", "selu", "gelu", "prelu", "rrelu")
    if kind == "rrelu":
        slope = (n.float("lower_bound", 0.125) + n.float("upper_bound", 0.334)) / 2
    if kind != "prelu":
        name = "leakyrelu" if kind in ("leaky", "rrelu") else kind
        return activate(n, name, x, None if kind == "selu" else slope)
    if slopes is None:
        raise n.error("input 'gamma' is missing")
    more = x.type.rank - 2 if slopes.type.rank == 1 else 0
    return n(nn.Prelu(x, n.term(slopes).spread(0, more).value))


@rows("Dropout", "_npx_dropout")
def dropout(n: MxnetLayer, x: Value) -> list[Value]:
    if n.attributes.get("mode") == "always":
        raise n.error("dropout at random also in inference is not supported")
    return [x]

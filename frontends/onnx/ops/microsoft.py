"""Operators of com.microsoft that onnxruntime's optimizer leaves in a saved model.

Source: onnxruntime's ContribOperators.md.
"""

from __future__ import annotations

from ...common.fourier import on_rows, transformed
from ...common.linear_algebra import identity_like, solve
from ...common.runtime_axes import with_ones
from ...common.vocabulary import *
from ..node import Node
from ..registry import add_rows, converter
from ..tensors import element_type
from .convolution import conv
from .creation import range_
from .indexing import gather_nd
from .linear import gemm
from .movement import pad, trilu
from .normalization import mean_and_inverse_deviation, rms_normed_to
from .pooling import max_pool
from .sampling import grid_sample

DOMAIN = "com.microsoft"


@converter("FastGelu", domain=DOMAIN)
def fast_gelu(n: Node, x: Value, bias: Value | None = None) -> Value:
    return n(nn.Gelu(x if bias is None else n(nn.Add(x, bias)), approximate="tanh"))


@converter("BiasGelu", domain=DOMAIN)
def bias_gelu(n: Node, x: Value, bias: Value) -> Value:
    return n(nn.Gelu(n(nn.Add(x, bias))))


@converter("QuickGelu", domain=DOMAIN)
def quick_gelu(n: Node, x: Value) -> Value:
    return n(nn.Swish(x, alpha=n.float("alpha", 1.702)))


@converter("FusedMatMul", domain=DOMAIN)
def fused_matmul(n: Node, lhs: Value, rhs: Value) -> Value:
    out = n(nn.Matmul(_turned(n, lhs, "A"), _turned(n, rhs, "B")))
    alpha = n.float("alpha", 1.0)
    return out if alpha == 1.0 else n(nn.Mul(out, n.scalar(alpha, out)))


def _turned(n: Node, x: Value, side: str) -> Value:
    """Matrix operand `side` (A or B) as its attributes say: `transBatch`, and then `trans`."""
    rank = x.type.rank
    order = list(range(rank))
    moved = n.int(f"transBatch{side}")
    if rank > 2 and moved:
        # The rows of the matrices are the first dimension, before the batch.
        order = [*range(1, rank - 1), 0, rank - 1]
    if rank >= 2 and n.int(f"trans{side}"):
        order[-2:] = reversed(order[-2:])
    return transposed(n, x, order)


@converter("SkipLayerNormalization", domain=DOMAIN)
def skip_layer_normalization(
    n: Node,
    x: Value,
    skip: Value,
    gamma: Value,
    beta: Value | None = None,
    bias: Value | None = None,
) -> list[Value | None]:
    total = _skip_sum(n, x, skip, bias)
    axes = (x.type.rank - 1,)
    epsilon = n.float("epsilon", 1e-12)
    y = layer_normed(n, total, gamma, beta, axes, epsilon)
    if not (n.wants(1) or n.wants(2)):
        return [y, None, None, total]
    return [y, *mean_and_inverse_deviation(n, n.cast(total, f32), axes, epsilon), total]


@converter("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_rms_normalization(
    n: Node, x: Value, skip: Value, gamma: Value, bias: Value | None = None
) -> list[Value | None]:
    total = _skip_sum(n, x, skip, bias)
    axes, epsilon = (x.type.rank - 1,), n.float("epsilon", 1e-5)
    y = rms_normed(n, total, gamma, axes, epsilon)
    if not (n.wants(1) or n.wants(2)):
        return [y, None, None, total]
    return [y, *_rms_factors(n, n.cast(total, f32), axes, epsilon), total]


def _rms_factors(n: Node, x: Value, axes: Sequence[int], epsilon: float) -> tuple[Value, Value]:
    """Zeros for the mean, and 1 / sqrt(mean(x²) + epsilon), both with extent 1 along `axes`."""
    squares = (Term(n, x) * Term(n, x)).mean(*axes, keep=True)
    return squares.zeros().value, (squares + epsilon).function(nn.Rsqrt).value


def _skip_sum(n: Node, x: Value, skip: Value, bias: Value | None) -> Value:
    total = n(nn.Add(x, skip))
    return total if bias is None else n(nn.Add(total, bias))


def of_any_order(convert: Callable[..., Any]) -> Callable[..., Any]:
    """A converter of images that supports channels last, by an attribute."""

    def converted(n: Node, x: Value, *others: Value | None) -> Any:
        if not n.int("channels_last"):
            return convert(n, x, *others)
        return channels_last(n, convert(n, channels_first(n, x), *others))

    return converted


@converter("ExpandDims", domain=DOMAIN)
def expand_dims(n: Node, x: Value, axis: Value) -> Value:
    return with_ones(n, x, axis, 1)


# -- activations -----------------------------------------------------------------------------------


def _activated(n: Node, x: Value, numbers: Sequence[float]) -> Value:
    """x after the node's activation, with its parameters."""
    kinds = ("", "Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid")
    kind = n.string("activation", choices=kinds)
    return activation(n, kind, x, *(*numbers, 0.0, 0.0)[:2]) if kind else x


@converter("FusedConv", domain=DOMAIN)
def fused_conv(
    n: Node, x: Value, weight: Value, bias: Value | None = None, added: Value | None = None
) -> Value:
    y = conv(n, x, weight, bias)
    if added is not None:
        y = n(nn.Add(y, added))
    return _activated(n, y, n.floats("activation_params") or ())


@converter("FusedGemm", domain=DOMAIN)
def fused_gemm(n: Node, a: Value, b: Value, c: Value | None = None) -> Value:
    numbers = n.float("activation_alpha"), n.float("activation_beta")
    return _activated(n, gemm(n, a, b, c), numbers)


# -- channels last ---------------------------------------------------------------------------------


@converter("NhwcConv", "NhwcFusedConv", domain=DOMAIN)
def nhwc_fused_conv(
    n: Node, x: Value, weight: Value, bias: Value | None = None, added: Value | None = None
) -> Value:
    added = None if added is None else channels_first(n, added)
    return channels_last(n, fused_conv(n, channels_first(n, x), weight, bias, added))


@converter("NhwcMaxPool", domain=DOMAIN)
def nhwc_max_pool(n: Node, x: Value) -> Value:
    return channels_last(n, max_pool(n, channels_first(n, x))[0])


@converter("GroupNorm", domain=DOMAIN)
def group_norm(n: Node, x: Value, gamma: Value, beta: Value) -> Value:
    """Group normalization, followed by x * sigmoid(x) with `activation`."""
    last = bool(n.int("channels_last", 1))
    data = channels_first(n, x) if last else x
    y = group_normed(n, data, gamma, beta, n.int("groups"), n.float("epsilon", 1e-5))
    if n.int("activation"):
        y = n(nn.Swish(y, alpha=1.0))
    return channels_last(n, y) if last else y


@converter("SkipGroupNorm", domain=DOMAIN)
def skip_group_norm(
    n: Node, x: Value, gamma: Value, beta: Value, skip: Value, bias: Value | None = None
) -> list[Value]:
    other = Term(n, skip)
    if other.rank == 2:
        other = other.reshape((skip, 0), 1, 1, (skip, 1))
    total = Term(n, x) + other
    if bias is not None:
        total = total + Term(n, bias)
    return [group_norm(n, total.value, gamma, beta), total.value]


# -- sums ------------------------------------------------------------------------------------------


@converter("BiasAdd", domain=DOMAIN)
def bias_add(n: Node, x: Value, bias: Value, skip: Value) -> Value:
    return (Term(n, x) + Term(n, bias) + Term(n, skip)).value


@converter("BiasSplitGelu", domain=DOMAIN)
def bias_split_gelu(n: Node, x: Value, bias: Value) -> Value:
    """The first half of the channels times the Gelu of the second, after adding a bias."""
    total = Term(n, x) + Term(n, bias)
    width = total.shape[-1]
    if width is None:
        raise n.error("the number of channels must be known")
    first, second = (total.part(-1, i * (width // 2), (i + 1) * (width // 2)) for i in range(2))
    return (first * second.function(nn.Gelu)).value


@converter("BiasSoftmax", domain=DOMAIN)
def bias_softmax(n: Node, x: Value, bias: Value) -> Value:
    """The softmax of a sum, over all dimensions from an axis on."""
    total, rank = Term(n, x) + Term(n, bias), x.type.rank
    axis = n.int("axis", 1) % rank
    return softmax_of_rows(total, axis).value


def softmax_of_rows(x: Term, axis: int) -> Term:
    """The softmax over all dimensions from an axis on."""
    rows = x.flattened(axis)
    out = rows.made(nn.Softmax(rows.value, axis=1))
    return out.reshape(*((x.value, i) for i in range(x.rank)))


@converter("CDist", domain=DOMAIN)
def distances(n: Node, a: Value, b: Value) -> Value:
    """The distances between the rows of two matrices: [N, K], [M, K] -> [N, M]."""
    metric = n.string("metric", "sqeuclidean", ("sqeuclidean", "euclidean"))
    rows = Term(n, a).reshape((a, 0), 1, (a, 1))
    apart = rows - Term(n, b)
    total = (apart * apart).sum(2)
    return (total.function(nn.Sqrt) if metric == "euclidean" else total).value


@converter("Inverse", domain=DOMAIN)
def inverse(n: Node, x: Value) -> Value:
    """The inverse of each matrix; infinite for a singular one."""
    matrices = Term(n, x)
    return solve(matrices, identity_like(matrices)).value


@converter("MatMulInteger16", domain=DOMAIN)
def matmul_of_16_bits(n: Node, a: Value, b: Value) -> Value:
    return n(nn.Matmul(n.cast(a, i32), n.cast(b, i32)))


@converter("SparseToDenseMatMul", domain=DOMAIN)
def sparse_matmul(n: Node, a: Value, b: Value) -> Value:
    """The product of a sparse matrix, which is stored densely, and a matrix."""
    return fused_matmul(n, a, b)


@converter("SimplifiedLayerNormalization")
def simplified_layer_normalization(n: Node, x: Value, scale: Value) -> list[Value | None]:
    """RMS normalization and its factors, which onnxruntime writes without a domain."""
    axis, epsilon = normalize_axis(n, n.int("axis", -1), x.type.rank), n.float("epsilon", 1e-5)
    axes = tuple(range(axis, x.type.rank))
    stash = element_type(n.int("stash_type", 1))
    y = rms_normed_to(n, x, scale, axes, epsilon)
    return [y, _rms_factors(n, n.cast(x, stash), axes, epsilon)[1] if n.wants(1) else None]


# -- complex numbers, whose parts stand side by side -----------------------------------------------


@converter("Rfft", domain=DOMAIN)
def real_fourier(n: Node, x: Value) -> Value:
    """The first half of the spectra of rows: [.., N] -> [.., N / 2 + 1, 2]."""
    _check_transform(n)
    real, imaginary = on_rows((Term(n, x), None), lambda row: transformed(row, None, False, True))
    assert imaginary is not None
    return joined([part.spread(0, 1) for part in (real, imaginary)], -1).value


@converter("Irfft", domain=DOMAIN)
def inverse_real_fourier(n: Node, x: Value) -> Value:
    """The inverse: [.., N / 2 + 1, 2] -> [.., N]."""
    _check_transform(n)
    parts = Term(n, x).column(0), Term(n, x).column(1)
    return on_rows(parts, lambda row: transformed(row, None, True, True))[0].value


def _check_transform(n: Node) -> None:
    for name, expected in (("onesided", 1), ("normalized", 0), ("signal_ndim", 1)):
        if (given := n.int(name, expected)) != expected:
            raise n.error(f"attribute '{name}' is {given}, expected {expected}")


@converter("Range", domain=DOMAIN)
def range_by_ones(n: Node, start: Value, limit: Value, delta: Value | None = None) -> Value:
    """The numbers from `start` to before `limit`, in steps of 1 if no other are given."""
    step = n.constant(1, start.type.element_type) if delta is None else delta
    return range_(n, start, limit, step)


def complex_product(conjugate: bool) -> Callable[[Node, Value, Value], Value]:
    """The converter of a complex product, with the second factor's conjugate if `conjugate`."""

    def convert(n: Node, a: Value, b: Value) -> Value:
        (x, y), (u, v) = ((Term(n, z).column(0), Term(n, z).column(1)) for z in (a, b))
        v = -v if conjugate else v
        return joined([part.spread(0, 1) for part in (x * u - y * v, x * v + y * u)], -1).value

    return convert


add_rows(
    {
        "ComplexMul": complex_product(conjugate=False),
        "ComplexMulConj": complex_product(conjugate=True),
        "Gelu": as_it_is(nn.Gelu),
        "GatherND": gather_nd,
        "GridSample": grid_sample,
        "Pad": lambda n, x, pads, *more: pad(n, x, Term(n, pads).flat().value, *more),
        "SampleOp": lambda n, x: x,
        "TransposeMatMul": fused_matmul,
        "Trilu": trilu,
    },
    DOMAIN,
)

"""Operators of com.microsoft that onnxruntime's optimizer fuses, and those with channels last.

Source: onnxruntime's ContribOperators.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import nn
from ....ir.core import Value
from ...common.activations import activation
from ...common.convolution import channels_first, channels_last
from ...common.late_axes import with_ones
from ...common.terms import Term
from ..node import Node
from ..registry import converter
from .convolution import conv
from .creation import range_
from .grid_sample import grid_sample
from .indexing import gather_nd
from .linear import gemm
from .microsoft import DOMAIN, fused_matmul
from .movement import pad, trilu
from .pooling import max_pool

converter("TransposeMatMul", domain=DOMAIN)(fused_matmul)
converter("Trilu", domain=DOMAIN)(trilu)
converter("GatherND", domain=DOMAIN)(gather_nd)
converter("GridSample", domain=DOMAIN)(grid_sample)
converter("Range", domain=DOMAIN)(range_)
converter("Pad", domain=DOMAIN)(pad)


@converter("ExpandDims", domain=DOMAIN)
def expand_dims(n: Node, x: Value, axis: Value) -> Value:
    return with_ones(n, x, axis, 1)


# -- activations -----------------------------------------------------------------------------------


def _activated(n: Node, x: Value, numbers: Sequence[float]) -> Value:
    """x after the activation that the node names, with its parameters."""
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


@converter("NhwcConv", domain=DOMAIN)
def nhwc_conv(n: Node, x: Value, weight: Value, bias: Value | None = None) -> Value:
    return channels_last(n, conv(n, channels_first(n, x), weight, bias))


@converter("NhwcFusedConv", domain=DOMAIN)
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
    """Normalized groups of channels, and x * sigmoid(x) with `activation`."""
    last = bool(n.int("channels_last", 1))
    data = channels_first(n, x) if last else x
    scale, bias = (n.cast(v, data.type.element_type) for v in (gamma, beta))
    epsilon = n.float("epsilon", 1e-5)
    y = n(nn.GroupNorm(data, scale, bias, groups=n.int("groups"), epsilon=epsilon))
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
    """The first half of the channels times the Gelu of the second."""
    total = Term(n, x) + Term(n, bias)
    width = total.shape[-1]
    if width is None:
        raise n.error("the number of channels must be known")
    first, second = (total.part(-1, i * (width // 2), (i + 1) * (width // 2)) for i in range(2))
    return (first * second.function(nn.Gelu)).value


@converter("BiasSoftmax", domain=DOMAIN)
def bias_softmax(n: Node, x: Value, bias: Value) -> Value:
    """Softmax of a sum over all dimensions from an axis on."""
    total, rank = Term(n, x) + Term(n, bias), x.type.rank
    axis = n.int("axis", 1) % rank
    rows = total.flattened(axis)
    out = rows.made(nn.Softmax(rows.value, axis=1))
    return out.reshape(*((total.value, i) for i in range(rank))).value


@converter("CDist", domain=DOMAIN)
def distances(n: Node, a: Value, b: Value) -> Value:
    """How far the rows of two matrices are apart: [N, K], [M, K] -> [N, M]."""
    metric = n.string("metric", "sqeuclidean", ("sqeuclidean", "euclidean"))
    rows = Term(n, a).reshape((a, 0), 1, (a, 1))
    apart = rows - Term(n, b)
    total = (apart * apart).sum(2)
    return (total.function(nn.Sqrt) if metric == "euclidean" else total).value


@converter("SimplifiedLayerNormalization")
def simplified_layer_normalization(n: Node, x: Value, scale: Value) -> list[Value | None]:
    """RMS normalization, which onnxruntime writes without a domain."""
    axis = n.int("axis", -1) % x.type.rank
    return [n(nn.RmsNorm(x, scale, axis=axis, epsilon=n.float("epsilon", 1e-5))), None]

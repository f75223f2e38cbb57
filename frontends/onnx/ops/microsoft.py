"""Operators of com.microsoft that onnxruntime's optimizer leaves in a saved model.

Source: onnxruntime's ContribOperators.md.
"""

from __future__ import annotations

from ....dialects import nn
from ....ir.core import Value
from ..node import Node
from ..registry import converter

DOMAIN = "com.microsoft"


@converter("Gelu", domain=DOMAIN)
def gelu(n: Node, x: Value) -> Value:
    return n(nn.Gelu(x))


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
    if n.int("transBatchA") or n.int("transBatchB"):
        raise n.error("transBatchA and transBatchB are not supported")
    out = n(nn.Matmul(_turned(n, lhs, "transA"), _turned(n, rhs, "transB")))
    alpha = n.float("alpha", 1.0)
    return out if alpha == 1.0 else n(nn.Mul(out, n.scalar(alpha, out)))


def _turned(n: Node, x: Value, attribute: str) -> Value:
    """The matrices transposed, if the attribute says so."""
    rank = x.type.rank
    if not n.int(attribute) or rank < 2:
        return x
    return n(nn.Transpose(x, permutation=(*range(rank - 2), rank - 1, rank - 2)))


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
    y = nn.LayerNorm(total, gamma, beta, axis=x.type.rank - 1, epsilon=n.float("epsilon", 1e-12))
    return [n(y), None, None, total]


@converter("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_rms_normalization(
    n: Node, x: Value, skip: Value, gamma: Value, bias: Value | None = None
) -> list[Value | None]:
    total = _skip_sum(n, x, skip, bias)
    y = nn.RmsNorm(total, gamma, axis=x.type.rank - 1, epsilon=n.float("epsilon", 1e-5))
    return [n(y), None, None, total]


def _skip_sum(n: Node, x: Value, skip: Value, bias: Value | None) -> Value:
    total = n(nn.Add(x, skip))
    return total if bias is None else n(nn.Add(total, bias))

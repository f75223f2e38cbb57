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
    out = n(nn.Matmul(_turned(n, lhs, "A"), _turned(n, rhs, "B")))
    alpha = n.float("alpha", 1.0)
    return out if alpha == 1.0 else n(nn.Mul(out, n.scalar(alpha, out)))


def _turned(n: Node, x: Value, side: str) -> Value:
    """The matrices as the attributes say: first behind the batch, then transposed."""
    rank = x.type.rank
    order = list(range(rank))
    if rank > 2 and n.int(f"transBatch{side}"):
        # The first dimension of a matrix stands before the batch.
        order = [*range(1, rank - 1), 0, rank - 1]
    if rank >= 2 and n.int(f"trans{side}"):
        order[-2:] = reversed(order[-2:])
    if order == list(range(rank)):
        return x
    return n(nn.Transpose(x, permutation=tuple(order)))


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

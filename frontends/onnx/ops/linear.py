"""Products and functions of matrices."""

from __future__ import annotations

from ...common.vocabulary import *
from ..node import Node
from ..registry import add_rows, converter

add_rows(direct("MatMul=Matmul Det=Determinant"))


@converter("Gemm")
def gemm(n: Node, a: Value, b: Value, c: Value | None = None) -> Value:
    for name, value in (("A", a), ("B", b)):
        if value.type.rank != 2:
            raise n.error(f"input '{name}' has shape {shape_text(value)}, expected a matrix")
    if n.int("transA"):
        a = n(nn.Transpose(a, permutation=(1, 0)))
    if n.int("transB"):
        b = n(nn.Transpose(b, permutation=(1, 0)))
    out = n(nn.Matmul(a, b))
    alpha, beta = n.float("alpha", 1.0), n.float("beta", 1.0)
    if alpha != 1.0:
        out = n(nn.Mul(out, n.scalar(alpha, out)))
    if c is None or beta == 0.0:
        return out
    if beta != 1.0:
        c = n(nn.Mul(c, n.scalar(beta, c)))
    return n(nn.Add(out, c))


@converter("Einsum")
def einsum_(n: Node, *inputs: Value) -> Value:
    return einsum(n, n.string("equation"), list(inputs))

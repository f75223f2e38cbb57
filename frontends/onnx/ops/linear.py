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
    alpha, beta, element = n.float("alpha", 1.0), n.float("beta", 1.0), a.type.element_type
    if isinstance(element, IntegerType) and not (alpha.is_integer() and beta.is_integer()):
        a, b = n.cast(a, f64), n.cast(b, f64)
        c = None if c is None else n.cast(c, f64)
    if n.int("transA"):
        a = n(nn.Transpose(a, permutation=(1, 0)))
    if n.int("transB"):
        b = n(nn.Transpose(b, permutation=(1, 0)))
    out = n(nn.Matmul(a, b))
    if alpha != 1.0:
        out = n(nn.Mul(out, n.scalar(alpha, out)))
    if c is not None and beta != 0.0:
        out = n(nn.Add(out, c if beta == 1.0 else n(nn.Mul(c, n.scalar(beta, c)))))
    return n.cast(out, element)


@converter("Einsum")
def einsum_(n: Node, *inputs: Value) -> Value:
    return einsum(n, n.string("equation"), list(inputs))

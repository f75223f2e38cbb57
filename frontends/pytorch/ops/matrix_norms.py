"""Norms of matrices, and their condition numbers."""

from __future__ import annotations

from ...common import linear_algebra as algebra
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS
from .linear_algebra import inverse, matrices
from .reductions import norm


@ROWS("aten.linalg_matrix_norm", "aten.nuclear_norm")
def matrix_norm(
    n: AtenLayer,
    self: Value,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    dtype: Any = None,
) -> Value:
    order = "nuc" if "nuclear" in n.kind else ord
    x = Term(n, n.floating(self if dtype is None else n.cast(self, dtype)))
    rows, columns = (n.axis(d, x.rank) for d in dim)
    if order == "fro":
        return reduced(n, x.value, nn.ReduceL2, tuple(sorted((rows, columns))), keep=keepdim)
    others = [i for i in range(x.rank) if i not in (rows, columns)]
    a = x.transpose(*others, rows, columns)
    last = a.rank - 1
    if order in ("nuc", 2, -2):
        values = algebra.svd(a)[1]
        axis = values.rank - 1
        if order == "nuc" or values.shape[-1] == 0:
            found = values.sum(axis)
        else:
            found = values.column(0 if order > 0 else (values.shape[-1] or 1) - 1)
    else:
        sums = a.function(nn.Abs).sum(last if abs(order) == math.inf else last - 1)
        op = nn.ReduceMax if order > 0 else nn.ReduceMin
        found = sums.made(op(sums.value, axes=(sums.rank - 1,)))
    if not keepdim:
        return found.value
    shape = [1 if i in (rows, columns) else n.size(x.value, i) for i in range(x.rank)]
    return n.reshape(found.value, shape)


@ROWS("aten.linalg_norm")
def linalg_norm(
    n: AtenLayer, self: Value, ord: Any = None, dim: Any = None, keepdim=False, dtype: Any = None
) -> Value:
    """The matrix norm for two dimensions, given or existing; else the vector norm."""
    count = (self.type.rank if ord is not None else 1) if dim is None else len([*_listed(dim)])
    if count == 2 and ord is not None:
        return matrix_norm(n, self, ord, dim or (-2, -1), keepdim, dtype)
    return norm(n, self, 2 if ord is None else ord, dim=dim, keepdim=keepdim, dtype=dtype)


def _listed(dim: Any) -> list[Any]:
    return list(dim) if isinstance(dim, list | tuple) else [dim]


@ROWS("aten.linalg_cond")
def condition(n: AtenLayer, self: Value, p: Any = None) -> Value:
    if p in (None, 2, -2):
        values = algebra.svd(matrices(n, self)[0])[1]
        ends = [values.column(0), values.column((values.shape[-1] or 1) - 1)]
        return (ends[1] / ends[0] if p == -2 else ends[0] / ends[1]).value
    made = matrix_norm(n, inverse(n, self)[0], p)
    return (Term(n, matrix_norm(n, self, p)) * Term(n, made)).value

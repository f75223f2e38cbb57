"""Matrix factorizations, linear systems, diagonals."""

from __future__ import annotations

from typing import Any

from ....dialects import nn
from ....ir.core import Value
from ...common import linear_algebra as algebra
from ...common import tensorflow as tf
from ...common.arrays import cross
from ...common.complexes import Pair, pair, terms
from ...common.eigenvalues import eig as general_eigen
from ...common.shapes import merge
from ...common.terms import Term, counting, extent
from ..layer import TfLayer, rows

rows.add({
    "Cross": lambda n, a, b: cross(Term(n, a), Term(n, b), a.type.rank - 1).value,
})  # fmt: skip


# -- factors and systems ---------------------------------------------------------------------------


def _matrix(n: TfLayer, x: Value) -> Term:
    """A matrix, or its transpose if the node says so."""
    found = Term(n, x)
    return algebra.transposed(found) if n.flag("adjoint") else found


rows.add({
    "Cholesky": lambda n, x: algebra.cholesky(Term(n, x)).value,
    "MatrixSolve": lambda n, a, b: algebra.solve(_matrix(n, a), Term(n, b)).value,
})  # fmt: skip


@rows("MatrixInverse")
def inverse(n: TfLayer, x: Value) -> Value:
    a = _matrix(n, x)
    return algebra.solve(a, algebra.identity_like(a)).value


@rows("MatrixTriangularSolve")
def solve_triangular(n: TfLayer, a: Value, b: Value) -> Value:
    lower = n.flag("lower", True)
    return algebra.solve_triangular(_matrix(n, a), Term(n, b), lower == n.flag("adjoint")).value


@rows("MatrixDeterminant", "LogMatrixDeterminant")
def determinant(n: TfLayer, x: Value) -> Value | list[Value]:
    factors = algebra.lu(Term(n, x))
    pivots = Term(n, _diagonal(n, factors.both.value))
    if n.kind == "MatrixDeterminant":
        axes = (pivots.rank - 1,)
        return (pivots.product(*axes) * factors.sign).value
    signs = pivots.function(nn.Sign)
    sign = signs.product(signs.rank - 1) * factors.sign
    size = pivots.function(nn.Abs).function(nn.Log).sum(pivots.rank - 1)
    return [sign.value, size.value]


@rows("Qr")
def qr(n: TfLayer, x: Value) -> list[Value]:
    q, r = algebra.qr(Term(n, x))
    most = x.type.shape[-1]
    if not n.flag("full_matrices") and most is not None and (q.shape[-1] or 0) > most:
        q, r = q.part(-1, 0, most), r.part(-2, 0, most)
    return [q.value, r.value]


@rows("SelfAdjointEigV2")
def eigh(n: TfLayer, x: Value) -> list[Value]:
    values, vectors = algebra.eigh(Term(n, x))
    return [values.value, vectors.value]


@rows("Eig")
def eig(n: TfLayer, x: Any) -> list[Any]:
    """Complex eigenvalues and eigenvectors of real or complex matrices."""
    parts = terms(n, x) if isinstance(x, Pair) else (Term(n, x),)
    found = general_eigen(*parts, right=n.flag("compute_v", True))
    vectors = found.right or found.values
    return [pair(v.re, v.im) for v in (found.values, vectors)]


@rows("Svd")
def svd(n: TfLayer, x: Value) -> list[Value]:
    if n.flag("full_matrices") and n.flag("compute_uv", True):
        raise n.error("'full_matrices' is not supported")
    u, values, v = algebra.svd(Term(n, x))
    return [values.value, u.value, v.value]


# -- diagonals -------------------------------------------------------------------------------------


def _diagonal(n: TfLayer, x: Value) -> Value:
    """[.., M, N] -> [.., min(M, N)]"""
    t = Term(n, x)
    columns = extent(n, (x, t.rank - 1))
    count = extent(n, (x, t.rank - 2)).min(columns)
    flat = merge(n, x, [*((i, i + 1) for i in range(t.rank - 2)), (t.rank - 2, t.rank)])
    places = counting(n, count) * (columns + 1)
    return Term(n, flat).gather(places, t.rank - 2).value


def _main_only(n: TfLayer, k: Value | None) -> None:
    if k is not None and any(n.known_ints(k, "k")):
        raise n.error("only the main diagonal is supported")


@rows("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3")
def diagonal_part(n: TfLayer, x: Value, k: Value | None = None, *others: Value) -> Value:
    _main_only(n, k)
    return _diagonal(n, x)


@rows("MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")
def set_diagonal(n: TfLayer, x: Value, diagonal: Value, k: Value | None = None) -> Value:
    _main_only(n, k)
    return tf.with_diagonal(n, x, diagonal)

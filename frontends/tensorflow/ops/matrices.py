"""Matrix factorizations, linear systems, diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import i32
from ...common import linear_algebra as algebra
from ...common import tensorflow as tf
from ...common.arrays import cross
from ...common.complexes import Pair, pair, terms
from ...common.diagonals import on_diagonal
from ...common.eigenvalues import eig as general_eigen
from ...common.shapes import merge
from ...common.terms import Term, constant, counting, extent
from ..layer import TfLayer, rows

rows.add({
    "Cross": lambda n, a, b: cross(Term(n, a), Term(n, b), a.type.rank - 1).value,
})  # fmt: skip


# -- factors and systems ---------------------------------------------------------------------------


def _matrix(n: TfLayer, x: Value) -> Term:
    """A matrix, or its transpose if the node says so."""
    found = Term(n, x)
    return found.mT if n.flag("adjoint") else found


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


@rows("Lu")
def lu(n: TfLayer, x: Value) -> list[Value]:
    """L and U in one matrix, and the permuted rows' indices."""
    found = algebra.lu(Term(n, x))
    return [found.both.value, found.order.cast(n.element("output_idx_type", i32)).value]


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


def _number_of(n: TfLayer, k: Value | None) -> tuple[int, int]:
    """The lowest and the highest diagonal that are meant; 0 is the main one."""
    found = (0,) if k is None else n.known_ints(k, "k")
    return found[0], found[-1]


def _in_band(
    n: TfLayer, rows: int | None, columns: int | None, band: tuple[int, int]
) -> np.ndarray:
    """The flat index of each element of a matrix in its diagonals; -1 if it is on none of these.

    The diagonals are the rows [high - low + 1, longest]; 'align' says at which side shorter ones
    are padded, above the main one and below. Source: tf.linalg.diag.
    """
    if rows is None or columns is None:
        raise n.error("other diagonals than the main one need matrices of known extents")
    low, high = band
    row, column = np.indices((rows, columns))
    which = column - row
    longest = min(rows + min(high, 0), columns - max(low, 0))
    length = np.minimum(rows + np.minimum(which, 0), columns - np.maximum(which, 0))
    before = "LEFT_LEFT" if n.kind.endswith("V2") else "RIGHT_LEFT"
    above, below = n.text("align", before).split("_")
    left = (which >= 0) & (above == "LEFT") | (which <= 0) & (below == "LEFT")
    place = (high - which) * longest + np.minimum(row, column) + np.where(left, 0, longest - length)
    return np.where((low <= which) & (which <= high), place, -1)


def _placed(n: TfLayer, x: Value, axes: int, places: np.ndarray, other: Term) -> Value:
    """The elements of the last `axes` dimensions at `places`, and of `other` where that is -1."""
    lead = x.type.rank - axes
    flat = Term(n, merge(n, x, [*((i, i + 1) for i in range(lead)), (lead, x.type.rank)]))
    found = flat.gather(constant(n, np.maximum(places, 0)), lead)
    return constant(n, places >= 0).choose(found, other).value


def _filling(n: TfLayer, x: Value, others: tuple[Value, ...]) -> Term:
    return Term(n, others[-1]) if others else constant(n, 0, x.type.element_type)


@rows("Diag")
def tensor_of_diagonal(n: TfLayer, x: Value) -> Value:
    """The tensor [D.., D..] with x [D..] where both halves of the indices are equal, else 0."""
    places = [(x, i) for i in range(x.type.rank)] * 2
    return Term(n, on_diagonal(n, Term(n, x).flat().value)).reshape(*places).value


@rows("DiagPart")
def diagonal_of_tensor(n: TfLayer, x: Value) -> Value:
    """The elements of x [D.., D..] where both halves of the indices are equal: [D..]."""
    half = x.type.rank // 2
    flat = merge(n, x, [(0, half), (half, 2 * half)])
    return Term(n, _diagonal(n, flat)).reshape(*((x, i) for i in range(half))).value


@rows("MatrixDiag", "MatrixDiagV2", "MatrixDiagV3")
def matrix_of_diagonals(n: TfLayer, x: Value, k: Value | None = None, *others: Value) -> Value:
    band = _number_of(n, k)
    extents = [n.known_int(v, "an extent") for v in others[:2]]
    if band == (0, 0) and all(d in (-1, x.type.shape[-1]) for d in extents):
        found, last = Term(n, on_diagonal(n, x)), (x, x.type.rank - 1)
        if not others:
            return found.value
        return tf.on_main_diagonal(n, last, last).choose(found, Term(n, others[2])).value
    if (longest := x.type.shape[-1]) is None:
        raise n.error("other diagonals than the main one need known extents")
    least = longest - min(band[1], 0), longest + max(band[0], 0)
    if all(d == -1 for d in extents):
        extents = [max(least)] * 2
    rows, columns = (a if d == -1 else d for d, a in zip(extents, least, strict=True))
    axes = 1 if band[0] == band[1] else 2
    return _placed(n, x, axes, _in_band(n, rows, columns, band), _filling(n, x, others))


@rows("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3")
def diagonal_part(n: TfLayer, x: Value, k: Value | None = None, *others: Value) -> Value:
    band = _number_of(n, k)
    if band == (0, 0):
        return _diagonal(n, x)
    rows, columns = x.type.shape[-2:]
    places = _in_band(n, rows, columns, band).reshape(-1)
    low, high = band
    longest = min(rows + min(high, 0), columns - max(low, 0))
    elements = np.full((high - low + 1) * longest, -1)
    elements[places[places >= 0]] = np.flatnonzero(places >= 0)
    elements = elements if low == high else elements.reshape(-1, longest)
    return _placed(n, x, 2, elements, _filling(n, x, others))


@rows("MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")
def set_diagonal(n: TfLayer, x: Value, diagonal: Value, k: Value | None = None) -> Value:
    band = _number_of(n, k)
    if band == (0, 0):
        return tf.with_diagonal(n, x, diagonal)
    axes = 1 if band[0] == band[1] else 2
    rows, columns = x.type.shape[-2:]
    return _placed(n, diagonal, axes, _in_band(n, rows, columns, band), Term(n, x))

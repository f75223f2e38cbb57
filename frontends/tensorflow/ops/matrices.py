"""Matrix factorizations, linear systems, diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.numpy_types import type_to_numpy
from ....ir.types import f64, i32, i64
from ...common import complex_matrices
from ...common import linear_algebra as algebra
from ...common import tensorflow as tf
from ...common.arrays import cross
from ...common.complexes import Pair, pair, terms
from ...common.diagonals import on_diagonal
from ...common.eigenvalues import eig as general_eigen
from ...common.shapes import merge
from ...common.terms import Term, constant, counting, extent, joined
from ..layer import TfLayer, rows

rows.add({
    "Cross": lambda n, a, b: cross(Term(n, a), Term(n, b), a.type.rank - 1).value,
})  # fmt: skip


# -- factors and systems ---------------------------------------------------------------------------


def _matrix(n: TfLayer, x: Value) -> Term:
    """A matrix, or its transpose if the node says so."""
    found = Term(n, x)
    return found.mT if n.flag("adjoint") else found


@rows("Cholesky")
def cholesky(n: TfLayer, x: Any) -> Any:
    if isinstance(x, Pair):
        return complex_matrices.cholesky(n, x, lower=True)
    return algebra.cholesky(Term(n, x)).value


def _adjoint_if_asked(n: TfLayer, a: Pair) -> Pair:
    if not n.flag("adjoint"):
        return a
    return complex_matrices.conjugated(n, complex_matrices.transposed(n, a))


@rows("MatrixSolve")
def solve(n: TfLayer, a: Any, b: Any) -> Any:
    if isinstance(a, Pair):
        return complex_matrices.solve(n, _adjoint_if_asked(n, a), b)
    return algebra.solve(_matrix(n, a), Term(n, b)).value


@rows("MatrixInverse")
def inverse(n: TfLayer, x: Any) -> Any:
    if isinstance(x, Pair):
        one = algebra.identity_like(Term(n, x.real))
        return complex_matrices.solve(n, _adjoint_if_asked(n, x), pair(one, one.zeros()))
    a = _matrix(n, x)
    return algebra.solve(a, algebra.identity_like(a)).value


@rows("MatrixTriangularSolve")
def solve_triangular(n: TfLayer, a: Any, b: Any) -> Any:
    lower = n.flag("lower", True)
    if isinstance(a, Pair):
        parts = (complex_matrices.triangle(one, lower, False, 0) for one in terms(n, a))
        return complex_matrices.solve(n, _adjoint_if_asked(n, pair(*parts)), b)
    return algebra.solve_triangular(_matrix(n, a), Term(n, b), lower == n.flag("adjoint")).value


@rows("TridiagonalSolve")
def solve_tridiagonal(n: TfLayer, diagonals: Value, b: Value) -> Value:
    """The solution of systems whose diagonals are [B.., 3, M], the one above the main one first.

    The last element of the upper and the first of the lower diagonal are not read.
    """
    return algebra.solve(_tridiagonal(n, Term(n, diagonals)), Term(n, b)).value


@rows("MatrixSolveLs")
def solve_least_squares(n: TfLayer, a: Value, b: Value, weight: Value) -> Value:
    """The least squares' solution; with `fast` by normal equations, to which `weight` is added.

    Otherwise it is the smallest one, and the weight is not read.
    """
    matrix, right = Term(n, a), Term(n, b)
    if not n.flag("fast", True):
        u, sizes, v = algebra.svd(matrix)
        most = sizes.largest(sizes.rank - 1, keep=True)
        info = np.finfo(type_to_numpy(a.type.element_type))
        least = most * (float(info.eps) * max(d or 1 for d in a.type.shape[-2:]))
        inverse = (sizes > least).choose(1.0 / sizes, 0.0).spread(0, 1)
        return (v @ (inverse * (u.mT @ right))).value
    rows, columns = a.type.shape[-2:]
    if rows is None or columns is None:
        raise n.error("the extents of the matrices must be known")
    turned = matrix.mT
    tall = rows >= columns
    square = turned @ matrix if tall else matrix @ turned
    square = square + algebra.identity_like(square) * Term(n, weight).cast(square.element)
    if tall:
        return algebra.solve(square, turned @ right).value
    return (turned @ algebra.solve(square, right)).value


ROOT_STEPS = 40
"""Newton's steps of a matrix's root: they double or halve eigenvalues until these are near 1."""


@rows("MatrixSquareRoot")
def square_root(n: TfLayer, x: Value) -> Value:
    """The root whose eigenvalues have positive real parts, by Denman and Beavers' iteration in f64.

    No eigenvalue may be 0 or negative.
    """
    a = Term(n, x).cast(f64)
    one = algebra.identity_like(a)

    def step(number: Term, states: list[Term]) -> list[Term]:
        root, inverse = states
        return [
            (root + algebra.solve(inverse, one)) * 0.5,
            (inverse + algebra.solve(root, one)) * 0.5,
        ]

    count = constant(n, ROOT_STEPS, i64)
    root, _ = algebra.steps(n, count, [a, one + a.zeros()], step)
    return root.cast(x.type.element_type).value


def _tridiagonal(n: TfLayer, diagonals: Term) -> Term:
    """Matrices [B.., M, M] of their diagonals [B.., 3, M]."""
    axis = diagonals.rank - 2
    above, main, below = (diagonals.column(i, axis).spread(0, 1) for i in range(3))
    places = counting(n, extent(n, (diagonals.value, axis + 1)))
    apart = places.spread(1, 0) - places.spread(0, 1)
    return (
        apart.equals(1).choose(above, 0.0)
        + apart.equals(0).choose(main, 0.0)
        + apart.equals(-1).choose(below, 0.0)
    )


@rows("TridiagonalMatMul")
def tridiagonal_product(n: TfLayer, above: Value, main: Value, below: Value, x: Value) -> Value:
    """The product of a tridiagonal matrix, whose diagonals are [B.., 1, M], and x [B.., M, N]."""
    axis = x.type.rank - 2
    diagonals = joined([Term(n, v) for v in (above, main, below)], axis)
    return (_tridiagonal(n, diagonals) @ Term(n, x)).value


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

"""Systems of linear equations: factorizations and substitutions, for small matrices row by row."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import HloLayer, rows
from .indexing import known_shape

MOST_ROWS = 128
"""Larger matrices would make programs of many thousands of operations."""


def _rows_of(n: HloLayer, x: Value) -> int:
    """The number of rows of square matrices."""
    count = x.type.shape[-1]
    if None in x.type.shape or x.type.shape[-2] != count:
        raise n.error(f"'{x.type}': expected square matrices of known size")
    if count > MOST_ROWS:
        raise n.error(f"matrices of {count} rows are not supported, {MOST_ROWS} are at most")
    return count


def _block(x: Term, first: tuple[int, int], second: tuple[int, int]) -> Term:
    """The rows and columns of these ranges."""
    return x.part(-2, *first).part(-1, *second)


def _flipped(x: Term, *axes: int) -> Term:
    for axis in axes:
        count = x.shape[axis] or 0
        x = x.gather(constant(x.n, np.arange(count - 1, -1, -1)), axis % x.rank)
    return x


def _transposed(x: Term) -> Term:
    return x.transpose(*range(x.rank - 2), x.rank - 1, x.rank - 2)


def factored(n: HloLayer, x: Value) -> Term:
    """The lower triangular factor, column by column."""
    count, a = _rows_of(n, x), Term(n, x)
    columns: list[Term] = []
    for k in range(count):
        column = _block(a, (k, count), (k, k + 1))
        if columns:
            before = joined(columns, -1)
            row = _block(before, (k, k + 1), (0, k))
            column = column - _block(before, (k, count), (0, k)) @ _transposed(row)
        column = column / _block(column, (0, 1), (0, 1)).function(nn.Sqrt)
        if k:
            pads = [0] * (2 * a.rank)
            pads[a.rank - 2] = k
            column = column.made(nn.Pad(column.value, None, pads=pads))
        columns.append(column)
    return joined(columns, -1)


def solved(n: HloLayer, a: Term, b: Term, lower: bool, unit: bool) -> Term:
    """X of A X = B, A triangular, row by row."""
    count = _rows_of(n, a.value)
    if not lower:
        return _flipped(solved(n, _flipped(a, -1, -2), _flipped(b, -2), True, unit), -2)
    found: list[Term] = []
    for k in range(count):
        row = b.part(-2, k, k + 1)
        if found:
            row = row - _block(a, (k, k + 1), (0, k)) @ joined(found, -2)
        if not unit:
            row = row / _block(a, (k, k + 1), (k, k + 1))
        found.append(row)
    return joined(found, -2)


def _solve(
    n: HloLayer, a: Value, b: Value, left: bool, lower: bool, transposed: bool, unit: bool
) -> Value:
    matrix, right = Term(n, a), Term(n, b)
    if transposed:
        matrix, lower = _transposed(matrix), not lower
    if left:
        return solved(n, matrix, right, lower, unit).value
    return _transposed(solved(n, _transposed(matrix), _transposed(right), not lower, unit)).value


@rows("stablehlo.triangular_solve")
def triangular_solve(n: HloLayer, a: Value, b: Value) -> Value:
    op = n.op
    turned = op.transpose_a != "NO_TRANSPOSE"
    return _solve(n, a, b, op.left_side, op.lower, turned, op.unit_diagonal)


@rows("stablehlo.cholesky")
def cholesky(n: HloLayer, a: Value) -> Value:
    """Only the triangle that is asked for is read, and the other one is zero."""
    if n.op.lower:
        return factored(n, a).value
    return _transposed(factored(n, _transposed(Term(n, a)).value)).value


def _config(n: HloLayer) -> dict[str, str]:
    """The letters that LAPACK's routine is called with."""
    entries = n.op.attributes["mhlo.backend_config"].items()
    return {key: chr(value.value) for key, value in entries}


@rows("custom_call @lapack_spotrf_ffi", "custom_call @lapack_dpotrf_ffi")
def potrf(n: HloLayer, a: Value) -> list[Value]:
    lower = _config(n)["uplo"] == "L"
    matrix = a if lower else _transposed(Term(n, a)).value
    found = factored(n, matrix)
    return [found.value if lower else _transposed(found).value, _success(n, 1)]


def _success(n: HloLayer, i: int) -> Value:
    """What says that nothing went wrong."""
    return n.constant(np.zeros([d or 0 for d in n.out(i).shape], np.int32))


@rows("custom_call @lapack_strsm_ffi", "custom_call @lapack_dtrsm_ffi")
def trsm(n: HloLayer, a: Value, b: Value) -> Value:
    how = _config(n)
    sides = how["side"] == "L", how["uplo"] == "L", how["trans_x"] != "N", how["diag"] == "U"
    return _solve(n, a, b, *sides)


@rows("custom_call @lapack_sgetrf_ffi", "custom_call @lapack_dgetrf_ffi")
def getrf(n: HloLayer, a: Value) -> list[Value]:
    """L and U in one matrix, and the row that each row was exchanged with, from 1."""
    count, x = _rows_of(n, a), Term(n, a)
    if x.rank != 2:
        raise n.error("factorizations of several matrices at once are not supported")
    places = constant(n, np.arange(count))
    down, across = places.reshape(count, 1), places.reshape(1, count)
    pivots: list[Term] = []
    for k in range(count):
        size = (places >= k).choose(x.part(-1, k, k + 1).reshape(count).function(nn.Abs), -1.0)
        pivot = size.made(nn.Argmax(size.value, axis=0)).reshape(1)
        here = constant(n, np.array([k]))
        order = places.equals(here).choose(pivot, places.equals(pivot).choose(here, places))
        x = x.gather(order, 0)
        column, row = x.part(-1, k, k + 1), x.part(-2, k, k + 1)
        divisor = row.part(-1, k, k + 1)
        divisor = divisor.equals(0.0).choose(1.0, divisor)
        factors = (down > k).choose(column / divisor, 0.0)
        x = x - factors * (across > k).choose(row, 0.0)
        x = ((down > k) & across.equals(k)).choose(factors, x)
        pivots.append(pivot + 1)
    element: Any = n.out(1).element_type
    return [x.value, joined(pivots, 0).cast(element).value, _success(n, 2)]


def _reflector(x: Term, rows: Term, k: int) -> Term:
    """Householder's vector that column k has below the diagonal, with 1 on it."""
    return (rows > k).choose(x.part(-1, k, k + 1), rows.equals(k).cast(x.element))


def _most_reflectors(n: HloLayer, count: int) -> range:
    if count > MOST_ROWS:
        raise n.error(f"factorizations into {count} columns are not supported, {MOST_ROWS} are")
    return range(count)


@rows("custom_call @lapack_sgeqrf_ffi", "custom_call @lapack_dgeqrf_ffi")
def geqrf(n: HloLayer, a: Value) -> list[Value]:
    """R, below its diagonal the reflectors whose product Q is, and their factors.

    Source: Golub and Van Loan, Matrix Computations, 5.2; signs as in LAPACK's larfg
    """
    x = Term(n, a)
    height, width = known_shape(n, a)[-2:]
    rows_ = constant(n, np.arange(height)).reshape(height, 1)
    columns = constant(n, np.arange(width)).reshape(1, width)
    factors: list[Term] = []
    for k in _most_reflectors(n, min(height, width)):
        column, alpha = x.part(-1, k, k + 1), _block(x, (k, k + 1), (k, k + 1))
        below = (rows_ > k).choose(column, 0.0)
        rest = _transposed(below) @ below
        done = rest.equals(0.0)
        norm = (alpha * alpha + rest).function(nn.Sqrt)
        beta = done.choose(alpha, (alpha < 0.0).choose(norm, -norm))
        factor = (beta - alpha) / done.choose(1.0, beta)
        vector = below / done.choose(1.0, alpha - beta)
        whole = vector + rows_.equals(k).cast(x.element)
        change = whole * factor @ (_transposed(whole) @ x)
        new = (rows_ > k).choose(vector, rows_.equals(k).choose(beta, column))
        x = columns.equals(k).choose(new, (columns > k).choose(x - change, x))
        factors.append(factor)
    shape = known_shape(n, a)[:-2]
    return [x.value, joined(factors, -1).reshape(*shape, len(factors)).value]


@rows("custom_call @lapack_sorgqr_ffi", "custom_call @lapack_dorgqr_ffi")
def orgqr(n: HloLayer, a: Value, factors: Value) -> Value:
    """The first columns of Q, which reflectors and their factors stand for."""
    x, scales = Term(n, a), Term(n, factors).spread(0, 1)
    height, width = known_shape(n, a)[-2:]
    rows_ = constant(n, np.arange(height)).reshape(height, 1)
    q = constant(n, np.eye(height, width)).cast(x.element)
    for k in reversed(_most_reflectors(n, known_shape(n, factors)[-1])):
        vector = _reflector(x, rows_, k)
        q = q - vector * scales.part(-2, k, k + 1) @ (_transposed(vector) @ q)
    return q.value

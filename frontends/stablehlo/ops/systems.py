"""Systems of linear equations and matrices' factors, which JAX leaves to LAPACK's routines."""

from __future__ import annotations

from ...common import complex_matrices
from ...common import linear_algebra as algebra
from ...common.complex_matrices import triangle
from ...common.complexes import Pair, pair, terms
from ...common.eigenvalues import Complex, eig
from ...common.vocabulary import *
from ..layer import HloLayer, rows


def _config(n: HloLayer) -> dict[str, str]:
    """The options that LAPACK's routine is called with."""
    entries = n.op.attributes["mhlo.backend_config"].items()
    return {key: chr(value.value) for key, value in entries}


def _success(n: HloLayer, a: Any) -> Value:
    """The status of success for each of the matrices a."""
    x = a.real if isinstance(a, Pair) else a
    batch = shape_vector(n, dims(x)[:-2])
    return broadcast_by(n, n.constant(np.int32(0)), batch)


def _solve(n: HloLayer, a: Any, b: Any, left: bool, lower: bool, turn: str, unit: bool) -> Any:
    """The solution of a triangular system; `turn` is C where the matrix is to be conjugated and
    transposed, T where only transposed, else N.
    """
    turned = turn != "N"
    if isinstance(a, Pair):
        parts = [triangle(part, lower, unit, i) for i, part in enumerate(terms(n, a))]
        matrix = pair(parts[0], -parts[1] if turn == "C" else parts[1])
        return _complex_solve(n, matrix, b, left, turned)
    matrix, right = Term(n, a), Term(n, b)
    if not left:
        right, turned = right.mT, not turned
    if turned:
        matrix, lower = matrix.mT, not lower
    found = algebra.solve_triangular(matrix, right, upper=not lower, unit=unit)
    return (found if left else found.mT).value


def _complex_solve(n: HloLayer, a: Pair, b: Pair, left: bool, turned: bool) -> Pair:
    if not left:
        b, turned = complex_matrices.transposed(n, b), not turned
    found = complex_matrices.solve(n, complex_matrices.transposed(n, a) if turned else a, b)
    return found if left else complex_matrices.transposed(n, found)


@rows("stablehlo.triangular_solve")
def triangular_solve(n: HloLayer, a: Any, b: Any) -> Any:
    op = n.op
    turn = {"TRANSPOSE": "T", "ADJOINT": "C"}.get(op.transpose_a, "N")
    return _solve(n, a, b, op.left_side, op.lower, turn, op.unit_diagonal)


@rows(*(f"custom_call @lapack_{kind}trsm_ffi" for kind in "sdcz"))
def trsm(n: HloLayer, a: Any, b: Any) -> Any:
    how = _config(n)
    return _solve(
        n, a, b, how["side"] == "L", how["uplo"] == "L", how["trans_x"], how["diag"] == "U"
    )


def _cholesky(n: HloLayer, a: Any, lower: bool) -> Any:
    """The lower (or upper) Cholesky factor of a; only that triangle of a is read."""
    if isinstance(a, Pair):
        return complex_matrices.cholesky(n, a, lower)
    if lower:
        return algebra.cholesky(Term(n, a)).value
    return algebra.cholesky(Term(n, a).mT).mT.value


@rows("stablehlo.cholesky")
def cholesky(n: HloLayer, a: Any) -> Any:
    return _cholesky(n, a, bool(n.op.lower))


@rows(*(f"custom_call @lapack_{kind}potrf_ffi" for kind in "sdcz"))
def potrf(n: HloLayer, a: Any) -> list[Any]:
    return [_cholesky(n, a, _config(n)["uplo"] == "L"), _success(n, a)]


@rows("custom_call @lapack_sgetrf_ffi", "custom_call @lapack_dgetrf_ffi")
def getrf(n: HloLayer, a: Value) -> list[Value]:
    """L and U in one matrix, and the row that each row was exchanged with, from 1."""
    factors = algebra.lu(Term(n, a))
    element: Any = n.out(1).element_type
    return [factors.both.value, (factors.swaps + 1).cast(element).value, _success(n, a)]


@rows("custom_call @lapack_sgtsv_ffi", "custom_call @lapack_dgtsv_ffi")
def gtsv(n: HloLayer, below: Value, diagonal: Value, above: Value, b: Value) -> list[Value]:
    """The solution of tridiagonal systems: their three diagonals, x, and the status of success.

    Diagonals are [B.., M]; the first element of `below` and the last of `above` are unused.
    """
    count, made = n.out(1).shape[-1] or 0, Term(n, diagonal).spread(0, 1) * 0.0
    for i, one in enumerate((below, diagonal, above)):
        places = constant(n, np.eye(count, k=i - 1), made.element)
        made = made + places * Term(n, one).spread(0, 1)
    return [below, diagonal, above, algebra.solve(made, Term(n, b)).value, _success(n, b)]


@rows("custom_call @lapack_sgeqrf_ffi", "custom_call @lapack_dgeqrf_ffi")
def geqrf(n: HloLayer, a: Value) -> list[Value]:
    """A QR factorization: R, with Householder's reflections below its diagonal; their scales."""
    return [x.value for x in algebra.reflections(Term(n, a))]


@rows("custom_call @lapack_sorgqr_ffi", "custom_call @lapack_dorgqr_ffi")
def orgqr(n: HloLayer, a: Value, factors: Value) -> Value:
    return algebra.householder_product(Term(n, a), Term(n, factors)).value


@rows("custom_call @lapack_ssyevd_ffi", "custom_call @lapack_dsyevd_ffi")
def syevd(n: HloLayer, a: Value) -> list[Value]:
    """Eigenvectors as columns, and eigenvalues, the least one first."""
    x = Term(n, a)
    places = algebra.Places.of(x)
    low = places.rows >= places.columns
    read = low if _config(n)["uplo"] == "L" else places.rows <= places.columns
    values, vectors = algebra.eigh(read.choose(x, x.mT))
    return [vectors.value, values.value, _success(n, a)]


@rows("custom_call @lapack_sgeev_ffi", "custom_call @lapack_dgeev_ffi")
def geev(n: HloLayer, a: Value) -> list[Any]:
    """The real and imaginary parts of eigenvalues; left and right eigenvectors as columns."""
    values, *others = _eig(n, Term(n, a), None)
    return [values.real, values.imag, *others]


@rows("custom_call @lapack_cgeev_ffi", "custom_call @lapack_zgeev_ffi")
def complex_geev(n: HloLayer, a: Pair) -> list[Any]:
    return _eig(n, *terms(n, a))


def _eig(n: HloLayer, re: Term, im: Term | None) -> list[Any]:
    """Eigenvalues, the requested left and right eigenvectors, and the status of success."""
    wanted = [_config(n)[f"compute_{side}"] == "V" for side in ("left", "right")]
    found = eig(re, im, left=wanted[0], right=wanted[1])
    none = Complex(re, re) if im is None else Complex(re, im)
    parts = (found.values, found.left or none, found.right or none)
    return [*(pair(v.re, v.im) for v in parts), _success(n, re.value)]


@rows("custom_call @lapack_sgesdd_ffi", "custom_call @lapack_dgesdd_ffi")
def gesdd(n: HloLayer, a: Value) -> list[Value]:
    """a, its singular values in descending order, U, the transpose of V, and the status."""
    u, sizes, v = algebra.svd(Term(n, a))
    if _config(n)["mode"] == "A":
        u, v = (x if x.shape[-1] == x.shape[-2] else algebra.completed(x) for x in (u, v))
    return [a, sizes.value, u.value, v.mT.value, _success(n, a)]

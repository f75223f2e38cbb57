"""Matrix factorizations, inverses, determinants and powers, and solutions of linear systems."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.numpy_types import type_to_numpy
from ....ir.types import IntegerType, f64, i32, i64
from ...common import linear_algebra as algebra
from ...common.complexes import pair
from ...common.eigenvalues import eig as general_eigen
from ...common.linear_algebra import identity_like
from ...common.movement import unsqueezed
from ...common.terms import Term, constant
from ..layer import AtenLayer
from ..rows import ROWS
from .products import matmul


def matrices(n: AtenLayer, *given: Value) -> list[Term]:
    """Matrices of one float type, broadcast to the same batch dimensions."""
    found = [n.floating(x) for x in n.promoted(*given)]
    rank = max(x.type.rank for x in found)
    found = [Term(n, x).spread(rank - x.type.rank, 0).value for x in found]
    batch: list[Any] = [1] * (rank - 2)
    for x in found:
        batch = [n.size(x, i) if x.type.shape[i] != 1 else b for i, b in enumerate(batch)]
    return [Term(n, n.expand(x, [*batch, *n.shape(x)[-2:]])) for x in found]


def _info(is_fault: Term) -> Value:
    """The diagonal element at which LAPACK stops, from 1, for each matrix; 0 for none."""
    return algebra.first_fault(is_fault).cast(i32).value


# -- factors ---------------------------------------------------------------------------------------


@ROWS("aten.linalg_cholesky", "aten.linalg_cholesky_ex", "aten.cholesky", batched="last")
def cholesky(n: AtenLayer, self: Value, upper: bool = False, check_errors: bool = False) -> list:
    (a,) = matrices(n, self)
    found = algebra.cholesky(a.mT if upper else a)
    return [(found.mT if upper else found).value, _info(~(found > 0.0))]


@ROWS("aten.linalg_lu_factor", "aten.linalg_lu_factor_ex", "aten._lu_with_info")
def lu_factor(
    n: AtenLayer, A: Any = None, self: Any = None, pivot: bool = True, check_errors: bool = False
) -> list:
    (a,) = matrices(n, self if A is None else A)
    factors = algebra.lu(a)
    return [factors.both.value, algebra.pivots(factors).value, _info(factors.both.equals(0.0))]


@ROWS("aten.linalg_lu")
def lu(n: AtenLayer, A: Value, pivot: bool = True) -> list:
    """P, L and U of A = P @ L @ U."""
    factors = algebra.lu(matrices(n, A)[0])
    return [v.value for v in algebra.apart(factors.both, factors.order)]


@ROWS("aten.lu_unpack")
def lu_unpack(
    n: AtenLayer,
    LU_data: Value,
    LU_pivots: Value,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
) -> list:
    both = Term(n, LU_data)
    order = algebra.order_of_pivots(both, Term(n, LU_pivots))
    return [v.value for v in algebra.apart(both, order)]


@ROWS("aten.linalg_qr", "aten.qr")
def qr(n: AtenLayer, A: Any = None, self: Any = None, mode: str = "reduced", some=True) -> list:
    given = self if A is None else A
    (a,) = matrices(n, given)
    q, r = algebra.qr(a)
    if mode == "complete" or not some:
        return [q.value, r.value]
    rows, columns = (n.int(n.size(given, i)) for i in (-2, -1))
    least = min(rows, columns)
    none = n.filled(n.as_value(0, a.element), [0])
    return [none if mode == "r" else q.part(-1, 0, least).value, r.part(-2, 0, least).value]


@ROWS("aten.linalg_householder_product", "aten.orgqr")
def householder_product(
    n: AtenLayer, input: Any = None, tau: Any = None, self: Any = None, input2: Any = None
) -> Value:
    (a,) = matrices(n, self if input is None else input)
    return algebra.householder_product(a, Term(n, input2 if tau is None else tau)).value


@ROWS("aten.geqrf")
def geqrf(n: AtenLayer, self: Value) -> list:
    (a,) = matrices(n, self)
    return [v.value for v in algebra.reflections(a)]


@ROWS("aten.ormqr")
def ormqr(
    n: AtenLayer, self: Value, input2: Value, input3: Value, left: bool = True, transpose=False
) -> Value:
    """The product of the reflections' matrix Q, or its transpose, and another matrix."""
    (a,), (x,) = matrices(n, self), matrices(n, input3)
    scales = Term(n, input2)
    if left:
        return algebra.reflected(a, scales, x, transpose).value
    return algebra.reflected(a, scales, x.mT, not transpose).mT.value


def _lower_half(a: Term) -> Term:
    """Symmetric matrices from the elements on and below the diagonal."""
    places = algebra.Places.of(a)
    return (places.rows >= places.columns).choose(a, a.mT)


@ROWS("aten.linalg_eigh", "aten._linalg_eigh", "aten.linalg_eigvalsh")
def eigh(n: AtenLayer, A: Any = None, self: Any = None, UPLO: str = "L", compute_v=True) -> Any:
    (a,) = matrices(n, self if A is None else A)
    values, vectors = algebra.eigh(_lower_half(a if UPLO == "L" else a.mT))
    return values.value if "eigvalsh" in n.kind else [values.value, vectors.value]


@ROWS("aten.linalg_eig", "aten.linalg_eigvals", "aten._linalg_eigvals")
def eig(n: AtenLayer, A: Any = None, self: Any = None) -> Any:
    (a,) = matrices(n, self if A is None else A)
    return eigen(n, a, None)


def eigen(n: AtenLayer, re: Term, im: Term | None) -> Any:
    """Eigenvalues, then eigenvectors if the operator returns them, as complex tensors."""
    found = general_eigen(re, im, right="eigvals" not in n.kind)
    values = pair(found.values.re, found.values.im)
    return [values, pair(found.right.re, found.right.im)] if found.right else values


@ROWS("aten.linalg_svd", "aten._linalg_svd", "aten.svd", "aten.linalg_svdvals")
def svd(
    n: AtenLayer,
    A: Any = None,
    self: Any = None,
    full_matrices: bool = True,
    compute_uv: bool = True,
    some: bool = True,
    driver: Any = None,
) -> Any:
    given = self if A is None else A
    (a,) = matrices(n, given)
    whole = full_matrices if A is not None else not some
    values_only = "svdvals" in n.kind or not compute_uv
    u, values, v = algebra.svd(a)
    if "svdvals" in n.kind:
        return values.value
    if whole and not values_only:
        u, v = (x if x.shape[-1] == x.shape[-2] else algebra.completed(x) for x in (u, v))
    return [u.value, values.value, (v if n.kind.startswith("aten.svd") else v.mT).value]


# -- solutions -------------------------------------------------------------------------------------


@ROWS("aten.linalg_solve", "aten.linalg_solve_ex", "aten._linalg_solve_ex")
def solve(n: AtenLayer, A: Value, B: Value, left: bool = True, check_errors: bool = False) -> list:
    """X of A @ X = B or X @ A = B, also for a vector B; then A's LU factors."""
    vector = B.type.rank == 1 or B.type.shape == A.type.shape[:-1]
    a, b = matrices(n, A, unsqueezed(n, B, B.type.rank) if vector else B)
    factors = algebra.lu(a if left else a.mT)
    found = algebra.solve_factored(factors.both, factors.order, b if left else b.mT)
    found = found if left else found.mT
    out = found.column(0) if vector else found
    if "_ex" not in n.kind:
        return [out.value]
    infos = [factors.both.value, algebra.pivots(factors).value, _info(factors.both.equals(0.0))]
    return [out.value, *(infos if "._" in n.kind else infos[2:])]


@ROWS("aten.linalg_tensorsolve")
def tensor_solve(n: AtenLayer, self: Value, other: Value, dims: Any = None) -> Value:
    """x of the tensor equation tensordot(self, x) = other over the dimensions of x."""
    if dims:
        moved = [n.axis(d, self.type.rank) for d in dims]
        rest = [i for i in range(self.type.rank) if i not in moved]
        self = n(nn.Transpose(self, permutation=(*rest, *moved)))
    sizes = n.shape(self)[other.type.rank :]
    count = math.prod(map(n.int, sizes))
    matrix = n.reshape(self, [count, count])
    return n.reshape(solve(n, matrix, n.reshape(other, [count]))[0], sizes)


@ROWS("aten.linalg_tensorinv")
def tensor_inverse(n: AtenLayer, self: Value, ind: int = 2) -> Value:
    sizes = n.shape(self)
    count = math.prod(map(n.int, sizes[ind:]))
    found = inverse(n, n.reshape(self, [count, count]))[0]
    return n.reshape(found, [*sizes[ind:], *sizes[:ind]])


@ROWS("aten.linalg_lu_solve", "aten.lu_solve")
def lu_solve(
    n: AtenLayer,
    LU: Any = None,
    pivots: Any = None,
    B: Any = None,
    self: Any = None,
    LU_data: Any = None,
    LU_pivots: Any = None,
    left: bool = True,
    adjoint: bool = False,
) -> Value:
    """X of A @ X = B, X @ A = B or with A's transpose, by A's factors and pivots."""
    both, b = matrices(n, LU_data if LU is None else LU, self if B is None else B)
    pivots = LU_pivots if pivots is None else pivots
    batch = n.shape(both.value)[:-2]
    pivots = n.expand(pivots, [*batch, n.size(pivots, pivots.type.rank - 1)])
    solved = algebra.solve_transposed if left == adjoint else algebra.solve_factored
    found = solved(both, algebra.order_of_pivots(both, Term(n, pivots)), b if left else b.mT)
    return (found if left else found.mT).value


@ROWS("aten.linalg_inv", "aten.linalg_inv_ex", "aten.inverse", batched="last")
def inverse(n: AtenLayer, A: Any = None, self: Any = None, check_errors: bool = False) -> list:
    (a,) = matrices(n, self if A is None else A)
    factors = algebra.lu(a)
    found = algebra.solve_factored(factors.both, factors.order, identity_like(a))
    return [found.value, _info(factors.both.equals(0.0))]


@ROWS("aten.linalg_solve_triangular")
def solve_triangular(
    n: AtenLayer, self: Value, B: Value, upper: bool, left: bool = True, unitriangular=False
) -> Value:
    a, b = matrices(n, self, B)
    if left:
        return algebra.solve_triangular(a, b, upper, unitriangular).value
    turned = algebra.solve_triangular(a.mT, b.mT, not upper, unitriangular)
    return turned.mT.value


@ROWS("aten.triangular_solve")
def triangular_solve(
    n: AtenLayer, self: Value, A: Value, upper: bool = True, transpose=False, unitriangular=False
) -> list:
    a, b = matrices(n, A, self)
    turned = a.mT if transpose else a
    found = algebra.solve_triangular(turned, b, upper != transpose, unitriangular)
    return [found.value, a.value]


def _solved_by_cholesky(a: Term, b: Term, upper: bool) -> Value:
    lower = a.mT if upper else a
    half = algebra.solve_triangular(lower, b, upper=False)
    return algebra.solve_triangular(lower.mT, half, upper=True).value


@ROWS("aten.cholesky_solve", "aten._cholesky_solve_helper")
def cholesky_solve(
    n: AtenLayer, self: Value, input2: Any = None, A: Any = None, upper: bool = False
) -> Value:
    a, b = matrices(n, A if input2 is None else input2, self)
    return _solved_by_cholesky(a, b, upper)


@ROWS("aten.cholesky_inverse")
def cholesky_inverse(n: AtenLayer, self: Value, upper: bool = False) -> Value:
    (a,) = matrices(n, self)
    return _solved_by_cholesky(a, identity_like(a), upper)


def _pseudo_inverse(
    n: AtenLayer, x: Value, absolute: Any, relative: Any, hermitian: bool = False
) -> Term:
    """The pseudo-inverse, from the singular values above a threshold."""
    (a,) = matrices(n, x)
    if hermitian:
        values, v = algebra.eigh(_lower_half(a))
        u, sizes = v, values.function(nn.Abs)
    else:
        u, values, v = algebra.svd(a)
        sizes = values
    kept = sizes > _least_value(n, a, sizes, absolute, relative)
    factors = kept.choose(1.0 / kept.choose(values, 1.0), 0.0)
    own = [(factors.value, i) for i in range(factors.rank)]
    return (v * factors.reshape(*own[:-1], 1, own[-1])) @ u.mT


def _least_value(n: AtenLayer, a: Term, values: Term, absolute: Any, relative: Any) -> Term:
    """The threshold below which singular values count as 0, for each matrix: [B.., 1]."""
    if relative is None:
        digits = float(np.finfo(type_to_numpy(a.element)).eps)
        relative = 0.0 if absolute is not None else digits * max(map(n.int, n.shape(a.value)[-2:]))

    def limit(value: Any) -> Term:
        """A limit as a term: a scalar, or [B, 1] for one per matrix."""
        found = Term(n, n.as_value(value, a.element))
        return found.spread(0, 1) if found.rank else found

    share = values.largest(values.rank - 1, keep=True) * limit(relative)
    return share if absolute is None else share.max(limit(absolute))


@ROWS("aten.linalg_pinv", "aten.pinverse")
def pseudo_inverse(
    n: AtenLayer,
    self: Value,
    rcond: Any = None,
    atol: Any = None,
    rtol: Any = None,
    hermitian: bool = False,
) -> Value:
    if n.kind.startswith("aten.pinverse") and rcond is None:
        rcond = 1e-15
    return _pseudo_inverse(n, self, atol, rtol if rcond is None else rcond, hermitian).value


@ROWS("aten.linalg_matrix_rank")
def matrix_rank(
    n: AtenLayer,
    self: Any = None,
    input: Any = None,
    tol: Any = None,
    atol: Any = None,
    rtol: Any = None,
    hermitian: bool = False,
) -> Value:
    (a,) = matrices(n, input if self is None else self)
    values = algebra.eigh(_lower_half(a))[0].function(nn.Abs) if hermitian else algebra.svd(a)[1]
    least = _least_value(n, a, values, atol if tol is None else tol, rtol)
    return (values > least).cast(i64).sum(values.rank - 1).value


# -- determinants and functions --------------------------------------------------------------------


@ROWS("aten.det", "aten.linalg_det", "aten._linalg_det", batched="last")
def determinant(n: AtenLayer, A: Any = None, self: Any = None) -> list:
    (a,) = matrices(n, self if A is None else A)
    if "._" not in n.kind:
        return [n(nn.Determinant(a.value))]
    factors = algebra.lu(a)
    return [n(nn.Determinant(a.value)), factors.both.value, algebra.pivots(factors).value]


@ROWS(
    "aten.logdet",
    *(f"aten.{name}" for name in ("slogdet", "linalg_slogdet", "_linalg_slogdet")),
    batched="last",
)
def log_determinant(n: AtenLayer, A: Any = None, self: Any = None) -> list:
    """The sign and log(abs(determinant)); or the logarithm of the determinant itself."""
    (a,) = matrices(n, self if A is None else A)
    factors = algebra.lu(a)
    diagonal = (factors.both * identity_like(a)).sum(a.rank - 1)
    axis = diagonal.rank - 1
    size = diagonal.function(nn.Abs).function(nn.Log).sum(axis)
    signs = diagonal.function(nn.Sign).value
    sign = factors.sign * Term(n, signs).product(axis)
    if ".logdet" in n.kind:
        return [(sign < 0.0).choose(math.nan, size).value]
    return [sign.value, size.value, factors.both.value, algebra.pivots(factors).value]


@ROWS("aten.matrix_exp", "aten.linalg_matrix_exp", batched="last")
def matrix_exp(n: AtenLayer, self: Value) -> Value:
    """The matrix exponential by scaling and squaring, with 12 terms of Taylor's series."""
    (a,) = matrices(n, self)
    halvings, terms = 12, 12
    part = a.cast(f64) * 2.0**-halvings
    whole = identity_like(part)
    total = whole
    for k in reversed(range(1, terms + 1)):
        total = whole + (part @ total) * (1.0 / k)
    for _ in range(halvings):
        total = total @ total
    return total.cast(a.element).value


@ROWS("aten.matrix_power", "aten.linalg_matrix_power")
def matrix_power(n: AtenLayer, self: Value, n_: int) -> Value:
    (a,) = matrices(n, self)
    power = abs(n_)
    if n_ < 0:
        a = algebra.solve(a, identity_like(a))
    found = identity_like(a) if not power else None
    while power:
        if power % 2:
            found = a if found is None else found @ a
        a, power = a @ a, power // 2
    assert found is not None
    return found.value


@ROWS("aten.linalg_multi_dot", "aten.chain_matmul")
def chain(n: AtenLayer, tensors: Any = None, matrices: Any = None) -> Value:
    return reduce(lambda a, b: matmul(n, a, b), matrices if tensors is None else tensors)


@ROWS("aten.vander", "aten.linalg_vander")
def vander(n: AtenLayer, x: Value, N: Any = None, increasing: bool | None = None) -> Value:
    """Rows of the powers of each element; `linalg.vander` has them in ascending order."""
    count = n.int(n.size(x, -1) if N is None else N)
    powers = np.arange(count, dtype=np.float64)
    if not ("linalg" in n.kind or increasing):
        powers = powers[::-1]
    base = Term(n, x if x.type.rank else n.reshape(x, [1])).spread(0, 1)
    if isinstance(base.element, IntegerType):
        base = base.cast(i64)
    return (base ** constant(n, powers, base.element)).value

"""Complex products from real ones: of matrices, convolutions, einsum equations."""

from __future__ import annotations

from ...common.complexes import Pair, pair, real_matrix, stacked_parts, terms
from ...common.linear_algebra import identity_like
from ...common.linear_algebra import solve as solve_real
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS, Row
from .complex_functions import conjugate_transpose
from .complexes import conjugate, mul, parts_of
from .contractions import inner, kron, tensordot, vecdot
from .joining import cross
from .linear_algebra import eigen
from .products import conv_transpose, convolved, matmul, outer

Product = Callable[[Value, Value], Value]
"""A function of two real tensors that is linear in both."""


def _multiplied(n: AtenLayer, times: Product, x: Any, y: Any) -> Any:
    """The product of two operands of which at least one is complex."""
    if not isinstance(y, Pair):
        return Pair(times(x.real, y), times(x.imag, y)) if isinstance(x, Pair) else times(x, y)
    if not isinstance(x, Pair):
        return Pair(times(x, y.real), times(x, y.imag))
    (a, b), (c, d) = ((v.real, v.imag) for v in (x, y))
    real = n(nn.Sub(times(a, c), times(b, d)))
    return Pair(real, n(nn.Add(times(a, d), times(b, c))))


def _product(row: Any) -> Row:
    def complex_row(n: AtenLayer, **given: Any) -> Any:
        (_, x), (_, y), *how = given.items()
        if "vdot" in n.kind or "vecdot" in n.kind:
            x = conjugate(n, x) if isinstance(x, Pair) else x
        return _multiplied(n, lambda a, b: row(n, a, b, **dict(how)), x, y)

    return complex_row


_MATRICES = "matmul mm bmm mv dot vdot linalg_matmul"
ROWS.add({f"complex.{name}": _product(matmul) for name in _MATRICES.split()})
_OTHERS = {"outer": outer, "ger": outer, "tensordot": tensordot, "inner": inner, "kron": kron}
_OTHERS |= {"linalg_vecdot": vecdot, "cross": cross, "linalg_cross": cross}
ROWS.add({f"complex.{name}": _product(row) for name, row in _OTHERS.items()})


@ROWS(*(f"complex.{name}" for name in ("addmm", "baddbmm", "addmv", "addbmm", "addr")))
def addmm(n: AtenLayer, self: Any, *, beta: Any = 1, alpha: Any = 1, **factors: Any) -> Pair:
    """beta * self + alpha * product of the factors; for `addbmm`, the sum of a batch's products."""

    def times(a: Value, b: Value) -> Value:
        if "addr" in n.kind:
            return outer(n, a, b)
        found = Term(n, matmul(n, a, b))
        return (found.sum(0) if ".addbmm" in n.kind else found).value

    made = mul(n, _multiplied(n, times, *factors.values()), alpha)
    (a, b), (c, d) = parts_of(n, made, mul(n, self, beta))
    return pair(a + c, b + d)


def _added(n: AtenLayer, x: Any, bias: Any) -> Any:
    if bias is None:
        return x
    return Pair(n(nn.Add(x.real, bias.real)), n(nn.Add(x.imag, bias.imag)))


@ROWS("complex.linear")
def linear(n: AtenLayer, input: Any, weight: Any, bias: Any = None) -> Any:
    def times(a: Value, b: Value) -> Value:
        return matmul(n, a, swapped(n, b, 0, 1))

    return _added(n, _multiplied(n, times, input, weight), bias)


@ROWS(*(f"complex.conv{name}{i}d" for name in ("", "_transpose") for i in (1, 2, 3)))
def convolution(n: AtenLayer, input: Any, weight: Any, bias: Any = None, **how: Any) -> Any:
    row = conv_transpose if "transpose" in n.kind else convolved
    found = _multiplied(n, lambda a, b: row(n, a, b, **how), input, weight)
    if bias is not None:
        after = (weight.real if isinstance(weight, Pair) else weight).type.rank - 2
        wide = (Term(n, part).spread(0, after).value for part in (bias.real, bias.imag))
        return _added(n, found, Pair(*wide))
    return found


@ROWS("complex.einsum")
def einsum_(n: AtenLayer, equation: str, tensors: list[Any], path: Any = None) -> Any:
    """Einsum for the real and for the imaginary part of each complex operand, recursively."""
    at = next((i for i, one in enumerate(tensors) if isinstance(one, Pair)), None)
    if at is None:
        return einsum(n, equation, n.promoted(*tensors))
    one = tensors[at]
    real, imag = (
        einsum_(n, equation, [*tensors[:at], part, *tensors[at + 1 :]])
        for part in (one.real, one.imag)
    )
    if not isinstance(real, Pair):
        return Pair(real, imag)
    (a, b), (c, d) = terms(n, real), terms(n, imag)
    return pair(a - d, b + c)


# -- equations -------------------------------------------------------------------------------------


def _complex_terms(n: AtenLayer, x: Any) -> tuple[Term, Term]:
    return terms(n, x) if isinstance(x, Pair) else (Term(n, x), Term(n, x).zeros())


@ROWS("complex.linalg_solve", "complex.linalg_solve_ex")
def solve(n: AtenLayer, A: Any, B: Any, left: bool = True, check_errors: bool = False) -> list:
    a, b = (pair(*_complex_terms(n, x)) for x in (A, B))
    if not left:
        turned = solve(n, conjugate_transpose(n, a), conjugate_transpose(n, b))[0]
        return [conjugate_transpose(n, turned)]
    vector = b.type.rank == 1 or b.type.shape == a.type.shape[:-1]
    columns = [part.spread(0, int(vector)) for part in terms(n, b)]
    found = stacked_parts(solve_real(real_matrix(n, a), joined(columns, -2)))
    return [pair(*(part.column(0) for part in terms(n, found))) if vector else found]


@ROWS("complex.linalg_inv", "complex.linalg_inv_ex", "complex.inverse")
def inverse(n: AtenLayer, A: Any = None, self: Any = None, check_errors: bool = False) -> list:
    """The inverse, as the solutions for the columns of the identity."""
    x = self if A is None else A
    ones = identity_like(terms(n, x)[0])
    return [stacked_parts(solve_real(real_matrix(n, x), joined([ones, ones.zeros()], -2)))]


@ROWS("complex.linalg_eig", "complex.linalg_eigvals", "complex._linalg_eigvals")
def eig(n: AtenLayer, A: Any = None, self: Any = None) -> Any:
    return eigen(n, *terms(n, self if A is None else A))

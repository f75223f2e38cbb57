"""Matrix factorizations, inverses and powers, linear systems, order statistics, counts."""

from __future__ import annotations

from ...common import arrays
from ...common import linear_algebra as algebra
from ...common.complexes import Pair, pair
from ...common.eigenvalues import eig
from ...common.scans import running_extremes
from ...common.segments import combined_segments, count_of, segment_means
from ...common.vocabulary import *
from ..layer import PaddleLayer, rows

# -- matrices --------------------------------------------------------------------------------------


@rows("cholesky")
def cholesky(n: PaddleLayer, x: Value) -> Value:
    a, upper = Term(n, x), n.flag("upper")
    found = algebra.cholesky(a.mT if upper else a)
    return (found.mT if upper else found).value


@rows("inverse")
def inverse(n: PaddleLayer, x: Value) -> Value:
    a = Term(n, x)
    return algebra.solve(a, algebra.identity_like(a)).value


def _systems(n: PaddleLayer, x: Value, y: Value) -> tuple[Term, Term]:
    if x.type.shape[:-2] != y.type.shape[:-2] or None in x.type.shape[:-2]:
        raise n.error(f"systems '{x.type}' with right sides '{y.type}' are not supported")
    return Term(n, x), Term(n, y)


@rows("solve")
def solve(n: PaddleLayer, x: Value, y: Value) -> Value:
    if y.type.rank == 1:
        return algebra.solve(Term(n, x), Term(n, y).spread(0, 1)).column(0).value
    return algebra.solve(*_systems(n, x, y)).value


@rows("triangular_solve")
def solve_triangular(n: PaddleLayer, x: Value, y: Value) -> Value:
    a, b = _systems(n, x, y)
    upper = n.flag("upper", True)
    if n.flag("transpose"):
        a, upper = a.mT, not upper
    return algebra.solve_triangular(a, b, upper, n.flag("unitriangular")).value


@rows("matrix_power")
def power(n: PaddleLayer, x: Value) -> Value:
    """The power of a matrix by repeated squaring, of the inverse for negative exponents."""
    exponent, a = n.int("n"), Term(n, x)
    if exponent < 0:
        a = algebra.solve(a, algebra.identity_like(a))
    found = algebra.identity_like(a) if exponent == 0 else None
    exponent = abs(exponent)
    while exponent:
        if exponent & 1:
            found = a if found is None else found @ a
        exponent >>= 1
        a = a @ a if exponent else a
    assert found is not None
    return found.value


@rows("determinant", "det")
def determinant(n: PaddleLayer, x: Value) -> Value:
    return n(nn.Determinant(x))


@rows("slogdeterminant", "slogdet")
def log_determinant(n: PaddleLayer, x: Value) -> Value:
    """The signs, and the logarithms of the sizes, of determinants: [2, B..]."""
    a = Term(n, x)
    factors = algebra.lu(a)
    diagonal = (factors.both * algebra.identity_like(a)).sum(a.rank - 1)
    sign = factors.sign * diagonal.function(nn.Sign).product(diagonal.rank - 1)
    size = diagonal.function(nn.Abs).function(nn.Log).sum(diagonal.rank - 1)
    return joined([v.reshape(1, *dims(v.value)) for v in (sign, size)], 0).value


@rows("lu")
def lu(n: PaddleLayer, x: Value) -> list[Value]:
    """The factors in one matrix, LAPACK's pivots, and where a factor is 0, from 1 (0: nowhere)."""
    if not n.flag("pivot", True):
        raise n.error("factors without pivots are not supported")
    factors = algebra.lu(Term(n, x))
    info = algebra.first_fault(factors.both.equals(0.0)).cast(i32)
    return [factors.both.value, algebra.pivots(factors).value, info.value]


@rows("lu_unpack")
def unpacked(n: PaddleLayer, x: Value, pivots: Value) -> list[Value]:
    """P, L and U."""
    both = Term(n, x)
    order = algebra.order_of_pivots(both, Term(n, pivots))
    return [v.value for v in algebra.apart(both, order)]


@rows("lu_solve")
def solve_by_lu(n: PaddleLayer, b: Value, x: Value, pivots: Value) -> Value:
    both, right = _systems(n, x, b)
    order = algebra.order_of_pivots(both, Term(n, pivots))
    how = n.text("trans", "N")
    return (algebra.solve_factored if how == "N" else algebra.solve_transposed)(
        both, order, right
    ).value


@rows("eigvals")
def eigenvalues(n: PaddleLayer, x: Value) -> Pair:
    values = eig(Term(n, x), None, right=False).values
    return pair(values.re, values.im)


@rows("svd")
def svd(n: PaddleLayer, x: Value) -> list[Value]:
    u, values, v = algebra.svd(Term(n, x))
    if n.flag("full_matrices"):
        u, v = algebra.completed(u), algebra.completed(v)
    return [u.value, values.value, v.mT.value]


@rows("svdvals")
def singular_values(n: PaddleLayer, x: Value) -> Value:
    return algebra.svd(Term(n, x))[1].value


@rows("matrix_rank")
def rank(n: PaddleLayer, x: Value) -> Value:
    """The number of singular values above a tolerance, which is by rounding unless it is given."""
    t = Term(n, x)
    if n.flag("hermitian"):
        raise n.error("the rank of a Hermitian matrix is not supported")
    values = algebra.svd(t)[1]
    last = values.rank - 1
    least = n.float("tol")
    if n.flag("use_default_tol", True):
        most = max(n.extent(x, t.rank - i) for i in (1, 2))
        unit = float(np.finfo(type_to_numpy(t.element)).eps)
        least = values.largest(last, keep=True) * (unit * most)
    return (values > least).cast(i64).sum(last).value


@rows("qr")
def qr(n: PaddleLayer, x: Value) -> list[Value | None]:
    q, r = algebra.qr(Term(n, x))
    most, how = n.extent(x, x.type.rank - 1), n.text("mode", "reduced")
    if how != "complete":
        q, r = q.part(-1, 0, most), r.part(-2, 0, most)
    return [q.value if how != "r" else None, r.value]


@rows("eigh", "eigvalsh")
def eigh(n: PaddleLayer, x: Value) -> list[Value]:
    """Eigenvalues and vectors of symmetric matrices, of which only one triangle is read."""
    upper = n.text("UPLO", n.text("uplo", "L")) == "U"
    own, zero = n(nn.Trilu(x, n.constant(0, i64), upper=upper)), 1 if upper else -1
    strict = n(nn.Trilu(x, n.constant(zero, i64), upper=upper))
    whole = Term(n, own) + Term(n, strict).mT
    return [v.value for v in algebra.eigh(whole)]


@rows("cholesky_solve")
def solve_by_cholesky(n: PaddleLayer, b: Value, factor: Value) -> Value:
    f, right = _systems(n, factor, b)
    upper = n.flag("upper")
    first, second = (f.mT, f) if upper else (f, f.mT)
    return algebra.solve_triangular(
        second, algebra.solve_triangular(first, right, False), True
    ).value


# -- order statistics ------------------------------------------------------------------------------


@rows("median", "nanmedian")
def median(n: PaddleLayer, x: Value) -> list[Any]:
    """The median: the mean of the two middle elements for an even number, or the smaller one.

    It is NaN if any element is NaN; `nanmedian` is that of the other elements.
    """
    mode, skips = n.text("mode", "avg"), n.kind == "nanmedian"
    if mode not in ("avg", "min") or not isinstance(x.type.element_type, FloatType):
        raise n.error(f"the median '{mode}' of '{x.type}', expected that of floats")
    axes = [n.axis(x, axis) for axis in n.ints("axis")]
    if len(axes) > 1:
        raise n.error("a median over several axes is not supported")
    t, axis = (Term(n, x), axes[0]) if axes else (Term(n, x).flat(), 0)
    size = t.shape[axis]
    if not size:
        raise n.error(f"the median needs a known extent above 0 along its axis, found '{x.type}'")
    missing = t.function(nn.IsNan)
    t = missing.choose(math.inf, t)
    values = largest(n, t.value, n.constant(size, i64), axis, False, True)[0]
    gone = missing.cast(i64).sum(axis, keep=True)
    count = size - gone if skips else gone * 0 + size
    middle = [
        Term(n, gathered_elements(n, values, at.max(0).value, axis))
        for at in ((count - 1) / 2, count / 2)
    ]
    found = middle[0] if mode == "min" else (middle[0] + middle[1]) * 0.5
    lost = count.equals(0) if skips else gone > 0
    found = lost.choose(math.nan, found).column(0, axis)
    if n.flag("keepdim"):
        kept = range(x.type.rank)
        axes = axes or list(kept)
        found = found.reshape(*(1 if i in axes else (x, i) for i in kept))
    return [found.value, None]


@rows("cummax", "cummin")
def running_extreme(n: PaddleLayer, x: Value) -> list[Value]:
    found, places = running_extremes(n, x, n.axis(x, n.int("axis", -1)), n.kind == "cummax")
    return [found, n.cast(places, n.element("dtype", i64))]


@rows("bincount")
def bincount(n: PaddleLayer, x: Value, weights: Any = None, least: Any = None) -> Value:
    (count,) = n.numbers(least, "the least number of counts")
    given = None if weights is None else Term(n, weights)
    return arrays.bincount(Term(n, x), given, constant(n, count, i64)).value


# -- rows of graphs --------------------------------------------------------------------------------


def _combined(n: PaddleLayer, x: Value, ids: Value, count: Value, how: str) -> Value:
    """The rows of x combined by segment id; segments without rows are zeros."""
    if how == "MEAN":
        return segment_means(n, x, ids, count)
    if how not in ("SUM", "MAX", "MIN"):
        raise n.error(f"'{how}' of rows is not supported")
    return combined_segments(n, x, ids, count, {"SUM": "add"}.get(how, how.lower()))


@rows("segment_pool")
def pool_segments(n: PaddleLayer, x: Value, ids: Value) -> list[Any]:
    return [_combined(n, x, ids, count_of(n, ids), n.text("pooltype", "SUM")), None]


@rows("send_u_recv")
def send(n: PaddleLayer, x: Value, source: Value, target: Value, size: Any = None) -> list[Any]:
    """Messages on a graph: rows of source nodes, combined at the targets of edges."""
    sizes = () if size is None else n.numbers(size, "the number of nodes")
    wanted = sizes[0] if sizes else 0
    count = n.constant(wanted, i64) if wanted > 0 else extent(n, (x, 0)).value
    rows = Term(n, x).gather(Term(n, source).cast(i64))
    return [_combined(n, rows.value, target, count, n.text("reduce_op", "SUM")), None]

"""Systems of linear equations and matrix factorizations, a column at a time.

Matrices are the last two dimensions [B.., M, N]. Columns are steps of a loop of the program, so
that a matrix of a hundred rows takes as little code as one of two. Operands of one function have
the same dimensions B.

Source: Golub and Van Loan, "Matrix Computations" (4th edition), by the numbers of algorithms.
"""

from __future__ import annotations

from dataclasses import dataclass

from .loops import Iteration, while_loop
from .reductions import largest
from .words import *

Step = Callable[[Term, list[Term]], list[Term]]
"""(number of the step, a 0-d i64; states) -> next states."""


def steps(n: Layer, count: Term, states: list[Term], step: Step) -> list[Term]:
    """The final states of a loop that runs `step` `count` times."""

    def work(number: Value, flag: Value, values: list[Value]) -> Iteration:
        found = step(Term(n, number), [Term(n, v) for v in values])
        return Iteration([v.value for v in found])

    last, _ = while_loop(n, work, [v.value for v in states], count.value)
    return [Term(n, v) for v in last]


@dataclass(frozen=True)
class Places:
    """The row number [M, 1] and column number [N] of each element of matrices [.., M, N].

    Comparing the two by broadcasting gives masks such as that of the diagonal.
    """

    rows: Term
    columns: Term

    @staticmethod
    def of(x: Term) -> Places:
        rows, columns = (counting(x.n, extent(x.n, (x.value, x.rank - i))) for i in (2, 1))
        return Places(rows.spread(0, 1), columns)


def row(x: Term, at: Term) -> Term:
    """Row `at`: [B.., M, N] -> [B.., 1, N]"""
    return x.gather(at.reshape(1), x.rank - 2)


def column(x: Term, at: Term) -> Term:
    """Column `at`: [B.., M, N] -> [B.., M, 1]"""
    return x.gather(at.reshape(1), x.rank - 1)


def identity_like(x: Term) -> Term:
    """Identity matrices [B.., M, M] with as many rows as x [B.., M, N] has."""
    count = counting(x.n, extent(x.n, (x.value, x.rank - 2)))
    made = count.spread(0, 1).equals(count).cast(x.element)
    return _spread(made, [*dims(x.value)[:-1], (x.value, x.rank - 2)])


def _spread(x: Term, extents: Sequence[Extent]) -> Term:
    """x broadcast to a shape."""
    return Term(x.n, broadcast(x.n, x.value, extents))


def solve_triangular(a: Term, b: Term, upper: bool, unit: bool = False) -> Term:
    """x of a @ x = b with a triangular [B.., M, M], b [B.., M, K]: 3.1.1 and 3.1.2.

    The other triangle of a is not read; with `unit`, neither is its diagonal, which counts as ones.
    """
    n, count = a.n, extent(a.n, (a.value, a.rank - 1))
    places = Places.of(a)

    def step(number: Term, states: list[Term]) -> list[Term]:
        at = count - 1 - number if upper else number
        (x,) = states
        found = row(x, at)
        if not unit:
            found = found / column(row(a, at), at)
        here = places.rows.equals(at)
        beyond = places.rows < at if upper else places.rows > at
        rest = beyond.choose(x - column(a, at) @ found, x)  # NaN of this row stays out of others
        return [here.choose(found, rest)]

    return steps(n, count, [b], step)[0]


def cholesky(a: Term) -> Term:
    """The lower factor L of symmetric a = L @ L.T: 4.2.1, by outer products."""
    n, places = a.n, Places.of(a)

    def step(at: Term, states: list[Term]) -> list[Term]:
        rest, factor = states
        pivot = column(row(rest, at), at).function(nn.Sqrt)
        below = places.rows >= at
        made = below.choose(column(rest, at) / pivot, 0.0)
        here = places.columns.equals(at)
        return [rest - made @ made.mT, here.choose(made, factor)]

    count = extent(n, (a.value, a.rank - 1))
    return steps(n, count, [a, a.zeros()], step)[1]


@dataclass(frozen=True)
class Factors:
    """The LU factors of a matrix a [B.., M, N] with permuted rows: a[order] = L U.

    `both` [B.., M, N] has L below its diagonal and U on and above it; L's own diagonal is ones.
    `order` [B.., M] has indices of rows of a, `swaps` [B.., min(M, N)] the row with which each one
    was exchanged in turn, and `sign` [B..] the sign of the permutation.
    """

    both: Term
    order: Term
    swaps: Term
    sign: Term


def lu(a: Term) -> Factors:
    """LU factorization with partial pivoting. Source: Golub and Van Loan, algorithm 3.4.1."""
    n, places = a.n, Places.of(a)
    counts = [extent(n, (a.value, a.rank - i)) for i in (2, 1)]
    batch, last = dims(a.value)[:-2], a.rank - 2
    order = _spread(counting(n, counts[0]), [*batch, (a.value, a.rank - 2)])
    count = counts[0].min(counts[1])
    swaps = counting(n, count)
    swaps = _spread(swaps, [*batch, (swaps.value, 0)])
    plus = _spread(constant(n, 1.0, a.element), batch)
    if 0 in a.shape[-2:]:
        return Factors(a, order, swaps, plus)
    rows = places.rows.reshape((places.rows.value, 0))

    def step(at: Term, states: list[Term]) -> list[Term]:
        both, order, swaps, sign = states
        size = column(both, at).function(nn.Abs)
        size = (places.rows >= at).choose(size, -1.0).reshape(*dims(order.value))
        pivot = Term(n, n(nn.Argmax(size.value, axis=last, keep_dims=True)))
        at_row, at_pivot = rows.equals(at), pivot.equals(rows)
        source = at_row.choose(pivot, at_pivot.choose(at, rows))
        both = _taken(both, source)
        order = Term(n, n(nn.GatherElements(order.value, source.value, axis=last)))
        head = row(both, at)
        divisor = column(head, at)
        safe = divisor.equals(0.0).choose(1.0, divisor)
        factors = (places.rows > at).choose(column(both, at) / safe, 0.0)
        right = (places.columns > at).choose(head, 0.0)
        below = places.columns.equals(at) & (places.rows > at)
        both = below.choose(factors, both - factors @ right)
        marks = counting(n, extent(n, (swaps.value, swaps.rank - 1))).equals(at)
        moved = pivot.equals(at).reshape(*dims(sign.value))
        return [both, order, marks.choose(pivot, swaps), moved.choose(sign, -sign)]

    return Factors(*steps(n, count, [a, order, swaps, plus], step))


def first_fault(is_fault: Term) -> Term:
    """The index, from 1, of the first true element on the diagonal of each matrix; 0 if none."""
    places, none = Places.of(is_fault), 2**62
    marked = places.rows.equals(places.columns) & is_fault
    last = is_fault.rank - 1
    number = marked.choose(places.rows + 1, none).least(last - 1, last)
    return (number < none).choose(number, 0)


def _taken(x: Term, rows: Term) -> Term:
    """x [B.., M, N] with rows in the order `rows`: [B.., M], or [M] for all matrices."""
    n = x.n
    if rows.rank == 1:
        return x.gather(rows, x.rank - 2)
    index = _spread(rows.spread(0, 1), dims(x.value))
    return Term(n, n(nn.GatherElements(x.value, index.value, axis=x.rank - 2)))


def order_of(swaps: Term, count: Term) -> Term:
    """The row order [B.., M] after exchanging each row i with swaps[.., i] in turn."""
    n, last = swaps.n, swaps.rank - 1
    rows = counting(n, count)
    start = _spread(rows, [*dims(swaps.value)[:-1], (rows.value, 0)])

    def step(at: Term, states: list[Term]) -> list[Term]:
        pivot = swaps.gather(at.reshape(1), last)
        source = rows.equals(at).choose(pivot, pivot.equals(rows).choose(at, rows))
        return [Term(n, n(nn.GatherElements(states[0].value, source.value, axis=last)))]

    return steps(n, extent(n, (swaps.value, last)), [start], step)[0]


def pivots(factors: Factors) -> Term:
    """The pivots of a factorization, i32 [B.., min(M, N)], counted from 1 as by LAPACK."""
    return (factors.swaps + 1).cast(i32)


def order_of_pivots(both: Term, given: Term) -> Term:
    """The row order [B.., M] of factors `both` that LAPACK's pivots stand for."""
    return order_of(given.cast(i64) - 1, extent(both.n, (both.value, both.rank - 2)))


def apart(both: Term, order: Term) -> tuple[Term, Term, Term]:
    """P, L and U of P @ L @ U: the exchange of rows [B.., M, M] and the factors in `both`."""
    rows = counting(both.n, extent(both.n, (both.value, both.rank - 2)))
    own = [(order.value, i) for i in range(order.rank)]
    exchange = rows.spread(0, 1).equals(order.reshape(*own[:-1], 1, own[-1])).cast(both.element)
    least = min(both.n.extent(both.value, both.rank - i) for i in (1, 2))
    places = Places.of(both)
    lower = (places.rows > places.columns).choose(both, 0.0)
    lower = places.rows.equals(places.columns).choose(1.0, lower).part(-1, 0, least)
    upper = (places.rows <= places.columns).choose(both, 0.0).part(-2, 0, least)
    return exchange, lower, upper


def solve(a: Term, b: Term) -> Term:
    """x of a @ x = b: a [B.., M, M], b [B.., M, K]."""
    factors = lu(a)
    return solve_factored(factors.both, factors.order, b)


def solve_factored(both: Term, order: Term, b: Term) -> Term:
    """`solve` with the factors of a that `lu` gives."""
    below = solve_triangular(both, _taken(b, order), upper=False, unit=True)
    return solve_triangular(both, below, upper=True)


def solve_transposed(both: Term, order: Term, b: Term) -> Term:
    """x of a.T @ x = b, with the factors of a that `lu` gives."""
    n, turned = b.n, both.mT
    below = solve_triangular(turned, b, upper=False)
    found = solve_triangular(turned, below, upper=True, unit=True)
    axis = order.rank - 1
    count = extent(n, (order.value, axis)).value
    back = Term(n, largest(n, order.value, count, axis, False)[1])
    return _taken(found, back)


def qr(a: Term) -> tuple[Term, Term]:
    """Q [B.., M, M] and R [B.., M, N] of a = Q R, by reflections.

    R's diagonal has the signs that LAPACK gives it.
    """
    packed, scales = reflections(a)
    places = Places.of(a)
    q = reflected(packed, scales, identity_like(a))
    return q, (places.rows <= places.columns).choose(packed, 0.0)


def reflections(a: Term) -> tuple[Term, Term]:
    """Householder's reflections that turn a into R: 5.2.1, stored as by LAPACK's geqrf.

    The first result [B.., M, N] is R with the vectors of the reflections below its diagonal,
    without their first elements, which are 1. The second one [B.., min(M, N)] is their scales.
    """
    n, places = a.n, Places.of(a)
    rows, columns = (extent(n, (a.value, a.rank - i)) for i in (2, 1))
    count = rows.min(columns)
    numbers = counting(n, count)
    scales = _spread(numbers.cast(a.element).zeros(), [*dims(a.value)[:-2], (numbers.value, 0)])

    def step(at: Term, states: list[Term]) -> list[Term]:
        packed, scales = states
        x = (places.rows >= at).choose(column(packed, at), 0.0)
        first = row(x, at)
        tail = (places.rows > at).choose(x, 0.0)
        rest = (tail * tail).sum(a.rank - 2, keep=True)
        length = (first * first + rest).function(nn.Sqrt)
        turned = (first < 0.0).choose(length, -length)
        none = rest.equals(0.0)
        head = none.choose(1.0, first - turned)
        v = places.rows.equals(at).choose(1.0, none.choose(0.0, tail) / head)
        scale = none.choose(0.0, (turned - first) / none.choose(1.0, turned))
        right = (places.columns >= at).choose(packed, 0.0)
        packed = packed - (v * scale) @ (v.mT @ right)
        below = places.columns.equals(at) & (places.rows > at)
        scale = scale.reshape(*dims(scale.value)[:-1])
        return [below.choose(v, packed), numbers.equals(at).choose(scale, scales)]

    packed, scales = steps(n, count, [a, scales], step)
    return packed, scales


def reflected(packed: Term, scales: Term, x: Term, inverse: bool = False) -> Term:
    """Q @ x, where Q is the product of all reflections; Q.T @ x if `inverse`."""
    n, places = packed.n, Places.of(packed)
    last = scales.rank - 1
    count = extent(n, (scales.value, last))

    def step(number: Term, states: list[Term]) -> list[Term]:
        place = (number if inverse else count - 1 - number).reshape(1)
        ones = places.rows.equals(place).cast(x.element)
        v = (places.rows > place).choose(column(packed, place), ones)
        scale = scales.gather(place, last).spread(0, 1)
        return [states[0] - v @ (v.mT @ states[0]) * scale]

    return steps(n, count, [x], step)[0]


def householder_product(packed: Term, scales: Term) -> Term:
    """The first columns of the product of all reflections, as many as `packed` has."""
    places = Places.of(packed)
    first = places.rows.equals(places.columns).cast(packed.element) + packed.zeros()
    return reflected(packed, scales, first)


def eigh(a: Term) -> tuple[Term, Term]:
    """Eigenvalues [B.., M] in ascending order, and eigenvectors as columns, of symmetric matrices.

    Jacobi's rotations: 8.5.2.
    """
    n, count = a.n, _columns(a)
    a = _even(a, a.rank - 2, a.rank - 1)
    unit = np.eye(a.shape[-1] or 0)
    whole, pairs = (constant(n, v).cast(a.element) for v in (unit, unit[_others(len(unit))]))

    def step(rest: Term, vectors: Term) -> list[Term]:
        turned = _rotation((rest * whole).sum(a.rank - 1), (rest * pairs).sum(a.rank - 1))
        return [turned(turned(rest).mT).mT, turned(vectors)]

    rest, vectors = _swept(a, step, identity_like(a))
    values = (rest * whole).sum(a.rank - 1).part(-1, 0, count)
    vectors = vectors.part(-2, 0, count).part(-1, 0, count)
    return _sorted(values, [vectors], greatest=False)  # type: ignore[return-value]


def svd(a: Term) -> tuple[Term, Term, Term]:
    """U [B.., M, K], the singular values [B.., K] in descending order and V [B.., N, K].

    K is the smaller of M and N. Jacobi rotations of columns until they are orthogonal: 8.6.3.
    """
    if a.shape[-2] is not None and a.shape[-1] is not None and a.shape[-2] < a.shape[-1]:
        v, values, u = svd(a.mT)
        return u, values, v
    n, count, down = a.n, _columns(a), a.rank - 2
    a = _even(a, a.rank - 1)
    other = constant(n, _others(a.shape[-1] or 0))

    def step(rest: Term, v: Term) -> list[Term]:
        products = (rest * rest.gather(other, rest.rank - 1)).sum(down)
        turned = _rotation((rest * rest).sum(down), products)
        return [turned(rest), turned(v)]

    rest, v = _swept(a, step, identity_like(a.mT))
    rest, v = rest.part(-1, 0, count), v.part(-2, 0, count).part(-1, 0, count)
    values = (rest * rest).sum(down).function(nn.Sqrt)
    *batch, width = dims(values.value)
    size = values.reshape(*batch, 1, width)
    u = rest / size.equals(0.0).choose(1.0, size)
    values, u, v = _sorted(values, [u, v], greatest=True)
    return u, values, v


def completed(u: Term) -> Term:
    """Columns u [B.., M, K], orthonormal or zero, completed to an orthonormal [B.., M, M]."""
    n, k = u.n, u.shape[-1]
    q, r = qr(u)
    signs = (r * identity_like(u).part(-1, 0, k or 0)).sum(u.rank - 2, keep=True)
    first = q.part(-1, 0, k or 0) * (signs < 0.0).choose(constant(n, -1.0, u.element), 1.0)
    rows = u.shape[-2]
    return joined([first, q.part(-1, k or 0, rows or 0)], u.rank - 1)


SWEEPS = 12
"""Sweeps over all pairs: they converge quadratically, f64 to its last digits after ten."""

# Columns 2i and 2i+1 are a pair. A step rotates all pairs at once, and then the columns change
# places. A sweep has one step less than there are columns: after it every two columns have been a
# pair once, and all are at their first places again: 8.5.7.


def _columns(a: Term) -> int:
    count = a.shape[-1]
    if count is None:
        raise a.n.error("the number of columns of a matrix must be known")
    return count


def _even(a: Term, *axes: int) -> Term:
    """a padded with one zero along each of these axes if its number of columns is odd."""
    pads = [0] * (2 * a.rank)
    for axis in axes:
        pads[a.rank + axis] = _columns(a) % 2
    return a.made(nn.Pad(a.value, None, pads=pads)) if any(pads) else a


def _others(count: int) -> np.ndarray:
    """For each column, the index of the other column of its pair."""
    return np.arange(count) ^ 1


def _next_places(count: int) -> np.ndarray:
    """For each position, the column that moves there: all but the first rotate (tournament)."""
    first, second = list(range(0, count, 2)), list(range(1, count, 2))
    first, second = [0, *second[:1], *first[1:-1]], [*second[1:], *first[1:][-1:]]
    return np.array([first, second]).T.reshape(-1) if count > 2 else np.arange(count)


def _rotation(sizes: Term, products: Term) -> Callable[[Term], Term]:
    """A function that rotates the pairs of columns, and moves columns to their next positions.

    It makes the matrices [[size, product], [product, other size]] of all pairs diagonal; sizes and
    products [B.., N] have an element for each column.
    """
    n, count, last = sizes.n, _columns(sizes), sizes.rank - 1
    places = np.arange(count)
    other, order = constant(n, _others(count)), constant(n, _next_places(count))
    sign = constant(n, np.where(places % 2, -1.0, 1.0), sizes.element)
    products = products.gather(constant(n, places - places % 2), last)
    none = products.equals(0.0)
    tau = (sizes.gather(other, last) - sizes) * sign / none.choose(1.0, products * 2.0)
    root = (tau * tau + 1.0).function(nn.Sqrt)
    tangent = none.choose(0.0, 1.0 / (tau < 0.0).choose(tau - root, tau + root))
    cosine = (tangent * tangent + 1.0).function(nn.Rsqrt)
    *batch, width = dims(sizes.value)
    scale, cross = (v.reshape(*batch, 1, width) for v in (cosine, tangent * cosine * sign))

    def turned(x: Term) -> Term:
        moved = x * scale - x.gather(other, x.rank - 1) * cross
        return moved.gather(order, x.rank - 1)

    return turned


def _swept(a: Term, step: Callable[[Term, Term], list[Term]], whole: Term) -> list[Term]:
    """a, and the matrix `whole`, after the rotations of all sweeps."""
    count = constant(a.n, SWEEPS * max(_columns(a) - 1, 0), i64)
    return steps(a.n, count, [a, whole], lambda _, states: step(*states))


def _sorted(values: Term, vectors: Sequence[Term], greatest: bool) -> tuple[Term, ...]:
    """Values [B.., K] sorted, and the columns of matrices [B.., M, K] in the same order."""
    n, axis = values.n, values.rank - 1
    found = largest(n, values.value, extent(n, (values.value, axis)).value, axis, greatest)
    ordered, order = (Term(n, v) for v in found)
    return ordered, *(_taken(v.mT, order).mT for v in vectors)

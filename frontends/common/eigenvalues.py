"""Eigenvalues and eigenvectors of general matrices, by complex QR steps.

Matrices are the last two dimensions [B.., M, M]; those of a batch take the same steps, until all
have converged. A real matrix is a complex one whose imaginary part is 0.

Source: Golub and Van Loan, "Matrix Computations" (4th edition), by the numbers of algorithms;
LAPACK's `zgeev`, `zlahqr` and `ztrevc` for what counts as zero and for unlucky shifts.
"""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes

from .complexes import magnitude, product, quotient, square_root
from .formulas import power_of_two_below
from .linear_algebra import Places, column, identity_like, row, steps
from .loops import Iteration, while_loop
from .words import *

STEPS = 30
"""The most QR steps for each row of a matrix, as in LAPACK; two or three are usual."""

UNLUCKY = 10
"""Steps without success after which another shift is tried."""


@dataclass(frozen=True)
class Complex:
    """Complex numbers as their real and their imaginary parts."""

    re: Term
    im: Term

    def __add__(self, other: Complex) -> Complex:
        return Complex(self.re + other.re, self.im + other.im)

    def __sub__(self, other: Complex) -> Complex:
        return Complex(self.re - other.re, self.im - other.im)

    def __neg__(self) -> Complex:
        return Complex(-self.re, -self.im)

    def __mul__(self, other: Complex) -> Complex:
        return Complex(*product((self.re, self.im), (other.re, other.im)))

    def __truediv__(self, other: Complex) -> Complex:
        return Complex(*quotient((self.re, self.im), (other.re, other.im)))

    def __matmul__(self, other: Complex) -> Complex:
        real = self.re @ other.re - self.im @ other.im
        return Complex(real, self.re @ other.im + self.im @ other.re)

    def each(self, work: Callable[[Term], Term]) -> Complex:
        """`work` applied to both parts."""
        return Complex(work(self.re), work(self.im))

    def times(self, scale: Term | float) -> Complex:
        return self.each(lambda part: part * scale)

    def over(self, scale: Term) -> Complex:
        return self.each(lambda part: part / scale)

    def where(self, condition: Term) -> Complex:
        """These numbers where a condition holds, else 0."""
        return self.each(lambda part: condition.choose(part, 0.0))

    def sum(self, axis: int) -> Complex:
        return self.each(lambda part: part.sum(axis))

    def column(self, at: Term) -> Complex:
        return self.each(lambda part: column(part, at))

    def row(self, at: Term) -> Complex:
        return self.each(lambda part: row(part, at))

    @property
    def conjugate(self) -> Complex:
        return Complex(self.re, -self.im)

    @property
    def adjoint(self) -> Complex:
        """The conjugate transposes of the matrices."""
        return self.each(lambda part: part.mT).conjugate

    @property
    def size(self) -> Term:
        """The sum of both parts' absolute values: 1 to sqrt(2) times the absolute value."""
        return self.re.function(nn.Abs) + self.im.function(nn.Abs)

    @property
    def square(self) -> Term:
        """The square of the absolute value."""
        return self.re * self.re + self.im * self.im

    @property
    def root(self) -> Complex:
        return Complex(*square_root((self.re, self.im)))


def _chosen(condition: Term, yes: Complex, no: Complex) -> Complex:
    return Complex(condition.choose(yes.re, no.re), condition.choose(yes.im, no.im))


@dataclass(frozen=True)
class Eigen:
    """Eigenvalues [B.., M] in no order, and vectors [B.., M, M] of each, as columns.

    `right` has x of A x = value * x, `left` those of A* x = conj(value) * x. Vectors have norm 1,
    and their largest element is real, as in LAPACK.
    """

    values: Complex
    right: Complex | None = None
    left: Complex | None = None


def eig(re: Term, im: Term | None = None, *, right: bool = True, left: bool = False) -> Eigen:
    """The eigenvalues of square matrices re + i im, and the eigenvectors that are asked for.

    All are NaN for a matrix that has NaN or infinite elements, or does not converge.
    """
    a = Complex(re, re.zeros() if im is None else im)
    if re.shape[-1] == 0:
        return Eigen(a.sum(re.rank - 1), a, a)
    finite = _all_of_matrix((a.re * 0.0).equals(0.0) & (a.im * 0.0).equals(0.0))
    a = a.where(finite)
    largest = a.re.function(nn.Abs).max(a.im.function(nn.Abs))
    scale = power_of_two_below(_largest_of_matrix(largest))
    unit = identity_like(re)
    first = [a.over(scale), *([Complex(unit, unit.zeros())] if right or left else [])]
    (t, *q), converged = _schur(*_hessenberg(*first))
    values, axis = _diagonal(t), re.rank - 2
    vectors = [_vectors(t, *q) if right else None, _left_vectors(t, *q) if left else None]
    if im is None:
        noise = extent(re.n, (re.value, axis)).cast(re.element) * (2 * _epsilon(re))
        values = _nearly_real(values, values.im.function(nn.Abs), noise)
        vectors = [
            v and _nearly_real(v, v.im.function(nn.Abs).largest(axis, keep=True), noise)
            for v in vectors
        ]
    good, batch = finite & converged, dims(values.re.value)[:-1]
    values = _known(values.times(scale.reshape(*batch, 1)), good.reshape(*batch, 1))
    return Eigen(values, *(v and _known(v, good) for v in vectors))


def _known(x: Complex, good: Term) -> Complex:
    return x.each(lambda part: good.choose(part, float("nan")))


def _largest_of_matrix(x: Term) -> Term:
    """The largest element of each matrix, at least 0: [B.., 1, 1]."""
    return x.largest(x.rank - 2, x.rank - 1, keep=True).max(0.0)


def _all_of_matrix(x: Term) -> Term:
    return (~x).cast(i64).sum(x.rank - 2, x.rank - 1, keep=True).equals(0)


def _epsilon(x: Term) -> float:
    return float(ml_dtypes.finfo(type_to_numpy(x.element)).eps)


def _least(x: Term) -> float:
    """The smallest number whose inverse stays finite even after division by epsilon."""
    return float(ml_dtypes.finfo(type_to_numpy(x.element)).tiny) / _epsilon(x)


def _diagonal(x: Complex) -> Complex:
    """The diagonals of matrices: [B.., M]."""
    places = Places.of(x.re)
    return x.where(places.rows.equals(places.columns)).sum(x.re.rank - 1)


def _nearly_real(x: Complex, size: Term, noise: Term) -> Complex:
    """x made real where `size`, that of imaginary parts, is no more than the rounding errors."""
    return Complex(x.re, (size <= noise).choose(0.0, x.im))


def _parts(found: Sequence[Complex]) -> list[Term]:
    return [part for x in found for part in (x.re, x.im)]


def _whole(parts: Sequence[Term]) -> list[Complex]:
    return [Complex(re, im) for re, im in zip(parts[::2], parts[1::2], strict=True)]


def _hessenberg(a: Complex, *q: Complex) -> list[Complex]:
    """The Hessenberg form H of A = Q H Q*, zero below the first subdiagonal: 7.4.2.

    It is found by Householder reflections. If a matrix q is given, q @ Q is returned after H.
    """
    n, places = a.re.n, Places.of(a.re)
    axis = a.re.rank - 2
    count = extent(n, (a.re.value, axis)) - 2

    def step(at: Term, states: list[Term]) -> list[Term]:
        a, *multiplied = _whole(states)
        x = a.column(at).where(places.rows > at)
        here = places.rows.equals(at + 1)
        rest = x.where(places.rows > at + 1).square.sum(axis, keep=True)
        none = rest.equals(0.0)
        first = x.row(at + 1)
        size = magnitude((first.re, first.im))
        length = (first.square + rest).function(nn.Sqrt)
        phase = _phase(first, size)
        v = x + phase.times(length).where(here)
        norm = (length * (length + size) * 2.0).function(nn.Sqrt)
        v = v.over(none.choose(1.0, norm)).where(~none)
        across = v.adjoint
        a = a - v.times(2.0) @ (across @ a)
        a = a - (a @ v) @ across.times(2.0)
        return _parts([a, *(x - (x @ v) @ across.times(2.0) for x in multiplied)])

    a, *multiplied = _whole(steps(n, count, _parts([a, *q]), step))
    return [_upper(a), *multiplied]


def _phase(x: Complex, size: Term) -> Complex:
    """x / abs(x), or 1 where x is 0; `size` is abs(x)."""
    none = size.equals(0.0)
    size = none.choose(1.0, size)
    return Complex(none.choose(1.0, x.re / size), x.im / size)


def _upper(h: Complex) -> Complex:
    places = Places.of(h.re)
    return h.where(places.rows <= places.columns + 1)


def _schur(h: Complex, *q: Complex) -> tuple[list[Complex], Term]:
    """The upper triangular T of H = Q T Q*, and which matrices have converged [B.., 1, 1]: 7.5.

    If a matrix q is given, q @ Q is returned after T.
    """
    n, rank = h.re.n, h.re.rank
    largest = _largest_of_matrix(h.size)
    count = extent(n, (h.re.value, rank - 1))
    h, last = _deflated(h, largest)

    def step(number: Term, states: list[Term]) -> list[Term]:
        last, tries, (h, *q) = *states[:2], _whole(states[2:])
        shift = _shift(h, last, ((tries + 1) % UNLUCKY).equals(0))
        h, *q = _qr_step(last, shift, h, *q)
        h, now = _deflated(h, largest)
        return [now, now.equals(last).choose(tries + 1, 0), *_parts([h, *q])]

    def going(last: Term) -> Term:
        return last.largest(*range(rank)) > 0

    def work(number: Value, flag: Value | None, values: Sequence[Value]) -> Iteration:
        found = step(Term(n, number), [Term(n, v) for v in values])
        return Iteration([v.value for v in found], going=going(found[0]).value)

    states = [last, last.zeros(), *_parts([h, *q])]
    most = (count * STEPS).max(STEPS * 10)
    found, _ = while_loop(n, work, [v.value for v in states], most.value, going(last).value)
    last, _, *parts = [Term(n, v) for v in found]
    return _whole(parts), last.equals(0)


def _deflated(h: Complex, largest: Term) -> tuple[Complex, Term]:
    """H with its negligible subdiagonal elements set to 0, and the last row with a nonzero one.

    The row [B.., 1, 1] is 0 where there is none. A subdiagonal element is compared with its two
    neighbours on the diagonal, or with the largest element where both neighbours are 0.
    """
    places, axis = Places.of(h.re), h.re.rank - 1
    sizes = h.size
    below = places.rows.equals(places.columns + 1)
    on = places.rows.equals(places.columns).choose(sizes, 0.0)
    beside = on.sum(axis, keep=True) + on.sum(axis - 1, keep=True)
    beside = beside.equals(0.0).choose(largest, beside)
    small = (sizes <= beside * _epsilon(sizes)) | (sizes <= largest * _least(sizes))
    rows = (below & ~small).choose(places.rows, 0)
    return h.where(~(below & small)), rows.largest(axis - 1, axis, keep=True).max(0)


def _shift(h: Complex, last: Term, unlucky: Term) -> Complex:
    """Wilkinson's shift [B.., 1, 1]; an exceptional shift where `unlucky` says so.

    Wilkinson's shift is an eigenvalue of the 2 x 2 block that ends in row `last`: the one nearer to
    the block's last element.
    """
    places, rank = Places.of(h.re), h.re.rank

    def element(above: int, before: int) -> Complex:
        here = places.rows.equals(last - above) & places.columns.equals(last - before)
        return h.where(here).each(lambda part: part.sum(rank - 2, rank - 1, keep=True))

    a, b, c, d = element(1, 1), element(1, 0), element(0, 1), element(0, 0)
    half = (a - d).times(0.5)
    both = b * c
    root = (half * half + both).root
    turned = (half.re * root.re + half.im * root.im) < 0.0
    below = half + _chosen(turned, -root, root)
    none = below.size.equals(0.0)
    below = Complex(none.choose(1.0, below.re), below.im)
    found = d - (both / below).where(~none)
    return _chosen(unlucky, Complex(d.re + c.size * 0.75, d.im), found)


def _qr_step(last: Term, shift: Complex, h: Complex, *q: Complex) -> list[Complex]:
    """A QR step: R U + D for H - D = U R, where D is the shift on the diagonal up to row `last`.

    If a matrix q is given, q @ U follows. Rotations of two neighbouring rows at a time turn H - D
    into R, and the identity that stands beside it into U*.
    """
    n, places, rank = h.re.n, Places.of(h.re), h.re.rank
    count = extent(n, (h.re.value, rank - 1))
    here = places.rows.equals(places.columns) & (places.rows <= last)
    moved = shift.each(lambda part: here.choose(part, 0.0))
    ones = identity_like(h.re)
    start = h - moved
    whole = Complex(joined([start.re, ones], rank - 1), joined([start.im, ones.zeros()], rank - 1))

    def work(number: Value, flag: Value | None, values: Sequence[Value]) -> Iteration:
        at, above = Term(n, number), Complex(*(Term(n, v) for v in values))
        done, rest = _rotated(above, whole.row(at + 1), at)
        rows = [
            part.reshape(*dims(part.value)[:-2], (part.value, rank - 1))
            for part in (done.re, done.im)
        ]
        return Iteration([rest.re.value, rest.im.value], [part.value for part in rows])

    first = whole.row(constant(n, 0, i64))
    rests, rows = while_loop(n, work, [first.re.value, first.im.value], (count - 1).value)

    def together(rows: Term, rest: Term) -> Term:
        rows = rows.transpose(*range(1, rank - 1), 0, rank - 1)
        return joined([rows, rest], rank - 2)

    parts = [together(Term(n, a), Term(n, b)) for a, b in zip(rows, rests, strict=True)]
    both = Complex(*parts)
    r, u = both.each(lambda x: _half(x, 0)), both.each(lambda x: _half(x, 1)).adjoint
    return [_upper(r @ u) + moved, *(x @ u for x in q)]


def _half(x: Term, which: int) -> Term:
    """The first (0) or the second (1) half of the columns."""
    n = x.n
    count = extent(n, (x.value, x.rank - 2))
    return x.gather(counting(n, count) + count * which, x.rank - 1)


def _rotated(above: Complex, below: Complex, at: Term) -> tuple[Complex, Complex]:
    """Two rows [B.., 1, N], rotated so that the second one's element in column `at` is 0: 5.1.3."""
    a, b = above.column(at), below.column(at)
    size = magnitude((a.re, a.im))
    length = (a.square + b.square).function(nn.Sqrt)
    none = b.square.equals(0.0)
    length = none.choose(1.0, length)
    cosine = none.choose(1.0, size / length)
    sine = (_phase(a, size) * b.conjugate).over(length).where(~none)
    first = above.times(cosine) + below * sine
    return first, below.times(cosine) - above * sine.conjugate


def _triangular_vectors(t: Complex) -> Complex:
    """Eigenvectors of upper triangular matrices as columns, by back substitution: 7.6.4.

    Rows are computed from the last to the first, the diagonal being 1. A column is divided by each
    new element that is larger than 1, so that it does not overflow.
    """
    n, places = t.re.n, Places.of(t.re)
    values = t.where(places.rows.equals(places.columns))
    values = values.each(lambda part: part.sum(t.re.rank - 2, keep=True))
    least = _largest_of_matrix(t.size) * _epsilon(t.re)
    least = least.equals(0.0).choose(1.0, least)
    count = extent(n, (t.re.value, t.re.rank - 1))

    def step(number: Term, states: list[Term]) -> list[Term]:
        at, x = count - 1 - number, Complex(*states)
        line = t.row(at)
        apart = line.column(at) - values
        close = apart.size < least
        apart = Complex(close.choose(least, apart.re), close.choose(0.0, apart.im))
        found = (-(line @ x) / apart).where(places.columns > at)
        one = places.columns.equals(at).cast(found.re.element)
        scale = found.size.max(1.0)
        found = Complex(found.re + one, found.im)
        here = places.rows.equals(at)
        whole = Complex(*(here.choose(a, b) for a, b in ((found.re, x.re), (found.im, x.im))))
        whole = whole.over(scale)
        return [whole.re, whole.im]

    return Complex(*steps(n, count, [t.re.zeros(), t.re.zeros()], step))


def _vectors(t: Complex, q: Complex) -> Complex:
    return _normal(q @ _triangular_vectors(t))


def _left_vectors(t: Complex, q: Complex) -> Complex:
    """Left eigenvectors of t, from the right ones of T*, reversed to be upper triangular."""

    def turned(x: Term, *axes: int) -> Term:
        count = extent(x.n, (x.value, x.rank - 1))
        order = count - 1 - counting(x.n, count)
        for axis in axes:
            x = x.gather(order, x.rank - axis)
        return x

    found = _triangular_vectors(t.adjoint.each(lambda part: turned(part, 1, 2)))
    return _normal(q @ found.each(lambda part: turned(part, 1, 2)))


def _normal(v: Complex) -> Complex:
    """Columns scaled to norm 1, and turned so that the largest element of each is real."""
    axis = v.re.rank - 2
    largest = v.size.largest(axis, keep=True)
    v = v.over(largest.equals(0.0).choose(1.0, largest))
    norm = v.square.sum(axis, keep=True).function(nn.Sqrt)
    v = v.over(norm.equals(0.0).choose(1.0, norm))
    at = v.square.argmax(axis, keep=True)
    most = v.each(lambda part: part.gather_elements(at, axis))
    size = magnitude((most.re, most.im))
    v = v * _phase(most, size).conjugate
    here = Places.of(v.re).rows.equals(at)
    return Complex(v.re, here.choose(0.0, v.im))

"""Systems of linear equations of complex matrices, by real ones of twice the size."""

from __future__ import annotations

from . import linear_algebra as algebra
from .complexes import Pair, pair, real_matrix, stacked_parts, terms
from .words import *


def transposed(n: Layer, x: Pair) -> Pair:
    """Matrices with rows and columns exchanged."""
    return pair(*(part.mT for part in terms(n, x)))


def conjugated(n: Layer, x: Pair) -> Pair:
    """Numbers with the other sign of their imaginary parts."""
    return Pair(x.real, n(nn.Neg(x.imag)))


def solve(n: Layer, a: Pair, b: Pair) -> Pair:
    """The solution x of a x = b, for a [B.., M, M] and b [B.., M, N]."""
    found = algebra.solve(real_matrix(n, a), joined(list(terms(n, b)), -2))
    return stacked_parts(found)


def triangle(x: Term, lower: bool, unit: bool, imaginary: int) -> Term:
    """The triangle of x that is read, with zeros beside it."""
    places = algebra.Places.of(x)
    read = places.rows >= places.columns if lower else places.rows <= places.columns
    x = read.choose(x, 0.0)
    return places.rows.equals(places.columns).choose(float(not imaginary), x) if unit else x


def cholesky(n: Layer, a: Pair, lower: bool) -> Pair:
    """The factor of a Hermitian matrix A + Bi: the one of [[A, -B], [B, A]], with its rows and
    columns in pairs, has real numbers' pairs [[x, -y], [y, x]] of it.
    """
    re, im = (triangle(part, lower, False, 0) for part in terms(n, a))
    places = algebra.Places.of(re)
    strict = places.rows.equals(places.columns).choose
    re = re + strict(0.0, re).mT
    im = strict(0.0, im) - strict(0.0, im).mT
    count = re.shape[-1] or 0
    order = np.arange(2 * count).reshape(2, count).T.reshape(-1)
    whole = real_matrix(n, pair(re, im))
    places = constant(n, order)
    whole = whole.gather(places, whole.rank - 2).gather(places, whole.rank - 1)
    found = algebra.cholesky(whole)
    even = constant(n, np.arange(0, 2 * count, 2))
    columns = found.gather(even, found.rank - 1)
    real, imag = (columns.gather(even + i, found.rank - 2) for i in range(2))
    if lower:
        return pair(real, imag)
    return pair(real.mT, -imag.mT)

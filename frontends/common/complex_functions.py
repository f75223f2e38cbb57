"""Elementary functions of complex numbers, which are pairs of terms.

Each avoids the loss of digits that the plain formula would have.
"""

from __future__ import annotations

from collections.abc import Callable

from . import complexes
from .complexes import great_and_ratio, magnitude, product, square_root
from .formulas import atan2, isfinite
from .words import *

Pairs = tuple[Term, Term]
"""The real and the imaginary part."""


def quotient(x: Pairs, y: Pairs) -> Pairs:
    """x / y without intermediate overflow; for infinities and zeros as in C's Annex G."""
    (a, b), (c, d) = x, y
    real, imag = complexes.quotient(x, y)
    by_zero = c.equals(0.0) & d.equals(0.0)
    real, imag = by_zero.choose(a / c, real), by_zero.choose(b / c, imag)
    is_lost = real.function(nn.IsNan) & imag.function(nn.IsNan) & ~by_zero
    above = is_lost & (is_inf(a) | is_inf(b)) & isfinite(c) & isfinite(d)
    below = is_lost & (is_inf(c) | is_inf(d)) & isfinite(a) & isfinite(b)
    p, q = (above.choose(_end(v), v) for v in x)
    r, s = (below.choose(_end(v), v) for v in y)
    size = above.choose(math.inf, a.zeros())
    is_end = above | below
    real = is_end.choose(size * (p * r + q * s), real)
    return real, is_end.choose(size * (q * r - p * s), imag)


def is_inf(x: Term) -> Term:
    """Whether a number is infinite."""
    return x.function(nn.Abs).equals(math.inf)


def _end(x: Term) -> Term:
    """1 or -1 for an infinite number with that sign, else 0 with its sign."""
    return is_inf(x).choose(x.function(nn.Sign), 0.0)


def exp(x: Pairs) -> Pairs:
    """e**x, real if x is; NaN where the angle is not finite, see `complexes.exponential`."""
    size = x[0].function(nn.Exp)
    imag = x[1].equals(0.0).choose(x[1], size * x[1].function(nn.Sin))
    return size * x[1].function(nn.Cos), imag


def expm1(x: Pairs) -> Pairs:
    """e**x - 1, with a precise real part near 0."""
    half = (x[1] * 0.5).function(nn.Sin)
    real = x[0].function(nn.Expm1) * x[1].function(nn.Cos) - half * half * 2.0
    return real, x[0].function(nn.Exp) * x[1].function(nn.Sin)


def log(x: Pairs) -> Pairs:
    """The logarithm whose angle is in [-pi, pi]."""
    great, ratio = great_and_ratio(x)
    return great.function(nn.Log) + (ratio * ratio).function(nn.Log1p) * 0.5, atan2(x[1], x[0])


def log1p(x: Pairs) -> Pairs:
    """log(1 + x); where |x| < 1/2, log(|1 + x|**2) is precise although |1 + x| is near 1."""
    near = ((x[0] * (x[0] + 2.0)) + x[1] * x[1]).function(nn.Log1p) * 0.5
    real, imag = log((x[0] + 1.0, x[1]))
    return (magnitude(x) < 0.5).choose(near, real), imag


def rsqrt(x: Pairs) -> Pairs:
    """1 / sqrt(x)."""
    one = x[0].zeros() + 1.0
    return quotient((one, one.zeros()), square_root(x))


def power(x: Pairs, y: Pairs) -> Pairs:
    """x**y, 1 for y = 0; else 0**y is 0 for real y > 0 and NaN for others, as in NumPy."""
    zero, one = magnitude(x).equals(0.0), magnitude(y).equals(0.0)
    real, imag = exp(product(log(x), y))
    of_zero = ((y[0] > 0.0) & y[1].equals(0.0)).choose(0.0, y[0].zeros() + math.nan)
    real, imag = zero.choose(of_zero, real), zero.choose(of_zero, imag)
    return one.choose(1.0, real), one.choose(0.0, imag)


def sine(x: Pairs) -> Pairs:
    """sin(x)."""
    sine, cosine = x[0].function(nn.Sin), x[0].function(nn.Cos)
    return sine * x[1].function(nn.Cosh), cosine * x[1].function(nn.Sinh)


def cosine(x: Pairs) -> Pairs:
    """cos(x)."""
    sine, cosine = x[0].function(nn.Sin), x[0].function(nn.Cos)
    return cosine * x[1].function(nn.Cosh), -(sine * x[1].function(nn.Sinh))


def tanh(x: Pairs) -> Pairs:
    """The complex tanh by powers of e below 1; an infinite real part makes the angle irrelevant."""
    size = x[0].function(nn.Abs)
    is_end = size.equals(math.inf)
    cosine, sine = (is_end.choose(0.0, x[1].function(op)) for op in (nn.Cos, nn.Sin))
    power, rest = (size * -2.0).function(nn.Exp), -((size * -2.0).function(nn.Expm1))
    scale = rest * rest + power * cosine * cosine * 4.0
    real = rest * (power + 1.0) / scale * x[0].function(nn.Sign)
    return real, power * sine * cosine * 4.0 / scale


def tan(x: Pairs) -> Pairs:
    """tan(x)."""
    real, imag = tanh((-x[1], x[0]))
    return imag, -real


def cosh(x: Pairs) -> Pairs:
    """cosh(x)."""
    return cosine((-x[1], x[0]))


def sinh(x: Pairs) -> Pairs:
    """sinh(x)."""
    return _turned(sine)(x)


def _turned(work: Callable[[Pairs], Pairs]) -> Callable[[Pairs], Pairs]:
    """f(ix) / i for an odd function f: sinh from sin, asinh from asin, atan from atanh."""

    def turned(x: Pairs) -> Pairs:
        real, imag = work((-x[1], x[0]))
        return imag, -real

    return turned


def _conjugate(x: Pairs) -> Pairs:
    return x[0], -x[1]


def _roots(x: Pairs) -> tuple[Pairs, Pairs]:
    """The square roots of 1 - x and 1 + x."""
    return square_root((1.0 - x[0], -x[1])), square_root((x[0] + 1.0, x[1]))


def acos(x: Pairs) -> Pairs:
    """The arc cosine. Source of this and the five functions below: Kahan, Branch Cuts for Complex
    Elementary Functions, 1987.
    """
    below, above = _roots(x)
    imag = product(_conjugate(above), below)[1].function(nn.Asinh)
    return atan2(below[0], above[0]) * 2.0, imag


def asin(x: Pairs) -> Pairs:
    """The arc sine."""
    below, above = _roots(x)
    imag = product(_conjugate(below), above)[1].function(nn.Asinh)
    return atan2(x[0], product(below, above)[0]), imag


def acosh(x: Pairs) -> Pairs:
    """The area cosine."""
    below, above = square_root((x[0] - 1.0, x[1])), square_root((x[0] + 1.0, x[1]))
    real = product(_conjugate(below), above)[0].function(nn.Asinh)
    return real, atan2(below[1], above[0]) * 2.0


def atanh(x: Pairs) -> Pairs:
    """The area tangent."""
    left, square = 1.0 - x[0], x[1] * x[1]
    real = (x[0] * 4.0 / (left * left + square)).function(nn.Log1p) * 0.25
    return real, atan2(x[1] * 2.0, left * (x[0] + 1.0) - square) * 0.5


asinh = _turned(asin)
atan = _turned(atanh)


def sign(x: Pairs) -> Pairs:
    """x / abs(x); x where it is 0."""
    size = magnitude(x)
    zero = size.equals(0.0)
    return zero.choose(x[0], x[0] / size), zero.choose(x[1], x[1] / size)


def logistic(x: Pairs) -> Pairs:
    """1 / (1 + e**-x)."""
    real, imag = exp((-x[0], -x[1]))
    one = real.zeros() + 1.0
    return quotient((one, one.zeros()), (real + 1.0, imag))

"""Powers and similar functions without f64: in pairs of f32, about 44 bits together.

The second number of a pair is the rounding error of the first. Factors are split into numbers of
12 bits, whose products are exact in f32, whether or not a compiler joins a product and a sum into a
multiply-add. As in `power`, x**y is 2**(y log2(x)).
"""

from __future__ import annotations

from .exponential import EXP2, ROUNDER, doubled, scale
from .formulas import Float, nearest
from .logarithm import INFINITY, with_denormals

HIGH_BITS = -(1 << 12)
"""The upper half of an f32: sign, exponent and 11 bits of the fraction."""
FARTHEST = 200.0
"""The size of exponents beyond which powers of two are 0 or infinite, so that the low part is
dropped."""

TWO_OVER_LN2 = 2.8853900817779268
LOG2_TERMS = tuple(TWO_OVER_LN2 / n for n in (3, 5, 7, 9, 11))
"""The coefficients after the first one of log2((1 + s) / (1 - s)) / s in powers of s**2. For |s| <=
0.172 the omitted terms are 2**-34 of it."""


Pair = tuple[Float, Float]


def of_constant(number: float) -> tuple[float, float]:
    """A number as two f32 whose sum it is."""
    return nearest(number), nearest(number - nearest(number))


def _halves(x: Float) -> Pair:
    high = (x.bits() & HIGH_BITS).as_float()
    return high, x - high


def product(a: Float, b: Float) -> Pair:
    """a b, exactly where nothing is too large or too small."""
    first = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return first, (a1 * b1 - first) + a1 * b2 + a2 * b1 + a2 * b2


def total(a: Float, b: Float) -> Pair:
    """a + b exactly, where |a| >= |b|."""
    first = a + b
    return first, b - (first - a)


def log2(x: Float) -> Pair:
    """log2 of numbers that are not negative, with an error of 2**-30; NaN of NaN."""
    f, e = with_denormals(x)
    code = x.code
    two = code.float(2.0)
    divisor, lost = total(two, f)
    s = f / divisor
    again, rest = product(s, divisor)
    s_low = (f - again - rest - s * lost) / divisor
    square = s * s
    high, low = of_constant(TWO_OVER_LN2)
    first, second = product(s, code.float(high))
    curved = s * square * square.polynomial(LOG2_TERMS)
    second = second + s * low + s_low * high + curved
    whole, left = total(e, first)
    first, second = total(whole, left + second)
    finite = (x > 0.0) & (x < INFINITY)
    limit = x.equals(0.0).select(-INFINITY, x)
    return finite.select(first, limit), finite.select(second, 0.0)


def times(a: Pair, b: Pair) -> Pair:
    """The product of two pairs; if it is NaN or too large, its second number is 0."""
    first, second = product(a[0], b[0])
    second = second + a[0] * b[1] + a[1] * b[0]
    return first, (first.abs() < FARTHEST).select(second, 0.0)


def exp2(p: Pair) -> Float:
    """2**p, within 0.9 ulp."""
    first, rest = p
    clamped = first.at_least(-151.0).at_most(129.0)
    shifted = clamped + ROUNDER
    r = (clamped - (shifted - ROUNDER)) + clamped.equals(first).select(rest, 0.0)
    twice = r.fma(r.polynomial(doubled(EXP2)), 2.0)
    return scale(twice, shifted.bits(), clamped < -120.0)


def magnitude(x: Float, exponent: Pair) -> Float:
    """|x|**exponent; NaN where exponent * log2|x| is 0 times infinity."""
    return exp2(times(exponent, log2(x.abs())))


def exp_of_square(a: Float, factor: float) -> Float:
    """2**(a a factor)"""
    high, low = map(a.code.float, of_constant(factor))
    return exp2(times(product(a, a), (high, low)))

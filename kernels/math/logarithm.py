"""Logarithms: the exponent, and a polynomial of the mantissa around one.

x = m 2**e with m between sqrt(1/2) and sqrt(2), f = m - 1.
"""

from __future__ import annotations

from .exponential import ONE_BITS, ln2_parts
from .formulas import Float, Int, bits_of

SQRT_HALF_BITS = bits_of(0.7071067811865476)
SMALLEST_NORMAL = 2.0**-126
INFINITY = float("inf")
NAN = float("nan")

# (log(1 + f) - f) / f**2; error 0.04 ulp of log(1 + f).
LOG = (-0.49999988079071045, 0.33333325386047363, -0.25001609325408936, 0.20002005994319916,
       -0.16608412563800812, 0.14180806279182434, -0.1324799507856369, 0.12913313508033752,
       -0.07619783282279968)  # fmt: skip


def mantissa(x: Float) -> tuple[Float, Int]:
    """(m - 1, e) of positive, normal numbers."""
    bits = x.bits()
    e = (bits - SQRT_HALF_BITS) >> 23
    return (bits - (e << 23)).as_float() - 1.0, e


def with_denormals(x: Float) -> tuple[Float, Float]:
    """(m - 1, e) of positive numbers, e as a float."""
    tiny = x < SMALLEST_NORMAL
    f, e = mantissa(tiny.select(x * 2.0**24, x))
    return f, (e - tiny.select_int(24, 0)).to_float()


def log_of_parts(f: Float, e: Float) -> Float:
    """log((1 + f) 2**e)"""
    high, low = ln2_parts(f.code)
    rest = e.fma(low, f * f * f.polynomial(LOG))
    return e.fma(high, f + rest)


def at_limits(x: Float, finite: Float, zero: float = 0.0) -> Float:
    """`finite`, corrected for numbers that are not positive and finite; -inf at `zero`."""
    below = x.equals(zero).select(-INFINITY, NAN)
    return (x > zero).select((x < INFINITY).select(finite, x), below)


def log(x: Float) -> Float:
    """The natural logarithm, within 0.9 ulp."""
    return at_limits(x, log_of_parts(*with_denormals(x)))


def _to_base(x: Float, one: tuple[float, float], two: tuple[float, float]) -> Float:
    """log(1 + f) times a constant plus e times another, each constant the sum of a pair."""
    f, e = with_denormals(x)
    curved = f * f * f.polynomial(LOG)
    high, low = one
    rest = curved.fma(high, f * low)
    result = f.fma(high, e.fma(two[1], rest)) if two[1] else f.fma(high, rest)
    return at_limits(x, e.fma(two[0], result) if two[0] != 1.0 else e + result)


def log2(x: Float) -> Float:
    """The logarithm to base 2, within 1.1 ulp; exact for powers of two."""
    return _to_base(x, (1.4426950216293335, 1.925963033500989e-08), (1.0, 0.0))


def log10(x: Float) -> Float:
    """The logarithm to base 10, within 1.0 ulp."""
    return _to_base(
        x,
        (0.4342944920063019, -1.0103050118726776e-08),
        (0.3010300099849701, -1.4320989153870084e-08),
    )


def log1p(x: Float) -> Float:
    """log(1 + x), within 1.5 ulp: the rounding error of u = 1 + x, x - (u - 1), is added to f."""
    u = x + 1.0
    lost = x - (u - 1.0)
    f, e = mantissa(u)
    unit = (ONE_BITS - (e.at_most(100) << 23)).as_float()
    result = log_of_parts(lost.fma(unit, f), e.to_float())
    return at_limits(x, result.copy_sign(x), -1.0)


def atanh(x: Float) -> Float:
    """log1p(2x / (1 - x)) / 2 of |x| with its sign, within 2.1 ulp."""
    a = x.abs()
    return (log1p((a + a) / (1.0 - a)) * 0.5).copy_sign(x)


LARGE = 2.0**24
LN4 = 1.3862943611198906


def asinh(x: Float) -> Float:
    """log1p(a + a a / (1 + sqrt(a a + 1))) with the sign of x, within 1.9 ulp.

    For large a it is log(2a) = log(a/2) + log(4), as 2a may be too large.
    """
    a = x.abs()
    square = a * a
    near = a + square / ((square + 1.0).sqrt() + 1.0)
    return _of_large(a, near).copy_sign(x)


def acosh(x: Float) -> Float:
    """log1p(t + sqrt(t t + 2t)) with t = x - 1, within 2.1 ulp."""
    t = x - 1.0
    near = t + t.fma(t, t + t).sqrt()
    return (x < 1.0).select(NAN, _of_large(x, near))


def _of_large(a: Float, near: Float) -> Float:
    large = a > LARGE
    result = log1p(large.select(a * 0.5, near))
    return large.select(result + LN4, result)

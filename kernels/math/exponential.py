"""Exponentials: 2**n by its exponent bits times a polynomial around zero.

x = n log(2) + r with |r| <= log(2)/2. Polynomials are doubled and scaled by 2**(n-1), so that
n = 128, which the largest results need, has a power of two that is an f32.
"""

from __future__ import annotations

from .formulas import Bool, Float, Formulas, Int

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.6931471824645996
"""log(2) as f32; x - n * LN2_HIGH is exact where it is reduced."""
LN2_LOW = -1.904654323148236e-09
LN2_SHORT = (0.693145751953125, 1.42860677465796471e-06)
"""log(2) as 15 bits and the rest: n times the first is exact by itself, for n of 9 bits."""

ROUNDER = 12582912.0
"""1.5 * 2**23: a sum with it rounds to an integer and has that in its low bits."""
ONE_BITS = 0x3F800000

# (exp(x) - 1 - x) / x**2 for |x| <= log(2)/2; error 0.03 ulp of exp(x).
EXP = (0.4999999403953552, 0.1666652113199234, 0.041668254882097244, 0.008368662558495998,
       0.0013821468455716968)  # fmt: skip


def doubled(coefficients: tuple[float, ...]) -> tuple[float, ...]:
    """All coefficients times two, which is exact."""
    return tuple(2 * c for c in coefficients)


def split_exponent(x: Float, factor: float) -> tuple[Float, Int]:
    """The integer nearest to x * factor, as a float and in the low 9 bits of an integer."""
    shifted = x.fma(factor, ROUNDER)
    return shifted - ROUNDER, shifted.bits()


def reduce(x: Float) -> tuple[Float, Int]:
    """(r, n) with x = n log(2) + r."""
    n, bits = split_exponent(x, LOG2_E)
    high, low = ln2_parts(x.code)
    return n.fma(-low, n.fma(-high, x)), bits


def ln2_parts(code: Formulas) -> tuple[float, float]:
    """log(2) as a sum whose first part can be taken from a number without an error."""
    return (LN2_HIGH, LN2_LOW) if code.fused else LN2_SHORT


def power_of_two(n: Int, bias: int = 0) -> Float:
    """2**(n + bias), which must be normal, 0 (as 2**-127) or infinite (2**128)."""
    return ((n << 23) + (ONE_BITS + (bias << 23))).as_float()


def scale(twice: Float, n: Int, small: Bool | None) -> Float:
    """twice / 2 * 2**n. Where `small`, n may be so low that the result is denormal.

    Such a result is made from one 2**64 times as large by a product, which rounds it once.
    """
    if small is None:
        return twice * power_of_two(n, -1)
    bias = small.select_int(ONE_BITS + (63 << 23), ONE_BITS - (1 << 23))
    return twice * ((n << 23) + bias).as_float() * small.select(2.0**-64, 1.0)


def exp(x: Float, gradual: bool = True) -> Float:
    """e**x, within 0.9 ulp. Without `gradual`, results below 2**-125 may be 0."""
    clamped = x.at_least(-104.0 if gradual else -87.6).at_most(89.0)
    r, n = reduce(clamped)
    q = r.polynomial(doubled(EXP))
    twice = r.fma(r.fma(q, 2.0), 2.0)
    return scale(twice, n, clamped < -80.0 if gradual else None)


# (2**x - 1) / x for |x| <= 1/2; error 0.03 ulp of 2**x.
EXP2 = (0.6931471824645996, 0.24022647738456726, 0.05550359934568405, 0.009618505835533142,
        0.0013390806270763278, 0.00015326471475418657)  # fmt: skip


def exp2(x: Float) -> Float:
    """2**x, within 0.9 ulp."""
    clamped = x.at_least(-151.0).at_most(129.0)
    shifted = clamped + ROUNDER
    r = clamped - (shifted - ROUNDER)
    twice = r.fma(r.polynomial(doubled(EXP2)), 2.0)
    return scale(twice, shifted.bits(), clamped < -120.0)


def expm1(x: Float) -> Float:
    """e**x - 1, within 1.5 ulp: with e**r - 1 = p it is 2 (p 2**(n-1) + 2**(n-1) - 1/2)."""
    clamped = x.at_least(-18.0).at_most(89.0)
    r, n = reduce(clamped)
    p = (r * r).fma(r.polynomial(EXP), r)
    half = power_of_two(n, -1)
    result = p.fma(half, half - 0.5)
    return (result + result).copy_sign(x)


def half_exp(x: Float) -> Float:
    """e**x / 2 for x >= 0, within 0.9 ulp; infinite only where cosh is."""
    r, n = reduce(x.at_most(90.0))
    twice = r.fma(r.fma(r.polynomial(doubled(EXP)), 2.0), 2.0)
    return twice * power_of_two(n, -2)


def cosh(x: Float) -> Float:
    """(e**|x| + e**-|x|) / 2, within 1.3 ulp."""
    half = half_exp(x.abs())
    return half + 0.25 / half


# (sinh(x) - x) / x**3 in powers of x**2 for |x| <= 1.
SINH = (0.1666666716337204, 0.00833331048488617, 0.00019842895562760532, 2.7822131869470468e-06)


def sinh(x: Float) -> Float:
    """(e**|x| - e**-|x|) / 2 with the sign of x, a polynomial below 1; within 1.7 ulp."""
    square = x * x
    near = (x * square).fma(square.polynomial(SINH), x)
    a = x.abs()
    half = half_exp(a)
    far = (half - 0.25 / half).copy_sign(x)
    return (a < 1.0).select(near, far)


TANH_ONE = 9.02
"""The least x from which on tanh(x) rounds to 1."""


def tanh(x: Float) -> Float:
    """h / (h + 1) with h = (e**(2 |x|) - 1) / 2, without branches; within 2.5 ulp."""
    a = x.abs().at_most(TANH_ONE)
    r, n = reduce(a + a)
    p = (r * r).fma(r.polynomial(EXP), r)
    half = power_of_two(n, -1)
    h = p.fma(half, half - 0.5)
    return (h / (h + 1.0)).copy_sign(x)

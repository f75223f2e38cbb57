"""Exponentials: 2**n by its exponent bits times a polynomial on half a unit around zero."""

from __future__ import annotations

from .formulas import Float, Int

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693145751953125
"""The first 16 bits of log(2): products with integers up to 2**8 are exact."""
LN2_LOW = 1.42860682030941723212e-6

ROUNDER = 12582912.0
"""1.5 * 2**23: a sum with it rounds to an integer and has that in its low bits."""
ONE_BITS = 0x3F800000

# (exp(x) - 1 - x) / x**2 on [-log(2)/2, log(2)/2], error 0.06 ulp of exp(x).
EXP = (0.4999999403953552, 0.16666516661643982, 0.04166824743151665, 0.008369079791009426,
       0.0013817130820825696)  # fmt: skip


def split_exponent(x: Float, factor: float) -> tuple[Float, Int]:
    """The integer nearest to x * factor, as a float and in the low 23 bits of an integer."""
    shifted = x.fma(factor, ROUNDER)
    return shifted - ROUNDER, shifted.bits()


def reduce(x: Float) -> tuple[Float, Int]:
    """(r, n) with x = n log(2) + r, |r| <= log(2)/2."""
    n, bits = split_exponent(x, LOG2_E)
    return n.fma(-LN2_LOW, n.fma(-LN2_HIGH, x)), bits


def scale(half: Float, n: Int, arg: Float, tiny: float, gradual: bool) -> Float:
    """2 * half * 2**n. Where `arg` is below `tiny`, n is too small for an f32, if `gradual`.

    A denormal result is made by a product that rounds once, with 2**-64.
    """
    if not gradual:
        return half * ((n << 23) + (ONE_BITS + (1 << 23))).as_float()
    small = arg < tiny
    offset = small.select_int(ONE_BITS + (65 << 23), ONE_BITS + (1 << 23))
    return half * ((n << 23) + offset).as_float() * small.select(2.0**-64, 1.0)

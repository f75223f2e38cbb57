"""Functions of fixed-point numbers: exponentials, reciprocals, logarithms and roots.

A number of `integer_bits` is `raw * 2^(integer_bits - 31)`; all terms here are the raw i32. Some
functions also take a `width` of 16 bits, for `raw * 2^(integer_bits - 15)`. The product of two
numbers is their `high_product`. Functions of constants are computed at import, to make tables.
Source: gemmlowp, fixedpoint/fixedpoint.h, for the polynomials and the numbers of iterations.
"""

from __future__ import annotations

from .fixed_point import divided_by_power, high_product
from .words import *

MOST = (1 << 31) - 1
LEAST = -(1 << 31)


def raw(real: float, integer_bits: int = 0, width: int = 32) -> int:
    """The fixed-point number nearest to a real one; one of 16 bits is rounded from 32 bits."""
    found = max(LEAST, min(MOST, math.floor(real * 2.0 ** (31 - integer_bits) + 0.5)))
    if width == 32:
        return found
    few = (abs(found) + (1 << 15)) >> 16
    return few if found >= 0 else -few


def product(x: Term, y: Term, width: int = 32) -> Term:
    """The product of numbers of `width` bits, rounded, halves up."""
    return high_product(x, y) if width == 32 else (x * y + (1 << 14)) >> 15


def fixed(like: Term, real: float, integer_bits: int = 0, width: int = 32) -> Term:
    """A fixed-point constant, in the layer of the term `like`."""
    return constant(like.n, raw(real, integer_bits, width), i32)


def times_power(x: Term, exponent: int | Term, width: int = 32) -> Term:
    """x * 2^exponent, saturated to `width` bits; a negative exponent must be an int, and rounds."""
    if isinstance(exponent, int) and exponent <= 0:
        return divided_by_power(x, -exponent)
    power = exponent if isinstance(exponent, Term) else constant(x.n, exponent, i32)
    most, least = (1 << (width - 1)) - 1, -(1 << (width - 1))
    threshold, shifted = constant(x.n, most, i32) >> power, x << power
    return (x > threshold).choose(most, (x < -threshold).choose(least, shifted))


def leading_zeros(x: Term) -> Term:
    """The number of leading zero bits of a positive i32, as i32."""
    bits = nn.Bitcast(x.cast(f64).value, out=TensorType(x.shape, i64))
    return 31 - ((Term(x.n, x.n(bits)) >> 52) - 1023).cast(i32)


def exponential(x: Term, integer_bits: int, width: int = 32) -> Term:
    """exp(x) for x <= 0, as a number without integer bits; exp(0) saturates to the largest one."""
    fraction = width - 1 - integer_bits
    quarter = 1 << (fraction - 2)
    rest = (x & (quarter - 1)) - quarter
    result = _exponential_near_zero(times_power(rest, integer_bits, width), width)
    remainder = rest - x
    for power in range(-2, integer_bits):
        bit = 1 << (fraction + power)
        factor = product(result, fixed(x, math.exp(-(2.0**power)), 0, width), width)
        result = (remainder & bit).equals(0).choose(result, factor)
    if integer_bits > 5:
        result = (x < raw(-32.0, integer_bits, width)).choose(0, result)
    return x.equals(0).choose((1 << (width - 1)) - 1, result)


def _exponential_near_zero(x: Term, width: int) -> Term:
    """exp(x) for -1/4 <= x < 0: four terms of Taylor's series around -1/8."""
    middle = fixed(x, math.exp(-1 / 8), 0, width)
    x = x + (1 << (width - 4))
    square = product(x, x, width)
    cube, fourth = product(square, x, width), product(square, square, width)
    third = product(divided_by_power(fourth, 2) + cube, fixed(x, 1 / 3, 0, width), width)
    found = middle + product(middle, x + divided_by_power(third + square, 1), width)
    return found if width == 32 else found.min((1 << 15) - 1)


def _newton_reciprocal(x: Term, width: int) -> Term:
    """2 / (1 + x) for 0 <= x <= 1, with two integer bits, by three steps of Newton's method."""
    half = (x >> 1) + (1 << (width - 2))
    found = fixed(x, 48 / 17, 2, width) + product(half, fixed(x, -32 / 17, 2, width), width)
    for _ in range(3):
        rest = (1 << (width - 3)) - product(half, found, width)
        found = found + times_power(product(found, rest, width), 2, width)
    return found


def reciprocal_of_one_plus(x: Term, width: int = 32) -> Term:
    """1 / (1 + x) for 0 <= x <= 1, without integer bits."""
    return times_power(_newton_reciprocal(x, width), 1, width)


def sigmoid(x: Term, integer_bits: int, width: int) -> Term:
    """1 / (1 + exp(-x)), without integer bits."""
    most = (1 << (width - 1)) - 1
    found = reciprocal_of_one_plus(exponential(-x.function(nn.Abs), integer_bits, width), width)
    found = (x > 0).choose(found, most - found)
    return x.equals(0).choose(1 << (width - 2), found)


def tanh(x: Term, integer_bits: int, width: int) -> Term:
    """The hyperbolic tangent, without integer bits."""
    power = exponential(-x.function(nn.Abs), integer_bits + 1, width)
    found = times_power(_newton_reciprocal(power, width) - (1 << (width - 3)), 2, width)
    return x.equals(0).choose(0, (x < 0).choose(-found, found))


def reciprocal(x: Term, integer_bits: int) -> tuple[Term, Term]:
    """1 / x for x > 0, as (number, shift): it is number / 2^shift, with no integer bits."""
    zeros = leading_zeros(x)
    return reciprocal_of_one_plus((x << zeros) & MOST), integer_bits - zeros


def inverse_root(x: Term) -> tuple[Term, Term]:
    """1 / sqrt(x) of integers >= 0, as raw and shift: it is `raw / 2^31 / 2^shift`.

    The result for 0 is that for 1.
    """
    large = x >= 1 << 29
    start = large.choose(x / 4, x).max(2)
    pairs = (leading_zeros(start) - 1) / 2 - 1
    shift = large.choose(12, constant(x.n, 11, i32)) - pairs
    data = (start << (pairs * 2)) >> 1
    halved, root = divided_by_power(data, 1), constant(x.n, 1 << 28, i32)
    for _ in range(5):
        cube = times_power(high_product(high_product(root, root), root), 6)
        step = high_product(fixed(x, 1.5, 3), root) - high_product(halved, cube)
        root = times_power(step, 3)
    root = high_product(root, fixed(x, math.sqrt(0.5)))
    root, shift = root << (-shift).max(0), shift.max(0)
    one = x <= 1
    return one.choose(MOST, root), one.choose(0, shift)


def logarithm(x: Term, integer_bits: int, result_bits: int) -> Term:
    """log(x) for x >= 1 with `integer_bits`, as a number with `result_bits` integer bits."""
    bits, root = result_bits + 1, 2.0**0.25
    half_root, quarter_root = fixed(x, math.sqrt(0.5)), fixed(x, math.sqrt(math.sqrt(0.5)))
    quarter = raw(0.25, bits)

    def power(zeros: Term) -> Term:
        return times_power(integer_bits - zeros, 31 - bits)

    zeros = leading_zeros(x)
    first = times_power(high_product(times_power(x, zeros - 1), half_root), 1)
    adjusted = _saturated(power(zeros), quarter)
    zeros = leading_zeros(high_product(x, half_root)) - 1
    second = times_power(x, zeros)
    exponent = adjusted.max(_saturated(power(zeros), -quarter))
    r = first.min(second)
    p = _half_sum(r, quarter_root)
    q = (r - quarter_root) * 2
    square = high_product(q, q)
    above = high_product(q, r) + high_product(high_product(q, square), fixed(x, 11 / 240 * root))
    below = high_product(
        p, fixed(x, 2 / root - root) + q + high_product(fixed(x, root / 20), square)
    ) + high_product(fixed(x, root / 4), q)
    quotient = high_product(divided_by_power(above, bits), reciprocal_of_one_plus(below))
    return times_power(high_product(exponent, fixed(x, math.log(2))) + quotient, 1)


def _saturated(x: Term, more: int) -> Term:
    """x + more, limited to what 32 bits hold."""
    return (x.cast(i64) + more).max(LEAST).min(MOST).cast(i32)


def _half_sum(x: Term, y: Term) -> Term:
    """(x + y) / 2 of numbers that are not negative, halves up."""
    return ((x.cast(i64) + y.cast(i64) + 1) >> 1).cast(i32)

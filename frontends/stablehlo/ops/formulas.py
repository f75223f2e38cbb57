"""Elementwise formulas: JAX's functions of real and complex numbers.

Each avoids the loss of digits that the plain formula would have.
"""

from __future__ import annotations

from ...common import complexes
from ...common.complexes import great_and_ratio, magnitude, product, square_root
from ...common.formulas import isfinite, width_of
from ...common.vocabulary import *

Pairs = tuple[Term, Term]
"""The real and the imaginary part."""


def _is_bool(x: Term) -> bool:
    return x.element is i1


# -- arithmetic ------------------------------------------------------------------------------------


def add(x: Term, y: Term) -> Term:
    return x | y if _is_bool(x) else x + y


def multiply(x: Term, y: Term) -> Term:
    return x & y if _is_bool(x) else x * y


def maximum(x: Term, y: Term) -> Term:
    return x | y if _is_bool(x) else x.max(y)


def minimum(x: Term, y: Term) -> Term:
    return x & y if _is_bool(x) else x.min(y)


def divide(x: Term, y: Term) -> Term:
    """x / y; of integers and 0, all bits are set, as in XLA."""
    if not isinstance(x.element, IntegerType):
        return x / y
    none, low = y.equals(0), x.element.signedness != "u"
    return none.choose(-1 if low else 2**x.element.width - 1, x / none.choose(1, y))


def remainder(x: Term, y: Term) -> Term:
    """The remainder of x / y; x itself where an integer is divided by 0, as in XLA."""
    if not isinstance(x.element, IntegerType):
        return x.made(nn.Mod(x.value, y.value, fmod=True))
    none = y.equals(0)
    rest = x.made(nn.Mod(x.value, none.choose(1, y).value, fmod=True))
    return none.choose(x, rest)


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
    return x.function(nn.Abs).equals(math.inf)


def _end(x: Term) -> Term:
    """1 or -1 for an infinite number with that sign, else 0 with its sign."""
    return is_inf(x).choose(x.function(nn.Sign), 0.0)


def negated(x: Term) -> Term:
    return -x if isinstance(x.element, FloatType) else x.made(nn.Sub(x.other(0), x.value))


def sign(x: Term) -> Term:
    if isinstance(x.element, IntegerType) and x.element.signedness == "u":
        return x.min(1)
    return x.function(nn.Sign)


def square(x: Term) -> Term:
    return x * x


# -- functions -------------------------------------------------------------------------------------


def popcnt(x: Term) -> Term:
    """The number of 1 bits, counted in pairs of bits, then in fours, then in bytes."""
    x, back = _unsigned(x)
    width = width_of(x)
    whole = (1 << width) - 1
    ones = [whole // 3, whole // 5, whole // 17]
    x = x - ((x >> 1) & ones[0])
    x = (x & ones[1]) + ((x >> 2) & ones[1])
    x = (x + (x >> 4)) & ones[2]
    for step in (8, 16, 32):
        if step < width:
            x = x + (x >> step)
    return back(x & (2 * width - 1))


def count_leading_zeros(x: Term) -> Term:
    """The number of leading 0 bits: width - the ones after all bits below the highest are set."""
    x, back = _unsigned(x)
    step = 1
    while step < width_of(x):
        x = x | (x >> step)
        step *= 2
    ones = popcnt(x)
    return back(width_of(x) - ones)


def _unsigned(x: Term) -> tuple[Term, Callable[[Term], Term]]:
    """The bits as an unsigned number, and the way back."""
    element: Any = x.element
    if element.signedness == "u" or element is i1:
        return x, lambda y: y
    unsigned = IntegerType(element.width, "u")
    return x.cast(unsigned), lambda y: y.cast(element)


def shift_right_logical(x: Term, y: Term) -> Term:
    (bits, back), (by, _) = _unsigned(x), _unsigned(y)
    return back(bits >> by)


def shift_right_arithmetic(x: Term, y: Term) -> Term:
    element: Any = x.element
    if element.signedness != "u":
        return x >> y
    signed = IntegerType(element.width)
    return (x.cast(signed) >> y.cast(signed)).cast(element)


# -- complex numbers -------------------------------------------------------------------------------


def complex_exp(x: Pairs) -> Pairs:
    size = x[0].function(nn.Exp)
    imag = x[1].equals(0.0).choose(x[1], size * x[1].function(nn.Sin))
    return size * x[1].function(nn.Cos), imag


def complex_expm1(x: Pairs) -> Pairs:
    """e**x - 1, with a precise real part near 0."""
    half = (x[1] * 0.5).function(nn.Sin)
    real = x[0].function(nn.Expm1) * x[1].function(nn.Cos) - half * half * 2.0
    return real, x[0].function(nn.Exp) * x[1].function(nn.Sin)


def complex_log(x: Pairs) -> Pairs:
    great, ratio = great_and_ratio(x)
    return great.function(nn.Log) + (ratio * ratio).function(nn.Log1p) * 0.5, atan2(x[1], x[0])


def complex_log1p(x: Pairs) -> Pairs:
    """log(1 + x); where |x| < 1/2, log(|1 + x|**2) is precise although |1 + x| is near 1."""
    near = ((x[0] * (x[0] + 2.0)) + x[1] * x[1]).function(nn.Log1p) * 0.5
    real, imag = complex_log((x[0] + 1.0, x[1]))
    return (magnitude(x) < 0.5).choose(near, real), imag


def complex_rsqrt(x: Pairs) -> Pairs:
    root = square_root(x)
    scale = root[0] * root[0] + root[1] * root[1]
    return root[0] / scale, -root[1] / scale


def complex_power(x: Pairs, y: Pairs) -> Pairs:
    zero = magnitude(x).equals(0.0)
    real, imag = complex_exp(product(complex_log(x), y))
    return zero.choose(0.0, real), zero.choose(0.0, imag)


def complex_sine(x: Pairs) -> Pairs:
    sine, cosine = x[0].function(nn.Sin), x[0].function(nn.Cos)
    return sine * x[1].function(nn.Cosh), cosine * x[1].function(nn.Sinh)


def complex_cosine(x: Pairs) -> Pairs:
    sine, cosine = x[0].function(nn.Sin), x[0].function(nn.Cos)
    return cosine * x[1].function(nn.Cosh), -(sine * x[1].function(nn.Sinh))


def complex_tanh(x: Pairs) -> Pairs:
    """The complex tanh by powers of e below 1; an infinite real part makes the angle irrelevant."""
    size = x[0].function(nn.Abs)
    is_end = size.equals(math.inf)
    cosine, sine = (is_end.choose(0.0, x[1].function(op)) for op in (nn.Cos, nn.Sin))
    power, rest = (size * -2.0).function(nn.Exp), -((size * -2.0).function(nn.Expm1))
    scale = rest * rest + power * cosine * cosine * 4.0
    real = rest * (power + 1.0) / scale * x[0].function(nn.Sign)
    return real, power * sine * cosine * 4.0 / scale


def complex_tan(x: Pairs) -> Pairs:
    real, imag = complex_tanh((-x[1], x[0]))
    return imag, -real


def complex_cosh(x: Pairs) -> Pairs:
    return complex_cosine((-x[1], x[0]))


def complex_sinh(x: Pairs) -> Pairs:
    return _turned(complex_sine)(x)


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


def complex_acos(x: Pairs) -> Pairs:
    """The arc cosine. Source of this and the five functions below: Kahan, Branch Cuts for Complex
    Elementary Functions, 1987.
    """
    below, above = _roots(x)
    imag = product(_conjugate(above), below)[1].function(nn.Asinh)
    return atan2(below[0], above[0]) * 2.0, imag


def complex_asin(x: Pairs) -> Pairs:
    below, above = _roots(x)
    imag = product(_conjugate(below), above)[1].function(nn.Asinh)
    return atan2(x[0], product(below, above)[0]), imag


def complex_acosh(x: Pairs) -> Pairs:
    below, above = square_root((x[0] - 1.0, x[1])), square_root((x[0] + 1.0, x[1]))
    real = product(_conjugate(below), above)[0].function(nn.Asinh)
    return real, atan2(below[1], above[0]) * 2.0


def complex_atanh(x: Pairs) -> Pairs:
    left, square = 1.0 - x[0], x[1] * x[1]
    real = (x[0] * 4.0 / (left * left + square)).function(nn.Log1p) * 0.25
    return real, atan2(x[1] * 2.0, left * (x[0] + 1.0) - square) * 0.5


complex_asinh = _turned(complex_asin)
complex_atan = _turned(complex_atanh)


def complex_sign(x: Pairs) -> Pairs:
    size = magnitude(x)
    zero = size.equals(0.0)
    return zero.choose(0.0, x[0] / size), zero.choose(0.0, x[1] / size)


def complex_logistic(x: Pairs) -> Pairs:
    real, imag = complex_exp((-x[0], -x[1]))
    one = real.zeros() + 1.0
    return quotient((one, one.zeros()), (real + 1.0, imag))

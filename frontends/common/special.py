"""Special functions of the families of the error function and the gamma function.

Operands are f64, as sums cancel. Source: Abramowitz and Stegun, "Handbook of Mathematical
Functions" (1964), by the numbers of formulas.
"""

from __future__ import annotations

from functools import reduce

from numpy.polynomial import Polynomial

from .formulas import polyval
from .words import *


def log(x: Term) -> Term:
    """The natural logarithm."""
    return x.function(nn.Log)


def exp(x: Term) -> Term:
    """e**x"""
    return x.function(nn.Exp)


def polynomial(x: Term, coefficients: Sequence[float | Term]) -> Term:
    """The polynomial with these coefficients, from that of x**0 on."""
    return polyval(coefficients[::-1], x)


def zero_where_zero(x: Term, product: Term) -> Term:
    """A product that has x as a factor, 0 where x is 0 even if the other factor is infinite."""
    return x.equals(0.0).choose(0.0, product)


# -- the error function ----------------------------------------------------------------------------


def erfcx(x: Term) -> Term:
    """exp(x**2) * erfc(x); 7.1.23 for x from 8 on."""
    far = 1.0 / (x * x * 2.0).max(1.0)
    terms = [(-1) ** k * math.prod(range(1, 2 * k, 2)) for k in range(9)]
    behind = polynomial(far, terms) / (x * math.sqrt(math.pi))
    near = x.min(8.0)
    return (x > 8.0).choose(behind, exp(near * near) * near.function(nn.Erfc))


def log_ndtr(x: Term) -> Term:
    """The natural logarithm of `ndtr`."""
    tail = log(erfcx(x.min(0.0) * -math.sqrt(0.5)) * 0.5) - x * x * 0.5
    return (x < -1.0).choose(tail, log(ndtr(x.max(-1.0))))


def ndtr(x: Term) -> Term:
    """The probability that a standard normal number is below x."""
    return (x * -math.sqrt(0.5)).function(nn.Erfc) * 0.5


def inverse_of_parts(size: Term, rest: Term) -> Term:
    """The x >= 0 for which erf(x) is `size` and erfc(x) is `rest` (their sum is 1).

    Winitzki's approximation (2008) and three steps of Halley's method.
    """
    a = 0.147
    size_log = log((rest * (2.0 - rest)).max(1e-300))
    half = size_log * 0.5 + 2 / (math.pi * a)
    x = ((half * half - size_log / a).function(nn.Sqrt) - half).max(0.0).function(nn.Sqrt)
    for _ in range(3):
        miss = (size < 0.5).choose(x.function(nn.Erf) - size, rest - x.function(nn.Erfc))
        step = miss * exp(x * x) * (math.sqrt(math.pi) / 2)
        x = x - step / (x * step + 1.0)
    return rest.equals(0.0).choose(math.inf, (rest < 0.0).choose(math.nan, x))


def erfinv(y: Term) -> Term:
    """The inverse of the error function."""
    size = y.function(nn.Abs)
    found = inverse_of_parts(size, 1.0 - size)
    return (y < 0.0).choose(-found, found)


def ndtri(p: Term) -> Term:
    """The inverse of `ndtr`."""
    rest = p.min(1.0 - p) * 2.0
    found = inverse_of_parts(1.0 - rest, rest) * math.sqrt(2)
    return (p < 0.5).choose(-found, found)


# -- the gamma function ----------------------------------------------------------------------------

SHIFT = 10
"""The least argument of series for large ones; smaller ones are raised to it by recurrence."""

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
"""Bernoulli's numbers of even index, from 2 on."""


def lgamma(x: Term) -> Term:
    """log(abs(gamma(x))): 6.1.40, and the reflection 6.1.17 below 0.5."""
    negative = x < 0.5
    y = negative.choose(1.0 - x, x)
    near = y.min(1e10)  # larger ones need no recurrence, whose product would overflow
    passed = reduce(lambda total, k: total * (near + float(k)), range(1, SHIFT), near)
    large = y > 1e10
    far, passed = large.choose(y, y + float(SHIFT)), large.choose(1.0, passed)
    inverse = 1.0 / far
    terms = [b / ((2 * k) * (2 * k - 1)) for k, b in enumerate(_BERNOULLI, 1)]
    series = polynomial(inverse * inverse, terms) * inverse
    found = (far - 0.5) * log(far) - far + (math.log(2 * math.pi) / 2) + series - log(passed)
    found = y.equals(math.inf).choose(math.inf, found)
    turned = log(math.pi / sine_of_turn(x).function(nn.Abs)) - found
    found = negative.choose(turned, found)
    pole = (x <= 0.0) & x.equals(x.function(nn.Floor))
    return pole.choose(math.inf, found)


def sine_of_turn(x: Term) -> Term:
    """sin(pi * x), exact where x is whole."""
    rest = x - (x * 0.5).function(nn.Round) * 2.0
    sine = (rest * math.pi).function(nn.Sin)
    return rest.equals(rest.function(nn.Floor)).choose(0.0, sine)


def digamma(x: Term) -> Term:
    """The derivative of `lgamma`: 6.3.18, and the reflection 6.3.7 for negative numbers.

    It is infinite at 0, and NaN at negative whole numbers.
    """
    negative = x < 0.0
    y = negative.choose(1.0 - x, x)
    far = y + float(SHIFT)
    inverse = 1.0 / far
    terms = [-b / (2 * k) for k, b in enumerate(_BERNOULLI, 1)]
    found = log(far) - inverse * 0.5 + polynomial(inverse * inverse, terms) * inverse * inverse
    for k in range(SHIFT):
        found = found - 1.0 / (y + float(k))
    rest = x - x.function(nn.Round)
    turned = found - math.pi / (rest * math.pi).function(nn.Tan)
    turned = rest.equals(0.0).choose(math.nan, turned)
    return x.equals(0.0).choose(-1.0 / x, negative.choose(turned, found))


def zeta(order: float | Term, x: Term) -> Term:
    """The sum of (x + k)**-order for all k from 0: Euler and Maclaurin's formula, 23.2.5."""
    far = x + float(SHIFT)
    power, inverse = far ** (1.0 - order), 1.0 / far
    total = power / (order - 1.0) + power * inverse * 0.5
    for k in range(SHIFT):
        total = total + (x + float(k)) ** (-order)
    # The rest is negligible for larger orders, whose products would overflow.
    near = order.min(1e3) if isinstance(order, Term) else order
    factor, terms = near, []
    for k, b in enumerate(_BERNOULLI, 1):
        terms.append(factor * (b / math.factorial(2 * k)))
        factor = factor * (near + (2 * k - 1.0)) * (near + 2.0 * k)
    return total + polynomial(inverse * inverse, terms) * power * inverse * inverse


def hurwitz_zeta(order: Term, x: Term, at_odd_pole: float) -> Term:
    """`zeta` for all x, negative ones too; both operands have one shape.

    For negative x, only whole orders have a value: zeta of x - floor(x) plus the terms from x up to
    there, which are a difference of two sums of positive numbers. The largest terms are added
    first, as they cancel if their signs differ. At 0 and the negative whole numbers the result is
    infinite for an even order, else `at_odd_pole`. It is NaN for orders below 1.
    """
    negative, part = x < 0.0, x - x.function(nn.Floor)
    sign = _is_whole(order * 0.5).choose(1.0, order.zeros() - 1.0)
    nearest = part ** (-order) + sign * (1.0 - part) ** (-order)
    others = zeta(order, part + 1.0) + sign * zeta(order, 2.0 - part)
    below = nearest + (others - sign * zeta(order, 1.0 - x))
    below = _is_whole(order).choose(below, math.nan)
    found = negative.choose(below, zeta(order, negative.choose(1.0, x)))
    pole = (x <= 0.0) & _is_whole(x)
    found = pole.choose((sign > 0.0).choose(math.inf, found.zeros() + at_odd_pole), found)
    return order.equals(1.0).choose(math.inf, (order < 1.0).choose(math.nan, found))


def _is_whole(x: Term) -> Term:
    return x.equals(x.function(nn.Floor))


def polygamma_of_orders(order: Term, x: Term) -> Term:
    """The derivatives of digamma; `order` [..] are whole numbers from 1 on, one per element."""
    following = order + 1.0
    size = exp(lgamma(following)) * hurwitz_zeta(following, x, math.nan)
    return _is_whole(following * 0.5).choose(size, -size)


def polygamma(order: int, x: Term) -> Term:
    """The derivative of digamma of an order from 1 on: 6.4.10, and 6.4.7 for negative numbers."""
    negative = x < 0.0
    size = zeta(order + 1.0, negative.choose(1.0 - x, x)) * float(math.factorial(order))
    part = (x - x.function(nn.Round)) * math.pi
    turned = polynomial(part.function(nn.Cos) / part.function(nn.Sin), _slopes_of_cot(order))
    positive = size if order % 2 else -size
    pole = negative & part.equals(0.0)
    below = pole.choose(math.inf * (-1) ** (order + 1), -turned - size)
    return negative.choose(below, positive)


def _slopes_of_cot(order: int) -> list[float]:
    """The coefficients of a derivative of pi * cot(pi * x) as a polynomial of cot(pi * x)."""
    found = Polynomial([0.0, math.pi])
    for _ in range(order):
        found = -math.pi * found.deriv() * Polynomial([1.0, 0.0, 1.0])
    return [float(c) for c in found.coef]

"""The regularized incomplete gamma and beta functions, of f64.

Series and continued fractions go on until no element's value changes. Source: Abramowitz and
Stegun, "Handbook of Mathematical Functions" (1964), by the numbers of formulas; continued fractions
by Lentz's method.
"""

from __future__ import annotations

from .loops import Iteration, while_loop
from .special import exp, lgamma, log
from .words import *

_LEAST = 1e-300
"""Replaces 0 in divisors of a continued fraction."""

_MOST = 100_000
"""The most iterations of a series or a continued fraction."""

Step = Callable[[Term, Sequence[Term]], tuple[list[Term], Term]]
"""(number of the step, states) -> (next states, relative change)."""


def incomplete_gamma(a: Term, x: Term, lower: bool) -> Term:
    """The regularized incomplete gamma function: P (integral from 0 to x) if `lower`, else Q (from
    x).

    Both operands have one shape.
    """
    inside = (a >= 0.0) & (x >= 0.0) & (a < math.inf) & (x < math.inf)
    total, fraction = _incomplete_sums(inside.choose(a, 1.0), inside.choose(x, 1.0))
    size = exp(a * log(x) - x - lgamma(a + 1.0))
    below, above = size * total, size * a * fraction
    near = x <= a + 1.0
    found = near.choose(below, 1.0 - above) if lower else near.choose(1.0 - below, above)
    ends = x.equals(math.inf)
    whole = (ends if lower else ~ends).cast(f64)
    found = (ends ^ a.equals(math.inf)).choose(whole, found)
    known = (a >= 0.0) & (x >= 0.0) & ~(ends & a.equals(math.inf))
    return known.choose(found, math.nan)


def _incomplete_sums(a: Term, x: Term) -> tuple[Term, Term]:
    """The series 6.5.29 for x up to a + 1, and the continued fraction 6.5.31 for others."""
    one = a * 0.0 + 1.0
    small, large = x.min(a + 1.0), x.max(a + 1.0)
    near = x <= a + 1.0

    def step(k: Term, values: Sequence[Term]) -> tuple[list[Term], Term]:
        term, total, c, d, fraction = values
        term = term * small / (a + k)
        total = total + term
        b, numerator = large - a + 1.0 + k * 2.0, k * (a - k)
        d = 1.0 / _safe(numerator * d + b)
        c = _safe(b + numerator / c)
        fraction = fraction * c * d
        return [term, total, c, d, fraction], near.choose(term / total, c * d - 1.0)

    first = 1.0 / _safe(large - a + 1.0)
    _, total, _, _, fraction = _converged([one, one, one / _LEAST, first, first], step)
    return total, fraction


def incomplete_beta(a: Term, b: Term, x: Term) -> Term:
    """The regularized incomplete beta function, the integral from 0 to x: 26.5.8.

    All operands have one shape.
    """
    turned = x > (a + 1.0) / (a + b + 2.0)
    p, q, at = turned.choose(b, a), turned.choose(a, b), turned.choose(1.0 - x, x)
    inside = (x > 0.0) & (x < 1.0) & (a > 0.0) & (b > 0.0)
    p, q, at = (inside.choose(v, 0.5) for v in (p, q, at))
    one = p * 0.0 + 1.0

    def step(k: Term, values: Sequence[Term]) -> tuple[list[Term], Term]:
        c, d, fraction = values
        even = k * (q - k) * at / ((p + k * 2.0 - 1.0) * (p + k * 2.0))
        odd = -(p + k) * (p + q + k) * at / ((p + k * 2.0) * (p + k * 2.0 + 1.0))
        before = fraction
        for numerator in (even, odd):
            d, c = 1.0 / _safe(numerator * d + 1.0), _safe(1.0 + numerator / c)
            fraction = fraction * c * d
        return [c, d, fraction], fraction / before - 1.0

    first = 1.0 / _safe(1.0 - (p + q) * at / (p + 1.0))
    _, _, fraction = _converged([one, first, first], step)
    size = lgamma(p + q) - lgamma(p) - lgamma(q) + p * log(at) + q * (-at).function(nn.Log1p)
    found = exp(size) * fraction / p
    found = turned.choose(1.0 - found, found)
    whole = (a > 0.0) & (b > 0.0) & (x.equals(0.0) | x.equals(1.0))
    return inside.choose(found, whole.choose(x, math.nan))


def _safe(v: Term) -> Term:
    return (v.function(nn.Abs) < _LEAST).choose(_LEAST, v)


def _converged(starts: Sequence[Term], step: Step) -> list[Term]:
    """The states after as many steps as it takes for the relative change to become negligible.

    Steps are numbered from 1.
    """
    n = starts[0].n

    def iteration(number: Value, flag: Value, values: list[Value]) -> Iteration:
        k = Term(n, n.cast(number, f64)) + 1.0
        after, change = step(k, [Term(n, v) for v in values])
        going = (change.function(nn.Abs) > 1e-15).flat().cast(i64).largest(0) > 0
        return Iteration([v.value for v in after], going=going.value)

    most = n.constant(_MOST, i64)
    found, _ = while_loop(n, iteration, [v.value for v in starts], most, n.constant(True))
    return [Term(n, v) for v in found]

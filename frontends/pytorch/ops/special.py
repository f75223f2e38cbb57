"""Special functions: of the error function's, the gamma function's and Bessel's families.

They are computed in f64 where sums cancel. Source: Abramowitz and Stegun, "Handbook of
Mathematical Functions" (1964), by the numbers of formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import f64, i64
from ...common.bessel import (
    airy_ai,
    bessel_i,
    bessel_j,
    bessel_k,
    bessel_y,
    spherical_bessel_j0,
)
from ...common.loops import Iteration, while_loop
from ...common.special import (
    digamma,
    erfcx,
    erfinv,
    exp,
    lgamma,
    log,
    log_ndtr,
    ndtr,
    ndtri,
    polygamma,
    zero_where_zero,
    zeta,
)
from ...common.terms import Term
from ..layer import AtenLayer
from ..rows import ROWS, Row, table
from .views import broadcast_tensors


def _wide(formula: Callable[[Term], Term]) -> Row:
    """A function of floats, computed in f64."""

    def row(n: AtenLayer, self: Any = None, x: Any = None) -> Value:
        x = n.floating(x if self is None else self)
        return n.cast(formula(Term(n, n.cast(x, f64))).value, x.type.element_type)

    return row


@ROWS("aten.polygamma", "aten.special_polygamma")
def derivative_of_digamma(n: AtenLayer, self: Value, n_: int) -> Value:
    """The n-th derivative of digamma."""
    order = n.int(n_)
    return _wide(digamma if order == 0 else partial(polygamma, order))(n, self)


@ROWS("aten.special_zeta")
def hurwitz_zeta(n: AtenLayer, self: Any, other: Any) -> Value:
    """Infinite at poles; below them only whole orders have a value, from -9 on."""
    given = [n.floating(v) for v in n.promoted(self, other)]
    order, x = (Term(n, n.cast(v, f64)) for v in broadcast_tensors(n, given))
    is_whole, has_pole = (v.equals(v.function(nn.Floor)) for v in (order, x))
    found = zeta(order, x)
    found = ((x <= 0.0) & ~is_whole | (order < 1.0) | (x < -9.0)).choose(math.nan, found)
    found = ((x <= 0.0) & has_pole | order.equals(1.0)).choose(math.inf, found)
    return n.cast(found.value, given[0].type.element_type)


@ROWS("aten.mvlgamma", "aten.special_multigammaln")
def multivariate_lgamma(n: AtenLayer, self: Value, p: int) -> Value:
    def formula(x: Term) -> Term:
        parts = [lgamma(x - i / 2) for i in range(p)]
        return reduce(Term.__add__, parts) + p * (p - 1) / 4 * math.log(math.pi)

    return _wide(formula)(n, self)


_LEAST = 1e-300
"""Stands for 0 in divisors of a continued fraction."""


@ROWS("aten.igamma", "aten.igammac", "aten.special_gammainc", "aten.special_gammaincc")
def incomplete_gamma(n: AtenLayer, self: Value, other: Value) -> Value:
    """The share of gamma(a)'s integral below x, or of `igammac` above it."""
    lower = n.kind.split(".")[1] in ("igamma", "special_gammainc")
    given = [n.floating(v) for v in n.promoted(self, other)]
    a, x = (Term(n, n.cast(v, f64)) for v in broadcast_tensors(n, given))
    total, fraction = _incomplete_sums(a, x)
    size = exp(a * log(x) - x - lgamma(a + 1.0))
    below, above = size * total, size * a * fraction
    near = x <= a + 1.0
    found = near.choose(below, 1.0 - above) if lower else near.choose(1.0 - below, above)
    ends = x.equals(math.inf)
    whole = (ends if lower else ~ends).cast(f64)
    found = (ends ^ a.equals(math.inf)).choose(whole, found)
    known = (a >= 0.0) & (x >= 0.0) & ~(ends & a.equals(math.inf))
    return known.choose(found, math.nan).cast(given[0].type.element_type).value


def _incomplete_sums(a: Term, x: Term) -> tuple[Term, Term]:
    """The series 6.5.29 for x up to a + 1, and the continued fraction 6.5.31 for others.

    Terms are taken until no element's sum changes, those of fractions by Lentz's method.
    """
    n, one = a.n, a * 0.0 + 1.0
    small, large = x.min(a + 1.0), x.max(a + 1.0)
    near = x <= a + 1.0

    def safe(v: Term) -> Term:
        return (v.function(nn.Abs) < _LEAST).choose(_LEAST, v)

    def step(number: Value, flag: Value, values: list[Value]) -> Iteration:
        k = Term(n, n.cast(number, f64)) + 1.0
        term, total, c, d, fraction = (Term(n, v) for v in values)
        term = term * small / (a + k)
        total = total + term
        b, numerator = large - a + 1.0 + k * 2.0, k * (a - k)
        d = 1.0 / safe(numerator * d + b)
        c = safe(b + numerator / c)
        fraction = fraction * c * d
        change = near.choose(term / total, c * d - 1.0).function(nn.Abs)
        going = (change > 1e-15).flat().cast(i64).largest(0) > 0
        return Iteration([v.value for v in (term, total, c, d, fraction)], going=going.value)

    first = 1.0 / safe(large - a + 1.0)
    starts = [one, one, one / _LEAST, first, first]
    most = n.constant(100_000, i64)
    found, _ = while_loop(n, step, [v.value for v in starts], most, n.constant(True))
    return Term(n, found[1]), Term(n, found[4])


# -- rows ------------------------------------------------------------------------------------------


def _entropy(x: Term) -> Term:
    return (x < 0.0).choose(-math.inf, zero_where_zero(x, -x * log(x)))


def _sinc(x: Term) -> Term:
    turn = x * math.pi
    return turn.equals(0.0).choose(1.0, turn.function(nn.Sin) / turn)


table(
    _wide,
    erfinv=erfinv,
    special_erfinv=erfinv,
    special_erfcx=erfcx,
    special_ndtr=ndtr,
    special_log_ndtr=log_ndtr,
    special_ndtri=ndtri,
    lgamma=lgamma,
    special_gammaln=lgamma,
    digamma=digamma,
    special_digamma=digamma,
    special_psi=digamma,
    sinc=_sinc,
    special_sinc=_sinc,
    special_entr=_entropy,
    i0=bessel_i(0, False),
    special_i0=bessel_i(0, False),
    special_i0e=bessel_i(0, True),
    special_i1=bessel_i(1, False),
    special_i1e=bessel_i(1, True),
    special_modified_bessel_i0=bessel_i(0, False),
    special_modified_bessel_i1=bessel_i(1, False),
    special_modified_bessel_k0=bessel_k(0, False),
    special_modified_bessel_k1=bessel_k(1, False),
    special_scaled_modified_bessel_k0=bessel_k(0, True),
    special_scaled_modified_bessel_k1=bessel_k(1, True),
    special_bessel_j0=bessel_j(0),
    special_bessel_j1=bessel_j(1),
    special_bessel_y0=bessel_y(0),
    special_bessel_y1=bessel_y(1),
    special_spherical_bessel_j0=spherical_bessel_j0,
    special_airy_ai=airy_ai,
)


@ROWS("aten.xlogy", "aten.special_xlogy", "aten.special_xlog1py")
def xlogy(n: AtenLayer, self: Any, other: Any) -> Value:
    """x * log(y), or log(1 + y); 0 where x is 0, but for a y that is no number."""
    lhs, rhs = n.promoted(self, other)
    x, y = Term(n, n.floating(lhs)), Term(n, n.floating(rhs))
    found = zero_where_zero(x, x * y.function(nn.Log1p if "log1p" in n.kind else nn.Log))
    return y.function(nn.IsNan).choose(math.nan, found).value

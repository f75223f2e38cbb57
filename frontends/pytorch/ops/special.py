"""Special functions: of the error function's, the gamma function's and Bessel's families.

They are computed in f64 where sums cancel. Source: Abramowitz and Stegun, "Handbook of
Mathematical Functions" (1964), by the numbers of formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import f64
from ...common.terms import Term
from ..layer import AtenLayer
from ..rows import ROWS, Row, table


def _wide(formula: Callable[[Term], Term]) -> Row:
    """A function of floats, computed in f64."""

    def row(n: AtenLayer, self: Value) -> Value:
        x = n.floating(self)
        return n.cast(formula(Term(n, n.cast(x, f64))).value, x.type.element_type)

    return row


def _log(x: Term) -> Term:
    return x.function(nn.Log)


def _exp(x: Term) -> Term:
    return x.function(nn.Exp)


def _polynomial(x: Term, coefficients: Sequence[float]) -> Term:
    """The sum of coefficients times powers of x, from that of x**0 on, by Horner's rule."""
    *others, last = coefficients
    return reduce(lambda total, c: total * x + c, reversed(others), x * 0.0 + last)


def _zero_where_zero(x: Term, product: Term) -> Term:
    """A product with x, 0 where x is 0 whatever the other factor is."""
    return x.equals(0.0).choose(x * 0.0, product)


# -- the error function ----------------------------------------------------------------------------


def _erfcx(x: Term) -> Term:
    """exp(x**2) * erfc(x); from 8 on by 7.1.23."""
    far = 1.0 / (x * x * 2.0).max(1.0)
    terms = [(-1) ** k * math.prod(range(1, 2 * k, 2)) for k in range(9)]
    behind = _polynomial(far, terms) / (x * math.sqrt(math.pi))
    near = x.min(8.0)
    return (x > 8.0).choose(behind, _exp(near * near) * near.function(nn.Erfc))


def _log_ndtr(x: Term) -> Term:
    tail = _log(_erfcx(x.min(0.0) * -math.sqrt(0.5)) * 0.5) - x * x * 0.5
    return (x < -1.0).choose(tail, _log(_ndtr(x.max(-1.0))))


def _ndtr(x: Term) -> Term:
    return (x * -math.sqrt(0.5)).function(nn.Erfc) * 0.5


def _inverse_of_parts(size: Term, rest: Term) -> Term:
    """Where erf is `size` and erfc is `rest`, their sum being 1 and neither negative.

    Winitzki's approximation (2008) and three steps of Halley's method.
    """
    a = 0.147
    log = _log((rest * (2.0 - rest)).max(1e-300))
    half = log * 0.5 + 2 / (math.pi * a)
    x = ((half * half - log / a).function(nn.Sqrt) - half).max(0.0).function(nn.Sqrt)
    for _ in range(3):
        miss = (size < 0.5).choose(x.function(nn.Erf) - size, rest - x.function(nn.Erfc))
        step = miss * _exp(x * x) * (math.sqrt(math.pi) / 2)
        x = x - step / (x * step + 1.0)
    return rest.equals(0.0).choose(math.inf, (rest < 0.0).choose(math.nan, x))


def _erfinv(y: Term) -> Term:
    size = y.function(nn.Abs)
    found = _inverse_of_parts(size, 1.0 - size)
    return (y < 0.0).choose(-found, found)


def _ndtri(p: Term) -> Term:
    rest = p.min(1.0 - p) * 2.0
    found = _inverse_of_parts(1.0 - rest, rest) * math.sqrt(2)
    return (p < 0.5).choose(-found, found)


# -- the gamma function ----------------------------------------------------------------------------

_SHIFT = 10
"""Where series for large arguments are used; smaller ones are brought there by recurrence."""

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
"""Those of even index, from 2 on."""


def _lgamma(x: Term) -> Term:
    """6.1.40, and 6.1.17 for negative numbers."""
    negative = x < 0.5
    y = negative.choose(1.0 - x, x)
    far = y + float(_SHIFT)
    passed = reduce(lambda total, k: total * (y + float(k)), range(1, _SHIFT), y)
    inverse = 1.0 / far
    terms = [b / ((2 * k) * (2 * k - 1)) for k, b in enumerate(_BERNOULLI, 1)]
    series = _polynomial(inverse * inverse, terms) * inverse
    found = (far - 0.5) * _log(far) - far + (math.log(2 * math.pi) / 2) + series - _log(passed)
    found = y.equals(math.inf).choose(math.inf, found)
    turned = _log(math.pi / _sine_of_turn(x).function(nn.Abs)) - found
    return negative.choose(turned, found)


def _sine_of_turn(x: Term) -> Term:
    """sin(pi * x), exact where x is whole."""
    rest = x - (x * 0.5).function(nn.Floor) * 2.0
    sine = (rest * math.pi).function(nn.Sin)
    return rest.equals(rest.function(nn.Floor)).choose(0.0, sine)


def _digamma(x: Term) -> Term:
    """6.3.18, and 6.3.7 for negative numbers; infinite at 0, no number at those below."""
    negative = x < 0.0
    y = negative.choose(1.0 - x, x)
    far = y + float(_SHIFT)
    inverse = 1.0 / far
    terms = [-b / (2 * k) for k, b in enumerate(_BERNOULLI, 1)]
    found = _log(far) - inverse * 0.5 + _polynomial(inverse * inverse, terms) * inverse * inverse
    for k in range(_SHIFT):
        found = found - 1.0 / (y + float(k))
    rest = x - x.function(nn.Floor)
    turned = found - math.pi / (rest * math.pi).function(nn.Tan)
    turned = rest.equals(0.0).choose(math.nan, turned)
    return x.equals(0.0).choose(-1.0 / x, negative.choose(turned, found))


def _zeta(order: int, x: Term) -> Term:
    """The sum of (x + k)**-order for all k from 0: Euler and Maclaurin's formula, 23.2.5."""
    far = x + float(_SHIFT)
    power, inverse = far ** float(1 - order), 1.0 / far
    total = power / float(order - 1) + power * inverse * 0.5
    for k in range(_SHIFT):
        total = total + (x + float(k)) ** float(-order)
    factors = [math.prod(range(order, order + 2 * k - 1)) for k in range(1, len(_BERNOULLI) + 1)]
    terms = [
        b * f / math.factorial(2 * k)
        for k, (b, f) in enumerate(zip(_BERNOULLI, factors, strict=True), 1)
    ]
    return total + _polynomial(inverse * inverse, terms) * power * inverse * inverse


@ROWS("aten.polygamma", "aten.special_polygamma")
def polygamma(n: AtenLayer, self: Value, n_: int) -> Value:
    """The n-th derivative of digamma: 6.4.10."""
    order = n.int(n_)
    factor = (-1.0) ** (order + 1) * math.factorial(order)
    return _wide(_digamma if order == 0 else lambda x: _zeta(order + 1, x) * factor)(n, self)


@ROWS("aten.mvlgamma", "aten.special_multigammaln")
def multivariate_lgamma(n: AtenLayer, self: Value, p: int) -> Value:
    def formula(x: Term) -> Term:
        parts = [_lgamma(x - i / 2) for i in range(p)]
        return reduce(Term.__add__, parts) + p * (p - 1) / 4 * math.log(math.pi)

    return _wide(formula)(n, self)


# -- Bessel's functions ----------------------------------------------------------------------------

_MEETS = 20.0
"""Where the series by powers, 9.6.10, ends, and that by inverse powers, 9.7.1, begins."""


def _bessel(order: int, scaled: bool) -> Callable[[Term], Term]:
    """I of an order, 0 or 1; scaled by exp(-abs(x))."""
    powers = [
        0.25**k / (math.factorial(k) * math.factorial(k + order)) * 0.5**order for k in range(40)
    ]
    steps = [((2 * k - 1) ** 2 - 4 * order**2) / (8 * k) for k in range(1, 13)]
    inverses = np.cumprod([1.0, *steps]).tolist()

    def formula(x: Term) -> Term:
        size = x.function(nn.Abs)
        small = size.min(_MEETS)
        near, far = _polynomial(small * small, powers), size.max(_MEETS)
        if order:
            near = near * small
        behind = _polynomial(1.0 / far, inverses) / (far * (2 * math.pi)).function(nn.Sqrt)
        near = near * _exp(-small) if scaled else near
        found = (size > _MEETS).choose(behind if scaled else behind * _exp(far), near)
        return (x < 0.0).choose(-found, found) if order else found

    return formula


# -- rows ------------------------------------------------------------------------------------------


def _entropy(x: Term) -> Term:
    return (x < 0.0).choose(-math.inf, _zero_where_zero(x, -x * _log(x)))


def _sinc(x: Term) -> Term:
    turn = x * math.pi
    return turn.equals(0.0).choose(1.0, turn.function(nn.Sin) / turn)


table(
    _wide,
    erfinv=_erfinv,
    special_erfinv=_erfinv,
    special_erfcx=_erfcx,
    special_ndtr=_ndtr,
    special_log_ndtr=_log_ndtr,
    special_ndtri=_ndtri,
    lgamma=_lgamma,
    special_gammaln=_lgamma,
    digamma=_digamma,
    special_digamma=_digamma,
    special_psi=_digamma,
    sinc=_sinc,
    special_sinc=_sinc,
    special_entr=_entropy,
    i0=_bessel(0, False),
    special_i0=_bessel(0, False),
    special_i0e=_bessel(0, True),
    special_i1=_bessel(1, False),
    special_i1e=_bessel(1, True),
)


@ROWS("aten.xlogy", "aten.special_xlogy", "aten.special_xlog1py")
def xlogy(n: AtenLayer, self: Any, other: Any) -> Value:
    """x * log(y), or log(1 + y); 0 where x is 0, but for a y that is no number."""
    lhs, rhs = n.promoted(self, other)
    x, y = Term(n, n.floating(lhs)), Term(n, n.floating(rhs))
    found = _zero_where_zero(x, x * y.function(nn.Log1p if "log1p" in n.kind else nn.Log))
    return y.function(nn.IsNan).choose(math.nan, found).value

"""Special functions: of the error function's, the gamma function's and Bessel's families.

They are computed in f64 where sums cancel. Source: Abramowitz and Stegun, "Handbook of
Mathematical Functions" (1964), by the numbers of formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import f64
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
    polynomial,
    zero_where_zero,
    zeta,
)
from ...common.terms import Term
from ..layer import AtenLayer
from ..rows import ROWS, Row, table


def _wide(formula: Callable[[Term], Term]) -> Row:
    """A function of floats, computed in f64."""

    def row(n: AtenLayer, self: Value) -> Value:
        x = n.floating(self)
        return n.cast(formula(Term(n, n.cast(x, f64))).value, x.type.element_type)

    return row


@ROWS("aten.polygamma", "aten.special_polygamma")
def polygamma(n: AtenLayer, self: Value, n_: int) -> Value:
    """The n-th derivative of digamma: 6.4.10."""
    order = n.int(n_)
    factor = (-1.0) ** (order + 1) * math.factorial(order)
    return _wide(digamma if order == 0 else lambda x: zeta(order + 1, x) * factor)(n, self)


@ROWS("aten.mvlgamma", "aten.special_multigammaln")
def multivariate_lgamma(n: AtenLayer, self: Value, p: int) -> Value:
    def formula(x: Term) -> Term:
        parts = [lgamma(x - i / 2) for i in range(p)]
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
        near, far = polynomial(small * small, powers), size.max(_MEETS)
        if order:
            near = near * small
        behind = polynomial(1.0 / far, inverses) / (far * (2 * math.pi)).function(nn.Sqrt)
        near = near * exp(-small) if scaled else near
        found = (size > _MEETS).choose(behind if scaled else behind * exp(far), near)
        return (x < 0.0).choose(-found, found) if order else found

    return formula


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
    found = zero_where_zero(x, x * y.function(nn.Log1p if "log1p" in n.kind else nn.Log))
    return y.function(nn.IsNan).choose(math.nan, found).value

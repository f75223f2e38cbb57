"""Special functions of the families of the error function, the gamma function and Bessel's.

They are computed in f64 where sums cancel. Source: Abramowitz and Stegun, "Handbook of Mathematical
Functions" (1964), by the numbers of formulas.
"""

from __future__ import annotations

from functools import partial, reduce

from ...common.bessel import (
    airy_ai,
    bessel_i,
    bessel_j,
    bessel_k,
    bessel_y,
    spherical_bessel_j0,
)
from ...common.formulas import sinc, widened
from ...common.incomplete import incomplete_gamma
from ...common.special import (
    digamma,
    erfcx,
    erfinv,
    hurwitz_zeta,
    lgamma,
    log,
    log_ndtr,
    ndtr,
    ndtri,
    polygamma,
    zero_where_zero,
)
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS, Row, table
from .views import broadcast_tensors


def _wide(formula: Callable[[Term], Term]) -> Row:
    """A converter of a function of floats, computed in f64."""

    def row(n: AtenLayer, self: Any = None, x: Any = None) -> Value:
        return widened(formula, Term(n, n.floating(x if self is None else self))).value

    return row


@ROWS("aten.polygamma", "aten.special_polygamma")
def derivative_of_digamma(n: AtenLayer, self: Value, n_: int) -> Value:
    """The n-th derivative of digamma."""
    order = n.int(n_)
    return _wide(digamma if order == 0 else partial(polygamma, order))(n, self)


@ROWS("aten.special_zeta")
def special_zeta(n: AtenLayer, self: Any, other: Any) -> Value:
    """Hurwitz's zeta: infinite at poles; NaN for infinite x, and for infinite orders if x > 1."""
    given = n.promoted_floating(self, other)
    order, x = (Term(n, n.cast(v, f64)) for v in broadcast_tensors(n, given))
    found = hurwitz_zeta(order, x, math.inf)
    is_infinite = x.equals(math.inf) | order.equals(math.inf) & (x > 1.0)
    found = (is_infinite & ~order.equals(1.0)).choose(math.nan, found)
    return n.cast(found.value, given[0].type.element_type)


@ROWS("aten.mvlgamma", "aten.special_multigammaln")
def multivariate_lgamma(n: AtenLayer, self: Value, p: int) -> Value:
    def formula(x: Term) -> Term:
        parts = [lgamma(x - i / 2) for i in range(p)]
        return reduce(Term.__add__, parts) + p * (p - 1) / 4 * math.log(math.pi)

    return _wide(formula)(n, self)


@ROWS("aten.igamma", "aten.igammac", "aten.special_gammainc", "aten.special_gammaincc")
def share_of_gamma(n: AtenLayer, self: Value, other: Value) -> Value:
    """The regularized incomplete gamma function: below x, or above it for `igammac`."""
    lower = n.kind.split(".")[1] in ("igamma", "special_gammainc")
    given = broadcast_tensors(n, n.promoted_floating(self, other))
    formula = partial(incomplete_gamma, lower=lower)
    return widened(formula, *(Term(n, v) for v in given)).value


# -- rows ------------------------------------------------------------------------------------------


def _entropy(x: Term) -> Term:
    return (x < 0.0).choose(-math.inf, zero_where_zero(x, -x * log(x)))


table(
    _wide,
    "elements",
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
    sinc=sinc,
    special_sinc=sinc,
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


@ROWS("aten.xlogy", "aten.special_xlogy", "aten.special_xlog1py", batched="elements")
def xlogy(n: AtenLayer, self: Any, other: Any) -> Value:
    """x * log(y), or x * log(1 + y); 0 where x is 0, except for a NaN y."""
    x, y = (Term(n, v) for v in n.promoted_floating(self, other))
    found = zero_where_zero(x, x * y.function(nn.Log1p if "log1p" in n.kind else nn.Log))
    return y.function(nn.IsNan).choose(math.nan, found).value

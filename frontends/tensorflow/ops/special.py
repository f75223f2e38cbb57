"""Special functions, in f64, and gradients of activations."""

from __future__ import annotations

from ...common import bessel, special
from ...common.incomplete import incomplete_beta, incomplete_gamma
from ...common.vocabulary import *
from ..layer import TfLayer, rows


def wide(formula: Callable[..., Term]) -> Callable[..., Value]:
    """A converter of a function of floats, computed in f64, with broadcasting operands."""

    def convert(n: TfLayer, *xs: Value) -> Value:
        terms = [Term(n, n.cast(x, f64)) for x in xs]
        if len(terms) > 1:
            alike = terms[0].equals(terms[0])
            for term in terms[1:]:
                alike = alike | term.equals(term)
            terms = [alike.choose(term, term) for term in terms]
        return n.cast(formula(*terms).value, xs[0].type.element_type)

    return lambda n, x, y=None, z=None: convert(n, *(v for v in (x, y, z) if v is not None))


def _digamma(x: Term) -> Term:
    """Digamma; NaN at 0, as at all poles."""
    return x.equals(0.0).choose(math.nan, special.digamma(x))


def _lgamma(x: Term) -> Term:
    return x.function(nn.Abs).equals(math.inf).choose(math.inf, special.lgamma(x))


def _bessel_k(order: int, scaled: bool) -> Callable[[Term], Term]:
    """The Bessel function K; infinite for x <= 0."""
    formula = bessel.bessel_k(order, scaled)

    def edged(x: Term) -> Term:
        found = x.equals(math.inf).choose(0.0, formula(x))
        return (x <= 0.0).choose(math.inf, found)

    return edged


def _bessel_y(order: int) -> Callable[[Term], Term]:
    """The Bessel function Y; -infinity below 0; at 0, -infinity for order 0, else NaN."""
    formula = bessel.bessel_y(order)
    at_zero = math.nan if order else -math.inf
    return lambda x: (x < 0.0).choose(-math.inf, x.equals(0.0).choose(at_zero, formula(x)))


def _gamma_below(a: Term, x: Term) -> Term:
    """The regularized lower incomplete gamma function; 0 at x = 0 for any a."""
    found = (a <= 0.0).choose(math.nan, incomplete_gamma(a, x, lower=True))
    both = a.equals(math.inf) & x.equals(math.inf)
    return (both | x.equals(0.0)).choose(0.0, found)


def _gamma_above(a: Term, x: Term) -> Term:
    found = (a <= 0.0).choose(math.nan, incomplete_gamma(a, x, lower=False))
    return (a.equals(math.inf) & x.equals(math.inf)).choose(0.0, found)


def _zeta(order: Term, x: Term) -> Term:
    return special.hurwitz_zeta(order, x, math.nan)


def _polygamma(order: Term, x: Term) -> Term:
    """Polygamma; of order 0 it is digamma; NaN for negative or fractional orders."""
    is_order = (order >= 0.0) & order.equals(order.function(nn.Floor))
    found = is_order.choose(special.polygamma_of_orders(order, x), math.nan)
    return order.equals(0.0).choose(_digamma(x), found)


rows.add({
    "Lgamma": wide(_lgamma),
    "Digamma": wide(_digamma),
    "Erfinv": wide(special.erfinv),
    "Ndtri": wide(special.ndtri),
    "Igamma": wide(_gamma_below),
    "Igammac": wide(_gamma_above),
    "Betainc": wide(incomplete_beta),
    "Zeta": wide(_zeta),
    "Polygamma": wide(_polygamma),
} | {
    f"Bessel{letter}{order}{'e' if scaled else ''}": wide(make(order, scaled))
    for letter, make in (("I", bessel.bessel_i), ("K", _bessel_k))
    for order in (0, 1) for scaled in (False, True)
} | {
    f"Bessel{letter}{order}": wide(make(order))
    for letter, make in (("J", bessel.bessel_j), ("Y", _bessel_y)) for order in (0, 1)
})  # fmt: skip


# -- derivatives ----------------------------------------------------------------------------------

_SCALE = 1.0507009873554805
_ALPHA = 1.6732632423543772


def _selu(x: Term) -> Term:
    return (x < 0.0).choose(x.function(nn.Expm1) * (_SCALE * _ALPHA), x * _SCALE)


def _of_selu(dy: Term, y: Term) -> Term:
    return (y < 0.0).choose(dy * (y + _SCALE * _ALPHA), dy * _SCALE)


def _product(dy: Term, slope: Term) -> Term:
    """dy * slope; 0 where dy is 0, even for an infinite slope."""
    return special.zero_where_zero(dy, dy * slope)


_DERIVATIVES: dict[str, Callable[..., Term]] = {
    "SigmoidGrad": lambda y, dy: dy * y * (1.0 - y),
    "TanhGrad": lambda y, dy: dy * (1.0 - y * y),
    "SqrtGrad": lambda y, dy: _product(dy, 0.5 / y),
    "RsqrtGrad": lambda y, dy: _product(dy, y * y * y * -0.5),
    "InvGrad": lambda y, dy: _product(dy, -y * y),
    "ReciprocalGrad": lambda y, dy: _product(dy, -y * y),
    "EluGrad": lambda dy, y: (y < 0.0).choose(dy * (y + 1.0), dy),
    "SeluGrad": _of_selu,
    "SoftplusGrad": lambda dy, x: dy / ((-x).function(nn.Exp) + 1.0),
    "ReluGrad": lambda dy, y: dy * (y > 0).cast(y.element),
    "Relu6Grad": lambda dy, y: dy * ((y > 0) & (y < 6)).cast(y.element),
}


def _formula(make: Callable[..., Term]) -> Callable[..., Value]:
    return lambda n, x, y: make(Term(n, x), Term(n, y)).value


rows.add({name: _formula(make) for name, make in _DERIVATIVES.items()})
rows.add({"Selu": lambda n, x: _selu(Term(n, x)).value})

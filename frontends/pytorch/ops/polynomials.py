"""Orthogonal polynomials, by their recurrences.

Source: Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), table 22.7.
"""

from __future__ import annotations

from ...common.linear_algebra import steps
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import Row, table

Recurrence = Callable[[Any, Term, Term, Term], Term]
"""(k, x, polynomial k, polynomial k - 1) -> polynomial k + 1."""


def _twice(k: Any, x: Term, here: Term, before: Term) -> Term:
    return x * here * 2.0 - before


def _hermite(k: Any, x: Term, here: Term, before: Term) -> Term:
    return x * here * 2.0 - before * (2.0 * k)


def _hermite_of_chances(k: Any, x: Term, here: Term, before: Term) -> Term:
    return x * here - before * (1.0 * k)


def _laguerre(k: Any, x: Term, here: Term, before: Term) -> Term:
    return (here * (2.0 * k + 1.0 - x) - before * (1.0 * k)) / (k + 1.0)


def _legendre(k: Any, x: Term, here: Term, before: Term) -> Term:
    return (x * here * (2.0 * k + 1.0) - before * (1.0 * k)) / (k + 1.0)


def _polynomial(given: tuple[float, float, Recurrence, bool]) -> Row:
    """A converter by the polynomial a * x + b of degree 1, the recurrence, a flag for [0, 1]."""
    slope, start, following, shifted = given

    def row(n: AtenLayer, x: Any, n_: Any) -> Value:
        whole, degree = _operands(n, x, n_)
        at = whole.cast(f64)
        at = at * 2.0 - 1.0 if shifted else at
        first = at.zeros() + 1.0, at * slope + start
        degrees = n.known(degree.value)
        if degrees is None:
            found = _of_late_degrees(n, degree, at, first, following)
        else:
            made = [*first]
            for k in range(1, int(degrees.max(initial=0))):
                made.append(following(k, at, made[k], made[k - 1]))
            found = at.zeros()
            for k in sorted({int(k) for k in degrees.flat if k >= 0}):
                found = degree.equals(k).choose(made[k], found)
        return found.cast(whole.element).value

    return row


def _operands(n: AtenLayer, x: Any, degree: Any) -> tuple[Term, Term]:
    """x broadcast with the degree, and the degree as an integer, negative if it is not finite."""
    both = [x, degree] if isinstance(degree, Value) else [x]
    whole, given = Term(n, n.promoted_floating(*both)[0]), Term(n, n.as_value(degree))
    if isinstance(given.element, FloatType):
        is_finite = given.function(nn.Abs) < math.inf
        given = is_finite.choose(given, -1.0)
    given = given.cast(i64)
    return whole + given.cast(whole.element).zeros(), given


def _of_late_degrees(
    n: AtenLayer, degree: Term, x: Term, first: tuple[Term, Term], following: Recurrence
) -> Term:
    """The polynomials of degrees known only at run time, up to the largest of them."""

    def step(k: Term, states: list[Term]) -> list[Term]:
        before, here, found = states
        found = degree.equals(k + 1).choose(here, found)
        return [here, following((k + 1).cast(f64), x, here, before), found]

    last = degree.flat().largest(0).max(0)
    found = degree.equals(0).choose(first[0], x.zeros())
    return steps(n, last, [*first, found], step)[2]


_CHEBYSHEV = {"t": (1.0, 0.0), "u": (2.0, 0.0), "v": (2.0, -1.0), "w": (2.0, 1.0)}
table(
    _polynomial,
    batched=None,
    special_hermite_polynomial_h=(2.0, 0.0, _hermite, False),
    special_hermite_polynomial_he=(1.0, 0.0, _hermite_of_chances, False),
    special_laguerre_polynomial_l=(-1.0, 1.0, _laguerre, False),
    special_legendre_polynomial_p=(1.0, 0.0, _legendre, False),
    **{
        f"special_{name}chebyshev_polynomial_{kind}": (*first, _twice, bool(name))
        for kind, first in _CHEBYSHEV.items()
        for name in ("", "shifted_")
    },
)

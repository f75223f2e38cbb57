"""Orthogonal polynomials, by their recurrences.

Source: Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), table 22.7.
"""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import Row, table

Recurrence = Callable[[int, Term, Term, Term], Term]
"""The next polynomial by k, x, the one of degree k, and the one before."""


def _twice(k: int, x: Term, here: Term, before: Term) -> Term:
    return x * here * 2.0 - before


def _hermite(k: int, x: Term, here: Term, before: Term) -> Term:
    return x * here * 2.0 - before * (2.0 * k)


def _hermite_of_chances(k: int, x: Term, here: Term, before: Term) -> Term:
    return x * here - before * float(k)


def _laguerre(k: int, x: Term, here: Term, before: Term) -> Term:
    return (here * (2.0 * k + 1.0 - x) - before * float(k)) / (k + 1.0)


def _legendre(k: int, x: Term, here: Term, before: Term) -> Term:
    return (x * here * (2.0 * k + 1.0) - before * float(k)) / (k + 1.0)


def _polynomial(given: tuple[float, float, Recurrence, bool]) -> Row:
    """By the polynomial of degree 1, a * x + b, the others, and whether x is of 0 to 1."""
    slope, start, following, shifted = given

    def row(n: AtenLayer, x: Any, n_: Any) -> Value:
        degrees = n.known(n_) if isinstance(n_, Value) else np.array(n_)
        if degrees is None:
            raise n.error("the degree of a polynomial must be known at import")
        whole = Term(n, n.floating(x))
        wide = n_ if isinstance(n_, Value) and n_.type.rank else n.as_value(0, i64)
        whole = whole + Term(n, wide).cast(whole.element).zeros()
        at = Term(n, n.cast(whole.value, f64))
        at = at * 2.0 - 1.0 if shifted else at
        made = [at.zeros() + 1.0, at * slope + start]
        for k in range(1, int(degrees.max(initial=0))):
            made.append(following(k, at, made[k], made[k - 1]))
        if degrees.ndim == 0:
            found = made[int(degrees)] if degrees >= 0 else at.zeros()
        else:
            found = at.zeros()
            for k, one in enumerate(made):
                found = Term(n, wide).equals(k).choose(one, found)
        return found.cast(whole.element).value

    return row


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

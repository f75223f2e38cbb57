"""Bounds of forms for all values of parameters: for n >= 0, min(n + 1, 256) is in 1..256."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence

from .expressions import Form, is_closed, parts_of

_QUOTIENT = re.compile(r"floor\((\(.*\))/(\d+)\)")

Bounds = tuple[int | None, int | None]
"""(least value, greatest value); None where there is none, or none is known."""

_Extremes = Mapping[str, tuple[str, Form, Form]]


def bounds_of(text: str, counts: Container[str], extremes: _Extremes) -> Bounds:
    """The bounds of a sum of constants, of `counts`, which are >= 0, and of minima and maxima.

    `extremes` has the relation and the two forms of each minimum ("<=") and maximum (">=").
    """
    low: int | None = 0
    high: int | None = 0
    for times, term in parts_of(text):
        least, most = _of_term(term, counts, extremes)
        if times < 0:
            least, most = most, least
        low = None if low is None or least is None else low + times * least
        high = None if high is None or most is None else high + times * most
    return low, high


def is_natural(bounds: Bounds) -> bool:
    """Whether a number with these bounds is known not to be negative."""
    return bounds[0] is not None and bounds[0] >= 0


def _of_term(term: str, counts: Container[str], extremes: _Extremes) -> Bounds:
    if term == "1":
        return 1, 1
    if term in counts:
        return 0, None
    if (quotient := _QUOTIENT.fullmatch(term)) is not None and is_closed(quotient[1]):
        by = int(quotient[2])
        low, high = bounds_of(quotient[1], counts, extremes)
        return None if low is None else low // by, None if high is None else high // by
    if term not in extremes:
        return None, None
    relation, *forms = extremes[term]
    lows, highs = zip(*(bounds_of(form.text, counts, extremes) for form in forms), strict=True)
    # A minimum is at least the smaller of both lower bounds, and at most any upper bound.
    if relation == "<=":
        return _all(min, lows), _any(min, highs)
    return _any(max, lows), _all(max, highs)


_Ends = Sequence[int | None]


def _all(choose: Callable[..., int], ends: _Ends) -> int | None:
    return None if None in ends else choose(ends)


def _any(choose: Callable[..., int | None], ends: _Ends) -> int | None:
    return choose((end for end in ends if end is not None), default=None)

"""Modes and histograms, as in PyTorch and PaddlePaddle."""

from __future__ import annotations

from .movement import swapped
from .words import *


def mode(x: Term, axis: int) -> tuple[Term, Term]:
    """The most frequent value along an axis, the smallest of ties, and its last index.

    The axis is kept, with an extent of 1.
    """
    n, last = x.n, x.rank - 1
    x = Term(n, swapped(n, x.value, axis, last))
    own = [(x.value, i) for i in range(x.rank)]
    same = x.spread(0, 1).equals(x.reshape(*own[:-1], 1, own[-1])).cast(i64)
    often = same.sum(x.rank)
    most = often >= often.largest(last, keep=True)
    found = most.choose(x, limits_of(x.element)[1]).least(last, keep=True)
    places = x.equals(found).choose(counting(n, extent(n, (x.value, last))), -1)
    place = places.largest(last, keep=True).max(0)
    value, index = (Term(n, swapped(n, v.value, axis, last)) for v in (found, place))
    return value, index


def histogram(x: Term, low: Term, high: Term, bins: int, weights: Term | None = None) -> Term:
    """The number of elements of x [N], or the sum of their weights, in equal bins of a range.

    The last bin includes its end; an empty range is widened by 1 at both sides. The result has the
    element type of the weights, or else that of x.
    """
    n = x.n
    same = low.equals(high)
    low, high = same.choose(low - 1, low), same.choose(high + 1, high)
    steps = (x - low) * float(bins) / (high - low)
    inside = (x >= low) & (x <= high)
    place = inside.choose(steps, float(bins)).cast(i64)
    place = inside.choose(place.max(0).min(bins - 1), bins)
    added = constant(n, 1, x.element).filled(Term(n, shape_of(n, x.value)))
    added = added if weights is None else weights
    start = n.constant(np.zeros(bins + 1), added.element)
    found = n(nn.ScatterElements(start, place.value, added.value, axis=0, reduction="add"))
    return Term(n, found).part(0, 0, bins)

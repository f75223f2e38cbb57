"""Running results along an axis, by doubling: after k steps each element has its 2**k last ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .layer import Layer
from .movement import FAR, concat, slice_axis
from .terms import Term

Combine = Callable[[Sequence[Term], Sequence[Term]], Sequence[Term]]
"""From results of earlier elements and of those that follow them to those of all of them."""


def running(n: Layer, values: Sequence[Term], axis: int, combine: Combine) -> Sequence[Term]:
    """What combining all elements up to each one of an axis gives, of several tensors at once."""
    count = values[0].shape[axis]
    if count is None:
        raise n.error(f"the extent of axis {axis} must be known")

    def part(x: Term, begin: int, end: int) -> Term:
        return Term(n, slice_axis(n, x.value, axis, begin, end))

    step = 1
    while step < count:
        before = [part(x, 0, count - step) for x in values]
        here = [part(x, step, FAR) for x in values]
        later = combine(before, here)
        heads = [part(x, 0, step) for x in values]
        pairs = zip(heads, later, strict=True)
        values = [Term(n, concat(n, [a.value, b.value], axis)) for a, b in pairs]
        step *= 2
    return values

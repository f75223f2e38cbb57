"""Scans along an axis, by doubling: after k steps, each element combines the last 2**k."""

from __future__ import annotations

from .formulas import logaddexp
from .loops import Iteration, while_loop
from .movement import FAR, concat, slice_axis
from .words import *

Combine = Callable[[Sequence[Term], Sequence[Term]], Sequence[Term]]
"""(results of a run of elements, results of the run after it) -> results of both together."""


def running(n: Layer, values: Sequence[Term], axis: int, combine: Combine) -> Sequence[Term]:
    """The running combination along an axis: of all elements up to each one, of several tensors."""
    count = values[0].shape[axis]
    if count is None:
        return _running_open(n, values, axis, combine)

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


def logcumsumexp(n: Layer, x: Value, axis: int) -> Value:
    """The logarithm of the running sum of exp(x) along an axis."""
    (found,) = running(n, [Term(n, x)], axis, lambda a, b: [logaddexp(a[0], b[0])])
    return found.value


def running_extremes(n: Layer, x: Value, axis: int, greatest: bool) -> list[Value]:
    """The running extremes along an axis, and their indices in i64: of equal ones, the last.

    From the first NaN on, all are NaN.
    """
    place = counting(n, extent(n, (x, axis))).spread(0, x.type.rank - 1 - axis)
    places = Term(n, broadcast(n, place.value, dims(x)))

    def combine(before: Sequence[Term], here: Sequence[Term]) -> list[Term]:
        a, b = before[0], here[0]
        wins = a > b if greatest else a < b
        if isinstance(a.element, FloatType):
            wins = (wins | a.function(nn.IsNan)) & ~b.function(nn.IsNan)
        return [wins.choose(x, y) for x, y in zip(before, here, strict=True)]

    return [found.value for found in running(n, [Term(n, x), places], axis, combine)]


def _running_open(n: Layer, values: Sequence[Term], axis: int, combine: Combine) -> Sequence[Term]:
    """`running` as a loop, for an extent that is known at run time only."""
    size = extent(n, (values[0].value, axis))

    def step(number: Value, flag: Value, states: list[Value]) -> Iteration:
        *given, width = (Term(n, v) for v in states)
        place = counting(n, extent(n, (given[0].value, axis)))
        earlier = [x.gather((place - width).max(0), axis) for x in given]
        has = (place >= width).spread(0, given[0].rank - 1 - axis)
        pairs = zip(combine(earlier, given), given, strict=True)
        done = [has.choose(later, own).value for later, own in pairs]
        return Iteration([*done, (width * 2).value], going=(width * 2 < size).value)

    one = constant(n, 1, i64)
    found, _ = while_loop(n, step, [*(x.value for x in values), one.value], None, (size > 1).value)
    return [Term(n, v) for v in found[:-1]]

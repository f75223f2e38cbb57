"""Distinct elements, modes, histograms and shifted bits."""

from __future__ import annotations

from ...common.statistics import histogram
from ...common.statistics import mode as mode_of
from ...common.unique import Unique, consecutive_rows, unique_rows
from ...common.vocabulary import *
from ..layer import PaddleLayer, rows


def _distinct(
    n: PaddleLayer, x: Value, find: Callable[[Value], Unique]
) -> tuple[Term, list[Value]]:
    """The distinct elements, or slices along an axis; first indices, each one's number, counts."""
    axes = n.ints("axis")
    t = Term(n, x) if axes else Term(n, x).flat()
    axis = n.axis(x, axes[0]) if axes else 0
    slices = Term(n, swapped(n, t.value, 0, axis))
    slices = slices.flattened(1) if t.rank > 1 else slices.spread(0, 1)
    found = find(slices.value)
    kept = t.gather(Term(n, found.first), axis)
    element = n.element("dtype", i64)
    parts = (found.first, found.inverse, found.counts)
    return kept, [n.cast(v, element) for v in parts]


@rows("unique")
def unique(n: PaddleLayer, x: Value) -> list[Value]:
    if not n.flag("is_sorted"):
        raise n.error("distinct elements that are not sorted are not supported")
    find = lambda slices: unique_rows(n, slices, in_order=True, equal_nan=False)  # noqa: E731
    kept, parts = _distinct(n, x, find)
    return [kept.value, *parts]


@rows("unique_consecutive")
def unique_consecutive(n: PaddleLayer, x: Value) -> list[Value]:
    kept, (_, inverse, counts) = _distinct(n, x, lambda slices: consecutive_rows(n, slices))
    return [kept.value, inverse, counts]


@rows("mode")
def mode(n: PaddleLayer, x: Value) -> list[Value]:
    axis = n.axis(x, n.int("axis", -1))
    found = mode_of(Term(n, x), axis)
    return [(v if n.flag("keepdim") else v.column(0, axis)).value for v in found]


@rows("histogram")
def counted(n: PaddleLayer, x: Value, weights: Value | None = None) -> Value:
    """A histogram: counts in equal bins, by default of the elements' own range; or densities."""
    bins, low, high = n.int("bins", 100), n.float("min"), n.float("max")
    t = Term(n, x).flat()
    t = t if isinstance(t.element, FloatType) else t.cast(f64)
    ends = [constant(n, v, t.element) for v in (low, high)]
    if low == high:
        ends = [t.least(0), t.largest(0)]
    given = None if weights is None else Term(n, weights).flat()
    found = histogram(t, ends[0], ends[1], bins, given)
    if n.flag("density"):
        width = (ends[1] - ends[0]).cast(f32) / float(bins)
        return (found.cast(f32) / (found.sum(0).cast(f32) * width)).value
    return found.value if weights is not None else found.cast(i64).value


@rows("bitwise_left_shift", "bitwise_right_shift")
def shifted(n: PaddleLayer, x: Value, by: Value) -> Value:
    element = x.type.element_type
    assert isinstance(element, IntegerType)
    if n.kind == "bitwise_left_shift":
        return n(nn.ShiftLeft(x, by))
    if not n.flag("is_arithmetic", True) and element.signedness != "u":
        raise n.error("a shift of signed numbers to the right that brings zeros is not supported")
    return n(nn.ShiftRight(x, by))

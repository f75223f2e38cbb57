"""The distinct rows of a matrix, found by sorting rows and comparing neighbours.

    %x: [2, 1, 2, 5]  ->  order [1, 0, 2, 3], groups [0, 1, 1, 2] that start at [0, 1, 3]
                      ->  values [1, 2, 5], first places [1, 0, 3], counts [1, 2, 1]

All NaN are one value, as in NumPy; or each is a value of its own, as in PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import moveaxis
from .gathering import gathered
from .movement import FAR, slice_axis, transposed
from .shapes import flatten
from .words import *


@dataclass(frozen=True)
class Unique:
    """The distinct rows of a matrix: where each occurs first, and how often (`counts`); and
    for each row of the matrix, its index among them (`inverse`).

    All are 1-D tensors of i64.
    """

    first: Value
    inverse: Value
    counts: Value


def unique_rows(n: Layer, rows: Value, in_order: bool, equal_nan: bool = True) -> Unique:
    """The distinct rows of a matrix, sorted or else in the order of their first occurrence."""
    order = Term(n, n(nn.SortRows(rows)))
    starts, group = _groups(n, n(nn.Gather(rows, order.value)), equal_nan)
    first = order.gather(starts)
    counts = _counts(n, rows, starts)
    inverse = Term(n, n(nn.ScatterElements(order.value, order.value, group, axis=0)))
    if not in_order:
        by_place = _argsort(first)
        first, counts = first.gather(by_place), counts.gather(by_place)
        inverse = _argsort(by_place).gather(inverse)
    return Unique(first.value, inverse.value, counts.value)


def unique_slices(n: Layer, x: Value, axis: int | None, in_order: bool) -> tuple[Value, Unique]:
    """The distinct slices of x along an axis, or without an axis its distinct elements (1-D)."""
    rank = x.type.rank
    if axis is None:
        axis, rows = 0, flatten(n, x, rank)
        slices = reshape(n, rows, [(rows, 0)])
    else:
        slices = _moved(n, x, axis, 0)
        rows = flatten(n, slices, 1)
    found = unique_rows(n, rows, in_order)
    return _moved(n, gathered(n, slices, found.first), 0, axis), found


def _moved(n: Layer, x: Value, source: int, target: int) -> Value:
    """x with dimension `source` moved to position `target`."""
    return transposed(n, x, moveaxis(x.type.rank, [source], [target]))


def consecutive_rows(n: Layer, rows: Value) -> Unique:
    """The rows of a matrix that differ from the previous one, in their order."""
    starts, group = _groups(n, rows, equal_nan=False)
    return Unique(starts.value, group, _counts(n, rows, starts).value)


def _counts(n: Layer, rows: Value, starts: Term) -> Term:
    """The number of rows of each group."""
    ends = [Term(n, slice_axis(n, starts.value, 0, 1, FAR)), extent(n, (rows, 0)).reshape(1)]
    return joined(ends, 0) - starts


def _groups(n: Layer, rows: Value, equal_nan: bool) -> tuple[Term, Value]:
    """Where groups of equal rows start, and the group of each row; equal rows must be adjacent."""
    own, here = counting(n, extent(n, (rows, 0))), Term(n, rows)
    before = here.gather((own - 1).max(0))
    differ = ~here.equals(before)
    if equal_nan and isinstance(here.element, FloatType):
        differ = differ & ~(here.function(nn.IsNan) & before.function(nn.IsNan))
    begins = (differ.cast(i64).sum(1) > 0) | own.equals(0)
    group = Term(n, n(nn.Cumsum(begins.cast(i64).value, axis=0))) - 1
    starts = Term(n, n(nn.NonZero(begins.value)))
    return starts.made(nn.Reshape(starts.value, out=TensorType((None,), i64))), group.value


def _argsort(keys: Term) -> Term:
    """The indices that sort the keys in ascending order."""
    return keys.made(nn.SortRows(reshape(keys.n, keys.value, [(keys.value, 0), 1])))

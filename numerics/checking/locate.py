"""Find the first operation whose value differs, by comparing two traces of the same input.

For each operation before the pass, in the order of execution, we ask whether the module after the
pass also makes its value: in any operation, shape and order of elements. If not, the operation
differs, provided that it is still there or that operations with its location have taken its place.
That is certain if one of its users was kept, or if what took its place has the same operands.
Otherwise later operations are asked first, because of two operations that became one the first may
be gone. If nothing is left of an operation, it was rewritten, and its users decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects import memref
from ...ir.core import Operation, Value
from ...ir.location import Location, UnknownLoc
from ...ir.numpy_types import number_kind
from ...ir.traits import ConstantLike
from .compare import Difference, Tolerance, find_difference
from .trace import Event, is_view

MOST_CANDIDATES = 64


@dataclass(frozen=True)
class Place:
    """An operation before the pass, what it became after it, and how their values differ."""

    op: Operation
    after: Operation | None
    difference: Difference | None


def first_difference(
    before: Sequence[Event],
    after: Sequence[Event],
    origin: Mapping[Operation, Operation],
    tolerance: Tolerance,
) -> Place | None:
    """The first operation of `before` whose value is not made any more; None if all are.

    `origin` maps an operation before the pass to the one that it is a copy of, which the pass may
    have kept.
    """
    made, had = _Made(after, tolerance), _Made(before, tolerance)
    now = _Now(after, origin)
    lost: list[Event] = []
    likely: Place | None = None
    for event in before:
        if is_view(event.op) or event.op.has_trait(ConstantLike):
            continue
        if isinstance(event.op, memref.Dealloc) or all(map(made.has_in_order, event.values)):
            continue
        for op, values in now.certain(event):
            if (found := _difference(event.values, values, tolerance)) is not None:
                return Place(event.op, op, found)
        if all(map(made.has, event.values)):
            continue
        lost.append(event)
        other = now.here(event)
        if other is not None:
            found = _difference(event.values, other.values, tolerance)
            place = Place(event.op, other.op, found)
            if all(had.has(v) for v in other.operands):
                return place
            likely = likely or place
    return likely or _last_resort(lost, made)


class _Now:
    """Finds what an operation before the pass has become after it."""

    def __init__(self, after: Sequence[Event], origin: Mapping[Operation, Operation]) -> None:
        self.after = after
        self.origin = origin
        self.events = {(event.op, event.number): event for event in after}

    def certain(self, event: Event) -> Iterator[tuple[Operation | None, list[Any]]]:
        """(operation, values) of the operation itself, or of what its kept users read now."""
        itself = self.events.get((self.origin.get(event.op), event.number))  # type: ignore[arg-type]
        if itself is not None:
            yield itself.op, itself.values
        for k, result in enumerate(event.op.results):
            for user, i in result.uses:
                value = self._operand(user, i)
                source = value.defining_op if value is not None else None
                made = self.events.get((source, event.number)) if source is not None else None
                if made is not None and k < len(event.results):
                    at = list(source.results).index(value)  # type: ignore[union-attr,arg-type]
                    before = [None] * len(event.values)
                    before[k] = made.results[at]
                    yield source, before

    def _operand(self, user: Operation, i: int) -> Value | None:
        """The value that a kept user reads now as operand `i`."""
        kept = self.origin.get(user)
        if kept is None or kept.parent is None or kept.parent.parent is None:
            return None
        operands = kept.operands
        return operands[i] if i < len(operands) and len(operands) == len(user.operands) else None

    def here(self, event: Event) -> Event | None:
        """The last event of an operation with the event's location and sizes of values."""
        here = locations(event.op.loc)
        wanted = [np.size(v) for v in event.values]
        found = None
        for other in self.after if here else ():
            is_here = other.number == event.number and here & locations(other.op.loc)
            if is_here and [np.size(v) for v in other.values] == wanted:
                found = other
        return found


def locations(loc: Location) -> frozenset[Location]:
    """The simple locations that a location is made of."""
    parts = getattr(loc, "locations", None)
    if parts is not None:
        return frozenset(p for part in parts for p in locations(part))
    return frozenset() if isinstance(loc, UnknownLoc) else frozenset((loc,))


def _last_resort(lost: list[Event], made: _Made) -> Place | None:
    """The first of the lost operations whose operands are all still made."""
    for event in lost:
        if all(made.has(v) for v in event.operands):
            return Place(event.op, None, None)
    return Place(lost[0].op, None, None) if lost else None


def _difference(
    before: Sequence[Any], after: Sequence[Any], tolerance: Tolerance
) -> Difference | None:
    """The first difference of pairs of values; None is a value that is not known."""
    for one, other in zip(before, after, strict=False):
        if other is None:
            continue
        a, b = np.asarray(one), np.asarray(other)
        if a.size == b.size and a.dtype.itemsize == b.dtype.itemsize:
            found = find_difference(a, b.reshape(a.shape).view(a.dtype), tolerance)
            if found is not None:
                return found
    return None


class _Made:
    """The values that a run has made, by their contents."""

    def __init__(self, events: Sequence[Event], tolerance: Tolerance) -> None:
        self.tolerance = tolerance
        self.exact: set[tuple[int, bytes]] = set()
        self.by_size: dict[int, list[np.ndarray]] = {}
        for value in _values(events):
            array = np.asarray(value)
            if array.dtype.kind in "OSU":
                continue
            self.exact.add(_key(array))
            self.by_size.setdefault(array.size, []).append(array)

    def has(self, value: Any) -> bool:
        """Whether a value with these elements was made, in any order."""
        if self.has_in_order(value):
            return True
        array = np.asarray(value)
        ordered = _sorted(array)
        return array.size > 1 and any(
            not find_difference(ordered, _sorted(other), self.tolerance)
            for other in self._candidates(array)
        )

    def has_in_order(self, value: Any) -> bool:
        """Whether a value with these elements in this order was made, in any shape."""
        array = np.asarray(value)
        if array.dtype.kind in "OSU" or _key(array) in self.exact:
            return True
        flat = array.reshape(-1)
        return any(
            not find_difference(flat, other, self.tolerance) for other in self._candidates(array)
        )

    def _candidates(self, array: np.ndarray) -> Iterator[np.ndarray]:
        for other in self.by_size.get(array.size, [])[-MOST_CANDIDATES:]:
            if other.dtype.itemsize == array.dtype.itemsize:
                yield other.reshape(-1).view(array.dtype)


def _values(events: Sequence[Event]) -> Iterator[Any]:
    for event in events:
        yield from event.values
        yield from event.operands


def _key(array: np.ndarray) -> tuple[int, bytes]:
    """A key of an array's elements, with all NaNs equal."""
    if number_kind(array.dtype) in "biu":
        return array.size, array.tobytes()
    with np.errstate(all="ignore"):
        wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
        return array.size, np.where(np.isnan(wide), np.nan, wide).tobytes()


def _sorted(array: np.ndarray) -> np.ndarray:
    return np.sort(array.reshape(-1))

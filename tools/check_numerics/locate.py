"""The first operation whose value differs, by holding two traces of one input together.

The module before the pass is asked in the order of execution: which operation made a value
that the module after the pass does not make? A value counts as made where any operation after
the pass made it too, in whatever shape or order of elements. Else the operation differs if it
is still there, or if operations with its location are: those stand for it now. One of which
nothing is left was rewritten away, and its users decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects import func
from ...ir.core import Operation
from ...ir.location import Location, UnknownLoc
from .compare import Difference, Tolerance, find_difference
from .trace import Event, is_view

MOST_CANDIDATES = 64


@dataclass(frozen=True)
class Place:
    """The operation before the pass, what stands for it after, and their values."""

    op: Operation
    after: Operation | None
    difference: Difference | None
    event: Event | None = None


def first_difference(
    before: Sequence[Event],
    after: Sequence[Event],
    origin: Mapping[Operation, Operation],
    tolerance: Tolerance,
) -> Place | None:
    """The first operation of `before` whose value is not made any more, or None.

    `origin` gives for an operation before the pass the one it was copied from, which the
    pass may have kept.
    """
    made = _Made(after, tolerance)
    lost: list[Event] = []
    for event in before:
        if is_view(event.op) or isinstance(event.op, func.Return):
            continue
        for value in event.values:
            if not made.has(value):
                break
        else:
            continue
        lost.append(event)
        found = _stand_in(event, after, origin)
        if found is not None:
            return Place(event.op, found.op, _difference(event, found, tolerance), event)
    return _last_resort(lost, made)


def _stand_in(
    event: Event, after: Sequence[Event], origin: Mapping[Operation, Operation]
) -> Event | None:
    """The execution after the pass that took the event's place."""
    kept = origin.get(event.op)
    for other in after:
        if other.op is kept and other.number == event.number:
            return other
    here = locations(event.op.loc)
    if not here:
        return None
    wanted = [np.size(v) for v in event.values]
    found = None
    for other in after:
        if other.number == event.number and here & locations(other.op.loc):
            sizes = [np.size(v) for v in other.values]
            if sizes == wanted:
                found = other
    return found


def locations(loc: Location) -> frozenset[Location]:
    """The places that a location names."""
    parts = getattr(loc, "locations", None)
    if parts is not None:
        return frozenset(p for part in parts for p in locations(part))
    return frozenset() if isinstance(loc, UnknownLoc) else frozenset((loc,))


def _last_resort(lost: list[Event], made: _Made) -> Place | None:
    """The first lost operation all of whose operands are still made."""
    for event in lost:
        if all(made.has(v) for v in event.operands):
            return Place(event.op, None, None, event)
    return Place(lost[0].op, None, None, lost[0]) if lost else None


def _difference(event: Event, other: Event, tolerance: Tolerance) -> Difference | None:
    for a, b in zip(event.values, other.values, strict=False):
        a, b = np.asarray(a), np.asarray(b)
        if a.size == b.size and a.dtype.itemsize == b.dtype.itemsize:
            found = find_difference(a, b.reshape(a.shape).view(a.dtype), tolerance)
            if found is not None:
                return found
    return None


class _Made:
    """The values that one run made, found by content."""

    def __init__(self, events: Sequence[Event], tolerance: Tolerance) -> None:
        self.tolerance = tolerance
        self.exact: set[tuple[int, bytes]] = set()
        self.by_size: dict[int, list[np.ndarray]] = {}
        for value in _values(events):
            array = np.asarray(value)
            if array.dtype == object:
                continue
            self.exact.add(_key(array))
            self.by_size.setdefault(array.size, []).append(array)

    def has(self, value: Any) -> bool:
        """Whether a value like this was made."""
        array = np.asarray(value)
        if array.dtype == object or _key(array) in self.exact:
            return True
        same_size = self.by_size.get(array.size, [])[-MOST_CANDIDATES:]
        ordered = _sorted(array)
        for other in same_size:
            if other.dtype.itemsize != array.dtype.itemsize:
                continue
            seen = other.reshape(-1).view(array.dtype)
            if not find_difference(array.reshape(-1), seen, self.tolerance):
                return True
            if array.size > 1 and not find_difference(ordered, _sorted(seen), self.tolerance):
                return True
        return False


def _values(events: Sequence[Event]) -> Iterator[Any]:
    for event in events:
        yield from event.values
        yield from event.operands


def _key(array: np.ndarray) -> tuple[int, bytes]:
    """The content, all NaN being one."""
    if array.dtype.kind in "biu":
        return array.size, array.tobytes()
    with np.errstate(all="ignore"):
        wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
        return array.size, np.where(np.isnan(wide), np.nan, wide).tobytes()


def _sorted(array: np.ndarray) -> np.ndarray:
    return np.sort(array.reshape(-1))

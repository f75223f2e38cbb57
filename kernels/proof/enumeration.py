"""Checks the accesses of a launch with constant extents by listing all threads and iterations.

That is cheaper than integer sets. A check that succeeds is a proof. If one fails, or depends on
data or unknown extents, integer sets decide, which can name the threads at fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

from ...ir.core import Value
from ...ir.lazy import np
from ...ir.types import MemRefType
from .accesses import CHANGE, READ, WRITE, Access
from .arrays import Arrays, NotListedError
from .forms import Forms
from .ids import GROUPS, THREADS
from .views import span_of, strides_of

MOST_POINTS = 1 << 23
"""The most points of an access that are enumerated; their array takes 64 MB."""


@dataclass(frozen=True)
class Points:
    """The values of expressions at all points where an access happens, as arrays.

    The access happens `times` times at each point: it repeats along axes that the expressions do
    not depend on.
    """

    columns: tuple[Any, ...]
    times: int


class Enumeration:
    """Answers questions about a launch's accesses: True is certain, False may be unknown."""

    def __init__(self, forms: Forms, by_thread: bool) -> None:
        self._arrays = Arrays(forms)
        self._by_thread = by_thread

    # -- questions -----------------------------------------------------------------------------

    def is_inside(self, access: Access) -> bool:
        """Whether an access is certainly inside its buffer, and its forms' `wanted` hold."""
        forms = (access.holds, access.barriers, *access.at)
        wanted = dict.fromkeys(w for form in forms for w in form.wanted)
        try:
            return (
                not any(
                    self._happens(access, f"({at.text}) < 0")
                    or self._happens(access, f"({at.text}) >= ({limit.text})")
                    for at, limit in zip(access.at, access.limits or (), strict=False)
                )
                and not any(self._happens(access, f"not ({one})") for one in wanted)
                and self._is_in_buffer(access)
            )
        except NotListedError:
            return False

    def are_apart(self, accesses: Sequence[Access], is_of_group: bool) -> bool:
        """Whether accesses to a buffer certainly do not race.

        A race is two threads that access an element, one of them writing, in one interval between
        barriers or in two groups.
        """
        if all(access.kind == READ for access in accesses):
            return True
        if any(access.kind == CHANGE for access in accesses):
            return False
        try:
            group, thread = self._numbers()
            if not self._by_thread:
                return self._have_one_owner(accesses, group)
            if not is_of_group:
                if self._have_one_owner(accesses, thread):
                    return True
                if not self._have_one_owner(accesses, group):
                    return False
            ends = [np.max(self._arrays.of(a.barriers.text), initial=0) for a in accesses]
            # Each group has a buffer of the group for itself.
            ignored = GROUPS if is_of_group else ()
            return self._have_one_owner(accesses, thread, int(max(ends)) + 1, ignored)
        except NotListedError:
            return False

    def elements(self, access: Access) -> Points:
        """The numbers of the elements that an access touches. Raises NotListedError."""
        points = self._points(access, [_flat(access)], is_each=True)
        (elements,) = points.columns
        if np.any((elements < 0) | (elements >= size_of_buffer(access.place.buffer))):
            raise NotListedError
        return points

    # -- of one access -------------------------------------------------------------------------

    def _is_in_buffer(self, access: Access) -> bool:
        """Whether an access inside its view is inside its buffer."""
        place = access.place
        if place.size is None or place.flat is None:
            return True
        size = np.min(self._arrays.of(place.size.text))
        if place.offset is not None and access.limits and min(place.strides) >= 0:
            first = self._arrays.of(place.offset.text)
            extents = [np.max(self._arrays.of(limit.text), initial=1) for limit in access.limits]
            beyond = sum((n - 1) * s for n, s in zip(extents, place.strides, strict=True))
            if np.min(first, initial=0) >= 0 and np.max(first, initial=0) + beyond < size:
                return True
        flat = place.flat.text
        return not (
            self._happens(access, f"({flat}) < 0") or self._happens(access, f"({flat}) >= {size}")
        )

    def _happens(self, access: Access, condition: str) -> bool:
        """Whether a condition holds anywhere where an access happens."""
        self._arrays.check_room(self._arrays.axes(condition), MOST_POINTS)
        if not np.any(self._arrays.of(condition)):
            return False
        return self._points(access, [], [condition]).times > 0

    def _points(
        self,
        access: Access,
        texts: Sequence[str],
        conditions: Sequence[str] = (),
        ignored: Sequence[str] = (),
        is_each: bool = False,
    ) -> Points:
        """The values of expressions at all points where an access happens and conditions hold.

        Conditions that depend on `ignored` axes are taken to hold. With `is_each`, `times` also
        counts the groups, threads and iterations that nothing of this depends on.
        """
        arrays = self._arrays
        axes = frozenset[str]().union(*(arrays.axes(text) for text in texts))
        if not axes.isdisjoint(ignored):
            raise NotListedError
        holds = [
            c
            for c in (*access.holds.holds, *conditions)
            if not arrays.is_always(c) and arrays.axes(c).isdisjoint(ignored)
        ]
        times, seen, masks = 1, axes, []
        for names, together in _connected([(arrays.axes(c), c) for c in holds]):
            seen |= names
            if names.isdisjoint(axes):
                times *= int(np.count_nonzero(self._mask(together, names)))
            else:
                masks += together
                axes |= names
        if is_each:
            counters = (v for form in (access.holds, *access.at) for v in form.variables)
            others = {*GROUPS, *THREADS, *counters} - seen
            times *= prod(arrays.extent(name) for name in others if arrays.is_axis(name))
        if not texts or not times:
            return Points(tuple(np.zeros(0, np.int64) for _ in texts), times)
        mask = self._mask(masks, axes)
        order = arrays.ordered(axes)
        return Points(
            tuple(np.broadcast_to(arrays.of(text, order), mask.shape)[mask] for text in texts),
            times,
        )

    def _mask(self, conditions: Iterable[str], axes: frozenset[str]) -> Any:
        """A boolean array along `axes`: whether the conditions hold at each point."""
        arrays = self._arrays
        arrays.check_room(axes, MOST_POINTS)
        order = arrays.ordered(axes)
        held = reduce(np.logical_and, (arrays.of(c, order) for c in conditions), np.True_)
        return np.broadcast_to(held, tuple(arrays.extent(name) for name in order))

    # -- of several ----------------------------------------------------------------------------

    def _numbers(self) -> tuple[str, str]:
        """Expressions that number groups, and threads."""
        (x, y, z, _), (w, h, d) = (
            [self._arrays.extent(name) for name in names] for names in (GROUPS, THREADS)
        )
        group = f"(b0 + {x}*b1 + {x * y}*b2 + {x * y * z}*b3)"
        thread = f"(t0 + {w}*t1 + {w * h}*t2)"
        return group, f"({w * h * d}*{group} + {thread})"

    def _have_one_owner(
        self,
        accesses: Sequence[Access],
        owner: str,
        intervals: int = 1,
        ignored: Sequence[str] = (),
    ) -> bool:
        """Whether each element written between two barriers is accessed by one owner only."""
        size = size_of_buffer(accesses[0].place.buffer) * intervals
        if size > MOST_POINTS:
            raise NotListedError
        owners = np.full(size, -1)
        for access in sorted(accesses, key=lambda access: access.kind != WRITE):
            barriers = access.barriers.text if intervals > 1 else "0"
            columns = [_flat(access), owner, barriers]
            flat, mine, when = self._points(access, columns, ignored=ignored).columns
            at = flat * intervals + when
            before = owners[at]
            if np.any((before >= 0) & (before != mine)):
                return False
            if access.kind == WRITE:
                owners[at] = mine
                if np.any(owners[at] != mine):
                    return False
        return True


def _connected(
    parts: Iterable[tuple[frozenset[str], str]],
) -> list[tuple[frozenset[str], list[str]]]:
    """(axes, conditions) for each group of conditions; groups have no axes in common."""
    groups: list[tuple[frozenset[str], list[str]]] = []
    for names, condition in parts:
        touching = [group for group in groups if not group[0].isdisjoint(names)]
        groups = [group for group in groups if group not in touching]
        together = [condition]
        for other, conditions in touching:
            names, together = names | other, together + conditions
        groups.append((names, together))
    return groups


def size_of_buffer(buffer: Value) -> int:
    """The number of elements that a buffer spans, including gaps between its rows.

    Raises NotListedError if that is not constant.
    """
    type = buffer.type
    assert isinstance(type, MemRefType)
    span = span_of(type)
    if span is None:
        raise NotListedError
    return span


def _flat(access: Access) -> str:
    """The expression for the linear index of an access in its buffer."""
    place = access.place
    if place.indices is None:
        assert place.flat is not None
        return place.flat.text
    strides = strides_of(place.buffer.type)  # type: ignore[arg-type]
    if strides is None:
        raise NotListedError
    terms = [f"{s}*({at.text})" for at, s in zip(place.indices, strides, strict=True)]
    return f"({' + '.join(terms)})" if terms else "0"

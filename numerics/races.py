"""Records the last accesses of each element by threads, to find those without a barrier between.

Two accesses of an element of which one is a write are ordered only by a barrier between them, and a
barrier orders only threads of the same group. Accesses in one step (atomics) are ordered with one
another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ..ir.core import Operation
from ..ir.diagnostics import Diagnostic, NncError
from .threads import Access, Thread


@dataclass(frozen=True, slots=True)
class _Touched:
    """An access: its thread, the number of barriers before it, its kind and its operation."""

    thread: Thread
    interval: int
    access: Access
    op: Operation


class _Element:
    """The accesses of an element with which a later access may race.

    Two of each kind by different threads suffice: a later access is by another thread than one of
    them.
    """

    __slots__ = ("changes", "reads", "writes")

    def __init__(self) -> None:
        self.reads: list[_Touched] = []
        self.writes: list[_Touched] = []
        self.changes: list[_Touched] = []

    def note(self, new: _Touched) -> _Touched | None:
        """Add an access. Returns an earlier access with which it races, or None."""
        match new.access:
            case Access.READ:
                own, others = self.reads, (self.writes, self.changes)
            case Access.WRITE:
                own, others = self.writes, (self.writes, self.changes, self.reads)
            case _:
                own, others = self.changes, (self.writes, self.reads)
        for kind in others:
            for old in kind:
                if old.thread is not new.thread and _unordered(old, new):
                    return old
        own[:] = [t for t in own if t.thread is not new.thread and _unordered(t, new)][:1]
        own.append(new)
        return None


def _unordered(old: _Touched, new: _Touched) -> bool:
    return old.thread.group is not new.thread.group or old.interval == new.interval


class Memory:
    """Memory that threads share: buffers that are arguments of a kernel, or buffers of a group."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self._bounds = [byte_bounds(a) for a in arrays if a.size]
        self._elements: dict[int, _Element] = {}

    def holds(self, array: np.ndarray) -> bool:
        """Whether an array is in this memory; one that is in no shared memory is private to a
        thread.
        """
        if not self._bounds:
            return False
        first, last = byte_bounds(array)
        return any(first < high and low < last for low, high in self._bounds)

    def touch(
        self, thread: Thread, op: Operation, array: np.ndarray, at: tuple[Any, ...], access: Access
    ) -> None:
        """Note that a thread accesses elements. Raises NncError if there is a race."""
        new = _Touched(thread, thread.group.interval, access, op)
        for address, index in _places(array, at):
            element = self._elements.get(address)
            if element is None:
                element = self._elements[address] = _Element()
            old = element.note(new)
            if old is not None:
                raise _race(old, new, index)


def _places(array: np.ndarray, at: tuple[Any, ...]) -> Iterator[tuple[int, list[int]]]:
    """The address of each element, and its indices."""
    start = array.__array_interface__["data"][0]
    if all(isinstance(i, int) for i in at):
        offset = sum(i * stride for i, stride in zip(at, array.strides, strict=True))
        yield start + offset, list(at)
        return
    flat = [grid.reshape(-1) for grid in np.broadcast_arrays(*at)]
    offsets = sum(grid * stride for grid, stride in zip(flat, array.strides, strict=True))
    for number, offset in enumerate(offsets.tolist()):  # type: ignore[union-attr]
        yield start + offset, [int(grid[number]) for grid in flat]


def _race(old: _Touched, new: _Touched, index: list[int]) -> NncError:
    words = {Access.READ: "reads", Access.WRITE: "writes", Access.CHANGE: "changes"}
    same = old.thread.group is new.thread.group
    between = "between the same barriers" if same else "in one launch"
    message = (
        f"'{new.op.name}' op {words[new.access]} element {index} in {new.thread}, which "
        f"{old.thread} {words[old.access]} {between}"
    )
    note = Diagnostic("note", "the other access is here", old.op.loc)
    return NncError(message, new.op.loc, [note])

"""The threads of a launch, in groups: their ids, and the memory that they share."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Protocol

import numpy as np

from ..ir.core import Operation, Region

Axes = tuple[int, int, int]

_MOST_KNOWN = 256
"""Of so many arrays a group knows in which memories they are."""


class Access(Enum):
    """How an element is touched: `CHANGE` reads and writes it in one step."""

    READ = auto()
    WRITE = auto()
    CHANGE = auto()


class Meeting(Protocol):
    """Lets threads wait for one another."""

    def wait(self, thread: Thread, waiting: Waiting) -> Any:
        """Wait until all threads that `waiting` names have arrived. Returns their values."""
        ...


class Runner(Protocol):
    """What runs the bodies of kernels: the interpreter."""

    thread: Thread | None
    """The thread that is running."""
    observer: Any

    def run_body(self, region: Region, args: Sequence[Any]) -> Any:
        """Run a region in a frame of its own."""
        ...


class Memory(Protocol):
    """Memory that threads share, which records the accesses of each of them."""

    def holds(self, array: np.ndarray) -> bool:
        """Whether an array is in this memory."""
        ...

    def touch(
        self, thread: Thread, op: Operation, array: np.ndarray, at: tuple[Any, ...], access: Access
    ) -> None:
        """Note that a thread accesses elements. Raises NncError if there is a race."""
        ...


class Gate:
    """Lets one thread pass each time that another opens it; many times as fast as a semaphore."""

    __slots__ = ("_lock", "enter")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self.enter = self._lock.acquire
        """Wait until the gate is open, and close it."""

    def open(self) -> None:
        """Open the gate, if it is not."""
        with suppress(RuntimeError):
            self._lock.release()


@dataclass(eq=False)
class Group:
    """One group of threads, and the memory that its threads share."""

    place: Axes
    groups: Axes
    threads: Axes
    subgroup_size: int
    memories: tuple[Memory, ...] = ()
    interval: int = 0
    """How many barriers all threads have passed."""
    _holding: dict[int, tuple[np.ndarray, tuple[Memory, ...]]] = field(default_factory=dict)

    def holding(self, array: np.ndarray) -> tuple[Memory, ...]:
        """The memories that an array is in, which are looked for once."""
        known = self._holding.get(id(array))
        if known is None:
            if len(self._holding) >= _MOST_KNOWN:
                self._holding.clear()
            found = tuple(one for one in self.memories if one.holds(array))
            known = self._holding[id(array)] = array, found  # which keeps its id from others
        return known[1]

    @property
    def size(self) -> int:
        """The number of threads in the group."""
        x, y, z = self.threads
        return x * y * z


@dataclass(eq=False)
class Thread:
    """One thread of a group, or the whole group of a tile program."""

    group: Group
    number: int = 0
    is_whole_group: bool = False
    together: Meeting | None = None
    waiting: Waiting | None = None
    error: BaseException | None = None
    ended: bool = False
    go: Gate = field(default_factory=Gate)
    """Open when the thread may run."""

    @property
    def place(self) -> Axes:
        """The thread's id in its group along x, y and z."""
        x, y, _ = self.group.threads
        return self.number % x, self.number // x % y, self.number // (x * y)

    @property
    def subgroup(self) -> int:
        """The number of the thread's subgroup."""
        return self.number // self.group.subgroup_size

    @property
    def lane(self) -> int:
        """The thread's number within its subgroup."""
        return self.number % self.group.subgroup_size

    def __str__(self) -> str:
        group = f"group {self.group.place}"
        return group if self.is_whole_group else f"thread {self.place} of {group}"

    def shares(self, array: np.ndarray) -> bool:
        """Whether other threads may access an array too."""
        return bool(self.group.holding(array))

    def touch(self, op: Operation, array: np.ndarray, at: tuple[Any, ...], access: Access) -> None:
        """Note that the thread accesses elements. Raises NncError if there is a race."""
        for memory in self.group.holding(array):
            memory.touch(self, op, array, at, access)

    def meet_group(self, op: Operation) -> None:
        """Wait for all threads of the group. Raises NncError if one never arrives."""
        if self.together is not None:
            self.together.wait(self, Waiting(op, self.group.threads))
        else:
            self.group.interval += 1

    def meet_subgroup(self, op: Operation, value: Any) -> dict[int, Any]:
        """{number within the subgroup: value} of the values that the subgroup's threads pass."""
        assert self.together is not None
        return self.together.wait(self, Waiting(op, self.subgroup, value))


@dataclass(eq=False)
class Waiting:
    """Where a thread waits, for whom (its group or subgroup), and the value that it passes."""

    op: Operation
    scope: Any
    value: Any = None
    answer: Any = None

"""What passes decide between, and what each alternative is expected to take.

A pass that chooses by expected time records a `Decision` where it chooses, with the numbers that it
chose by: what explains a choice is what made it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any

from .location import UNKNOWN, Location


@dataclass(frozen=True)
class Terms:
    """Expected cycles by the resource that takes them, such as arithmetic or memory.

    What is expected in all is their sum.
    """

    by_resource: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def cycles(self) -> float:
        return sum(self.by_resource.values())

    @property
    def bound(self) -> str:
        """The resource that takes the most; empty where nothing takes any."""
        found = max(self.by_resource, key=self.by_resource.__getitem__, default="")
        return found if found and self.by_resource[found] > 0 else ""

    def __add__(self, other: Terms) -> Terms:
        return Terms.sum((self, other))

    def plus(self, resource: str, cycles: float) -> Terms:
        """With so many cycles of a resource more."""
        found = dict(self.by_resource)
        found[resource] = found.get(resource, 0.0) + cycles
        return Terms(found)

    def scaled(self, factor: float) -> Terms:
        """So many times all of them."""
        return Terms({name: factor * cycles for name, cycles in self.by_resource.items()})

    @staticmethod
    def sum(several: Iterable[Terms]) -> Terms:
        """What is done one after the other."""
        found: dict[str, float] = {}
        for one in several:
            for name, cycles in one.by_resource.items():
                found[name] = found.get(name, 0.0) + cycles
        return Terms(found)

    @staticmethod
    def between(one: Terms, other: Terms, cycles: float) -> Terms:
        """So many cycles in all, each resource with the mean of its parts of both."""
        parts = [t.scaled(cycles / 2 / t.cycles) for t in (one, other) if t.cycles]
        return Terms.sum(parts).scaled(2 / len(parts)) if parts else Terms()


@dataclass(frozen=True)
class Alternative:
    """One of several things that a pass could do.

    `terms` is None where no model says what it takes; `fault` is why it cannot be done. `cores` is
    how many cores it keeps busy.
    """

    name: str
    terms: Terms | None = None
    detail: str = ""
    fault: str = ""
    cores: int = 1

    @property
    def cycles(self) -> float:
        return inf if self.fault or self.terms is None else self.terms.cycles


@dataclass(frozen=True)
class Decision:
    """What a pass chose, among what, and why.

    `kind` is what was chosen: a schedule, an algorithm, a layout. `subject` is the function that it
    is for, where there is one yet; `location` says the model's nodes. An alternative is `taken` in
    place of the first one only where it stays below `margin` times its cycles. `because` is the
    rule where no times decide. `again` decides anew on another machine.
    """

    kind: str
    alternatives: tuple[Alternative, ...]
    taken: str
    location: Location = UNKNOWN
    subject: str = ""
    margin: float = 1.0
    because: str = ""
    again: Callable[[Any], Decision] | None = field(default=None, compare=False, repr=False)

    @property
    def chosen(self) -> Alternative:
        return next(one for one in self.alternatives if one.name == self.taken)

    @property
    def others(self) -> list[Alternative]:
        """The alternatives that were not taken, the fastest first."""
        found = [one for one in self.alternatives if one.name != self.taken]
        return sorted(found, key=lambda one: one.cycles)


@dataclass
class Decisions:
    """What the passes of a run decided; with `every`, they look at all that they could do."""

    made: list[Decision] = field(default_factory=list)
    every: bool = False

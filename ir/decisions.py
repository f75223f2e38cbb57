"""Decisions of passes: the alternatives, and the expected time of each.

A pass that chooses by expected time records a `Decision` with the very numbers that it chose by,
so explanations cannot differ from what was done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, Any

from .location import UNKNOWN, Location, node_names

if TYPE_CHECKING:
    from .core import Operation


@dataclass(frozen=True)
class Terms:
    """Expected cycles by resource, such as arithmetic or memory; the total is their sum."""

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
        """A copy with `cycles` added to a resource."""
        found = dict(self.by_resource)
        found[resource] = found.get(resource, 0.0) + cycles
        return Terms(found)

    def scaled(self, factor: float) -> Terms:
        """A copy with all cycles multiplied by `factor`."""
        return Terms({name: factor * cycles for name, cycles in self.by_resource.items()})

    @staticmethod
    def sum(several: Iterable[Terms]) -> Terms:
        """The cycles of several things done one after the other, added by resource."""
        found: dict[str, float] = {}
        for one in several:
            for name, cycles in one.by_resource.items():
                found[name] = found.get(name, 0.0) + cycles
        return Terms(found)

    @staticmethod
    def between(one: Terms, other: Terms, cycles: float) -> Terms:
        """Terms of `cycles` in total; a resource's share is the mean of its shares in both."""
        parts = [t.scaled(cycles / 2 / t.cycles) for t in (one, other) if t.cycles]
        return Terms.sum(parts).scaled(2 / len(parts)) if parts else Terms()


@dataclass(frozen=True)
class Alternative:
    """One of several things that a pass could do.

    `terms` is None if no model estimates it; `fault` says why it is impossible, if it is. `cores`
    is how many cores it keeps busy.
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
    """One choice of a pass: the alternatives, the one taken, and why.

    `kind` is a schedule, an algorithm or a layout. `subject` is the name of the function it is
    for, if there is one yet; `location` has the model's nodes. Another alternative than the first
    is taken only if it has less than `margin` times the first's cycles. `because` is the rule if
    times do not decide. `again` makes the same decision for another machine. `operation` is the
    text of the op (`described`) if users can override the choice; `told` then says who did.
    """

    kind: str
    alternatives: tuple[Alternative, ...]
    taken: str
    location: Location = UNKNOWN
    subject: str = ""
    margin: float = 1.0
    because: str = ""
    again: Callable[[Any], Decision] | None = field(default=None, compare=False, repr=False)
    operation: str = ""
    told: str = ""

    @property
    def key(self) -> str:
        """A key that is equal for equal decisions in all models; "" if users cannot override it."""
        return choice_key(self.kind, self.operation) if self.operation else ""

    @property
    def places(self) -> tuple[str, ...]:
        """The decision's names in its model: its kind and a node's name, as `algorithm conv_1`."""
        names = [name.rpartition(" (")[0] or name for name in node_names(self.location)]
        return tuple(f"{self.kind} {name}" for name in names)

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
    """The decisions of the passes of a run; with `every`, passes estimate all alternatives.

    `told` overrides decisions: the name of the alternative to take, by a decision's `key` or one
    of its `places`; `told_by` says who asked for it.
    """

    made: list[Decision] = field(default_factory=list)
    every: bool = False
    told: Mapping[str, str] = field(default_factory=dict)
    told_by: str = "asked for"
    notes: list[str] = field(default_factory=list)
    """Messages on overrides that could not be followed, each once."""
    followed: int = 0
    """The number of decisions that were overridden."""

    def add(self, decision: Decision) -> Decision:
        """Record a decision. Returns it as overridden by `told`; `notes` says if that failed."""
        names = [name for name in (decision.key, *decision.places) if name in self.told]
        if decision.operation and names:
            decision = self._told(decision, self.told[names[0]])
        self.made.append(decision)
        return decision

    def _told(self, decision: Decision, wanted: str) -> Decision:
        found = next((one for one in decision.alternatives if one.name == wanted), None)
        if found is None or found.fault:
            why = found.fault if found is not None else "there is no such alternative"
            note = f"{decision.kind} '{wanted}' of {decision.operation}: {why}"
            self.notes += [] if note in self.notes else [note]
            return decision
        self.followed += 1
        return replace(decision, taken=wanted, told=self.told_by, again=None)


def described(op: Operation) -> str:
    """The text that decisions on an operation depend on: its name, attributes and types."""
    given = {**op.attributes, **op.properties}
    listed = ", ".join(f"{name} = {value}" for name, value in sorted(given.items()))
    operands = ", ".join(str(value.type) for value in op.operands)
    results = ", ".join(str(value.type) for value in op.results)
    return f"{op.name} {{{listed}}} : ({operands}) -> ({results})"


def choice_key(kind: str, operation: str) -> str:
    """The SHA-256 of a decision's kind and of its operation's text (`described`)."""
    return sha256(f"{kind} {operation}".encode()).hexdigest()

"""What would change a decision: the machine with a single number changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...ir.decisions import Decision
from ...targets.machine import Machine

FACTORS = (1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0)
"""The factors by which a number is changed, up and down, to find the least change that alters a
decision."""


@dataclass(frozen=True)
class Change:
    """A factor on one of the machine's numbers that changes the decision."""

    number: str
    words: str
    factor: float
    taken: str


def changes_of(decision: Decision, machine: Machine) -> list[Change]:
    """The smallest change of each single number that changes a decision."""
    if decision.again is None:
        return []
    found = (
        _least(decision, machine, name, words, up)
        for name, words in machine.WHAT_IF.items()
        for up in (True, False)
    )
    return [one for one in found if one is not None]


def _least(decision: Decision, machine: Machine, name: str, words: str, up: bool) -> Change | None:
    """The smallest change of one number, by bisection, as larger changes do the same."""
    tried = list(_changed(machine, name, up))
    if not tried:
        return None
    taken = _taken(decision, tried[-1][1])
    if taken == decision.taken:
        return None
    low, high, best = 0, len(tried) - 1, taken
    while low < high:
        middle = (low + high) // 2
        found = _taken(decision, tried[middle][1])
        if found == decision.taken:
            low = middle + 1
        else:
            high, best = middle, found
    return Change(name, words, tried[high][0], best)


def _changed(machine: Machine, name: str, up: bool) -> Iterator[tuple[float, Machine]]:
    """The machine with one number scaled up, or down, by growing factors."""
    old = getattr(machine, name)
    for factor in FACTORS:
        wanted = old * factor if up else old / factor
        new: Any = max(1, round(wanted)) if isinstance(old, int) else wanted
        if new != old:
            yield new / old, replace(machine, **{name: new})


def _taken(decision: Decision, machine: Machine) -> str:
    assert decision.again is not None
    return decision.again(machine).taken

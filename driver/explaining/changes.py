"""What would change a decision: the machine with a single number changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...ir.decisions import Decision
from ...targets.fpga import FpgaMachine
from ...targets.groups import GroupMachine
from ...targets.machine import Machine
from ...targets.processor import Processor

FACTORS = (1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0)
"""The factors by which a number is changed, up and down, to find the least change that alters a
decision."""

_PROCESSOR = {
    "memory_bandwidth": "memory bandwidth",
    "l3_bandwidth": "bandwidth of the L3 cache",
    "l2_bandwidth": "bandwidth of the L2 cache",
    "l3_bytes": "L3 cache",
    "l2_bytes": "L2 cache",
    "l1_bytes": "L1 cache",
    "full_width_units": "arithmetic units",
    "fma_latency": "latency of an addition",
    "load_bytes_per_cycle": "bytes loaded in a cycle",
    "issue_width": "instructions started in a cycle",
    "cores": "cores",
}
_GROUPS = {
    "memory_bandwidth": "memory bandwidth",
    "l2_bandwidth": "bandwidth of the L2 cache",
    "cache_bandwidth": "bandwidth of the L1 cache",
    "workgroup_bandwidth": "bandwidth of workgroup memory",
    "core_workgroup_bytes": "workgroup memory",
    "units": "arithmetic units",
    "latency": "latency of memory",
    "launch_microseconds": "time of a launch",
    "cores": "cores",
}
_FPGA = {"dsps": "multipliers", "pipeline_cycles": "time to fill a pipeline"}
NUMBERS: dict[type[Machine], dict[str, str]] = {
    Processor: _PROCESSOR,
    GroupMachine: _GROUPS,
    FpgaMachine: _FPGA,
}
"""The numbers that are changed for each kind of machine, with their names for users."""


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
        for kind, numbers in NUMBERS.items()
        if isinstance(machine, kind)
        for name, words in numbers.items()
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

"""Which resource of a core limits one pass through a tile's code: arithmetic, loads or waiting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...targets.processor import Processor


@dataclass(frozen=True)
class Vectors:
    """The vectors along a tile's lanes, and the cycles of one multiply-add or load of each."""

    widths: tuple[int, ...]
    arithmetic: float
    aligned: float
    unaligned: float


class Loads(NamedTuple):
    """The loads of one operand in a pass."""

    near: float
    """Cycles of loads from the L1 cache; 0 where caches beyond it limit them."""
    far: float
    """Cycles of loads from the L2 cache or memory; 0 where the L1 cache limits them."""
    registers: int


class Pass(NamedTuple):
    """The cycles of one pass by cause, and its number of micro-operations (`micro_ops`)."""

    arithmetic: float
    near: float
    """Loads from the L1 cache."""
    far: float
    """Loads from the L2 cache or memory."""
    evicted: float
    """Fetching lines again that were evicted."""
    latency: float
    """Waiting for the result of the previous addition."""
    micro_ops: float

    def cycles(self, machine: Processor) -> dict[str, float]:
        """The cycles of the pass, by resource.

        Arithmetic and loads overlap, but less well where both take long. Waiting for additions, or
        starting all instructions, counts instead where it takes longer than that.
        """
        overlap = machine.costs.tiles.overlap
        arithmetic, evicted = self.arithmetic**overlap, self.evicted**overlap
        loads = self.near + self.far
        loaded = loads**overlap
        work = arithmetic + loaded + evicted
        busy = work ** (1 / overlap)
        issue = self.micro_ops / machine.issue_width
        found = {"arithmetic": 0.0, "loads": 0.0, "l2": 0.0, "latency": 0.0, "issue": 0.0}
        if busy < max(self.latency, issue):
            name = "latency" if self.latency >= issue else "issue"
            found[name] = max(self.latency, issue)
            return found
        part = busy / work
        found["arithmetic"] = part * arithmetic
        found["l2"] = part * evicted
        if loads:
            found["loads"] = part * loaded * self.near / loads
            found["l2"] += part * loaded * self.far / loads
        return found

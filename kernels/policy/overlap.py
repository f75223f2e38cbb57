"""What a core does at once in one pass through a tile's code, and which of it takes the time."""

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
    """The loads of one operand in a pass: cycles from the first cache, or those from the second one
    where that is slower; registers.
    """

    near: float
    far: float
    registers: int


class Pass(NamedTuple):
    """One pass: cycles of arithmetic, of loads from the first cache and from the second one, of
    fetching lines again that were evicted, of waiting for an addition; micro-operations.
    """

    arithmetic: float
    near: float
    far: float
    evicted: float
    latency: float
    micro_ops: float

    def cycles(self, machine: Processor) -> dict[str, float]:
        """Cycles of the pass by what keeps the core busy.

        Arithmetic and loads overlap, the worse the more each has to do. Where additions wait for
        each other longer, or instructions start no sooner, that takes all of the time.
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

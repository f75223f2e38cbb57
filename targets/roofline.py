"""How long work takes by a machine's description: arithmetic, and bytes beside it."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.decisions import Terms
from .costs import AlgorithmCosts
from .machine import Machine

F32 = 4
"""Bytes of an element."""


@dataclass(frozen=True)
class Roofline:
    """What work is expected to take on a machine. Units: cycles of one core."""

    machine: Machine

    @property
    def costs(self) -> AlgorithmCosts:
        return self.machine.costs.algorithms

    def arithmetic(self, multiplications: float) -> float:
        """What so many multiplications in f32 take in whole networks."""
        return multiplications / (self.costs.attained * self.peak)

    @property
    def peak(self) -> float:
        """Multiplications in f32 of a cycle, at most."""
        return self.machine.multiply_adds

    def beside(self, one: float, other: float) -> float:
        """Of two that run at once: the longer one, and what of the other is not hidden."""
        return max(one, other) + self.costs.hidden * min(one, other)

    def beside_memory(self, arithmetic: float, moved: float) -> Terms:
        """Cycles of arithmetic, and of so many bytes from memory at the same time."""
        read, hidden = moved / self.machine.memory_bandwidth, self.costs.hidden
        if arithmetic >= read:
            return Terms({"arithmetic": arithmetic, "memory": hidden * read})
        return Terms({"arithmetic": hidden * arithmetic, "memory": read})

    def bandwidth(self, resident: float) -> float:
        """Bytes a cycle from where so many bytes stay. Units: bytes."""
        for memory in (self.machine.private_memory, self.machine.shared_memory):
            if resident <= memory.bytes:
                return memory.bandwidth
        return self.machine.memory_bandwidth

"""How long work takes by a machine's description: arithmetic, and bytes beside it."""

from __future__ import annotations

from dataclasses import dataclass

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
        return self.machine.lanes(F32) / self.machine.fma_cycles(self.machine.vector_bits // 8)

    def beside(self, one: float, other: float) -> float:
        """Of two that run at once: the longer one, and what of the other is not hidden."""
        return max(one, other) + self.costs.hidden * min(one, other)

    def bandwidth(self, resident: float) -> float:
        """Bytes a cycle from where so many bytes stay. Units: bytes."""
        machine = self.machine
        if resident <= machine.l2_bytes:
            return machine.l2_bandwidth
        return machine.l3_bandwidth if resident <= machine.l3_bytes else machine.memory_bandwidth

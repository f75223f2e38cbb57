"""How long work takes by a machine's description: arithmetic, and bytes beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..ir.decisions import Alternative, Terms
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
        return self.home(resident)[1]

    def home(self, resident: float) -> tuple[str, float]:
        """Where so many bytes stay, and the bytes a cycle from there."""
        near, far = self.machine.private_memory, self.machine.shared_memory
        for name, memory in (("l2", near), ("l3", far)):
            if resident <= memory.bytes:
                return name, memory.bandwidth
        return "memory", self.machine.memory_bandwidth

    def kernel(
        self,
        multiplications: float,
        tensors: Iterable[float] = (),
        weights: float = 0.0,
    ) -> Terms:
        """What a kernel takes that multiplies so often, reads or writes tensors and has weights.

        A tensor is where it stays from one kernel to the next, weights come from memory. The
        longer of arithmetic and all that is moved counts, and what of the other is not hidden.
        Units: multiplications in f32, bytes of each tensor, bytes.
        """
        moved = dict[str, float]()
        for bytes in tensors:
            name, bandwidth = self.home(bytes)
            moved[name] = moved.get(name, 0.0) + bytes / bandwidth
        if weights:
            moved["memory"] = moved.get("memory", 0.0) + weights / self.machine.memory_bandwidth
        arithmetic, read = self.arithmetic(multiplications), Terms(moved)
        hidden = self.costs.hidden
        if arithmetic >= read.cycles:
            found = read.scaled(hidden).plus("arithmetic", arithmetic)
        else:
            found = read.plus("arithmetic", hidden * arithmetic)
        return found.plus("launches", self.machine.launch_cycles * self.machine.least_cores)

    def shared(self, alternatives: Iterable[Alternative]) -> tuple[Alternative, ...]:
        """Alternatives of one core's cycles by all cores, which share the work evenly.

        Work that is too short for a second core stays on one, whatever the alternative.
        """
        found, machine = tuple(alternatives), self.machine
        least = machine.costs.threads.least_microseconds * machine.cycles_per_microsecond
        cores = machine.cores if min(one.cycles for one in found) >= least else 1
        cores = max(cores, machine.least_cores)
        return tuple(
            one
            if one.terms is None
            else replace(one, terms=one.terms.scaled(1 / cores), cores=cores)
            for one in found
        )

"""Estimates of time from a machine's description: arithmetic, overlapped with memory traffic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..ir.decisions import Alternative, Terms
from .costs import AlgorithmCosts
from .machine import Machine

F32 = 4
"""The bytes of an element."""


@dataclass(frozen=True)
class Roofline:
    """Estimates how long work takes on a machine. Units: cycles of one core."""

    machine: Machine

    @property
    def costs(self) -> AlgorithmCosts:
        return self.machine.costs.algorithms

    def arithmetic(self, multiplications: float) -> float:
        """Cycles of so many f32 multiplications at the efficiency that whole networks attain."""
        return multiplications / (self.costs.attained * self.peak)

    @property
    def peak(self) -> float:
        """The peak of f32 multiplications per cycle."""
        return self.machine.multiply_adds

    def beside(self, one: float, other: float) -> float:
        """Cycles of two overlapping activities: the longer, plus the other's unhidden part."""
        return max(one, other) + self.costs.hidden * min(one, other)

    def beside_memory(self, arithmetic: float, moved: float) -> Terms:
        """Cycles of arithmetic that overlaps with reading `moved` bytes from memory."""
        return self._beside_read(arithmetic, "memory", moved / self.machine.memory_bandwidth)

    def beside_home(self, arithmetic: float, moved: float) -> Terms:
        """Cycles of arithmetic that overlaps with reading `moved` bytes again, from the cache that
        still holds them, or from memory.
        """
        name, bandwidth = self.home(moved)
        return self._beside_read(arithmetic, name, moved / bandwidth)

    def _beside_read(self, arithmetic: float, name: str, read: float) -> Terms:
        """The longer of the cycles of arithmetic and of reading, and the other's unhidden part."""
        hidden = self.costs.hidden
        if arithmetic >= read:
            return Terms({"arithmetic": arithmetic, name: hidden * read})
        return Terms({"arithmetic": hidden * arithmetic, name: read})

    def bandwidth(self, resident: float) -> float:
        """Bytes per cycle when reading data of `resident` bytes from where it stays."""
        return self.home(resident)[1]

    def home(self, resident: float) -> tuple[str, float]:
        """The memory where `resident` bytes stay, and its bytes per cycle."""
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
        """Cycles of a kernel, by its multiplications, the tensors it accesses, and its weights.

        A tensor stays in a cache or in memory from one kernel to the next; weights come from
        memory. The longer of arithmetic and data movement counts, and the part of the other that is
        not hidden. Units: multiplications in f32, bytes of each tensor, bytes.
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
        """Alternatives for one core, with their cycles divided evenly over all cores.

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

"""What a tile costs that a group of a device's threads has: waves of groups, and what limits them.

All numbers are the machine's. A core has so many groups at once as its threads and registers
allow; those that are left wait for the next wave. Each core then takes as long as the slowest of
its arithmetic, its bytes from memory and from the second cache, and those that threads read over
again near the core.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod

from ...targets.groups import GroupMachine
from ..model.plan import Loop
from ..model.stages import Stage, expected
from .bodies import shares
from .operands import Operand, operands
from .tile_costs import widest_element


@dataclass(frozen=True)
class GroupTile:
    """Elements along a stage's dimensions that a group has at once, dealt out over its threads."""

    lane_dim: int | None
    sizes: Mapping[int, int] = field(default_factory=dict)
    threads: int = 1
    cycles: float = inf
    bound: str = ""
    """What takes the most of them."""
    groups: int = 1

    def size(self, dim: int) -> int:
        """Elements along a dimension."""
        return self.sizes.get(dim, 1)

    @property
    def elements(self) -> int:
        """Elements in all."""
        return prod(self.sizes.values())

    def __str__(self) -> str:
        each = -(-self.elements // self.threads)
        size = "x".join(str(n) for _, n in sorted(self.sizes.items())) or "1"
        return f"{self.groups} x {self.threads} threads, {each} of {size} each ({self.bound})"


def dealt(sizes: Mapping[int, int], threads: int) -> dict[int, int]:
    """The sides of each thread's share, as long as wide."""
    counts = dict.fromkeys(sizes, 1)
    while prod(counts.values()) < threads:
        each = {d: -(-n // counts[d]) for d, n in sizes.items()}
        longest = max(each, key=lambda d: each[d], default=None)
        if longest is None or each[longest] == 1:
            break
        counts[longest] *= 2
    return {d: -(-n // counts[d]) for d, n in sizes.items()}


class GroupEstimate:
    """What the possible tiles of a stage, with others in the same loops, take."""

    def __init__(
        self,
        stage: Stage,
        machine: GroupMachine,
        loops: Sequence[Loop],
        others: Iterable[Stage] = (),
    ) -> None:
        self.stage = stage
        self.machine = machine
        self.costs = machine.costs.groups
        self.extents = [1] * stage.rank
        self.known = [True] * stage.rank
        for loop in loops:  # a collapsed loop counts as its last dimension
            self.extents[loop.dims[-1]] = expected(loop.extent)
            self.known[loop.dims[-1]] = isinstance(loop.extent, int)
        self.parallel = [l.dims[-1] for l in loops if not l.is_reduction]
        self.reductions = [l.dims[-1] for l in loops if l.is_reduction]
        self.inputs = operands(a for a in stage.inputs if a.argument.has_uses)
        self.outputs = operands(stage.outputs)
        self.bytes = widest_element(stage)
        self.width = max(1, machine.thread.lanes(self.bytes))
        """Elements that a thread reads at once."""
        self.weight = sum(s.weight for s in shares(stage, machine.costs.operations))
        self.beside = list(others)
        self._beside = [self._of_another(other) for other in self.beside]

    def _of_another(self, other: Stage) -> tuple[float, float]:
        """The arithmetic and bytes of a stage in the same loops."""
        points = prod(map(expected, other.extents))
        weight = sum(s.weight for s in shares(other, self.machine.costs.operations))
        made = {a.value for s in (self.stage, *self.beside) for a in s.outputs}
        moved = sum(
            o.access.element_bytes * o.elements(dict(enumerate(map(expected, other.extents))), None)
            for o in operands(other.accesses)
            if o.access.is_output or o.access.value not in made
        )
        return points * weight, moved

    # -- cost --------------------------------------------------------------------------------

    def estimated(self, lane_dim: int | None, sizes: Mapping[int, int], threads: int) -> GroupTile:
        """A tile with what it takes in all."""
        machine = self.machine
        groups = prod(-(-self.extents[d] // sizes.get(d, 1)) for d in self.parallel)
        each = dealt(sizes, threads)
        resident = self._resident(each, threads)
        if not resident:
            return GroupTile(lane_dim, sizes, threads, groups=groups)
        busy = max(1, min(machine.cores, groups))  # No groups take no time, but the launch.
        turns = -(-groups // machine.cores)
        waves = -(-turns // resident)
        whole = {**{d: self.extents[d] for d in self.reductions}, **self._inside(sizes)}
        times = {
            "arithmetic": turns
            * self._points(sizes, each, threads)
            * self.weight
            / self._rate(each, threads, resident),
            "l2": turns * self._moved(whole) / machine.l2_bandwidth,
            "memory": self._from_memory(whole, groups) / (busy * machine.memory_bandwidth),
            "workgroup": turns * self._near(sizes, each, threads) / machine.workgroup_bandwidth,
            "latency": waves * self._steps(sizes) * machine.latency / self.costs.ahead,
        }
        for arithmetic, moved in self._beside:
            times["arithmetic"] += arithmetic / (busy * self._rate(each, threads, resident))
            times["memory"] += moved / (busy * machine.memory_bandwidth)
        bound = max(times, key=lambda name: times[name])
        hidden = machine.costs.algorithms.hidden * (sum(times.values()) - times[bound])
        started = waves * machine.latency + turns * self.costs.group_cycles
        cycles = times[bound] + hidden + started
        return GroupTile(lane_dim, sizes, threads, cycles, bound, groups)

    def _inside(self, sizes: Mapping[int, int]) -> dict[int, int]:
        return {d: min(n, self.extents[d]) for d, n in sizes.items() if d in self.parallel}

    def _resident(self, each: Mapping[int, int], threads: int) -> int:
        """Groups that are at home on a core at once; none where one does not fit."""
        machine = self.machine
        words = max(1, self.bytes // 4) * prod(each.values())
        words += sum(o.elements(each, None) for o in self.inputs)
        most = machine.thread_registers * self.costs.registers_filled
        if words > most or threads > machine.group_threads:
            return 0
        taken = min(machine.thread_registers, words / self.costs.registers_filled)
        by_registers = int(machine.core_registers // (threads * max(1, taken)))
        return max(1, min(machine.core_groups, machine.core_threads // threads, by_registers))

    def _rate(self, each: Mapping[int, int], threads: int, resident: int) -> float:
        """Operations that a core starts in a cycle: chains of them wait for each other."""
        chains = prod(each.values()) * threads * resident
        lanes = -(-threads // self.machine.subgroup) * self.machine.subgroup
        return min(self.machine.units * threads / lanes, chains / self.machine.thread.fma_latency)

    def _points(self, sizes: Mapping[int, int], each: Mapping[int, int], threads: int) -> int:
        """Points of the iteration space that a group goes through, those beyond the edges too."""
        turns = prod(-(-self.extents[d] // sizes.get(d, 1)) for d in self.reductions)
        return prod(each.values()) * threads * turns

    def _moved(self, sizes: Mapping[int, int]) -> float:
        """Bytes of what a group touches, whole lines of it."""
        total = 0.0
        for o in (*self.inputs, *self.outputs):
            bytes = o.access.element_bytes
            run = max([n for d, n in sizes.items() if o.strides[d] == 1], default=1)
            wasted = max(1.0, self.machine.line_bytes / (run * bytes)) if any(o.strides) else 1.0
            total += o.count * o.elements(sizes, None) * bytes * wasted
        return total

    def _from_memory(self, sizes: Mapping[int, int], groups: int) -> float:
        """Bytes that come from memory: once where the second cache holds an operand."""
        total = 0.0
        everything = dict(enumerate(self.extents))
        for o in (*self.inputs, *self.outputs):
            bytes = o.access.element_bytes * o.count
            once = bytes * o.elements(everything, None)
            again = groups * bytes * o.elements(sizes, None)
            total += once if once <= self.machine.l2_bytes else again
        return total

    def _near(self, sizes: Mapping[int, int], each: Mapping[int, int], threads: int) -> float:
        """Bytes that threads read which others of the group read too, or add up with theirs."""
        turns = prod(-(-self.extents[d] // sizes.get(d, 1)) for d in self.reductions)
        shared = [o for o in self.inputs if self._is_shared(o)]
        read = sum(o.elements(each, None) * o.access.element_bytes for o in shared)
        partial = any(d in sizes for d in self.reductions)
        return threads * (turns * read + partial * prod(each.values()) * self.bytes)

    def _is_shared(self, operand: Operand) -> bool:
        """Whether several elements of the result need one of an operand's."""
        return any(
            self.extents[d] > 1 and (operand.strides[d] == 0 or operand.slides(d))
            for d in self.parallel
        )

    def _steps(self, sizes: Mapping[int, int]) -> int:
        """How often a thread waits for what it reads."""
        return prod(-(-self.extents[d] // sizes.get(d, self.width)) for d in self.reductions)

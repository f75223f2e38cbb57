"""What a tile costs that a group of a device's threads has: waves of groups, and what limits them.

All numbers are the machine's. A core has so many groups at once as its threads, its registers and
its workgroup memory allow; those that are left wait for the next wave. Each core then takes as long
as the slowest of its arithmetic, its bytes from memory and from the second cache, and those that
threads read over again near the core: from its first cache, or from what groups copied into
workgroup memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd, inf, prod

from ...ir.decisions import Terms
from ...targets.groups import GroupMachine
from ..model.extents import expected
from ..model.plan import Loop
from ..model.stages import Stage
from .bodies import widest_element, work_per_point
from .coalescing import (
    adjoining,
    alignment,
    alignment_of_copies,
    first_threads,
    rows_among,
    threads_along,
    unit_dims,
    waste,
)
from .operands import Operand, operands


@dataclass(frozen=True)
class Staging:
    """Operands that groups copy into their own memory, `steps` steps of a sum at a time."""

    dim: int
    """The reduction that is divided into steps; along others, copies have all elements."""
    steps: int
    buffers: int
    """How many copies there are at once: with two, one is filled while the other is read."""
    numbers: tuple[int, ...]
    """Which inputs of the stage they are."""


_TOO_LARGE = Terms({"registers": inf})
"""The cost of a tile that does not fit."""


@dataclass(frozen=True)
class GroupTile:
    """A block of a stage's iteration space that the threads of a group share, and its cost."""

    lane_dim: int | None
    sizes: Mapping[int, int] = field(default_factory=dict)
    threads: int = 1
    terms: Terms = _TOO_LARGE
    """The cycles by resource."""
    bound: str = ""
    """The resource that takes the most cycles."""
    groups: int = 1
    staging: Staging | None = None
    parts: int = 1
    """How many groups share a sum, each with partial results."""
    rows: int = 1
    """How many rows of groups run together, column by column, to reuse what they read."""

    @property
    def cycles(self) -> float:
        return self.terms.cycles

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
        found = f"{self.groups} x {self.threads} threads, {each} of {size} each ({self.bound})"
        if self.staging is not None:
            found += f", {self.staging.buffers} buffers of {self.staging.steps} steps"
        if self.parts > 1:
            found += f", {self.parts} parts of the sum"
        return found + (f", {self.rows} rows at once" if self.rows > 1 else "")


def thread_extents(sizes: Mapping[int, int], threads: int) -> dict[int, int]:
    """The extents of the part of a tile that each thread has, nearly a square."""
    counts = threads_along(sizes, threads)
    return {d: -(-n // counts[d]) for d, n in sizes.items()}


@dataclass
class _Share:
    """How a tile is distributed over the threads of a group: each has `each` along a dimension."""

    sizes: Mapping[int, int]
    each: Mapping[int, int]
    threads: int
    staging: Staging | None
    lane_dim: int | None = None
    first: Mapping[int, int] = field(default_factory=dict)
    """How many of the threads that step together lie along each dimension."""
    resident: int = 1
    """How many groups a core runs at once."""


class GroupEstimate:
    """The costs of the possible tiles of a stage, with other stages fused into its loops."""

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
        self.collapsed = {d for loop in loops if len(loop.dims) > 1 for d in loop.dims}
        self.parallel = [l.dims[-1] for l in loops if not l.is_reduction]
        self.reductions = [l.dims[-1] for l in loops if l.is_reduction]
        self.inputs = operands(a for a in stage.inputs if a.argument.has_uses)
        self.outputs = operands(stage.outputs)
        self.bytes = widest_element(stage)
        self.width = max(1, machine.thread.lanes(self.bytes))
        """Elements that a thread reads at once."""
        self.parts = 1
        """How many groups share a sum; the extents are then those of one part."""
        self.weight = work_per_point(stage, machine.costs.operations)
        self._shared = {o: self._is_shared(o) for o in self.inputs}
        self._uses_again = stage.has_reduction and any(self._shared.values())
        """Whether threads of a group need the same elements."""
        self._known_rows: dict[Operand, tuple[list[int], int]] = {}
        self.beside = list(others)
        self._beside = [self._of_another(other) for other in self.beside]

    def _of_another(self, other: Stage) -> tuple[float, float]:
        """(multiply-adds, bytes of memory) of another stage that is fused into the same loops."""
        points = prod(map(expected, other.extents))
        weight = work_per_point(other, self.machine.costs.operations)
        made = {a.value for s in (self.stage, *self.beside) for a in s.outputs}
        moved = sum(
            o.access.element_bytes * o.elements(dict(enumerate(map(expected, other.extents))), None)
            for o in operands(other.accesses)
            if o.access.is_output or o.access.value not in made
        )
        return points * weight, moved

    @property
    def step_dim(self) -> int | None:
        """The reduction of which several steps are done at once: the longest one.

        Of equally long ones it is the outermost, so that those inside of a step are complete.
        """
        known = [d for d in self.reductions if self.extents[d] > 1]
        return max(known, key=lambda d: self.extents[d], default=None)

    # -- cost --------------------------------------------------------------------------------

    def estimated(
        self,
        lane_dim: int | None,
        sizes: Mapping[int, int],
        threads: int,
        staging: Staging | None = None,
    ) -> GroupTile:
        """A tile of these extents, with its cost; one that does not fit costs infinitely much."""
        machine = self.machine
        groups = self.parts * prod(-(-self.extents[d] // sizes.get(d, 1)) for d in self.parallel)
        share = _Share(sizes, thread_extents(sizes, threads), threads, staging, lane_dim)
        if self._uses_again:
            counts = threads_along(sizes, threads)
            share.first = first_threads(counts, lane_dim, machine.together)
        share.resident = resident = self._resident(share)
        if not resident:
            return GroupTile(lane_dim, sizes, threads, groups=groups)
        busy = max(1, min(machine.cores, groups))  # No groups take no time, but the launch.
        turns = -(-groups // machine.cores)
        waves = -(-turns // resident)
        whole = {**{d: self.extents[d] for d in self.reductions}, **self._inside(sizes)}
        near, staged, missed = self._near(share)
        from_memory, rows = self._from_memory(whole, sizes, groups, resident)
        chunks = self._chunks(staging)
        steps = chunks if staging is not None else self._steps(sizes) / self.costs.ahead
        times = {
            "arithmetic": turns * self._points(share) * self.weight / self._rate(share),
            "l2": turns * (self._moved(whole) + missed) / machine.l2_bandwidth,
            "memory": from_memory / (busy * machine.memory_bandwidth),
            "cache": turns * near / machine.cache_bandwidth,
            "workgroup": turns * staged / machine.workgroup_bandwidth,
            "latency": waves * steps * machine.latency,
        }
        if not machine.thread.has_masks and lane_dim is not None:
            # Vectors that are not full take as long.
            filled = min(self.width, share.each.get(lane_dim, 1)) / self.width
            times |= {name: times[name] / filled for name in ("arithmetic", "cache", "l2")}
        read = self.inputs if self._beside else ()
        worst = max((self._waste(o, share) for o in read), default=1.0)
        for arithmetic, moved in self._beside:
            times["arithmetic"] += arithmetic / (busy * self._rate(share))
            times["memory"] += moved / (busy * machine.memory_bandwidth)
            times["cache"] += moved * worst / (busy * machine.cache_bandwidth)
        bound = max(times, key=lambda name: times[name])
        hidden = machine.costs.algorithms.hidden
        terms = {name: time * (1 if name == bound else hidden) for name, time in times.items()}
        terms["latency"] += waves * machine.latency
        terms["groups"] = turns * self.costs.group_cycles
        if not machine.thread.has_masks and self._is_masked(lane_dim, sizes, threads):
            terms["masked"] = turns * self._lanes(share, lane_dim) * self.costs.masked_cycles
        if staging is not None:
            terms["barriers"] = self._waited(share, chunks, turns) / resident
        parts = self.parts
        return GroupTile(
            lane_dim, sizes, threads, Terms(terms), bound, groups, staging, parts, rows
        )

    def _is_masked(self, lane_dim: int | None, sizes: Mapping[int, int], threads: int) -> bool:
        """Whether some threads need masks, since their part of a tile reaches beyond an edge."""
        each = thread_extents(sizes, threads)
        for d, size in sizes.items():
            unit = self.width if d == lane_dim and size >= self.width else 1
            if self.extents[d] % size or size % each[d] or each[d] % unit:
                return True
        return prod(size // each[d] for d, size in sizes.items()) != threads

    def _lanes(self, share: _Share, lane_dim: int | None) -> int:
        """Lanes of vectors that the threads of a group load and store."""
        loads = [o for o in self.inputs if lane_dim is None or o.strides[lane_dim]]
        read = sum(o.count * o.elements(share.each, None) for o in loads)
        written = prod(share.each.values())
        return share.threads * (read * self._turns(share.sizes) + written)

    def _inside(self, sizes: Mapping[int, int]) -> dict[int, int]:
        return {d: min(n, self.extents[d]) for d, n in sizes.items() if d in self.parallel}

    def _resident(self, share: _Share) -> int:
        """How many groups a core can run at once; 0 where one does not fit."""
        machine, threads = self.machine, share.threads
        words = max(1, self.bytes // 4) * prod(share.each.values())
        words += sum(o.elements(share.each, None) for o in self.inputs)
        staged = self.staged_bytes(share.sizes, share.staging)
        if share.staging is not None and share.staging.buffers > 1:
            words += staged // (4 * threads * share.staging.buffers)  # What is on its way.
        most = machine.thread_registers * self.costs.registers_filled
        if words > most or threads > machine.group_threads:
            return 0
        if staged > machine.workgroup_bytes // 2:  # The rest is for vectors that change hands.
            return 0
        taken = min(machine.thread_registers, words / self.costs.registers_filled)
        if threads * taken > machine.core_registers:
            return 0
        found = [
            machine.core_groups,
            machine.core_threads // threads,
            int(machine.core_registers // (threads * max(1, taken))),
        ]
        if staged:
            found.append(machine.core_workgroup_bytes // staged)
        return max(1, min(found))

    def _rate(self, share: _Share) -> float:
        """Operations that a core starts in a cycle, fewer where too few are independent."""
        machine, threads = self.machine, share.threads
        chains = prod(share.each.values()) * threads * share.resident
        lanes = -(-threads // machine.together) * machine.together
        return min(machine.units * threads / lanes, chains / machine.thread.fma_latency)

    def _points(self, share: _Share) -> int:
        """Points of the iteration space that a group executes, those beyond the edges included."""
        return prod(share.each.values()) * share.threads * self._turns(share.sizes)

    def _turns(self, sizes: Mapping[int, int]) -> int:
        """How many steps of reductions a group executes its tile for."""
        return prod(-(-self.extents[d] // sizes.get(d, 1)) for d in self.reductions)

    def _moved(self, sizes: Mapping[int, int]) -> float:
        """Bytes of all lines that a group touches."""
        return sum(o.count * self._lines(o, sizes) for o in (*self.inputs, *self.outputs))

    def _lines(self, operand: Operand, sizes: Mapping[int, int]) -> float:
        """Bytes of the lines that a part of an operand lies in."""
        bytes = operand.access.element_bytes
        run = adjoining(operand, sizes)
        moved = any(operand.strides)
        wasted = max(1.0, self.machine.moved_bytes / (max(run, 1) * bytes)) if moved else 1.0
        return operand.elements(sizes, None) * bytes * wasted

    def _from_memory(
        self, part: Mapping[int, int], sizes: Mapping[int, int], groups: int, resident: int
    ) -> tuple[float, int]:
        """(bytes that are read from memory, how many rows of groups run together for that).

        An operand that the second cache holds is read once. Others are read once by all groups that
        run at the same time.
        """
        once, far = 0.0, list[Operand]()
        everything = dict(enumerate(self.extents))
        for o in (*self.inputs, *self.outputs):
            bytes = self._bytes(o, everything)
            if bytes <= self.machine.l2_bytes or o.access.is_output:
                once += bytes
            else:
                far.append(o)
        if not far:
            return once, 1
        counts = {d: -(-self.extents[d] // sizes.get(d, 1)) for d in self.parallel}
        running = min(groups, self.machine.cores * resident)
        best = inf, 1
        for rows in self._rows(counts, running):
            spans = self._spans(counts, running, rows)
            whole = dict(part)
            for d, n in spans.items():
                whole[d] = min(self.extents[d], n * sizes.get(d, 1))
            waves = groups / prod(spans.values())
            again = sum(o.count * o.elements(whole, None) * o.access.element_bytes for o in far)
            least = sum(
                o.count * o.elements(everything, None) * o.access.element_bytes for o in far
            )
            best = min(best, (max(again * waves, least), rows))
        return once + best[0], best[1]

    @staticmethod
    def _bytes(operand: Operand, sizes: Mapping[int, int]) -> int:
        """Bytes of a part of an operand."""
        return operand.count * operand.elements(sizes, None) * operand.access.element_bytes

    @staticmethod
    def _rows(counts: Mapping[int, int], running: int) -> list[int]:
        """The numbers of rows of groups that may run together, column by column."""
        able = [n for n in counts.values() if n > 1]
        if len(able) < 2:
            return [1]
        most, found = min(able[-2], running), [1]
        while 2 * found[-1] <= most:
            found.append(2 * found[-1])
        return found

    @staticmethod
    def _spans(counts: Mapping[int, int], running: int, rows: int) -> dict[int, int]:
        """How many of the groups that run at the same time lie along each dimension."""
        able = [d for d, n in counts.items() if n > 1]
        spans = dict.fromkeys(counts, 1)
        if rows > 1:
            spans[able[-2]] = rows
            running = max(1, running // rows)
            able = able[-1:]
        for d in reversed(able):
            spans[d] = min(counts[d], running)
            running = max(1, running // spans[d])
        return spans

    def _near(self, share: _Share) -> tuple[float, float, float]:
        """Bytes that a group (reads from the first cache, reads and writes in workgroup memory,
        reads again from the second cache because the first one is too small).

        The first cache delivers whole lines, of which threads may need only a part.
        """
        turns = self._turns(share.sizes)
        near, staged, missed = 0.0, 0.0, 0.0
        numbers = share.staging.numbers if share.staging is not None else ()
        direct = [o for o in self.inputs if o.access.number not in numbers and self._shared[o]]
        at_once = {**share.sizes, **{d: self.width for d in (self.step_dim,) if d is not None}}
        resident = share.resident
        if self.machine.together == 1 and share.staging is None:
            # Threads run one after the other, each through all of its sum.
            resident, at_once = 1, {**share.each, **{d: self.extents[d] for d in self.reductions}}
        held = sum(self._lines(o, at_once) for o in direct)
        fits = resident * held <= self.machine.cache_bytes
        count = max(1, share.threads // self.machine.together)
        for o in self.inputs:
            bytes = share.threads * turns * o.elements(share.each, None) * o.access.element_bytes
            if o.access.number in numbers:
                copied = self._copied(o, share.sizes) * o.access.element_bytes
                staged += bytes + copied
                near += copied * self._waste_of_copies(o, share)
            else:
                near += bytes * self._waste(o, share)
            if o in direct:
                together = count * o.elements(thread_extents(share.sizes, count), None)
                missed += 0 if fits else turns * together * o.access.element_bytes
        for o in self.outputs:
            near += self._bytes(o, self._inside(share.sizes)) * self._waste(o, share)
        if any(d in share.sizes for d in self.reductions):
            staged += share.threads * prod(share.each.values()) * self.bytes
        return near, staged, missed

    def _rows_of(self, operand: Operand) -> tuple[list[int], int]:
        """(dimensions along the rows of an operand, a divisor of where rows begin, in bytes)."""
        if operand not in self._known_rows:
            line, extents = self.machine.moved_bytes, self.extents
            found = unit_dims(operand, extents), alignment(operand, extents, line)
            self._known_rows[operand] = found
        return self._known_rows[operand]

    def _waste(self, operand: Operand, share: _Share) -> float:
        """How many more lines threads that step together ask for than their elements would fill."""
        together, line = self.machine.together, self.machine.moved_bytes
        if together == 1 or not any(operand.strides):
            return 1.0
        beside, aligned = self._rows_of(operand)
        bytes, sizes = operand.access.element_bytes, share.sizes
        for d in beside:
            aligned = gcd(aligned, bytes * (self.width if d == self.step_dim else sizes.get(d, 1)))
        if self._uses_again:
            rows = rows_among(operand, share.first, beside)
            row = max((share.first.get(d, 1) for d in beside), default=1)
            if share.lane_dim in beside:
                row = min(row * self.width, sizes[share.lane_dim])
            elif self.step_dim in beside:
                row = self.width
        else:
            row = max((sizes.get(d, 1) for d in beside), default=1)
            row = min(row, together * self.width)
            rows = max(1, min(together // row, rows_among(operand, sizes, beside)))
        return waste(row * bytes, rows, aligned, line)

    def _waste_of_copies(self, operand: Operand, share: _Share) -> float:
        """As `_waste`, where threads copy a part of an operand into workgroup memory."""
        together, line = self.machine.together, self.machine.moved_bytes
        assert share.staging is not None
        if together == 1:
            return 1.0
        part = {**{d: self.extents[d] for d in self.reductions}, **share.sizes}
        part[share.staging.dim] = share.staging.steps
        row, bytes = adjoining(operand, part), operand.access.element_bytes
        aligned = alignment_of_copies(operand, part, self.extents, line)
        return waste(row * bytes, max(1, together * self.width // row), aligned, line)

    def _copied(self, operand: Operand, sizes: Mapping[int, int]) -> int:
        """How many elements of an operand a group copies into its memory in all."""
        whole = {**{d: self.extents[d] for d in self.reductions}, **sizes}
        return operand.elements(whole, None)

    def staged_bytes(self, sizes: Mapping[int, int], staging: Staging | None) -> int:
        """Bytes of workgroup memory that a group needs, if rows get longer to avoid conflicts."""
        if staging is None:
            return 0
        part = {**{d: self.extents[d] for d in self.reductions}, **sizes}
        part[staging.dim] = staging.steps
        total = 0
        for o in self.inputs:
            if o.access.number in staging.numbers:
                run = max([n for d, n in part.items() if o.strides[d] == 1], default=1)
                elements = o.elements(part, None)
                total += (elements + self.width * -(-elements // run)) * o.access.element_bytes
        return staging.buffers * total

    def _chunks(self, staging: Staging | None) -> int:
        return 1 if staging is None else -(-self.extents[staging.dim] // staging.steps)

    def _waited(self, share: _Share, chunks: int, turns: int) -> float:
        """Cycles in which threads of a group wait at barriers or for copies of operands."""
        barrier = self.costs.barrier_cycles
        if self.machine.together == 1:  # Each thread in turn comes to it.
            barrier *= share.threads
        if share.staging is not None and share.staging.buffers > 1:
            return turns * chunks * barrier
        return turns * chunks * (2 * barrier + self.machine.latency)

    def _is_shared(self, operand: Operand) -> bool:
        """Whether several elements of the result need the same element of an operand."""
        return any(
            self.extents[d] > 1 and (operand.strides[d] == 0 or operand.slides(d))
            for d in self.parallel
        )

    def _steps(self, sizes: Mapping[int, int]) -> int:
        """How often a thread waits for what it reads."""
        return prod(-(-self.extents[d] // sizes.get(d, self.width)) for d in self.reductions)

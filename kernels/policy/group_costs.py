"""The cost of a thread group's tile on a device: waves of groups, and which resource limits them.

All numbers are the machine's. A core runs as many groups at once as its threads, registers and
workgroup memory allow; the other groups wait for the next wave. The time of a core is that of its
slowest resource: arithmetic, bytes from memory, bytes from the L2 cache, or bytes that threads
reread near the core, from its L1 cache or from operands copied into workgroup memory.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod

import numpy as np

from ...ir.core import Value
from ...targets.groups import GroupMachine
from ..model.extents import evaluated, expected
from ..model.plan import Loop
from ..model.stages import Stage
from .bodies import widest_element, work_per_point
from .coalescing import (
    adjoining,
    alignment,
    alignment_of_copies,
    first_threads,
    rows_among,
    thread_extents,
    threads_along,
    unit_dims,
    waste,
)
from .group_rows import most_rows, spans_of
from .operands import Operand, operands
from .tile_batches import (
    Estimates,
    GroupTile,
    Numbers,
    Sizes,
    Staging,
    Stagings,
    TileBatch,
    elements_of,
    largest,
    parts_of,
    product,
)


@dataclass
class _Share:
    """How each tile of a batch is divided among the threads of a group."""

    sizes: Sizes
    each: Sizes
    threads: np.ndarray
    staging: Stagings | None
    lane_dim: int | None = None
    first: Sizes = field(default_factory=dict)
    """The number of threads that run in lockstep along each dimension."""
    resident: Numbers = 1
    """Groups that are resident on a core at once; 0 where not even one fits."""


class GroupEstimate:
    """The costs of the possible tiles of a stage, with other stages in the same loops."""

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
            self.extents[loop.dims[-1]] = evaluated(loop.extent)
            self.known[loop.dims[-1]] = isinstance(loop.extent, int)
        self.collapsed = {d for loop in loops if len(loop.dims) > 1 for d in loop.dims}
        self.parallel = [l.dims[-1] for l in loops if not l.is_reduction]
        self.reductions = [l.dims[-1] for l in loops if l.is_reduction]
        self.inputs = operands(a for a in stage.inputs if a.argument.has_uses)
        self.outputs = operands(stage.outputs)
        self.bytes = widest_element(stage)
        self.width = max(1, machine.thread.lanes(self.bytes))
        """Elements that a thread loads with one instruction."""
        self.parts = 1
        """Groups that share a sum; the extents are then those of a part."""
        self.in_turn = 1
        """Rows that a group computes one after the other."""
        self.row_bytes = 0
        """Bytes that a group keeps in its memory for each of its results."""
        self.weight = work_per_point(stage, machine.costs.operations)
        self._shared = {o: self._is_shared(o) for o in self.inputs}
        self._uses_again = stage.has_reduction and any(self._shared.values())
        """Whether threads of a group need the same elements."""
        self._known_rows: dict[Operand, tuple[list[int], int]] = {}
        self.beside = list(others)
        self._beside = [*map(self._of_another, self.beside)]

    def _of_another(self, other: Stage, near: Container[Value] = ()) -> tuple[float, float]:
        """(multiply-adds, bytes moved) of a stage in the same loops, but for buffers `near`."""
        weight = work_per_point(other, self.machine.costs.operations)
        made = {a.value for s in (self.stage, *self.beside) for a in s.outputs}
        moved = sum(
            o.access.element_bytes * o.elements(dict(enumerate(map(expected, other.extents))), None)
            for o in operands(other.accesses)
            if o.access.value not in near and (o.access.is_output or o.access.value not in made)
        )
        return prod(map(expected, other.extents)) * weight, moved

    @property
    def step_dim(self) -> int | None:
        """The reduction of which several steps are executed at once: the longest; None without one.

        Of equally long reductions it is the outermost one.
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
        """The tile of these sizes and threads, with its estimated cycles."""
        row = [threads, *sizes.values()]
        return self.estimates(TileBatch.of(lane_dim, list(sizes), [row], [staging])).tile(0)

    def estimates(self, tiles: TileBatch) -> Estimates:
        """The estimated cycles of each tile of a batch."""
        machine, sizes, count = self.machine, tiles.sizes, tiles.count
        sides = (parts_of(self.extents[d], sizes.get(d, 1)) for d in self.parallel)
        groups = parts_of(self.parts * product(sides), self.in_turn)
        share = self._share(tiles)
        resident = np.maximum(1, share.resident)
        busy = np.maximum(1, np.minimum(machine.cores, groups))  # No groups take no time.
        started = parts_of(groups, machine.cores)
        turns, waves = self.in_turn * started, self.in_turn * parts_of(started, resident)
        whole = {**{d: self.extents[d] for d in self.reductions}, **self._inside(sizes)}
        near, needed, staged, missed = self._near(share, resident)
        from_memory, rows = self._from_memory(whole, sizes, groups, resident)
        chunked = tiles.stagings
        chunks = 1 if chunked is None else parts_of(self.extents[chunked.dim], chunked.steps)
        steps = self._steps(sizes) / self.costs.ahead
        if tiles.stagings is not None:
            steps = np.maximum(chunks, steps) if self._reads_besides(tiles.stagings) else chunks
        times = {
            "arithmetic": turns * self._points(share) * self.weight / self._rate(share, resident),
            "l2": turns * (self._moved(whole) + missed) / machine.l2_bandwidth,
            "memory": from_memory / (busy * machine.memory_bandwidth),
            "cache": turns * near / machine.cache_bandwidth,
            "workgroup": turns * staged / machine.workgroup_bandwidth,
            "latency": waves * steps * machine.latency,
        }
        self._add_others(times, share, busy, self._rate(share, resident))
        times = {name: np.broadcast_to(time, count) for name, time in times.items()}
        wasted = np.broadcast_to(turns * (near - needed) / machine.cache_bandwidth, count)
        bounds = np.argmax(np.stack(list(times.values())), axis=0)
        hidden = machine.costs.algorithms.hidden
        terms = {
            name: time * np.where(bounds == number, 1.0, hidden)
            for number, (name, time) in enumerate(times.items())
        }
        terms["latency"] = terms["latency"] + waves * machine.latency
        terms["groups"] = np.broadcast_to(started * self.costs.group_cycles, count)
        if masks := "" if machine.thread.has_masks else "masked":
            lanes = self._lanes(share) * self.costs.masked_cycles
            terms[masks] = np.where(self._is_masked(share), turns * lanes, 0.0)
        if tiles.stagings is not None:
            waited = self._waited(share, tiles.stagings, chunks, turns) / resident
            terms["barriers"] = np.broadcast_to(waited, count)
        return Estimates(
            tiles,
            np.where(share.resident > 0, sum(terms.values()), inf),
            terms,
            bounds,
            np.broadcast_to(groups, count),
            np.broadcast_to(rows, count),
            self.parts,
            masks,
            wasted,
            self.in_turn,
        )

    def _share(self, tiles: TileBatch) -> _Share:
        """Divide the tiles among threads, and find how many groups are resident on a core."""
        sizes, threads = tiles.sizes, tiles.threads
        counts = threads_along(sizes, threads)
        each = {d: parts_of(n, counts[d]) for d, n in sizes.items()}
        share = _Share(sizes, each, threads, tiles.stagings, tiles.lane_dim)
        if self._uses_again:
            share.first = first_threads(counts, tiles.lane_dim, self.machine.together)
        share.resident = self._resident(share)
        return share

    def _add_others(
        self, times: dict[str, Numbers], share: _Share, busy: Numbers, rate: Numbers
    ) -> None:
        """Add the cost of idle lanes (without masks) and of the other stages to `times`."""
        machine = self.machine
        if not machine.thread.has_masks and share.lane_dim is not None:
            # Vectors that are not full take as long.
            filled = np.minimum(self.width, share.each.get(share.lane_dim, 1)) / self.width
            times |= {name: times[name] / filled for name in ("arithmetic", "cache", "l2")}
        worst: Numbers = 1.0
        for operand in self.inputs if self._beside else ():
            worst = np.maximum(worst, self._waste(operand, share))
        for arithmetic, moved in self._beside:
            times["arithmetic"] = times["arithmetic"] + arithmetic / (busy * rate)
            times["memory"] = times["memory"] + moved / (busy * machine.memory_bandwidth)
            times["cache"] = times["cache"] + moved * worst / (busy * machine.cache_bandwidth)

    def _is_masked(self, share: _Share) -> Numbers:
        """Whether some of a tile's threads have lanes beyond an edge."""
        each, found = share.each, np.zeros(len(share.threads), np.bool_)
        for d, size in share.sizes.items():
            unit = np.where(size >= self.width, self.width, 1) if d == share.lane_dim else 1
            odd = (self.extents[d] % size) + (size % each[d]) + (each[d] % unit)
            found = found | (odd != 0)
        return found | (product(n // each[d] for d, n in share.sizes.items()) != share.threads)

    def _lanes(self, share: _Share) -> Numbers:
        """The number of vector lanes that the threads of a group load and store."""
        lane_dim = share.lane_dim
        loads = [o for o in self.inputs if lane_dim is None or o.strides[lane_dim]]
        read = sum(o.count * elements_of(o, share.each) for o in loads)
        written = product(share.each.values())
        return share.threads * (read * self._turns(share.sizes) + written)

    def _inside(self, sizes: Sizes) -> dict[int, Numbers]:
        return {d: np.minimum(n, self.extents[d]) for d, n in sizes.items() if d in self.parallel}

    def _resident(self, share: _Share) -> Numbers:
        """Groups that are resident on a core at once; 0 where not even one fits."""
        machine, threads, words = self.machine, share.threads, self._words(share)
        staged = self._staged_bytes(share)
        most = machine.thread_registers * self.costs.registers_filled
        taken = np.minimum(machine.thread_registers, words / self.costs.registers_filled)
        fits = (words <= most) & (threads <= machine.group_threads)
        # The rest of its memory is for threads to exchange elements of vectors.
        fits &= staged <= machine.workgroup_bytes // 2
        fits &= threads * taken <= machine.core_registers
        rows = product(n for d, n in share.sizes.items() if d in self.parallel)
        fits &= rows * self.row_bytes <= machine.workgroup_bytes
        found = np.minimum(machine.core_groups, machine.core_threads // threads)
        found = np.minimum(found, machine.core_registers // (threads * np.maximum(1, taken)))
        at_most = machine.core_workgroup_bytes // np.maximum(1, staged)
        found = np.where(staged > 0, np.minimum(found, at_most), found)
        return np.where(fits, np.maximum(1, found), 0)

    def _words(self, share: _Share) -> Numbers:
        """32-bit registers that a thread needs for elements, where it needs the most."""
        word, threads = max(1, self.bytes // 4), share.threads
        words = word * product(share.each.values())
        words = words + sum(elements_of(o, share.each) for o in self.inputs)
        if (staging := share.staging) is not None:  # Copies under way are in registers.
            waiting = self._staged_bytes(share) // (4 * threads * staging.buffers)
            words = words + np.where(staging.buffers > 1, waiting, 0)
        return np.maximum(words, word * self._partial_sums(share))

    def _partial_sums(self, share: _Share) -> Numbers:
        """The number of partial sums of other subgroups that a thread reads at once to add them."""
        sizes, threads, lane_dim = share.sizes, share.threads, share.lane_dim
        if self.machine.together == 1 or not any(d in sizes for d in self.reductions):
            return 0
        own = product(n for d, n in share.each.items() if d in self.parallel)
        if lane_dim in self.parallel:
            own = np.maximum(own, np.minimum(self.width, sizes[lane_dim]))
        rows = np.maximum(1, product(n for d, n in sizes.items() if d in self.parallel) // own)
        return own * (threads // rows // np.maximum(1, self.machine.together // rows))

    def _rate(self, share: _Share, resident: Numbers) -> Numbers:
        """Operations that a core starts per cycle, limited by units and by dependent operations."""
        machine, threads = self.machine, share.threads
        chains = product(share.each.values()) * threads * resident
        lanes = parts_of(threads, machine.together) * machine.together
        return np.minimum(machine.units * threads / lanes, chains / machine.thread.fma_latency)

    def _points(self, share: _Share) -> Numbers:
        """Iteration points of a group, including those beyond the edges."""
        return product(share.each.values()) * share.threads * self._turns(share.sizes)

    def _turns(self, sizes: Sizes) -> Numbers:
        """How many times a group steps through its tile: once per tile of the reductions."""
        return product(parts_of(self.extents[d], sizes.get(d, 1)) for d in self.reductions)

    def _moved(self, sizes: Sizes) -> Numbers:
        """Bytes of all cache lines that a group touches."""
        return sum(o.count * self._lines(o, sizes) for o in (*self.inputs, *self.outputs))

    def _lines(self, operand: Operand, sizes: Sizes) -> Numbers:
        """Bytes of all cache lines that hold a part of an operand."""
        bytes = operand.access.element_bytes
        found = elements_of(operand, sizes) * bytes
        if not any(operand.strides):
            return found
        run = np.maximum(adjoining(operand, sizes), 1)
        return found * np.maximum(1.0, self.machine.moved_bytes / (run * bytes))

    def _from_memory(
        self, part: Sizes, sizes: Sizes, groups: Numbers, resident: Numbers
    ) -> tuple[Numbers, Numbers]:
        """(the least bytes read from memory, how many rows of groups run at once to reach that).

        An operand that fits in the L2 cache is read once; of larger ones, groups that run at the
        same time share what they read.
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
        counts = {d: parts_of(self.extents[d], sizes.get(d, 1)) for d in self.parallel}
        running = np.minimum(groups, self.machine.cores * resident)
        least = sum(self._bytes(o, everything) for o in far)
        most, best, chosen, rows = most_rows(counts, running), inf, 1, 1
        while rows == 1 or np.any(most >= rows):
            spans = spans_of(counts, running, rows)
            whole = dict(part)
            for d, n in spans.items():
                whole[d] = np.minimum(self.extents[d], n * sizes.get(d, 1))
            waves = groups / np.maximum(1, product(spans.values()))
            again = sum(self._bytes(o, whole) for o in far)
            found = np.where(most >= rows, np.maximum(again * waves, least), inf)
            chosen = np.where(found < best, rows, chosen)
            best = np.minimum(found, best)
            rows *= 2
        return once + best, chosen

    @staticmethod
    def _bytes(operand: Operand, sizes: Sizes) -> Numbers:
        """Bytes of the part of an operand with these extents."""
        return operand.count * elements_of(operand, sizes) * operand.access.element_bytes

    def _near(self, share: _Share, resident: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """(bytes from the L1 cache, how many of them threads need, bytes in workgroup memory, bytes
        from L2 on L1 misses) of one group.

        The L1 cache delivers whole lines. Misses are of operands that several threads read.
        """
        turns, together = self._turns(share.sizes), self.machine.together
        near, needed, staged, missed = 0.0, 0.0, 0.0, 0.0
        numbers = share.staging.numbers if share.staging is not None else ()
        direct = [o for o in self.inputs if o.access.number not in numbers and self._shared[o]]
        at_once = {**share.sizes, **{d: self.width for d in (self.step_dim,) if d is not None}}
        if together == 1 and share.staging is None:
            # Threads run one after the other, each through all of its sum.
            resident, at_once = 1, {**share.each, **{d: self.extents[d] for d in self.reductions}}
        held = sum(self._lines(o, at_once) for o in direct)
        fits = resident * held <= self.machine.cache_bytes
        count = np.maximum(1, share.threads // together)
        apart = thread_extents(share.sizes, count) if direct and together > 1 else share.each
        for o in self.inputs:
            bytes = share.threads * turns * elements_of(o, share.each) * o.access.element_bytes
            if o.access.number in numbers:
                copied = self._copied(o, share.sizes) * o.access.element_bytes
                staged = staged + bytes + copied
                near = near + copied * self._waste_of_copies(o, share)
                needed = needed + copied
            else:
                loaded = bytes * self._loads(o, share.lane_dim)
                near = near + loaded * self._waste(o, share)
                needed = needed + loaded
            if o in direct:
                again = turns * (count * elements_of(o, apart)) * o.access.element_bytes
                missed = missed + np.where(fits, 0.0, again)
        for o in self.outputs:
            written = self._bytes(o, self._inside(share.sizes))
            near, needed = near + written * self._waste(o, share), needed + written
        if any(d in share.sizes for d in self.reductions):
            staged = staged + share.threads * product(share.each.values()) * self.bytes
        return near, needed, staged, missed

    def _loads(self, operand: Operand, lane_dim: int | None) -> int:
        """The cost of loading one element, in elements: that of a whole vector where a processor's
        thread loads a scalar, such as one broadcast to all lanes.
        """
        if self.machine.together > 1 or lane_dim is None:
            return 1
        return 1 if operand.strides[lane_dim] == 1 else self.width

    def _rows_of(self, operand: Operand) -> tuple[list[int], int]:
        """(dimensions that run along an operand's rows, divisor of the rows' offsets in bytes).

        The divisor does not take offsets along those dimensions into account.
        """
        if operand not in self._known_rows:
            line, extents = self.machine.moved_bytes, self.extents
            found = unit_dims(operand, extents), alignment(operand, extents, line)
            self._known_rows[operand] = found
        return self._known_rows[operand]

    def _waste(self, operand: Operand, share: _Share) -> Numbers:
        """The ratio of bytes in the lines that threads request together to the bytes they need."""
        together, line = self.machine.together, self.machine.moved_bytes
        if together == 1 or not any(operand.strides):
            return 1.0
        beside, aligned = self._rows_of(operand)
        bytes, sizes = operand.access.element_bytes, share.sizes
        for d in beside:
            side = self.width if d == self.step_dim else sizes.get(d, 1)
            aligned = np.gcd(aligned, bytes * side)
        if self._uses_again:
            rows = rows_among(operand, share.first, beside)
            row = largest(share.first.get(d, 1) for d in beside)
            if share.lane_dim in beside:
                row = np.minimum(row * self.width, sizes[share.lane_dim])
            elif self.step_dim in beside:
                row = self.width
        else:
            row = largest(sizes.get(d, 1) for d in beside)
            row = np.minimum(row, together * self.width)
            among = rows_among(operand, sizes, beside)
            rows = np.maximum(1, np.minimum(together // row, among))
        return waste(row * bytes, rows, aligned, line)

    def _waste_of_copies(self, operand: Operand, share: _Share) -> Numbers:
        """As `_waste`, for threads that copy a part of an operand into workgroup memory."""
        together, line = self.machine.together, self.machine.moved_bytes
        if together == 1:
            return 1.0
        part = self._staged_part(share)
        row, bytes = adjoining(operand, part), operand.access.element_bytes
        aligned = alignment_of_copies(operand, part, self.extents, line)
        return waste(row * bytes, np.maximum(1, together * self.width // row), aligned, line)

    def _copied(self, operand: Operand, sizes: Sizes) -> Numbers:
        """The total number of an operand's elements that a group copies into workgroup memory."""
        whole = {**{d: self.extents[d] for d in self.reductions}, **sizes}
        return elements_of(operand, whole)

    def _staged_part(self, share: _Share) -> dict[int, Numbers]:
        """The extents of the iteration space whose operands are in workgroup memory at one time."""
        assert share.staging is not None
        part: dict[int, Numbers] = {**{d: self.extents[d] for d in self.reductions}, **share.sizes}
        part[share.staging.dim] = share.staging.steps
        return part

    def _staged_bytes(self, share: _Share) -> Numbers:
        """Bytes of workgroup memory of a group, with rows padded against bank conflicts."""
        if share.staging is None:
            return 0
        part, total = self._staged_part(share), 0.0
        for o in self.inputs:
            if o.access.number in share.staging.numbers:
                run = largest(n for d, n in part.items() if o.strides[d] == 1)
                elements = elements_of(o, part)
                longer = elements + self.width * parts_of(elements, run)
                total = total + longer * o.access.element_bytes
        return share.staging.buffers * total

    def _reads_besides(self, staging: Stagings) -> bool:
        """Whether any operand that varies along a reduction is not copied into workgroup memory."""
        read = (o for o in self.inputs if o.access.number not in staging.numbers)
        return any(o.strides[d] for o in read for d in self.reductions)

    def _waited(self, share: _Share, staging: Stagings, chunks: Numbers, turns: Numbers) -> Numbers:
        """Cycles in which threads of a group wait at barriers and for copies to arrive."""
        barrier: Numbers = self.costs.barrier_cycles
        if self.machine.together == 1:  # Each thread in turn comes to it.
            barrier = barrier * share.threads
        alone = 2 * barrier + self.machine.latency
        return turns * chunks * np.where(staging.buffers > 1, barrier, alone)

    def _is_shared(self, operand: Operand) -> bool:
        """Whether an element of the operand is read for several elements of the result."""
        return any(
            self.extents[d] > 1 and (operand.strides[d] == 0 or operand.slides(d))
            for d in self.parallel
        )

    def _steps(self, sizes: Sizes) -> Numbers:
        """How many times a thread waits for its loads: once per step of the reductions."""
        return product(parts_of(self.extents[d], sizes.get(d, self.width)) for d in self.reductions)

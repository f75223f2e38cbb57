"""The order of the outer loops, from the bytes that each order moves between caches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from math import prod

from ...targets.processor import Processor
from ..model.stages import Access, Stage, expected

MOST_PERMUTED = 4
"""Loops of which all orders are looked at; more would take long."""


class Traffic:
    """Costs of loop orders of one stage, whose innermost tile is `sizes` of each dimension.

    Of the dimensions in `parts` only so much is met, in one iteration of loops around.
    """

    def __init__(
        self, stage: Stage, sizes: dict[int, int], machine: Processor, parts: Mapping[int, int]
    ) -> None:
        self.stage = stage
        self.machine = machine
        self.costs = machine.costs.loops
        self.sizes = sizes
        self.extents = [expected(e) for e in stage.extents]
        for d, extent in parts.items():
            self.extents[d] = extent
        self.accesses = [a for a in stage.accesses if not a.is_scalar]
        self.levels = [
            (machine.l1_bytes, machine.l2_bandwidth),
            (machine.l2_bytes, machine.l3_bandwidth),
            (machine.l3_bytes, machine.memory_bandwidth),
        ]

    def best_order(
        self, groups: Sequence[tuple[int, ...]], chunks: int = 1
    ) -> list[tuple[int, ...]]:
        """The groups of dimensions, each one loop, outermost first, that move the least.

        Loops of one iteration stay where they are, outermost; of the others the first one has
        at least `chunks` even iterations, if any has.
        """
        best, least = list(groups), float("inf")
        for order, cost in self._orders(groups, chunks):
            if cost < least * self.costs.better_order:
                best, least = order, cost
        return best

    def other_orders(
        self, groups: Sequence[tuple[int, ...]], chunks: int = 1
    ) -> list[list[tuple[int, ...]]]:
        """The orders but the best, those that move the least first."""
        best = self.best_order(groups, chunks)
        found = sorted(self._orders(groups, chunks), key=lambda one: one[1])
        return [order for order, _ in found if order != best]

    def _orders(
        self, groups: Sequence[tuple[int, ...]], chunks: int
    ) -> Iterator[tuple[list[tuple[int, ...]], float]]:
        """The orders that are looked at, and the cycles of each."""
        idle = [g for g in groups if self._trips(g) <= 1]
        loops = [g for g in groups if g not in idle]
        head, tail = loops[:-MOST_PERMUTED], loops[-MOST_PERMUTED:]
        even = {g for g in tail if self._even_trips(g) >= chunks} if not head else set()
        for order in permutations(tail):
            if not even or order[0] in even:
                yield [*idle, *head, *order], self.cycles([*head, *order])

    def _trips(self, group: tuple[int, ...]) -> int:
        extent = prod(self.extents[d] for d in group)
        return -(-extent // max(1, self.sizes.get(group[0], 1)))

    def _even_trips(self, group: tuple[int, ...]) -> int:
        """Iterations if they are of equal size, or if the remainder hardly counts."""
        extent = prod(self.extents[d] for d in group)
        full, rest = divmod(extent, max(1, self.sizes.get(group[0], 1)))
        return full if not rest or full >= self.costs.even_iterations else 0

    def cycles(self, order: Sequence[tuple[int, ...]]) -> float:
        """Cycles that moving data takes at all levels."""
        # Footprints of each access when the loops from position k inwards run.
        ranges = list(self.extents)
        footprints: list[list[float]] = []
        for k in range(len(order) + 1):
            for group in order[:k]:
                for d in group:
                    ranges[d] = self.sizes.get(d, 1)
            footprints.append([self._footprint(a, ranges) for a in self.accesses])
        begun = [1 + self.costs.run_bytes / self._run(a, order) for a in self.accesses]
        total = 0.0
        for level, (capacity, bandwidth) in enumerate(self.levels):
            moved = self._moved(order, footprints, self.costs.cache_filled * capacity)
            if level:
                moved = [bytes * slower for bytes, slower in zip(moved, begun, strict=True)]
            total += sum(moved) / bandwidth
        return total

    def _run(self, access: Access, order: Sequence[tuple[int, ...]]) -> int:
        """Bytes that are touched one after the other before the next ones lie apart from them."""
        ranges = list(self.extents)
        for group in order:
            for d in group:
                ranges[d] = self.sizes.get(d, 1)
        run = self._contiguous(access, ranges)
        for group in reversed(order):
            if access.used.isdisjoint(group):
                continue
            for d in group:
                ranges[d] = self.extents[d]
            longer = self._contiguous(access, ranges)
            if longer <= run:
                break
            run = longer
        return run

    def _contiguous(self, access: Access, ranges: Sequence[int]) -> int:
        """Bytes without a gap that these ranges of the dimensions touch, whole lines at least."""
        line = self.machine.line_bytes
        run = access.element_bytes
        for count, size in zip(reversed(access.reach(ranges)), reversed(access.shape), strict=True):
            touched = run * max(1, count)
            if size is None or (count < size and touched >= line):
                return max(touched, line)
            run *= size
        return max(run, line)

    def _moved(
        self, order: Sequence[tuple[int, ...]], footprints: list[list[float]], capacity: float
    ) -> list[float]:
        """Bytes of each access that pass into a cache of this capacity."""
        fits = next(
            (k for k in range(len(order) + 1) if sum(footprints[k]) <= capacity), len(order)
        )
        moved = list(footprints[fits])
        for k in reversed(range(fits)):
            trips = self._trips(order[k])
            for i, access in enumerate(self.accesses):
                stays = k == fits - 1 and access.used.isdisjoint(order[k])
                if not stays:
                    moved[i] *= trips
        return moved

    def _footprint(self, access: Access, ranges: Sequence[int]) -> float:
        """Bytes of the elements touched, whole cache lines at a time."""
        width, counts = access.element_bytes, access.reach(ranges)
        if not counts:
            return float(width)
        *outer, inner = counts
        return prod(outer) * float(max(inner * width, self.machine.line_bytes))

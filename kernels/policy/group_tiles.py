"""The tiles that a group of a device's threads may have, and which is the best of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from math import isfinite, prod

from ..model.nest import MAX_LANES, MAX_UNROLLED
from .group_costs import GroupEstimate, GroupTile, Staging
from .operands import Operand


def lanes_of(size: int) -> int:
    """The lanes of the vectors that `size` elements of a tile are divided into."""
    lanes = max((n for n in range(1, MAX_LANES + 1) if size % n == 0), default=1)
    return MAX_LANES if lanes < min(size, MAX_LANES) // 2 else lanes


class GroupTiles(GroupEstimate):
    """The tiles of one stage that are considered, and the best of them."""

    fixed_threads: int | None = None
    """How many threads a group has, where that is decided already."""

    def best(self, lanes: Sequence[int] | None = None, staged: bool = False) -> GroupTile:
        """The tile of the least cost, with its lanes along one of these dimensions.

        With `staged`, groups copy operands into their own memory where they can.
        """
        stagings = self.stagings() if staged else [None]
        found = self._looked_at(lanes, stagings[0])
        chosen = min((GroupTile(None), *found), key=lambda one: one.cycles)
        if chosen.staging is not None:
            others = (
                self.estimated(chosen.lane_dim, chosen.sizes, chosen.threads, one)
                for one in stagings[1:]
            )
            chosen = min((chosen, *others), key=lambda one: one.cycles)
        return chosen if chosen.lane_dim is not None else self.estimated(None, {}, 1)

    def _looked_at(
        self, lanes: Sequence[int] | None, staging: Staging | None
    ) -> Iterator[GroupTile]:
        if lanes is None:
            summed = [] if self.reuses() else self.summed_dims()
            lanes = [*self.lane_dims(), *summed]
        for lane_dim in lanes:
            for sizes, threads in self.candidates(lane_dim):
                first = None if self._sums_side_by_side(sizes) else staging
                yield self.estimated(lane_dim, sizes, threads, first)

    def others(
        self, best: GroupTile, lanes: Sequence[int] | None = None, staged: bool = False
    ) -> list[GroupTile]:
        """The other legal tiles, those of the least cost first; see `best`."""
        stagings = self.stagings() if staged else [None]
        found = (one for staging in stagings for one in self._looked_at(lanes, staging))
        known = {_key(best)}
        chosen: list[GroupTile] = []
        for one in sorted(found, key=lambda one: one.cycles):
            if isfinite(one.cycles) and (key := _key(one)) not in known:
                known.add(key)
                chosen.append(one)
        return chosen

    def best_split(self) -> GroupTile | None:
        """The best tile if several groups share the longest sum; None where they cannot.

        The numbers of parts that are considered fill the device up to a few times.
        """
        dim = self.step_dim
        if dim is None or dim != self._split_sum() or not self.reuses():
            return None
        whole, found = self.extents[dim], list[tuple[float, GroupTile]]()
        results = sum(o.access.element_bytes * self._whole(o) for o in self.outputs)
        for parts in self._powers(2, 4 * self.machine.cores):
            steps = self.part_steps(whole, parts)
            if -(-whole // steps) < parts or steps < 2 * self.width:
                break
            self.extents[dim], self.parts = steps, parts
            for staged in (False, True):
                tile = self.best(staged=staged)
                moved = (parts + 2) * results / (self.machine.cores * self.machine.memory_bandwidth)
                found.append((tile.cycles + moved, tile))
        self.extents[dim], self.parts = whole, 1
        return min(found, key=lambda one: one[0], default=(0.0, None))[1]

    def part_steps(self, whole: int, parts: int) -> int:
        """How many steps each of `parts` parts of a sum has: operands are then whole lines."""
        line = max(self.width, self.machine.line_bytes // self.bytes)
        return -(-whole // (parts * line)) * line

    def _whole(self, operand: Operand) -> int:
        return operand.elements(dict(enumerate(self.extents)), None)

    def stagings(self) -> list[Staging | None]:
        """The ways in which groups may copy operands; the first one needs the least memory."""
        dim = self.step_dim
        numbers = tuple(o.access.number for o in self.inputs if self._can_be_staged(o))
        if dim is None or not numbers or not self.reuses():
            return [None]
        line = max(self.width, self.machine.line_bytes // self.bytes)
        most = min(self.extents[dim], line * self.costs.chunk_lines)
        strides = [o.strides[dim] for o in self.inputs if o.access.number in numbers]
        least = max(self.width, *(line // stride if stride else 1 for stride in strides))
        whole = self.extents[dim] // self.width * self.width
        least = min(least, whole or self.extents[dim])
        return [
            Staging(dim, steps, buffers, numbers)
            for steps in self._powers(least, max(least, most))
            for buffers in range(1, self.costs.buffers + 1)
        ]

    def _can_be_staged(self, operand: Operand) -> bool:
        """Whether groups can copy an operand: its part is a box of known size, and shared."""
        access = operand.access
        if operand.count > 1 or not self._is_shared(operand):
            return False
        terms = [linear.terms if linear is not None else ((0, -1),) for linear in access.linear]
        used = {d for one in terms for d, _ in one}
        is_known = all(self.known[d] for d in self.reductions if d in used and d != self.step_dim)
        is_own = used.isdisjoint(self.collapsed)
        return is_known and is_own and all(factor >= 0 for one in terms for _, factor in one)

    def _sums_side_by_side(self, sizes: Mapping[int, int]) -> bool:
        return any(d in sizes for d in self.reductions)

    def shared_by(self, threads: int) -> GroupTile:
        """The tile of `threads` threads along a row whose neighbours are contiguous in memory."""
        lanes = [*self.summed_dims(), *self.lane_dims()]
        if not lanes:
            return GroupTile(None)
        sizes = self._filled(lanes[0], threads * self.costs.vectors * self.width)
        return GroupTile(lanes[0], {lanes[0]: sizes[lanes[0]]}, threads)

    def lane_dims(self) -> list[int]:
        """The dimensions along which results, else operands, are contiguous; else all."""
        able = [d for d in self.parallel if self.extents[d] > 1]
        written = [d for d in able if any(o.strides[d] == 1 for o in self.outputs)]
        return written or [d for d in able if any(o.strides[d] == 1 for o in self.inputs)] or able

    def summed_dims(self) -> list[int]:
        """Reductions along which the lanes of a tile may have partial results."""
        stage = self.stage
        if not stage.is_reassociable:
            return []
        return [
            d for d in self.reductions
            if self.extents[d] > 1 and d not in stage.indexed_dims
            and any(o.strides[d] == 1 for o in self.inputs)
        ]  # fmt: skip

    def candidates(self, lane_dim: int) -> Iterator[tuple[dict[int, int], int]]:
        """The tiles that are considered: (extents by dimension, how many threads share them)."""
        if self.stage.kinds[lane_dim] == "reduction" or not self.reuses():
            for threads in self._threads():
                for vectors in self._powers(1, self.costs.vectors):
                    yield self._filled(lane_dim, threads * vectors * self.width), threads
                if not self.machine.thread.has_masks and lane_dim in self.parallel:
                    yield from ((sizes, threads) for sizes in self._whole_parts(lane_dim, threads))
            return
        summed = self._split_sum()
        for sizes in self._blocks(lane_dim):
            elements = prod(sizes.values())
            for threads in self._threads():
                if self._fits(lane_dim, sizes, threads):
                    yield sizes, threads
                if summed is None or elements > threads * self.width or self._fills(sizes, threads):
                    continue
                for parts in self._powers(2, threads * self.costs.vectors // elements):
                    if parts <= self.extents[summed]:
                        yield {**sizes, summed: parts}, threads

    def _threads(self) -> list[int]:
        machine = self.machine
        if self.fixed_threads is not None:
            return [self.fixed_threads]
        return list(self._powers(machine.together, machine.group_threads))

    @staticmethod
    def _powers(least: int, most: int) -> Iterator[int]:
        while least <= most:
            yield least
            least *= 2

    def reuses(self) -> bool:
        """Whether threads of a group need the same elements."""
        return self.stage.has_reduction and any(map(self._is_shared, self.inputs))

    def _split_sum(self) -> int | None:
        """The longest reduction that threads can share, each with partial results; None if none."""
        stage = self.stage
        able = [d for d in self.reductions if d not in stage.indexed_dims and self.known[d]]
        if not stage.is_reassociable:
            return None
        return max(able, key=lambda d: self.extents[d], default=None)

    # -- what is used once -------------------------------------------------------------------

    def _filled(self, lane_dim: int, elements: int) -> dict[int, int]:
        """A tile of `elements` elements, contiguous ones first: its extents by dimension."""
        if self.stage.kinds[lane_dim] == "reduction":
            return {lane_dim: self._even(self.extents[lane_dim], elements)}
        others = [d for d in reversed(self.parallel) if d != lane_dim]
        across = [
            d for d in others
            if any(o.strides[d] == 1 and o.strides[lane_dim] for o in self.inputs)
        ]  # fmt: skip
        sizes: dict[int, int] = {}
        line = max(1, self.machine.line_bytes // self.bytes)
        if across and self.extents[lane_dim] > 1:
            # A block whose rows are lines on both sides.
            elements = max(elements, line)
            wide = min(self.extents[across[0]], line, max(1, elements // line))
            sizes[across[0]] = wide
        for d in (lane_dim, *others):
            if d not in sizes:
                left = max(1, elements // max(1, prod(sizes.values())))
                sizes[d] = self._even(self.extents[d], left)
                if sizes[d] < self.extents[d]:
                    break
        return {d: n for d, n in sizes.items() if n > 1 or d == lane_dim}

    def _whole_parts(self, lane_dim: int, threads: int) -> Iterator[dict[int, int]]:
        """Tiles along the lanes and one other dimension that no thread exceeds an edge with."""
        unit, extent = threads * self.width, self.extents[lane_dim]
        most = unit * 4 * self.costs.vectors
        across = next((d for d in reversed(self.parallel) if d != lane_dim), None)
        for size in range(unit, min(extent, most) + 1, unit):
            if extent % size:
                continue
            yield {lane_dim: size}
            for rows in self._powers(2, most // size):
                if across is not None and self.extents[across] % rows == 0:
                    yield {lane_dim: size, across: rows}

    @staticmethod
    def _even(extent: int, most: int) -> int:
        """At most `most` elements of an extent: equal parts where as few as possible divide it."""
        if extent <= most:
            return extent
        count = -(-extent // most)
        return extent // count if extent % count == 0 else most

    # -- what is used again ------------------------------------------------------------------

    def _blocks(self, lane_dim: int) -> Iterator[dict[int, int]]:
        """Tiles of a product, along the lanes and up to two other dimensions."""
        able = [d for d in self.parallel if d != lane_dim and self.extents[d] > 1]
        useful = [d for d in able if self._shares_along(d)]
        most = self.machine.group_threads * self.costs.side**2
        seen: set[tuple[tuple[int, int], ...]] = set()
        short = self.extents[lane_dim] < self.costs.side * self.width
        pairs = combinations(useful, 2) if short else ()
        for dims in (*pairs, *((d,) for d in useful), ()):
            sides = [self._sides(lane_dim), *map(self._sides, dims)]
            for chosen in product(*sides):
                sizes = dict(zip((lane_dim, *dims), chosen, strict=True))
                sizes = {d: n for d, n in sizes.items() if n > 1 or d == lane_dim}
                key = tuple(sorted(sizes.items()))
                if key not in seen and prod(chosen) <= most:
                    seen.add(key)
                    yield sizes

    def _fills(self, sizes: Mapping[int, int], threads: int) -> bool:
        """Whether there are enough groups of such tiles to occupy all threads of the device."""
        groups = prod(-(-self.extents[d] // sizes.get(d, 1)) for d in self.parallel)
        return groups * threads >= self.machine.cores * self.machine.core_threads

    def _shares_along(self, dim: int) -> bool:
        return any(o.strides[dim] == 0 or o.slides(dim) for o in self.inputs)

    def _sides(self, dim: int) -> list[int]:
        """The extents of tiles along a dimension: powers of two, and all of it if it is short.

        Without masks, where elements beyond an edge are expensive, also all its divisors.
        """
        extent = self.extents[dim]
        most = self.costs.side * self.machine.together
        most = max(most, self.costs.side * self.width)
        found = [n for n in self._powers(1, most) if n < extent]
        if not self.machine.thread.has_masks and self.known[dim]:
            least = min(most, extent - 1)
            found = sorted({*found, *(n for n in range(2, least + 1) if extent % n == 0)})
        return [*found, extent] if extent <= most else found

    def _fits(self, lane_dim: int, sizes: Mapping[int, int], threads: int) -> bool:
        elements = prod(sizes.values())
        most = max(self.machine.together, elements // self.width)
        if threads > most or not threads <= elements <= threads * self.costs.side**2:
            return False
        return elements <= MAX_UNROLLED * lanes_of(sizes[lane_dim])


def _key(tile: GroupTile) -> tuple[object, ...]:
    """What the schedule of a tile depends on: tiles of equal keys have the same."""
    sizes = tuple(sorted(tile.sizes.items()))
    return tile.lane_dim, sizes, tile.threads, tile.staging, tile.rows

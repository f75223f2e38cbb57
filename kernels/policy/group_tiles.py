"""The search for the best tile of a thread group, among a limited number that fit."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice, product
from math import isfinite, prod

import numpy as np

from ...ir.core import Value
from ..model.nest import MAX_LANES, MAX_UNROLLED
from .choices import MOST_OPTIONS
from .coalescing import thread_extents
from .group_costs import GroupEstimate
from .operands import Operand, form_of
from .tile_batches import Estimates, GroupTile, Staging, TileBatch

_MOST_LIKELY = 1024
"""How many tiles of least cost are examined for alternatives to the best one."""


@lru_cache(1 << 12)
def lanes_of(size: int) -> int:
    """The lanes of vectors along an axis of `size` elements: a divisor of it, or the maximum."""
    lanes = max((n for n in range(1, MAX_LANES + 1) if size % n == 0), default=1)
    return MAX_LANES if lanes < min(size, MAX_LANES) // 2 else lanes


@dataclass(frozen=True)
class _Looked:
    """A batch of estimated tiles, with the position of each in the order of all candidates."""

    places: np.ndarray
    estimates: Estimates


class GroupTiles(GroupEstimate):
    """Enumerates the candidate tiles of one stage, and finds the cheapest."""

    fixed_threads: int | None = None
    """The number of threads of a group if it is given; None if it is to be chosen."""
    only_cycles: bool = False
    """Whether tiles are compared by cycles alone, and not by what else is as good."""

    @property
    def question(self) -> tuple[Hashable, ...]:
        """A cache key: products with equal keys, of one kernel and machine, have equal tiles."""
        return (
            form_of(self.stage),
            *map(tuple, (self.extents, self.known, self.parallel, self.reductions)),
            frozenset(self.collapsed),
            self.weight,
            *(form_of(other) for other in self.beside),
            *self._beside,
            self.parts,
            self.in_turn,
            self.row_bytes,
            self.fixed_threads,
            self.only_cycles,
        )

    def hand_on(self, values: Container[Value]) -> None:
        """Count no traffic of these buffers, of which a group keeps the part that it needs."""
        self.inputs = [o for o in self.inputs if o.access.value not in values]
        self.outputs = [o for o in self.outputs if o.access.value not in values]
        self._beside = [(self._of_another(other, values)) for other in self.beside]

    def copied_bytes(self, tile: GroupTile) -> int:
        """Bytes of a tile's copies of operands in workgroup memory."""
        rows = [[tile.threads, *tile.sizes.values()]]
        batch = TileBatch.of(tile.lane_dim, list(tile.sizes), rows, [tile.staging])
        return int(np.max(self._staged_bytes(self._share(batch))))

    def best(self, lanes: Sequence[int] | None = None, staged: bool = False) -> GroupTile:
        """The tile of the least cost, with its lanes along one of the dimensions `lanes`, if given.

        If `staged`, groups copy operands into workgroup memory where they can. Where the threads
        of a group run one after the other, that memory is no faster than a cache: the tile is
        chosen with the smallest copy, and larger copies are tried for this tile alone.
        """
        stagings = self.stagings() if staged else [None]
        first = stagings[:1] if self.machine.together == 1 else stagings
        chosen = self._best_of(lanes, first)
        if chosen.staging is None or len(first) == len(stagings):
            return chosen
        row = [chosen.threads, *chosen.sizes.values()]
        batch = TileBatch.of(chosen.lane_dim, list(chosen.sizes), [row], stagings[1:])
        others = self.estimates(batch)
        number = int(np.argmin(others.cycles))
        return others.tile(number) if others.cycles[number] < chosen.cycles else chosen

    def _best_of(
        self, lanes: Sequence[int] | None, stagings: Sequence[Staging | None]
    ) -> GroupTile:
        """The tile of the least cost with any of `stagings`.

        Of tiles whose costs differ by less than the model can tell, those of products that keep the
        device busy come first; among these, the one that wastes the fewest cycles on parts of lines
        that no thread needs, whether or not other resources hide them.
        """
        looked = self._looked_at(lanes, stagings)
        if not looked:
            return self.estimated(None, {}, 1)
        cycles = np.concatenate([one.estimates.cycles for one in looked])
        wasted = np.concatenate([one.estimates.wasted for one in looked])
        places = np.concatenate([one.places for one in looked])
        least = float(cycles.min())
        if not isfinite(least):
            return self.estimated(None, {}, 1)
        score = cycles
        if self.machine.together > 1 and not self.only_cycles:
            groups = np.concatenate([one.estimates.groups for one in looked])
            idle = self.reuses() & (self._idle(groups) > self.costs.most_idle)
            alike = cycles <= self.costs.alike * least
            alike &= ~idle | bool(np.all(idle[alike]))
            score = np.where(alike, cycles + wasted, np.inf)
        number = int(np.lexsort((places, score))[0])
        begins = np.cumsum([0, *(len(one.places) for one in looked)])
        batch = int(np.searchsorted(begins, number, side="right")) - 1
        return looked[batch].estimates.tile(number - int(begins[batch]))

    def _idle(self, groups: np.ndarray) -> np.ndarray:
        """The part of the cores without a group, on average over the time that tiles take."""
        cores = self.machine.cores
        return 1 - groups / np.maximum(1, cores * -(-groups // cores))

    def _looked_at(
        self, lanes: Sequence[int] | None, stagings: Sequence[Staging | None]
    ) -> list[_Looked]:
        """All candidate tiles with their estimates, for each of `stagings` in turn."""
        if lanes is None:
            summed = [] if self.reuses() else self.summed_dims()
            lanes = [*self.lane_dims(), *summed]
        count, alike = 0, dict[tuple[int, tuple[int, ...]], list[list[int]]]()
        for lane_dim in lanes:
            for sizes, threads in self.candidates(lane_dim):
                row = [threads, *sizes.values(), count]
                alike.setdefault((lane_dim, tuple(sizes)), []).append(row)
                count += 1
        found: list[_Looked] = []
        for (lane_dim, dims), rows in alike.items():
            able = [None] if self._sums_side_by_side(dims) else stagings
            batch = TileBatch.of(lane_dim, dims, rows, able)
            first = np.array([row[-1] for row in rows])
            places = np.concatenate([first + count * i for i in range(len(able))])
            found.append(_Looked(places, self.estimates(batch)))
        return found

    def others(
        self, best: GroupTile, lanes: Sequence[int] | None = None, staged: bool = False
    ) -> list[GroupTile]:
        """Up to `MOST_OPTIONS` other legal tiles, those of the least cost first."""
        looked = self._looked_at(lanes, self.stagings() if staged else [None])
        return list(islice(self._in_order(looked, {_key(best)}), MOST_OPTIONS))

    def _kind(self, tile: GroupTile) -> tuple[object, ...]:
        """A key that is equal for tiles of which it is enough to try one.

        Where threads run one after the other, tiles with equal parts per thread are such tiles.
        """
        if self.machine.together > 1:
            return _key(tile)
        each = thread_extents(tile.sizes, tile.threads)
        share = tuple(sorted((d, int(np.max(n))) for d, n in each.items() if np.max(n) > 1))
        return tile.lane_dim, share, tile.staging

    def _in_order(
        self, looked: Sequence[_Looked], known: set[tuple[object, ...]]
    ) -> Iterator[GroupTile]:
        """The tiles that fit and whose key is not in `known`, those of the least cost first."""
        if not looked:
            return
        cycles = np.concatenate([one.estimates.cycles for one in looked])
        order = np.lexsort((np.concatenate([one.places for one in looked]), cycles))
        ends = np.cumsum([len(one.places) for one in looked])
        for at in order[np.isfinite(cycles[order])][:_MOST_LIKELY]:
            which = int(np.searchsorted(ends, at, side="right"))
            estimates = looked[which].estimates
            tile = estimates.tile(int(at - ends[which] + estimates.tiles.count))
            if (key := self._kind(tile)) not in known and _key(tile) not in known:
                known.add(key)
                yield tile

    def best_in_turn(self, dim: int, lanes: Sequence[int]) -> GroupTile | None:
        """The best tile whose groups compute several rows along `dim` one after the other.

        All groups compute equally many, and there are groups for all cores. None without such.
        """
        extent, found = self.extents[dim], list[GroupTile]()
        rows = prod(self.extents[d] for d in self.parallel)
        for count in range(2, min(extent, rows // self.machine.cores) + 1):
            if lanes and extent % count == 0:
                self.in_turn = count
                found.append(self.best(lanes))
        self.in_turn = 1
        return min(found, key=lambda tile: tile.cycles, default=None)

    def best_split(self) -> GroupTile | None:
        """The best tile when several groups split the longest reduction; None if it can't be split.

        The numbers of parts tried are powers of two, up to four for each core. Of tiles whose costs
        differ by less than the model can tell, one is taken that keeps the cores busy, and that has
        the fewest parts.
        """
        dim = self.step_dim
        if dim is None or dim != self._split_sum():
            return None
        whole, found = self.extents[dim], list[tuple[float, GroupTile]]()
        results = sum(o.access.element_bytes * self._whole(o) for o in self.outputs)
        for parts in self._powers(2, 4 * self.machine.cores):
            steps = self.part_steps(whole, parts)
            if -(-whole // steps) < parts or steps < 2 * self.width:
                break
            self.extents[dim], self.parts = steps, parts
            for staged in (False, True) if self.reuses() else (False,):
                tile = self.best(staged=staged)
                moved = (parts + 2) * results / (self.machine.cores * self.machine.memory_bandwidth)
                found.append((tile.cycles + moved, tile))
        self.extents[dim], self.parts = whole, 1
        least = self.costs.alike * min((cycles for cycles, _ in found), default=0.0)
        alike = [one for one in found if one[0] <= least] if self.machine.together > 1 else found
        return min(alike, key=self._splits_worse, default=(0.0, None))[1]

    def _splits_worse(self, one: tuple[float, GroupTile]) -> tuple[bool, int, float]:
        """A key that is the least for the best way to split a sum; a way has cycles and a tile."""
        cycles, tile = one
        if self.machine.together == 1:
            return False, 0, cycles
        idle = tile.idle(self.machine.cores) > self.costs.most_idle
        return idle, tile.parts, cycles

    def part_steps(self, whole: int, parts: int) -> int:
        """The number of steps in each of `parts` parts of a sum of `whole` steps.

        It is a multiple of a unit: the largest of a cache line, its half, its quarter, .. (not less
        than what one access moves) with which all parts have equally many steps. If there is none,
        the unit is a cache line and the last part is shorter.
        """
        line = max(self.width, self.machine.line_bytes // self.bytes)
        unit, least = line, max(self.width, self.machine.moved_bytes // self.bytes)
        while unit > least and whole % (parts * unit):
            unit //= 2
        unit = line if whole % (parts * unit) else unit
        return -(-whole // (parts * unit)) * unit

    def _whole(self, operand: Operand) -> int:
        return operand.elements(dict(enumerate(self.extents)), None)

    def stagings(self) -> list[Staging | None]:
        """The ways of copying operands into workgroup memory, smallest first; or [None]."""
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
        able = set(self._powers(least, max(least, most)))
        if self.known[dim] and self.extents[dim] <= most:
            able.add(self.extents[dim])
        return [
            Staging(dim, steps, buffers, numbers)
            for steps in sorted(able)
            for buffers in range(1, self.costs.buffers + 1)
        ]

    def _can_be_staged(self, operand: Operand) -> bool:
        """Whether an operand's part is a box of constant size that threads of a group share."""
        access = operand.access
        if operand.count > 1 or not self._is_shared(operand):
            return False
        terms = [linear.terms if linear is not None else ((0, -1),) for linear in access.linear]
        used = {d for one in terms for d, _ in one}
        is_known = all(self.known[d] for d in self.reductions if d in used and d != self.step_dim)
        is_own = used.isdisjoint(self.collapsed)
        return is_known and is_own and all(factor >= 0 for one in terms for _, factor in one)

    def _sums_side_by_side(self, dims: Sequence[int]) -> bool:
        return any(d in dims for d in self.reductions)

    def shared_by(self, threads: int) -> GroupTile:
        """The tile of a group of `threads` threads along contiguous rows."""
        lanes = [*self.summed_dims(), *self.lane_dims()]
        if not lanes:
            return GroupTile(None)
        sizes = self._filled(lanes[0], threads * self.costs.vectors * self.width)
        return GroupTile(lanes[0], {lanes[0]: sizes[lanes[0]]}, threads)

    def lane_dims(self) -> list[int]:
        """The parallel dimensions along which results or else inputs are contiguous; else all."""
        able = [d for d in self.parallel if self.extents[d] > 1]
        written = [d for d in able if any(o.strides[d] == 1 for o in self.outputs)]
        return written or [d for d in able if any(o.strides[d] == 1 for o in self.inputs)] or able

    def summed_dims(self) -> list[int]:
        """The reductions along which an input is contiguous and lanes can hold partial results."""
        stage = self.stage
        if not stage.is_reassociable:
            return []
        return [
            d for d in self.reductions
            if self.extents[d] > 1 and d not in stage.indexed_dims
            and any(o.strides[d] == 1 for o in self.inputs)
        ]  # fmt: skip

    def candidates(self, lane_dim: int) -> Iterator[tuple[dict[int, int], int]]:
        """(sizes by dimension, number of threads) of each candidate tile."""
        if self.stage.kinds[lane_dim] == "reduction" or not self.reuses():
            for threads in self._threads():
                for vectors in self._powers(1, self.costs.vectors):
                    elements = threads * vectors * self.width
                    sizes = self._filled(lane_dim, elements)
                    yield sizes, threads
                    yield from ((more, threads) for more in self._short_rows(sizes, elements))
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
        """Whether several threads of a group read the same elements."""
        return self.stage.has_reduction and any(map(self._is_shared, self.inputs))

    def _split_sum(self) -> int | None:
        """The longest reduction that threads can split into partial results; None without one."""
        stage = self.stage
        able = [d for d in self.reductions if d not in stage.indexed_dims and self.known[d]]
        if not stage.is_reassociable:
            return None
        return max(able, key=lambda d: self.extents[d], default=None)

    # -- tiles without reuse -----------------------------------------------------------------

    def _filled(self, lane_dim: int, elements: int) -> dict[int, int]:
        """The sizes of a tile of about `elements` elements, filled from `lane_dim` outwards."""
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
            # A transposition: a block of whole lines, both of the operand and of the result.
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

    def _short_rows(self, sizes: dict[int, int], elements: int) -> Iterator[dict[int, int]]:
        """Sizes that are several rows of a reduction, where a group has threads for these.

        Whole rows, of which other stages have an element each: those that go over a row would
        need loops over the rows of a group. Threads may exchange all elements in half of the
        memory of a group, where extents are powers of two.
        """
        (dim, size), *others = sizes.items()
        able = [d for d in self.parallel if self.extents[d] > 1]
        longer = any(stage.rank > self.stage.kinds.count("parallel") for stage in self.beside)
        if others or dim in self.parallel or longer or not able or not self.known[dim]:
            return
        if self.in_turn > 1:
            return
        if size == self.extents[dim] and self.machine.together > 1:
            most = min(elements, MAX_UNROLLED * lanes_of(size)) // size
            row_bytes = self.bytes << (size - 1).bit_length()
            most = min(most, self.machine.workgroup_bytes // (2 * row_bytes))
            for rows in self._powers(2, min(most, self.extents[able[-1]])):
                yield {dim: size, able[-1]: rows}

    def _whole_parts(self, lane_dim: int, threads: int) -> Iterator[dict[int, int]]:
        """Sizes along the lanes and one other dimension that leave no thread beyond an edge."""
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
        """The size, up to `most`, that splits an extent evenly; `most` if none does."""
        if extent <= most:
            return extent
        count = -(-extent // most)
        return extent // count if extent % count == 0 else most

    # -- tiles with reuse --------------------------------------------------------------------

    def _blocks(self, lane_dim: int) -> Iterator[dict[int, int]]:
        """Sizes of blocks of results along the lanes and up to two other dimensions."""
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
        """Whether there are enough groups to keep all threads of the device busy."""
        groups = prod(-(-self.extents[d] // sizes.get(d, 1)) for d in self.parallel)
        return groups * threads >= self.machine.cores * self.machine.core_threads

    def _shares_along(self, dim: int) -> bool:
        return any(o.strides[dim] == 0 or o.slides(dim) for o in self.inputs)

    def _sides(self, dim: int) -> list[int]:
        """The sizes to try along a dimension: powers of two, and the whole extent if it is short.

        On machines without masks, also divisors of the extent.
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
    """A key that is equal for tiles with the same schedule."""
    sizes = tuple(sorted(tile.sizes.items()))
    return tile.lane_dim, sizes, tile.threads, tile.staging, tile.rows

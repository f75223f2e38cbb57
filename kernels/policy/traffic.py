"""The order of the outer loops, from the bytes that each order moves between caches."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod
from typing import NamedTuple

from ...targets.processor import Processor
from ..model.extents import expected
from ..model.stages import Access, Stage
from .operands import form_of

MOST_PERMUTED = 4
"""How many loops there may be for all orders to be considered; more would take too long."""


@dataclass(frozen=True)
class Block:
    """A loop split into blocks, so that what one block touches stays in a cache.

    `dims` are the loop's dimensions, `size` is how many of its iterations a block has.
    """

    dims: tuple[int, ...]
    size: int


class Cycles(NamedTuple):
    """Cycles of moving data: into the L1 cache, which overlaps with arithmetic, and into the
    caches beyond it.
    """

    near: float
    far: float

    @property
    def total(self) -> float:
        """Cycles of moving data between all levels of caches."""
        return self.near + self.far


class Traffic:
    """The costs of loop orders of one stage, whose register tile has `sizes` along its dimensions.

    `parts` has the extents of dimensions of which loops around cover only a part at a time. A loop
    over several dimensions has its tile along the last one.
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
        self._used = [sorted(a.used) for a in self.accesses]
        self._footprints: dict[tuple[int, ...], float] = {}
        self.levels = [
            (machine.l1_bytes, machine.l2_bandwidth),
            (machine.l2_bytes, machine.l3_bandwidth),
            (machine.l3_bytes, machine.memory_bandwidth),
        ]

    @property
    def question(self) -> tuple[Hashable, ...]:
        """A cache key: stages with equal keys, of one kernel and machine, have equal orders."""
        return (form_of(self.stage), tuple(sorted(self.sizes.items())), tuple(self.extents))

    def best_order(
        self,
        groups: Sequence[tuple[int, ...]],
        chunks: int = 1,
        block: Block | None = None,
        arithmetic: float = 0.0,
    ) -> list[tuple[int, ...]]:
        """The order of loops, outermost first, that moves the least data between caches.

        Each loop is given by its dimensions. Loops of one iteration stay outermost; the first of
        the others has at least `chunks` iterations of equal size, if any has. Within a `block`,
        that is the order of whole loops, unless another one saves clearly more than the
        `arithmetic` of the stage hides, in cycles.
        """
        best, least = list(groups), float("inf")
        for order, cost in self._orders(groups, chunks):
            if cost.total < least * self.costs.better_order:
                best, least = order, cost.total
        if block is None:
            return best
        other, cost = min(self._orders(groups, 1, block), key=_cost)
        saved = self.cycles(best, block).far - cost.far
        return other if saved > self.costs.better_inside * arithmetic else best

    def other_orders(
        self,
        groups: Sequence[tuple[int, ...]],
        chunks: int = 1,
        block: Block | None = None,
        arithmetic: float = 0.0,
    ) -> list[list[tuple[int, ...]]]:
        """All orders but `best_order`, those that move the least first."""
        best = self.best_order(groups, chunks, block, arithmetic)
        found = sorted(self._orders(groups, chunks), key=_cost)
        return [order for order, _ in found if order != best]

    def best_block(self, groups: Sequence[tuple[int, ...]], chunks: int = 1) -> Block | None:
        """The loop that it is best to split, with its loop over blocks outside of all others.

        None where no split moves less than the best order of whole loops, and clearly less beyond
        the L1 cache.
        """
        if self._touched() <= self.costs.cache_filled * self.machine.l2_bytes:
            return None
        _, least = min(self._orders(groups, chunks), key=_cost)
        block, cost = min(self._blocks(groups, chunks), key=_cost, default=(None, least))
        clearly = cost.far < least.far * self.costs.better_block
        return block if clearly and cost.total < least.total else None

    def other_blocks(self, groups: Sequence[tuple[int, ...]], chunks: int = 1) -> list[Block]:
        """All blocks, those that move the least first."""
        return [block for block, _ in sorted(self._blocks(groups, chunks), key=_cost)]

    def _blocks(
        self, groups: Sequence[tuple[int, ...]], chunks: int
    ) -> Iterator[tuple[Block, Cycles]]:
        """The blocks that are considered, with the cycles of the best order inside of each."""
        loops = [g for g in groups if self._trips(g) > 1]
        if not 1 < len(loops) <= MOST_PERMUTED:
            return
        for dims in loops:
            extent = prod(self.extents[d] for d in dims)
            size = 2 * self._tile(dims)
            while 2 * size <= extent:
                block = Block(dims, size)
                if -(-extent // size) >= chunks:
                    each = (self.cycles(order, block) for order in permutations(loops))
                    yield block, min(each, key=lambda one: one.total)
                size *= 2

    def _orders(
        self, groups: Sequence[tuple[int, ...]], chunks: int, block: Block | None = None
    ) -> Iterator[tuple[list[tuple[int, ...]], Cycles]]:
        """The orders that are considered, and the cycles of each, within a `block` if given."""
        idle = [g for g in groups if self._trips(g) <= 1]
        loops = [g for g in groups if g not in idle]
        head, tail = loops[:-MOST_PERMUTED], loops[-MOST_PERMUTED:]
        even = {g for g in tail if self._even_trips(g) >= chunks} if not head else set()
        for order in permutations(tail):
            if not even or order[0] in even:
                yield [*idle, *head, *order], self.cycles([*head, *order], block)

    def _touched(self) -> float:
        return sum(self._footprint(i, self.extents) for i in range(len(self.accesses)))

    def _tile(self, group: tuple[int, ...]) -> int:
        """Iterations of a group's loop that are in the tile."""
        return max(1, self.sizes.get(group[-1], 1))

    def _trips(self, group: tuple[int, ...]) -> int:
        extent = prod(self.extents[d] for d in group)
        return -(-extent // self._tile(group))

    def _even_trips(self, group: tuple[int, ...]) -> int:
        """The iterations of a loop; 0 where the last one is clearly smaller than the others."""
        extent = prod(self.extents[d] for d in group)
        full, rest = divmod(extent, self._tile(group))
        return full if not rest or full >= self.costs.even_iterations else 0

    def cycles(self, order: Sequence[tuple[int, ...]], block: Block | None = None) -> Cycles:
        """The cycles of an order of loops, with the loop over blocks outermost."""
        loops = [(group, self._tile(group)) for group in order]
        if block is not None:
            loops.insert(0, (block.dims, block.size))
        # For each k, how much of each dimension the loops from position k inwards cover.
        inside = [list(self.extents)]
        trips = []
        for group, size in loops:
            ranges = list(inside[-1])
            trips.append(-(-prod(ranges[d] for d in group) // size))
            self._narrow(ranges, group, size)
            inside.append(ranges)
        groups = [group for group, _ in loops]
        numbers = range(len(self.accesses))
        footprints = [[self._footprint(i, ranges) for i in numbers] for ranges in inside]
        runs = [self._run(a, groups, inside) for a in self.accesses]
        begun = [1 + self.costs.run_bytes / run for run in runs]
        nest = _Nest(groups, trips, footprints)
        nearest, *beyond = self.levels
        near = sum(self._moved(nest, nearest[0])) / nearest[1]
        far = 0.0
        for capacity, bandwidth in beyond:
            moved = zip(self._moved(nest, capacity), begun, strict=True)
            far += sum(bytes * slower for bytes, slower in moved) / bandwidth
        return Cycles(near, far)

    @staticmethod
    def _narrow(ranges: list[int], group: tuple[int, ...], size: int) -> None:
        """Reduce the ranges of a loop's dimensions to what `size` of its iterations cover."""
        for d in reversed(group):
            ranges[d], size = min(size, ranges[d]), -(-size // max(1, ranges[d]))

    def _run(
        self,
        access: Access,
        groups: Sequence[tuple[int, ...]],
        inside: Sequence[Sequence[int]],
    ) -> int:
        """How many contiguous bytes an access touches before it jumps to another address.

        `inside` has the ranges of the dimensions within each loop, and last those of the tile.
        """
        run = self._contiguous(access, inside[-1])
        for group, ranges in zip(reversed(groups), reversed(inside[:-1]), strict=True):
            if access.used.isdisjoint(group):
                continue
            longer = self._contiguous(access, ranges)
            if longer <= run:
                break
            run = longer
        return run

    def _contiguous(self, access: Access, ranges: Sequence[int]) -> int:
        """How many contiguous bytes these ranges of the dimensions touch; at least a cache line."""
        line = self.machine.line_bytes
        run = access.element_bytes
        for count, size in zip(reversed(access.reach(ranges)), reversed(access.shape), strict=True):
            touched = run * max(1, count)
            if size is None or (count < size and touched >= line):
                return max(touched, line)
            run *= size
        return max(run, line)

    def _moved(self, nest: _Nest, capacity: float) -> list[float]:
        """Bytes of each access that are read into a cache of this capacity.

        Where not even a tile's data fits, the next tile finds none of it in the cache. But if code
        can prefetch, data that consecutive tiles read again counts as found.
        """
        depth = len(nest.groups)
        filled = self.costs.cache_filled * capacity
        touched = [sum(footprint) for footprint in nest.footprints]
        fits = next((k for k in range(depth + 1) if touched[k] <= filled), depth)
        lasts = touched[fits] <= capacity or bool(self.costs.prefetch_passes)
        moved = list(nest.footprints[fits])
        for k in reversed(range(fits)):
            for i, access in enumerate(self.accesses):
                stays = lasts and k == fits - 1 and access.used.isdisjoint(nest.groups[k])
                if not stays:
                    moved[i] *= nest.trips[k]
        return moved

    def _footprint(self, number: int, ranges: Sequence[int]) -> float:
        """Bytes of the elements that an access touches, whole cache lines at a time."""
        key = (number, *[ranges[d] for d in self._used[number]])
        if (known := self._footprints.get(key)) is not None:
            return known
        access = self.accesses[number]
        width, counts = access.element_bytes, access.reach(ranges)
        found = float(width)
        if counts:
            *outer, inner = counts
            found = prod(outer) * float(max(inner * width, self.machine.line_bytes))
        self._footprints[key] = found
        return found


def _cost(found: tuple[object, Cycles]) -> float:
    """The cycles of an order or of a block."""
    return found[1].total


@dataclass(frozen=True)
class _Nest:
    """Loops, outermost first: their dimensions and iterations, and the bytes that accesses touch.

    These are by depth, for each access: those within each loop, and last those within the tile.
    """

    groups: list[tuple[int, ...]]
    trips: list[int]
    footprints: list[list[float]]

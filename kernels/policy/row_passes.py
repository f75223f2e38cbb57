"""Rows that no group can keep: loops over blocks of their columns, one after the other.

    for each head and block of queries                    (a group of threads)
        for each block of keys                            the first pass
            scores = queries * keys
            maxima = max(maxima, scores)
        for each block of keys                            the last pass
            scores = queries * keys
            weights = exp(scores - maxima)
            sums += weights
            results += weights * values
        results /= sums

A pass is a loop over columns with a product, the stages on its results, and the reductions of these
results: their sums stay in registers while the loop runs. `--compute-rows-again` writes stages of
which each pass has its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from ...ir.core import Value
from ..model.extents import expected
from ..model.legality import IllegalScheduleError
from ..model.nest import MAX_LANES
from ..model.plan import Loop, Plan
from ..model.stages import Stage
from ..primitives.accumulate import accumulate
from ..primitives.cache import cache
from ..primitives.fuse import fuse
from ..primitives.split import split
from ..primitives.unroll import unroll
from ..primitives.vectorize import vectorize
from .group_heuristics import GroupHeuristics
from .group_tiles import GroupTiles, lanes_of
from .grouping import Group
from .tile_batches import GroupTile


@dataclass(frozen=True)
class RowPass:
    """A product whose results are only reduced along its dimension `column`, by `readers`."""

    group: Group
    column: int
    readers: tuple[Stage, ...]


@dataclass(frozen=True)
class RowPasses:
    """The passes of a kernel; `host`, the group of its last product, reads the last pass."""

    host: Group
    shared: tuple[int, ...]
    """The dimensions of the host that all stages run over in parallel; the last one is blocked."""
    column: int
    """The dimension that the host reduces."""
    passes: tuple[RowPass, ...]
    """The passes in the order in which they run."""
    others: tuple[Stage, ...]
    """Stages in no pass, with an element for each row: initial values, reciprocals."""

    @property
    def handed_on(self) -> set[Value]:
        """The results of the passes' products, of which only one block exists at a time."""
        return {a.value for one in self.passes for s in one.group.maps for a in s.outputs}


@dataclass(frozen=True)
class Blocks:
    """The rows and columns of a block, the threads of a group, and the tiles of all products."""

    rows: int
    columns: int
    threads: int
    tiles: tuple[GroupTile, ...] = ()
    """That of the host, then those of the passes."""

    @property
    def cycles(self) -> float:
        return sum(tile.cycles for tile in self.tiles)


@dataclass(frozen=True)
class _Room:
    """What a group has for copies of operands: bytes of its memory, and of all threads' registers
    for what is on its way there.
    """

    bytes: float
    registers: float


def row_passes(groups: Sequence[Group], plan: Plan) -> RowPasses | None:
    """The passes of a kernel, or None where it has other stages than those of passes."""
    tiles = sorted((g for g in groups if g.kind == "tile"), key=lambda g: g.host.index)
    if len(tiles) < 2 or any(g.feeders for g in tiles):
        return None
    host = tiles[-1].host
    sums = _dims(host, "reduction")
    passes = [_pass(group, plan) for group in tiles[:-1]]
    if len(sums) != 1 or not all(passes):
        return None
    found = sorted((p for p in passes if p is not None), key=lambda p: host in p.readers)
    if [host in p.readers for p in found] != [False] * (len(found) - 1) + [True]:
        return None
    placed = {s for g in tiles for s in g.maps} | {s for p in found for s in p.readers}
    others = tuple(s for s in plan.stages if s not in placed)
    shared = [
        d
        for d in _dims(host, "parallel")
        if all(d in _parallel_dims(plan, stage, host).values() for stage in plan.stages)
    ]
    while len(shared) > 1 and host.extents[shared[-1]] == 1:
        shared.pop()
    rows = [s for s in others if len(_own_dims(plan, s, host, shared)) > 0]
    if not shared or rows or any(s.has_reduction for s in others):
        return None
    if any(
        not isinstance(host.extents[d], int) for d in _dims(host, "parallel") if d not in shared
    ):
        return None
    for one in found:
        own = _own_dims(plan, one.group.host, host, shared)
        if [d for d in own if one.group.host.kinds[d] == "parallel"] != [one.column]:
            return None
    return RowPasses(tiles[-1], tuple(shared), sums[0], tuple(found), others)


def _pass(group: Group, plan: Plan) -> RowPass | None:
    """The pass of a product, if all that reads its results reduces them along one dimension."""
    written = {a.value for s in group.maps for a in s.outputs}
    readers = [
        s for s in plan.stages if s not in group.maps and any(a.value in written for a in s.inputs)
    ]
    columns = set[int | None]()
    for reader in readers:
        sums = _dims(reader, "reduction")
        if len(sums) != 1 or not reader.is_reassociable:
            return None
        columns.add(plan.matching_dims(reader, group.host).get(sums[0]))
    if len(columns) != 1:
        return None
    (column,) = columns
    if column is None or group.host.kinds[column] != "parallel":
        return None
    return RowPass(group, column, tuple(readers))


def _dims(stage: Stage, kind: str) -> list[int]:
    return [d for d, k in enumerate(stage.kinds) if k == kind]


def _parallel_dims(plan: Plan, stage: Stage, host: Stage) -> dict[int, int]:
    """{a parallel dimension of a stage: the host's that it corresponds to}."""
    if stage is host:
        return {d: d for d in _dims(host, "parallel")}
    found = plan.matching_dims(stage, host)
    return {d: theirs for d, theirs in found.items() if stage.kinds[d] == "parallel"}


def _own_dims(plan: Plan, stage: Stage, host: Stage, shared: Sequence[int]) -> list[int]:
    """The dimensions of a stage, of more than one element, that are not shared."""
    dims = _parallel_dims(plan, stage, host)
    return [d for d in range(stage.rank) if dims.get(d) not in shared and stage.extents[d] != 1]


class PassWriter:
    """Writes the schedule of a kernel in passes."""

    def __init__(self, heuristics: GroupHeuristics, found: RowPasses) -> None:
        self.heuristics, self.found = heuristics, found
        self.writer, self.plan = heuristics.writer, heuristics.writer.plan
        self.device = heuristics.device
        self.host = found.host.host
        self.own: dict[Stage, list[Loop]] = {}
        """The loops of a stage that is fused: over blocks of columns, and inside of them."""

    def write(self) -> None:
        """Choose the size of blocks, and write the loops of all passes with the stages in them.

        Raises IllegalScheduleError if no block fits a group.
        """
        blocks = self._blocks()
        if blocks is None:
            raise IllegalScheduleError("no block of rows fits a group", self.host.op.loc)
        self.rows, self.columns = blocks.rows, blocks.columns
        writer, host = self.writer, self.host
        products = [self.found.host, *(one.group for one in self.found.passes)]
        for group, tile in zip(products, blocks.tiles, strict=True):
            self.heuristics.chosen[group.host] = tile
        outer, own = self._opened(host, self.found.column)
        self.heuristics.bound(outer)
        at = outer[-1]
        *first, last = self.found.passes
        at_columns = own[0]
        self._fused(last.group.host, last.column, at_columns)
        for reader in last.readers:
            if reader is not host:
                self._fused(reader, None, at_columns)
        self._product(host, own)
        for stage in (*self.found.host.members, *self.found.others):
            if not self._initializes(stage):
                writer.put(fuse, stage, at)
        for one in (*first, last):
            self._one_pass(one, at)
        self.heuristics.launched.append(blocks.tiles[0])
        self.heuristics.continued += blocks.tiles[1:]

    def _one_pass(self, one: RowPass, at: Loop) -> None:
        """Write the loops inside of a pass, and the pass itself unless it is the last one."""
        column = self.own.get(one.group.host)
        for reader in one.readers:
            if reader is not self.host:
                if reader not in self.own:
                    self._fused(reader, None, at)
                self._reduction(reader)
                if column is None:
                    self._fused(one.group.host, one.column, self.own[reader][0])
                    column = self.own[one.group.host]
        self._product(one.group.host, self.own[one.group.host])
        loop = self.plan.order[one.group.host][self.plan.sharing[one.group.host].depth - 1]
        for stage in one.group.members:
            self.writer.put(fuse, stage, loop)

    def _opened(self, stage: Stage, column: int | None) -> tuple[list[Loop], list[Loop]]:
        """(shared loops, [the loop over blocks of columns, other loops, rows and columns of a
        block]) of a stage.
        """
        roots = self.writer.loops(stage)
        dims = {
            theirs: ours for ours, theirs in _parallel_dims(self.plan, stage, self.host).items()
        }
        outer = [roots[dims[d]] for d in self.found.shared]
        if column is None:
            (column,) = _dims(stage, "reduction")
        rest = [l for l in roots if l not in outer and l.dims != (column,)]
        outer[-1], rows = self.writer.put(split, outer[-1], self.rows)
        blocks, columns = self.writer.put(split, roots[column], self.columns)
        self.writer.reorder([*outer, blocks, *rest, rows, columns])
        return outer, [blocks, *rest, rows, columns]

    def _fused(self, stage: Stage, column: int | None, at: Loop) -> None:
        self.own[stage] = self._opened(stage, column)[1]
        self.writer.put(fuse, stage, at)

    def _product(self, stage: Stage, own: list[Loop]) -> None:
        """Write the loops of a product inside of a block: steps of the sum around a tile."""
        writer = self.writer
        blocks, *rest, rows, columns = own
        sums = [l for l in (*rest, columns) if l.is_reduction]
        across = [l for l in (*rest, columns) if not l.is_reduction]
        staging = self.heuristics.chosen[stage].staging
        around, steps = sums[:-1], sums[-1:]
        if staging is not None:
            (whole,) = [l for l in sums if l.dims == (staging.dim,)]
            chunk, inner = writer.put(split, whole, staging.steps)
            around, steps = [chunk, *(l for l in sums if l is not whole)], [inner]
        outer, inner = writer.put(split, steps[0], self.heuristics.machine.lanes(4))
        around, steps = [*around, outer], [inner]
        *others, lanes = across
        halves = self._lanes(lanes)
        writer.reorder([*around, *steps, rows, *others, *halves])
        self._unroll((*steps, rows, *others, *halves[:-1]))
        self._vectorize(halves[-1])
        writer.put(accumulate, blocks if blocks.is_reduction else around[0])
        if staging is not None:
            buffers = staging.buffers if staging.buffers > 1 else None
            for number in staging.numbers:
                writer.put(cache, number, stage, None, around[0], buffers)

    def _reduction(self, stage: Stage) -> None:
        """Write the loops of a reduction of rows: partial results side by side, in registers."""
        writer = self.writer
        blocks, *rest, rows, columns = self.own[stage]
        writer.reorder([*rest, rows, columns])
        self._unroll((*rest, rows))
        self._vectorize(columns)
        writer.put(accumulate, blocks)
        order = self.plan.order[stage]
        last = order[order.index(blocks) - 1]
        for other in self.found.others:
            if self._initializes(other) and other.outputs[0].value is stage.outputs[0].value:
                writer.put(fuse, other, last)

    def _unroll(self, loops: Iterable[Loop]) -> None:
        """Unroll the loops that do not follow those of the host, which are unrolled already."""
        for loop in loops:
            if loop.is_serial:
                self.writer.put(unroll, loop)

    def _vectorize(self, loop: Loop) -> None:
        if not loop.in_lanes:
            self.writer.put(vectorize, loop)

    def _lanes(self, loop: Loop) -> list[Loop]:
        """A loop of a tile, divided into copies and lanes if it has more than a vector's."""
        size = loop.extent
        assert isinstance(size, int)
        lanes = lanes_of(size)
        return [loop] if lanes >= size else list(self.writer.put(split, loop, lanes))

    def _initializes(self, stage: Stage) -> bool:
        """Whether a stage writes the initial values of a reduction of rows."""
        out = stage.outputs[0].value
        readers = [s for one in self.found.passes for s in one.readers if s is not self.host]
        return any(out is s.outputs[0].value and stage.index < s.index for s in readers)

    # -- blocks --------------------------------------------------------------------------------

    def _blocks(self) -> Blocks | None:
        """The blocks that take the least time; None if no block fits."""
        able = [one for one in map(self._estimated, *zip(*self._sizes(), strict=True)) if one]
        best = min(able, key=lambda one: one.cycles, default=None)
        if best is None:
            return None
        others = sorted((one for one in able if one is not best), key=lambda one: one.cycles)
        return self.heuristics.choices.choose(f"passes {self.host.index}", best, lambda: others)

    def _sizes(self) -> Iterator[tuple[int, int, int]]:
        """(rows, columns, threads) to be tried: powers of two."""
        device = self.device
        line = max(1, device.line_bytes // 4)
        most = device.costs.groups.side * device.together
        threads = list(_powers(device.together, device.group_threads))
        for rows in _powers(1, most):
            for columns in _powers(min(line, MAX_LANES), MAX_LANES):
                for count in threads:
                    yield rows, columns, count

    def _estimated(self, rows: int, columns: int, threads: int) -> Blocks | None:
        """These blocks with their cost, if they fit registers and workgroup memory."""
        device, host, found = self.device, self.host, self.found
        width = prod(
            n for d, n in enumerate(host.extents)
            if host.kinds[d] == "parallel" and d not in found.shared and isinstance(n, int)
        )  # fmt: skip
        words = max(1, host.outputs[0].element_bytes // 4)
        # The block's product, what is made of it, its partial sums; and the results.
        held = words * (3 * rows * columns + rows * width) / threads
        registers = min(device.thread_registers, device.core_registers // threads)
        left = registers * device.costs.groups.registers_filled - held
        # The rest of a group's memory is for threads to exchange elements of two such blocks.
        bytes, block = device.workgroup_bytes, 4 * words * rows * columns
        room = min(bytes // 2 - block, bytes - 3 * block)
        if left < 0 or room < 0 or rows * columns < threads or rows * width < threads:
            return None
        able = _Room(room, 4 * threads * left)
        tiles = [
            self._tile(one.group, one.column, Blocks(rows, columns, threads), able)
            for one in found.passes
        ]
        copies = max(size for _, size in tiles)
        able = _Room(room - copies, able.registers)
        last, _ = self._tile(found.host, None, Blocks(rows, columns, threads), able)
        return Blocks(rows, columns, threads, (last, *(tile for tile, _ in tiles)))

    def _tile(
        self, group: Group, column: int | None, block: Blocks, room: _Room
    ) -> tuple[GroupTile, int]:
        """The estimated tile of a product in a block, and the bytes of its copies. Dimension
        `column` of the product is that of the columns; None if it sums them up.
        """
        stage = group.host
        model = GroupTiles(stage, self.device, self.plan.roots[stage], group.members)
        model.hand_on(self.found.handed_on)
        dims = {
            theirs: ours for ours, theirs in _parallel_dims(self.plan, stage, self.host).items()
        }
        sizes = {dims[self.found.shared[-1]]: block.rows}
        if column is not None:
            sizes[column] = block.columns
        else:
            own = [d for d in _dims(stage, "parallel") if d not in self.found.shared]
            sizes.update((d, expected(stage.extents[d])) for d in own)
        lanes = list(sizes)[-1]
        best, copied = model.estimated(lanes, sizes, block.threads), 0
        # A last block of columns with fewer steps would have fewer barriers.
        extent = stage.extents[self.found.column] if column is None else 0
        whole = isinstance(extent, int) and extent % block.columns == 0
        for staging in model.stagings() if whole else ():
            if staging is None or (column is None and staging.steps > block.columns):
                continue
            tile = model.estimated(lanes, sizes, block.threads, staging)
            size = model.copied_bytes(tile)
            waiting = size // staging.buffers
            if size <= room.bytes and waiting <= room.registers and tile.cycles < best.cycles:
                best, copied = tile, size
        return best, copied


def _powers(least: int, most: int) -> Iterator[int]:
    while least <= most:
        yield least
        least *= 2

"""Steps of schedules for devices: which loops become groups of threads, and what a group does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod

from ...dialects import memref
from ...dialects.schedule import GroupAxis
from ...ir.core import Value
from ...targets.groups import GroupMachine
from ..codegen.tiles.contraction import factors_of
from ..model.extents import expected
from ..model.lanes import unvectorizable
from ..model.plan import Loop, iterations
from ..model.stages import Stage, has_reuse
from ..primitives.bind import bind
from ..primitives.borders import Padded, padded
from ..primitives.cache import cache
from ..primitives.fuse import fuse
from ..primitives.order import can_order, order
from ..primitives.parallel import parallel
from ..primitives.rfactor import rfactor
from ..primitives.split import split
from ..primitives.threads import threads
from .bodies import widest_element
from .chains import Chain
from .choices import Choices
from .group_tiles import GroupTiles, lanes_of
from .grouping import Group
from .heuristics import Heuristics
from .register_tile import Tile
from .tile_batches import GroupTile
from .writer import ScheduleWriter

AXES = "zyx"


class GroupHeuristics(Heuristics):
    """Writes schedules for devices: groups of stages become launches of groups of threads."""

    keeps_outer = True
    takes_blocks = False

    def __init__(
        self, writer: ScheduleWriter, machine: GroupMachine, choices: Choices | None = None
    ) -> None:
        super().__init__(writer, machine.thread, use_caches=False, choices=choices)
        self.device = machine
        self.launched: list[GroupTile] = []
        """The tile of each launch."""
        self.continued: list[GroupTile] = []
        """The tiles of a chain's later stages, which have no launch of their own."""
        self.launch = machine.launch_cycles
        self.chosen: dict[Stage, GroupTile] = {}
        self.around = 1
        self.fixed_threads: int | None = None
        """In a chain, the number of threads of each group; `around` is the number of groups."""
        self.chunks: dict[Stage, Loop] = {}
        """The loop of each product at which groups copy operands into their memory."""
        self.others: list[Stage] = []
        self.fed = False
        """Whether groups compute their inputs themselves, in workgroup memory."""
        self.leaves_feeders = False
        """Whether some inputs that groups were to compute themselves have launches of their own."""
        self.only_cycles = False
        """Whether tiles are compared by cycles alone, and not by what else is as good."""
        self.staged = False
        """Whether groups copy operands of products to workgroup memory."""
        self.split = False
        """Whether several groups compute parts of one sum of a product."""
        self.spreads = False
        """Whether they do so with other reductions, too, where that takes less time."""
        self.waiting: set[Stage] = set()
        """Stages that share no loops with others, or that make inputs of products."""

    def group(self, group: Group) -> None:
        """Schedule a group of stages that share loops."""
        self.others = group.members
        if self.is_plain(group.maps):
            for stage in group.maps:
                self.plain(stage)
        else:
            {"tile": self.tiled, "row": self.rows}.get(group.kind, self.maps)(group)
            self.launched.append(self.chosen[group.host])
        for stage in group.feeders:
            if stage not in self.writer.plan.sharing and not self.is_gone(stage):
                self.leaves_feeders = True
                self.alone(stage)

    def beside(self, stages: list[Stage]) -> None:
        """Schedule stages that write parts of one buffer, such as those of a concatenation.

        They get one launch where that is expected to be faster. Its groups go over the dimensions
        that all stages have in common (the images of a batch and their channels); all other extents
        have to be known, since a part of an unknown extent would need a loop of its own.
        """
        plan = self.writer.plan
        host = max(stages, key=lambda s: prod(map(expected, s.extents)))
        maps = {stage: plan.matching_dims(stage, host) for stage in stages}
        rows = set.intersection(*(set(found.values()) for found in maps.values()))
        roots = self.writer.loops(host)
        shared = [l for l in roots if l.dims[0] in rows and not l.is_reduction]
        own = [l for l in roots if l not in shared]
        model = GroupTiles(host, self.device, own)
        model.parts = prod(map(iterations, shared))
        tile = replace(self.best_of(model), parts=1)
        apart = sum(
            self.best_of(GroupTiles(stage, self.device, self.writer.loops(stage))).cycles
            + self.launch
            for stage in stages
        )
        one = len(stages) == 1 or self.is_plain(stages)
        one |= any(
            not isinstance(extent, int) and maps[stage].get(d) not in rows
            for stage in stages
            for d, extent in enumerate(stage.extents)
        )
        if one or not own or not shared or apart <= tile.cycles + self.launch:
            for stage in stages:
                self.alone(stage)
            return
        self.chosen[host] = tile
        outer, inner = self.split_tile(host, own, _in_lanes(tile))
        self.writer.reorder([*shared, *outer, *inner])
        self.unroll_all([], inner, _in_lanes(tile))
        self.parallelize(shared, 0.0)
        self.launched.append(tile)
        for stage in stages:
            if stage is not host:
                self.row_stage(stage, maps[stage], rows, shared[-1], True)

    def chain(self, chain: Chain) -> None:
        """Schedule a chain in one launch: a group of threads computes one block of all its stages.

        Blocks are along the innermost shared dimension. Results that one stage hands to the next
        stay in the memory of the group of threads.
        """
        block = self.block(chain)
        at: Loop | None = None
        first = len(self.launched)
        for group in chain.groups:
            host = group.host
            roots = self.writer.loops(host)
            outer = [roots[chain.dims[host][d]] for d in chain.shared]
            rest = [l for l in roots if l not in outer]
            outer[-1], inner = self.writer.put(split, outer[-1], block)
            self.writer.reorder([*outer, *rest, inner])
            self.nested[host] = outer
            if at is None:
                at = outer[-1]
                self.around = prod(map(iterations, outer))
                self.fixed_threads = self.best_threads(host, [*rest, inner])
                self.chosen[host] = GroupTile(None, threads=self.fixed_threads)
                self.bound(outer)
            else:
                self.writer.put(fuse, host, at)
        for group in chain.groups:
            self.group(group)
        self.continued += self.launched[first + 1 :]
        del self.launched[first + 1 :]
        self.around, self.fixed_threads = 1, None

    def block(self, chain: Chain) -> int:
        """The rows of a chain's block, whose intermediate results must fit workgroup memory."""
        row = max(1, sum(chain.bytes_of(a, chain.shared) for a in chain.handed_on()))
        extent = expected(chain.host.extents[chain.shared[-1]])
        most = max(1, min(extent, self.device.workgroup_bytes // (2 * row)))
        best = 1 << (most.bit_length() - 1)
        others = [best >> n for n in range(1, best.bit_length())]
        return self.choices.choose(f"block {chain.host.index}", best, lambda: others, most=4)

    def best_threads(self, host: Stage, loops: list[Loop]) -> int:
        """How many threads a group of a chain has: the best number for its first product."""
        model = GroupTiles(host, self.device, loops)
        model.parts = self.around
        return self.best_of(model).threads

    def alone(self, stage: Stage) -> None:
        """Schedule a stage by itself, in a launch of its own."""
        self.others = []
        if self.is_plain([stage]):
            self.plain(stage)
        else:
            super().alone(stage)

    def is_plain(self, stages: Iterable[Stage]) -> bool:
        """Whether threads cannot share a tile of one of these stages."""
        return any(unvectorizable(stage, self.machine) for stage in stages)

    def plain(self, stage: Stage) -> None:
        """Schedule a stage with one group of a single thread for each result."""
        loops = self.writer.loops(stage)
        results = [l for l in loops if not l.is_reduction]
        self.writer.reorder([*results, *(l for l in loops if l.is_reduction)])
        self.chosen[stage] = GroupTiles(stage, self.device, loops).estimated(None, {}, 1)
        self.parallelize(results, 0.0)
        self.launched.append(self.chosen[stage])

    # -- tiles ---------------------------------------------------------------------------------

    def tiled(self, group: Group) -> None:
        """Schedule a product by tiles; with `split`, another launch adds partial sums of groups."""
        host = group.host
        if not self.split or not (has_reuse(host) or self.spreads):
            super().tiled(group)
            return
        model = GroupTiles(host, self.device, self.writer.loops(host))
        tile = self.choices.once(("split", *model.question), model.best_split)
        if tile is None or (
            self.spreads and self.best_of(model).cycles <= tile.cycles + self.launch
        ):
            super().tiled(group)
            return
        self.chosen[host] = tile
        combined = self.partial_sums(host, model, _in_lanes(tile))
        self.launched.append(tile)
        maps = {s: self.writer.plan.matching_dims(s, combined) for s in group.members}
        self.others = list(maps)
        super().tiled(Group(combined, "tile", maps))
        self.chosen[host] = self.chosen[combined]

    def partial_sums(self, host: Stage, model: GroupTiles, tile: Tile) -> Stage:
        """Schedule a product whose groups compute partial sums. Returns the stage adding them."""
        writer, dim = self.writer, model.step_dim
        assert dim is not None
        roots = writer.loops(host)
        whole = next(l for l in roots if l.dims == (dim,))
        steps = model.part_steps(model.extents[dim], self.chosen[host].parts)
        around, rest = writer.put(split, whole, steps)
        combined = writer.put(rfactor, around)
        outer, inner = self.split_tile(host, [rest if l is whole else l for l in roots], tile)
        parallel = [around, *(l for l in outer if not l.is_reduction)]
        reductions = [l for l in outer if l.is_reduction]
        window, reductions = self.window(host, reductions, tile)
        writer.reorder([*parallel, *reductions, *window, *inner])
        self.unroll_all(window, inner, tile)
        self.accumulate(host, [*reductions, *window, *inner])
        self.parallelize(parallel, 0.0)
        self.prefetch(host, roots, parallel, tile)
        return combined

    def collapse(self, group: Group, keep: set[int]) -> list[Loop]:
        """Collapse adjacent loops, unless groups copy operands: the parts copied must be boxes."""
        if self.staged and has_reuse(group.host):
            return self.free(group.host)
        return super().collapse(group, keep)

    def tile(self, stage: Stage, roots: list[Loop]) -> Tile:
        """The tile of a stage, with lanes along a dimension that is contiguous in memory."""
        model = self.model(stage, roots)
        found = self.chosen_of(stage, model, staged=self.staged)
        self.chosen[stage] = found
        return _in_lanes(found)

    def chosen_of(
        self,
        stage: Stage,
        model: GroupTiles,
        lanes: Sequence[int] | None = None,
        staged: bool = False,
    ) -> GroupTile:
        """The model's best tile of a stage, unless the decision is overridden."""
        best = self.best_of(model, lanes, staged)
        key = ("tiles", None if lanes is None else tuple(lanes), staged, *model.question)
        found = self.choices.choose(
            f"tile {stage.index}",
            best,
            lambda: self.choices.once(key, lambda: model.others(best, lanes, staged)),
        )
        return replace(found, parts=1)

    def best_of(
        self, model: GroupTiles, lanes: Sequence[int] | None = None, staged: bool = False
    ) -> GroupTile:
        """The best tile of a model, which is found once for all schedules of the kernel."""
        model.only_cycles = self.only_cycles
        key = ("tile", None if lanes is None else tuple(lanes), staged, *model.question)
        return self.choices.once(key, lambda: model.best(lanes, staged))

    def model(self, stage: Stage, roots: list[Loop]) -> GroupTiles:
        """The cost model of a stage's tiles; in a chain, of one group's part of the stage."""
        model = GroupTiles(stage, self.device, roots, self.others)
        model.parts, model.fixed_threads = self.around, self.fixed_threads
        return model

    def row_tile(self, group: Group, roots: list[Loop]) -> Tile:
        """The tile of a row group: one row for each group of threads, or one for each thread."""
        model = self.model(group.host, roots)
        rows = [d for d in model.lane_dims() if d in group.rows]
        kept = self.row_bytes(group)
        model.row_bytes = kept if kept <= self.device.workgroup_bytes else 0
        lanes = [*model.summed_dims(), *rows]
        found = self.chosen_of(group.host, model, lanes)
        inner = next((l for l in reversed(roots) if not l.is_reduction and l.extent != 1), None)
        if inner is not None and set(inner.dims) <= group.rows and isinstance(inner.extent, int):
            found = self.best_in_turn(model, inner.dims[-1], lanes, found)
        self.chosen[group.host] = found
        return _in_lanes(found)

    def best_in_turn(
        self, model: GroupTiles, dim: int, lanes: Sequence[int], found: GroupTile
    ) -> GroupTile:
        """A tile whose groups compute several rows in turn if it takes less time than `found`."""
        is_told = found != replace(self.best_of(model, lanes), parts=1)
        if (
            is_told
            or self.around > 1
            or self.fixed_threads is not None
            or self.device.together == 1
        ):
            return found
        key = "in turn", dim, *model.question
        rows = self.choices.once(key, lambda: model.best_in_turn(dim, model.summed_dims()))
        return rows if rows is not None and rows.cycles < found.cycles else found

    def in_turn(self, stage: Stage, rows: list[Loop]) -> tuple[list[Loop], list[Loop]]:
        """Split the innermost loop over rows: a group computes some of them one after the other."""
        count = self.chosen[stage].in_turn
        if count == 1:
            return rows, []
        at = max(i for i, loop in enumerate(rows) if loop.extent != 1)
        outer, inner = self.writer.put(split, rows[at], count)
        return [*rows[:at], outer, *rows[at + 1 :]], [inner]

    def row_bytes(self, group: Group) -> int:
        """Bytes of a row of all results that the stages of a row group keep for its later loops."""
        absorbed, stages = self.absorbed(group), self.writer.plan.stages
        outside = {a.value for s in stages if s not in group.maps for a in s.accesses}
        found: dict[Value, int] = {}
        for stage, to_host in group.maps.items():
            size = prod(
                expected(extent)
                for d, (extent, kind) in enumerate(zip(stage.extents, stage.kinds, strict=True))
                if kind == "parallel" and to_host.get(d) not in group.rows
            )
            for access in stage.outputs if stage not in absorbed else ():
                value = access.value
                if value.defined_by(memref.Alloc) is not None and value not in outside:
                    found[value] = access.element_bytes * size
        return sum(found.values())

    def own_tile(self, stage: Stage, own: list[Loop]) -> Tile:
        """The tile along a row that the threads of a group compute at once."""
        return _in_lanes(GroupTiles(stage, self.device, own).shared_by(self.threads))

    def ordered(
        self, stage: Stage, loops: list[Loop], tile: Tile, over: Loop | None = None
    ) -> list[Loop]:
        """`loops` in their given order, so that concurrent groups read the same rows."""
        return loops

    def window(
        self, stage: Stage, reductions: list[Loop], tile: Tile
    ) -> tuple[list[Loop], list[Loop]]:
        """(unrolled, other reductions): as many steps at once as a thread loads elements."""
        summed = [
            l for l in reductions if l.dims[-1] != tile.lane_dim and isinstance(l.extent, int)
        ]
        is_staged = self.chosen[stage].staging is not None
        if len(summed) < len(reductions) or not (is_staged or factors_of(stage)):
            return [], reductions
        steps = self.device.thread.lanes(widest_element(stage)) if factors_of(stage) else 1
        last = max(summed, key=lambda l: expected(l.extent), default=None)
        if last is None or last.rest is not None:
            return [], reductions
        chunk = self.chunk(stage, last)
        others = [l for l in reductions if l is not last]
        if chunk is not None:
            reductions, last = [chunk[0], *others, chunk[1]], chunk[1]
            others = reductions[:-1]
            steps = min(steps, expected(last.extent))
        if steps < 2 or expected(last.extent) < steps:
            return [], reductions
        if last.extent == steps:
            return [last], others
        around, inner = self.writer.put(split, last, steps)
        return [inner], [around if l is last else l for l in reductions]

    def chunk(self, stage: Stage, loop: Loop) -> tuple[Loop, Loop] | None:
        """Split a sum: its inner loop has the steps whose operands a group copies at a time."""
        staging = self.chosen[stage].staging
        if staging is None or loop.dims != (staging.dim,):
            return None
        outer, inner = self.writer.put(split, loop, staging.steps)
        self.chunks[stage] = outer
        return outer, inner

    # -- producers and copies of operands --------------------------------------------------------

    def feed(self, group: Group, parallel: list[Loop], tile: Tile) -> None:
        """With `fed`, fuse the producers of the host's inputs into its loops, if they share all."""
        shared = self.within(group.host, parallel, self.fed_dims(group))
        if not self.fed or len(shared) < len(parallel):
            return
        rows = {d for loop in shared for d in loop.root.dims}
        for stage, to_host in group.feeders.items():
            if not self.is_gone(stage):
                self.row_stage(stage, to_host, rows, shared[-1], True)

    def prefetch(self, stage: Stage, roots: list[Loop], outer: Sequence[Loop], tile: Tile) -> None:
        """Let groups copy operands into workgroup memory, as the chosen tile's staging says."""
        staging, at = self.chosen[stage].staging, self.chunks.get(stage)
        if staging is None or at is None:
            return
        for number in staging.numbers:
            buffers = staging.buffers if staging.buffers > 1 else None
            is_padded = self.is_padded(stage, number)
            self.writer.put(cache, number, stage, None, at, buffers, padded=is_padded)

    def is_padded(self, stage: Stage, number: int) -> bool:
        """Whether groups can pad an operand as they copy it: no padding stage is scheduled yet."""
        access = next(a for a in stage.inputs if a.number == number)
        found = padded(access, self.writer.plan.stages)
        return isinstance(found, Padded) and self.waiting.issuperset(found.makers)

    def is_gone(self, stage: Stage) -> bool:
        """Whether a stage was removed because other stages do its work."""
        return stage in self.writer.plan.inlined

    # -- groups --------------------------------------------------------------------------------

    @property
    def threads(self) -> int:
        """The threads per group of the tile that was chosen last."""
        return list(self.chosen.values())[-1].threads

    def parallelize(self, loops: list[Loop], work: float) -> list[Loop]:
        """Bind all these loops to groups of threads, unless loops around them are bound already."""
        if not loops or loops[0].stage in self.nested:
            return loops
        return self.bound(loops)

    def bound(self, loops: list[Loop]) -> list[Loop]:
        """Bind each iteration of these loops to a group of threads. Returns the ordered loops."""
        tile = self.chosen[loops[0].stage]
        loops = self.in_blocks(loops, tile.rows)
        for left, loop in zip(range(len(loops), 0, -1), loops, strict=True):
            if len(loops) <= len(AXES) or tile.staging is not None:
                self.writer.put(bind, loop, axis=GroupAxis(AXES[max(0, len(AXES) - left)]))
            else:
                self.writer.put(parallel, loop)
        self.writer.put(threads, loops[0], threads=tile.threads)
        return loops

    def in_blocks(self, loops: list[Loop], rows: int) -> list[Loop]:
        """Order the two innermost loops over groups by blocks of `rows` rows. Returns all loops."""
        able = [i for i, loop in enumerate(loops) if iterations(loop) > 1]
        if rows == 1 or len(able) < 2 or able[-1] != able[-2] + 1:
            return loops
        first, second = loops[able[-2]], loops[able[-1]]
        if not can_order(first, rows):
            return loops
        outer, inner = self.writer.put(order, first, second, factor=rows)
        return [*loops[: able[-2]], outer, second, inner, *loops[able[-1] + 1 :]]


def _in_lanes(tile: GroupTile) -> Tile:
    """A group's tile as a register tile: lanes along one dimension, copies along others."""
    copies = {d: n for d, n in tile.sizes.items() if d != tile.lane_dim and n > 1}
    if tile.lane_dim is None:
        return Tile(None, 1, copies)
    size = tile.size(tile.lane_dim)
    lanes = lanes_of(size)
    if size > lanes:
        copies[tile.lane_dim] = -(-size // lanes)
    return Tile(tile.lane_dim, lanes, copies, tile.cycles)

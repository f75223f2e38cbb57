"""Schedules for devices: which loops become groups of threads, and what each group has at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...dialects.schedule import GroupAxis
from ...ir.core import Block
from ...targets.groups import GroupMachine
from ..codegen.buffers import Shrunk, shrink_buffers
from ..codegen.tiles.contraction import factors_of
from ..model.lanes import unvectorizable
from ..model.legality import IllegalScheduleError
from ..model.nest import build_nest
from ..model.places import place_nests
from ..model.plan import Loop, Plan
from ..model.stages import Stage, expected, stages_of
from ..primitives.bind import bind
from ..primitives.inline import inline
from ..primitives.parallel import parallel
from ..primitives.split import split
from ..primitives.threads import threads
from .candidates import Candidate
from .copies import worth_inlining
from .group_costs import GroupTile
from .group_tiles import GroupTiles, lanes_of
from .grouping import Group, partition
from .heuristics import Heuristics
from .tile_costs import Tile, widest_element
from .writer import ScheduleWriter

AXES = "zyx"


def candidates(
    kernel: str, block: Block, machine: GroupMachine, every: bool = False
) -> list[GroupCandidate]:
    """The schedules of the stages of a block; one is legal."""
    writing = _Writing(kernel, block, machine)
    found = [writing.together()]
    if writing.has_feeders:
        found.append(writing.together(fed=True))
    if len(stages_of(block)) > 1:
        found.append(writing.apart())
    if every or all(one.fault for one in found):
        found.append(writing.plain())
    return found


def best(found: Sequence[GroupCandidate], machine: GroupMachine) -> GroupCandidate:
    """The legal candidate of the fewest cycles."""
    return min((one for one in found if not one.fault), key=lambda one: one.cycles)


@dataclass(frozen=True)
class GroupCandidate(Candidate):
    """A schedule for a device, with the tiles of its launches."""

    tiles: tuple[GroupTile, ...] = ()

    def __str__(self) -> str:
        return "; ".join((super().__str__(), *map(str, self.tiles)))


class _Writing:
    """The ways of writing a schedule for the stages of a block."""

    def __init__(self, kernel: str, block: Block, machine: GroupMachine) -> None:
        self.kernel, self.block, self.machine = kernel, block, machine
        self.has_feeders = False
        """Whether some stages make inputs of others, piece by piece; once `together` has looked."""

    def together(self, fed: bool = False) -> GroupCandidate:
        """Stages that can share loops do so; `fed` ones with those that make their inputs."""

        def write(heuristics: GroupHeuristics) -> None:
            plan = heuristics.writer.plan
            for stage in list(plan.stages):
                if worth_inlining(stage, plan.stages):
                    heuristics.writer.put(inline, stage)
            heuristics.fed = fed
            for group in partition(plan.stages):
                self.has_feeders |= bool(group.feeders)
                heuristics.group(group)

        return self._candidate("fed" if fed else "grouped", write)

    def apart(self) -> GroupCandidate:
        """Each stage in a launch of its own."""

        def write(heuristics: GroupHeuristics) -> None:
            for stage in heuristics.writer.plan.stages:
                heuristics.alone(stage)

        return self._candidate("apart", write)

    def plain(self) -> GroupCandidate:
        """A thread for each result."""

        def write(heuristics: GroupHeuristics) -> None:
            for stage in heuristics.writer.plan.stages:
                heuristics.plain(stage)

        return self._candidate("plain", write)

    def _candidate(self, name: str, write: Callable[[GroupHeuristics], None]) -> GroupCandidate:
        writer = ScheduleWriter(self.kernel, stages_of(self.block))
        heuristics = GroupHeuristics(writer, self.machine)
        try:
            write(heuristics)
            nests = build_nest(writer.plan)
            place_nests(self.block, nests)
            thread = self.machine.thread
            for buffer in shrink_buffers(self.block, writer.plan, nests, thread):
                if _is_too_large(buffer, writer.plan):
                    return GroupCandidate(name, writer.op, fault="a group's buffers do not fit")
            cycles = sum(tile.cycles + heuristics.launch for tile in heuristics.launched)
            return GroupCandidate(name, writer.op, cycles, tiles=tuple(heuristics.launched))
        except IllegalScheduleError as error:
            return GroupCandidate(name, writer.op, fault=error.message)


class GroupHeuristics(Heuristics):
    """Schedules groups of stages for groups of threads."""

    def __init__(self, writer: ScheduleWriter, machine: GroupMachine) -> None:
        super().__init__(writer, machine.thread, use_caches=False)
        self.device = machine
        self.launched: list[GroupTile] = []
        """The tile of each launch."""
        self.launch = machine.launch_microseconds * machine.cycles_per_microsecond
        self.chosen: dict[Stage, GroupTile] = {}
        self.others: list[Stage] = []
        self.fed = False
        """Whether groups make their inputs themselves, in memory of their own."""

    def group(self, group: Group) -> None:
        """Schedule stages that share loops."""
        self.others = group.members
        if any(map(unvectorizable, group.maps)):
            for stage in group.maps:
                self.plain(stage)
        else:
            {"tile": self.tiled, "row": self.rows}.get(group.kind, self.maps)(group)
            self.launched.append(self.chosen[group.host])
        for stage in group.feeders:
            if stage not in self.writer.plan.sharing:
                self.alone(stage)

    def alone(self, stage: Stage) -> None:
        """A stage by itself, in a launch of its own."""
        self.others = []
        if unvectorizable(stage):
            self.plain(stage)
        else:
            super().alone(stage)

    def plain(self, stage: Stage) -> None:
        """A thread, which is a group, for each result."""
        loops = self.writer.loops(stage)
        results = [l for l in loops if not l.is_reduction]
        self.writer.reorder([*results, *(l for l in loops if l.is_reduction)])
        self.chosen[stage] = GroupTiles(stage, self.device, loops).estimated(None, {}, 1)
        self.parallelize(results, 0.0)
        self.launched.append(self.chosen[stage])

    # -- tiles ---------------------------------------------------------------------------------

    def tile(self, stage: Stage, roots: list[Loop]) -> Tile:
        """The best tile of a group, which has neighbours in memory as lanes."""
        model = GroupTiles(stage, self.device, roots, self.others)
        self.chosen[stage] = model.best()
        return _in_lanes(self.chosen[stage])

    def row_tile(self, group: Group, roots: list[Loop]) -> Tile:
        """A row for each group, or one for each thread."""
        model = GroupTiles(group.host, self.device, roots, self.others)
        rows = [d for d in model.lane_dims() if d in group.rows]
        found = model.best([*model.summed_dims(), *rows])
        self.chosen[group.host] = found
        return _in_lanes(found)

    def own_tile(self, stage: Stage, own: list[Loop]) -> Tile:
        """What the threads of a group do at once of their row."""
        return _in_lanes(GroupTiles(stage, self.device, own).shared_by(self.threads))

    def split_tile(
        self,
        stage: Stage,
        roots: list[Loop],
        tile: Tile,
        keep_outer: bool = False,
        preferred: set[int] | None = None,
    ) -> tuple[list[Loop], list[Loop]]:
        """Loops outside of the tile, of which one becomes groups, and those of the tile."""
        return super().split_tile(stage, roots, tile, True, preferred)

    def ordered(self, stage: Stage, loops: list[Loop], tile: Tile) -> list[Loop]:
        """As they are: groups that run side by side read the same rows."""
        return loops

    def window(
        self, stage: Stage, reductions: list[Loop], tile: Tile
    ) -> tuple[list[Loop], list[Loop]]:
        """Several steps of a product's sum at once, as many as a thread reads elements at once."""
        summed = [
            l for l in reductions if l.dims[-1] != tile.lane_dim and isinstance(l.extent, int)
        ]
        if factors_of(stage) is None or len(summed) < len(reductions):
            return [], reductions
        steps = self.device.thread.lanes(widest_element(stage))
        last = max(reversed(summed), key=lambda l: expected(l.extent), default=None)
        if last is None or last.rest is not None or steps < 2 or expected(last.extent) < steps:
            return [], reductions
        around, inner = self.writer.put(split, last, steps)
        return [inner], [around if l is last else l for l in reductions]

    # -- what needs no place in a group ----------------------------------------------------------

    def feed(self, group: Group, parallel: list[Loop], tile: Tile) -> None:
        """Stages that make the host's inputs do so in the groups, or in launches of their own."""
        shared = self.within(group.host, parallel, self.fed_dims(group))
        if not self.fed or len(shared) < len(parallel):
            return
        rows = {d for loop in shared for d in loop.root.dims}
        for stage, to_host in group.feeders.items():
            self.row_stage(stage, to_host, rows, shared[-1], True)

    def prefetch(self, stage: Stage, roots: list[Loop], outer: Sequence[Loop], tile: Tile) -> None:
        """Other groups run while one waits for memory."""

    # -- groups --------------------------------------------------------------------------------

    @property
    def threads(self) -> int:
        """The threads of the groups that were chosen last."""
        return list(self.chosen.values())[-1].threads

    def parallelize(self, loops: Sequence[Loop], work: float) -> None:
        """Make groups of the iterations of all these loops."""
        if not loops or loops[0].stage in self.nested:
            return
        for number, loop in enumerate(loops):
            if len(loops) <= len(AXES):
                self.writer.put(bind, loop, axis=GroupAxis(AXES[number - len(loops)]))
            else:
                self.writer.put(parallel, loop)
        self.writer.put(threads, loops[0], threads=self.chosen[loops[0].stage].threads)


def _is_too_large(buffer: Shrunk, plan: Plan) -> bool:
    """Whether a group needs a buffer that does not fit, and that no registers stand for."""
    if buffer.inside is None or buffer.on_stack:
        return False
    own = [l for access in buffer.dropped for l in plan.order[access.stage] if not l.is_shared]
    return not all(l.at_once or l.in_tile or l.is_reduction for l in own)


def _in_lanes(tile: GroupTile) -> Tile:
    """A tile of a group as lanes and copies of them."""
    copies = {d: n for d, n in tile.sizes.items() if d != tile.lane_dim and n > 1}
    if tile.lane_dim is None:
        return Tile(None, 1, copies)
    size = tile.size(tile.lane_dim)
    lanes = lanes_of(size)
    if size > lanes:
        copies[tile.lane_dim] = -(-size // lanes)
    return Tile(tile.lane_dim, lanes, copies, tile.cycles)

"""The default schedule of a group of stages: tiles, loop order, fusion, parallel loops."""

from __future__ import annotations

from math import ceil

from ...targets.processor import Processor
from ..model.extents import expected
from ..model.lanes import unvectorizable
from ..model.nest import depends
from ..model.plan import Loop
from ..model.stages import Stage
from ..primitives.cache import cache
from ..primitives.fuse import fuse
from ..primitives.split import split
from ..primitives.unroll import unroll
from .bodies import widest_element
from .chains import Chain
from .choices import Choices
from .copies import order_of_copy, worthwhile
from .grouping import Group
from .register_tile import Tile
from .squares import copy_by_squares
from .stream_shaping import StreamShaping
from .streaming import Stream
from .tiles import TileModel
from .work import even_share
from .writer import ScheduleWriter


class Heuristics(StreamShaping):
    """Writes the schedule of one group of stages after the other."""

    def __init__(
        self,
        writer: ScheduleWriter,
        machine: Processor,
        use_caches: bool = True,
        choices: Choices | None = None,
    ) -> None:
        super().__init__(writer, machine, choices)
        self.use_caches = use_caches
        self.copies: dict[Stage, list[Stage]] = {}
        """Copies of operands that were made before the stage that reads them was fused."""
        self.spread: set[Stage] = set()
        """Hosts whose blocks run on several cores: copies for all blocks are made before."""

    def chain(self, chain: Chain) -> None:
        """Schedule the groups of a chain in shared loops over blocks of the innermost dimension."""
        writer = self.writer
        work = sum(self.tile(s, writer.plan.roots[s]).cycles for s in chain.stages)
        for group in chain.groups:
            if group.kind == "tile" and self.stream(group.host) is None:
                self.copies[group.host] = self.caches(group)
        work = self.work(chain.stages, work)
        *whole, last = chain.shared
        block = self.block(chain)
        shared = whole if whole and block >= expected(chain.host.extents[last]) else chain.shared
        roots = writer.loops(chain.host)
        around = [roots[d] for d in whole]
        even = self.even_block(around, roots[last], block) if self.is_parallel(work) else None
        if even is not None:
            block, shared = even, chain.shared
        at: Loop | None = None
        for group in chain.groups:
            host = group.host
            roots = writer.loops(host)
            outer = [roots[chain.dims[host][d]] for d in shared]
            rest = [l for l in roots if l not in outer]
            if last in shared:
                outer[-1], inner = writer.put(split, outer[-1], block)
                rest.append(inner)
            writer.reorder([*outer, *rest])
            if at is None:
                at = outer[-1]
                single = all(l.extent == 1 for l in around)
                self.parallelize(outer if single or even else outer[: len(whole)], work)
            else:
                writer.put(fuse, host, at)
            self.nested[host] = outer
        if at is not None and last in shared and at.at_once:
            self.spread.update(group.host for group in chain.groups)
        for group in chain.groups:
            self.group(group)

    def block(self, chain: Chain) -> int:
        """The rows in a block of a chain: as many as the L2 cache holds, unless overridden."""
        size, extent = chain.block(self.machine), expected(chain.host.extents[chain.shared[-1]])
        unit = 1 if chain.is_transform else self.costs.loops.block_rows

        def others() -> list[int]:
            sizes = [ceil(size * part / unit) * unit for part in (1 / 2, 2, 1 / 4, 4)]
            return [n for n in dict.fromkeys(sizes) if n != size and n < 2 * extent]

        return self.choices.choose(f"block {chain.host.index}", size, others, most=4)

    def even_block(self, whole: list[Loop], last: Loop, block: int) -> int | None:
        """The block size, up to `block`, that gives each core an equal part of the rows, or None.

        None if outer loops keep the cores busy already, or if no size is even. A parallel loop
        inside of other loops must have no remainder.
        """
        costs, extent = self.costs.threads, last.extent
        if not isinstance(extent, int) or even_share(whole, self.machine) >= costs.even:
            return None
        single = all(l.extent == 1 for l in whole)
        for size in range(min(block, extent), costs.dealt_rows - 1, -1):
            if extent % size == 0 or (single and size % costs.dealt_rows == 0):
                part = Loop(last.stage, last.dims, extent, step=size)
                if even_share([*whole, part], self.machine) >= costs.even:
                    return size
        return None

    def group(self, group: Group) -> None:
        match group.kind:
            case "tile":
                stream = self.stream(group.host)
                if stream is None or not self.streamed(group, stream):
                    self.tiled(group)
            case "row":
                self.rows(group)
            case _:
                self.maps(group)

    # -- tile groups -----------------------------------------------------------------------------

    def tiled(self, group: Group) -> None:
        """Schedule a host in register tiles; the other stages of its group use the same tiles."""
        host, writer = group.host, self.writer
        copies = self.copies.get(host)
        if copies is None:
            copies = self.caches(group)
        roots = self.collapse(group, set())
        tile = self.tile(host, roots)
        used = {d for c in copies for d in writer.plan.matching_dims(c, host).values()}
        blocked = self.blocked(host, roots, tile)
        roots = blocked.loops
        outer, inner = self.split_tile(host, roots, tile, bool(group.members or copies), used)
        parallel = [l for l in outer if not l.is_reduction]
        reductions = [l for l in outer if l.is_reduction]
        parallel = blocked.around(self.ordered(host, parallel, tile, blocked.over))
        for dims in (self.fed_dims(group), used):
            parallel = blocked.outermost(parallel, dims)
        window, reductions = self.window(host, reductions, tile)
        writer.reorder([*parallel, *reductions, *window, *inner])
        self.unroll_all(window, inner, tile)
        self.accumulate(host, [*reductions, *window, *inner])
        parallel = self.parallelize(parallel, self.work(group.maps, tile.cycles))
        self.prefetch(host, roots, parallel, tile)
        self.join(group, parallel)
        self.feed(group, parallel, tile)
        for made in copies:
            self.feed_copy(made, host, parallel, tile)

    def streamed(self, group: Group, stream: Stream) -> bool:
        """Schedule a host that streams a matrix; False if other stages could not be fused."""
        shape = self.blocks if stream.is_narrow else self.rows_side_by_side
        loops = shape(group, stream)
        if loops is None:
            return False
        self.join(group, loops)
        self.feed(
            group, loops, Tile(stream.lane_dim, self.machine.lanes(widest_element(group.host)))
        )
        return True

    def join(self, group: Group, loops: list[Loop]) -> None:
        """Fuse the members of a group into the innermost of these loops of the host."""
        at = self.innermost(group.host, loops)
        for stage in group.members:
            if at is not None:
                self.writer.put(fuse, stage, at)
            else:
                self.alone(stage)

    def caches(self, group: Group) -> list[Stage]:
        """Copy operands that many rows of register tiles read. Returns the copies."""
        host = group.host
        made: list[Stage] = []
        if not self.use_caches:
            return made
        for access in host.inputs:
            possible = order_of_copy(host, access, self.machine)
            if possible is None:
                continue
            order = worthwhile(host, access, self.machine)
            if self.choices.either(f"copy {access.number} {host.index}", order is not None):
                order = order or possible
                permuted = tuple(order) if order != sorted(order) else None
                copy = self.writer.put(cache, access.number, host, permuted)
                assert copy is not None
                made.append(copy)
        return made

    def feed_copy(self, made: Stage, host: Stage, parallel: list[Loop], tile: Tile) -> None:
        """Fuse the copy of an operand into the outer loops of the host that it depends on."""
        writer = self.writer
        to_host = writer.plan.matching_dims(made, host)
        shared = self.within(host, parallel, set(to_host.values()))
        apart = host in self.spread or to_host.get(made.rank - 1) != tile.lane_dim
        if not shared or apart:
            self.alone(made)
        else:
            self.along_lanes(made, to_host, tile, shared[-1])

    def along_lanes(self, stage: Stage, to_host: dict[int, int], tile: Tile, at: Loop) -> None:
        """Fuse a stage whose lanes are the host's; its loop is then split as the host's is."""
        writer = self.writer
        lanes = next(ours for ours, theirs in to_host.items() if theirs == tile.lane_dim)
        for access in stage.inputs:
            strides = access.coefficients
            if access.is_scalar or strides is None or strides[lanes] in (0, 1):
                continue
            # Rows of the operand run along another dimension: blocks of it are transposed.
            for loop in writer.loops(stage):
                free = loop.is_alive and loop.dims[0] != lanes and loop.extent != 1
                if free and strides[loop.dims[0]] == 1:
                    _, block = writer.put(split, loop, tile.lanes)
                    writer.put(unroll, block)
        writer.put(fuse, stage, at, rolled=True)

    @staticmethod
    def fed_dims(group: Group) -> set[int]:
        """The dimensions of the host that all stages computing its inputs have, too."""
        maps = [set(m.values()) for m in group.feeders.values()]
        return set.intersection(*maps) if maps else set()

    def feed(self, group: Group, parallel: list[Loop], tile: Tile) -> None:
        """Fuse stages that make the host's inputs into as many of its outer loops as all share."""
        shared = self.within(group.host, parallel, self.fed_dims(group))
        rows = {d for loop in shared for d in loop.root.dims}
        for stage, to_host in group.feeders.items():
            if not shared or any(l.extent == 0 for l in shared):
                self.alone(stage)
            elif tile.lane_dim in rows:
                self.along_lanes(stage, to_host, tile, shared[-1])
            elif not copy_by_squares(self, stage, to_host, shared[-1]):
                self.row_stage(stage, to_host, rows, shared[-1], True)

    # -- row groups --------------------------------------------------------------------------------

    def rows(self, group: Group) -> None:
        """Schedule a row group: reductions and elementwise stages over common outer dimensions."""
        host, writer, rows = group.host, self.writer, set(group.rows)
        roots = self.collapse(group, rows)
        tile = self.row_tile(group, roots)
        outer, inner = self.split_tile(host, roots, tile)
        shared = [l for l in outer if set(l.dims) <= rows]
        idle = [l for l in outer if not l.is_reduction and l not in shared]
        own = [l for l in outer if l.is_reduction]
        # Stages that share `own` have no loops for reduced dimensions that are kept (extent 1).
        kept = [l for l in idle if l.extent == 1]
        idle = [l for l in idle if l.extent != 1]
        shared, in_turn = self.in_turn(host, shared)
        writer.reorder([*shared, *in_turn, *idle, *own, *kept, *inner])
        for loop in kept:
            writer.put(unroll, loop)
        self.unroll_all([], inner, tile)
        self.accumulate(host, [*own, *inner])
        plan = writer.plan
        work = sum(self.tile(s, plan.roots[s]).cycles for s in group.members) + tile.cycles
        self.parallelize(shared, self.work(group.maps, work))
        place = self.innermost(host, [*shared, *in_turn])
        if place is None:
            self.join(group, shared)
            return
        lanes_inside = tile.lane_dim is not None and tile.lane_dim not in rows
        absorbed = self.absorbed(group)
        loops: dict[Stage, Loop | None] = {host: own[-1] if own else None}
        for stage in group.members:
            if stage not in absorbed:
                to_host = group.maps[stage]
                loops[stage] = self.row_stage(stage, to_host, rows, place, lanes_inside)
        for stage, target in absorbed.items():
            at = loops.get(target)
            if at is None:
                self.row_stage(stage, group.maps[stage], rows, place, lanes_inside)
            else:
                writer.put(fuse, stage, at)

    def in_turn(self, stage: Stage, rows: list[Loop]) -> tuple[list[Loop], list[Loop]]:
        """(loops that run at once, loops inside of these) of the loops over a group's rows."""
        return rows, []

    def row_tile(self, group: Group, roots: list[Loop]) -> Tile:
        """The tile of a row group's host, with lanes across rows if that suits all stages."""
        host, rows = group.host, set(group.rows)
        tile = self.tile(host, roots)
        if tile.lane_dim is None or tile.lane_dim not in rows:
            return tile
        columns = set(range(host.rank)) - rows
        model = TileModel(host, self.machine, frozenset(rows), roots)
        if model.best().lane_dim is None:
            return tile
        pays = self.row_cycles(group, rows) < self.row_cycles(group, columns)
        within = self.choices.either(f"lanes within {host.index}", pays)
        return self.chosen_tile(host, model) if within else tile

    def row_cycles(self, group: Group, fixed: set[int]) -> float:
        """The cycles of a row group's stages, with no lanes or copies along `fixed` dimensions."""
        roots = self.writer.plan.roots
        total = 0.0
        for stage, to_host in group.maps.items():
            if not unvectorizable(stage, self.machine):
                own = frozenset(d for d in range(stage.rank) if to_host.get(d, d) in fixed)
                total += TileModel(stage, self.machine, own, roots[stage]).best().cycles
        return total

    def row_stage(
        self, stage: Stage, to_host: dict[int, int], rows: set[int], at: Loop, lanes_inside: bool
    ) -> Loop | None:
        """Schedule the loops that a stage does not share, and fuse it at `at`.

        Returns the innermost of them that is outside of the tile; None where all are inside.
        """
        writer = self.writer
        roots = writer.loops(stage)
        own = [l for l in roots if to_host.get(l.dims[0]) not in rows]
        plain: list[Loop] = []
        inner: list[Loop] = []
        if own and lanes_inside and not unvectorizable(stage, self.machine):
            own = self.collapse_run(stage, own)
            tile = self.own_tile(stage, own)
            plain, inner = self.split_tile(stage, own, tile)
            self.unroll_all([], inner, tile)
        else:
            plain = own
        plain = [l for l in plain if not l.is_reduction] + [l for l in plain if l.is_reduction]
        if plain or inner:
            keep = [l for l in writer.plan.order[stage] if l not in plain and l not in inner]
            writer.reorder([*keep, *plain, *inner])
        self.accumulate(stage, [l for l in (*plain, *inner) if l.is_reduction])
        writer.put(fuse, stage, at)
        return plain[-1] if plain else None

    def own_tile(self, stage: Stage, own: list[Loop]) -> Tile:
        """The tile of a stage along the loops that it does not share."""
        fixed = frozenset(d for d in range(stage.rank) if all(d not in l.dims for l in own))
        return self.chosen_tile(stage, TileModel(stage, self.machine, fixed, own))

    def absorbed(self, group: Group) -> dict[Stage, Stage]:
        """Elementwise stages of a row group, each with the stage whose loops it is fused into."""
        found: dict[Stage, Stage] = {}
        stages = sorted(group.maps, key=lambda s: s.index)
        for stage in stages:
            if stage.has_reduction or stage is group.host:
                continue
            later = (s for s in stages if s.index > stage.index)
            first = next((s for s in later if depends(stage, s)), None)
            if first is None or not self._same(stage, first, group):
                continue
            if first.rank != stage.rank and first is not group.host:
                continue
            if not self._is_over_rows(stage, group):
                continue
            found[stage] = found.get(first, first)
        return {s: found.get(t, t) for s, t in found.items()}

    @staticmethod
    def _is_over_rows(stage: Stage, group: Group) -> bool:
        """Whether a stage computes something for each element of a row, not once for it."""
        to_host = group.maps[stage]
        own = [d for d in range(stage.rank) if to_host.get(d) not in group.rows]
        return any(stage.extents[d] != 1 for d in own)

    @staticmethod
    def _same(a: Stage, b: Stage, group: Group) -> bool:
        """Whether two stages run over the same dimensions, apart from those of extent 1."""
        one, other = (
            {to for own, to in group.maps[s].items() if s.extents[own] != 1} for s in (a, b)
        )
        return one == other and len(group.maps[a]) == a.rank

    # -- elementwise -------------------------------------------------------------------------------

    def maps(self, group: Group) -> None:
        """Schedule a group of elementwise stages over one iteration space."""
        host, writer = group.host, self.writer
        roots = self.collapse(group, set())
        tile = self.tile(host, roots)
        outer, inner = self.split_tile(host, roots, tile)
        outer = self.ordered(host, outer, tile) if self._is_strided(host, tile) else outer
        writer.reorder([*outer, *inner])
        self.unroll_all([], inner, tile)
        self.parallelize(outer, self.work(group.maps, tile.cycles))
        self.join(group, outer)

    def alone(self, stage: Stage) -> None:
        """Schedule a stage in loops of its own."""
        kind = "tile" if stage.has_reduction else "map"
        self.group(Group(stage, kind))

    def _is_strided(self, stage: Stage, tile: Tile) -> bool:
        lane = tile.lane_dim
        return lane is not None and any(
            a.coefficients is not None and a.coefficients[lane] not in (0, 1)
            for a in stage.accesses
            if not a.is_scalar
        )

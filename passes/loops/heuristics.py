"""The default schedule of a group of stages: tiles, loop order, fusion, parallel loops."""

from __future__ import annotations

from math import prod

from ...targets.machine import Machine
from .body import unvectorizable
from .caching import worthwhile
from .grouping import Group
from .nest import depends
from .plan import Loop, not_collapsible
from .stages import Stage
from .streaming import CHUNK, ROWS, Stream, stream_of
from .tiles import UNKNOWN_EXTENT, Tile, TileModel, widest_element
from .traffic import Traffic
from .writer import ScheduleWriter

PARALLEL_MICROSECONDS = 20.0
"""Kernels with less work stay on one thread."""

CHUNKS_PER_CORE = 4
"""Parallel iterations that are enough for an even share."""

MAX_WINDOW = 12
"""Reduction iterations that are unrolled at most, where windows overlap."""

MAX_BODIES = 72
"""Bodies in straight-line code."""


class Heuristics:
    """Schedules groups of stages, one after the other, through a writer."""

    def __init__(self, writer: ScheduleWriter, machine: Machine, use_caches: bool = True) -> None:
        self.writer = writer
        self.machine = machine
        self.use_caches = use_caches

    def group(self, group: Group) -> None:
        match group.kind:
            case "tile":
                stream = stream_of(group.host, self.machine)
                if stream is not None:
                    self.streamed(group, stream)
                else:
                    self.tiled(group)
            case "row":
                self.rows(group)
            case _:
                self.maps(group)

    # -- tile groups -----------------------------------------------------------------------------

    def tiled(self, group: Group) -> None:
        """A host with register tiles; the other stages work on the tile."""
        host, writer = group.host, self.writer
        copies = self.caches(group)
        roots = self.collapse(group, set())
        tile = self.tile(host, roots)
        used = {d for c in copies for d in writer.plan.matching_dims(c, host).values()}
        outer, inner = self.split_tile(host, roots, tile, bool(group.members or copies), used)
        parallel = [l for l in outer if not l.is_reduction]
        reductions = [l for l in outer if l.is_reduction]
        parallel = self.ordered(host, parallel, tile)
        if copies:
            parallel.sort(key=lambda l: l.extent != 1 and not set(l.root.dims) <= used)
        window, reductions = self.window(host, reductions, tile)
        writer.reorder([*parallel, *reductions, *window, *inner])
        self.unroll_all(window, inner, tile)
        first = next((l for l in (*reductions, *window, *inner)), None)
        if host.has_reduction and first is not None:
            writer.accumulate(first)
        self.parallelize(parallel, tile.cycles)
        if parallel:
            for stage in group.members:
                writer.fuse(stage, parallel[-1])
        else:
            for stage in group.members:
                self.alone(stage)
        self.feed(group, parallel)
        for made in copies:
            self.feed_copy(made, host, parallel, tile)

    def streamed(self, group: Group, stream: Stream) -> None:
        """Rows of a large matrix side by side, over a chunk of results that stays in cache."""
        host, writer = group.host, self.writer
        roots = writer.loops(host)
        lanes = self.machine.lanes(widest_element(host))
        extent = host.extents[stream.lane_dim]
        assert isinstance(extent, int)
        width = 2 * lanes
        chunk = CHUNK
        if self.machine.cores > 1:
            even = -(-extent // (2 * self.machine.cores))
            chunk = min(CHUNK, max(CHUNK // 2, -(-even // width) * width))
        rows, row = writer.split(roots[stream.row_dim], ROWS)
        columns, inner = writer.split(roots[stream.lane_dim], chunk)
        tiles, inner = writer.split(inner, width, ("t", "i"))
        copies, vector = writer.split(inner, lanes, ("u", "v"))
        taken = (stream.row_dim, stream.lane_dim)
        rest = [l for l in roots if l.dims[0] not in taken]
        readers = [
            l for l in rest if not l.is_reduction and l.dims[0] in self.readers(host, stream)
        ]
        outer = [l for l in rest if l not in readers]
        writer.reorder([*outer, columns, rows, tiles, row, *readers, copies, vector])
        for loop in (row, *readers, copies):
            writer.unroll(loop)
        writer.vectorize(vector)
        writer.accumulate(row)
        work = prod(e for e in host.extents if isinstance(e, int)) / lanes
        self.parallelize([l for l in (*outer, columns) if not l.is_reduction], work)
        for stage in group.members:
            writer.fuse(stage, columns)
        self.feed(group, [*outer, columns])

    @staticmethod
    def readers(host: Stage, stream: Stream) -> set[int]:
        """Parallel dimensions that the streamed matrix does not depend on."""
        for access in host.inputs:
            dims = access.plain_dims()
            if stream.lane_dim in dims and stream.row_dim in dims:
                return {d for d in range(host.rank) if d not in dims}
        return set()

    def caches(self, group: Group) -> list[Stage]:
        """Copies of operands that many rows of register tiles read: see `caching.worthwhile`."""
        host = group.host
        made: list[Stage] = []
        if not self.use_caches:
            return made
        for access in host.inputs:
            order = worthwhile(host, access, self.machine)
            if order is not None:
                made.append(self.writer.cache(host, access.number, order))
        return made

    def feed_copy(self, made: Stage, host: Stage, parallel: list[Loop], tile: Tile) -> None:
        """Copy an operand inside the outer loops that it depends on."""
        writer = self.writer
        to_host = writer.plan.matching_dims(made, host)
        shared: list[Loop] = []
        for loop in parallel:
            if not set(loop.root.dims) <= set(to_host.values()):
                break
            shared.append(loop)
        lanes = writer.loops(made)[-1]
        if not shared or to_host.get(lanes.dims[0]) != tile.lane_dim:
            self.alone(made)
            return
        source = made.inputs[0].coefficients
        assert source is not None
        if source[lanes.dims[0]] != 1:
            # Rows of the operand run along another dimension: blocks of it are transposed.
            for loop in writer.loops(made)[:-1]:
                if source[loop.dims[0]] == 1 and loop.extent != 1:
                    _, block = writer.split(loop, tile.lanes)
                    writer.unroll(block)
        writer.fuse(made, shared[-1], rolled=True)

    def feed(self, group: Group, parallel: list[Loop]) -> None:
        """Compute the host's inputs inside as many of its outer loops as they share."""
        shared: list[Loop] = []
        for loop in parallel:
            if not all(set(loop.root.dims) <= set(m.values()) for m in group.feeders.values()):
                break
            shared.append(loop)
        rows = {d for loop in shared for d in loop.root.dims}
        for stage, to_host in group.feeders.items():
            if not shared or any(l.extent == 0 for l in shared):
                self.alone(stage)
            else:
                self.row_stage(stage, to_host, rows, shared[-1], True)

    def tile(self, stage: Stage, roots: list[Loop]) -> Tile:
        """The best register tile, in terms of the first dimension of each loop."""
        fixed = frozenset(range(stage.rank)) if unvectorizable(stage) else frozenset()
        return TileModel(stage, self.machine, fixed, roots).best()

    def split_tile(
        self,
        stage: Stage,
        roots: list[Loop],
        tile: Tile,
        keep_outer: bool = False,
        preferred: set[int] | None = None,
    ) -> tuple[list[Loop], list[Loop]]:
        """(loops outside the tile, loops of the tile with the lanes last).

        With `keep_outer` there is a parallel loop outside, if only with one iteration: a place
        to fuse other stages at. It is over one of the preferred dimensions if there are any.
        """
        keep = None
        if keep_outer and all(self._in_tile(r, tile) for r in roots if not r.is_reduction):
            places = [r for r in roots if not r.is_reduction]
            places.sort(key=lambda r: preferred is not None and r.dims[-1] not in preferred)
            keep = places[0] if places else None
        outside: list[Loop] = []
        copies: list[Loop] = []
        lanes: list[Loop] = []
        for root in roots:
            dim = root.dims[-1]
            is_lane = dim == tile.lane_dim
            size = tile.size(dim)
            if size == 1 and not is_lane:
                outside.append(root)
                continue
            inner = root
            if root is keep or not isinstance(root.extent, int) or root.extent > size:
                outer, inner = self.writer.split(root, size)
                outside.append(outer)
            if is_lane:
                if not isinstance(inner.extent, int) or inner.extent > tile.lanes:
                    inner, vector = self.writer.split(inner, tile.lanes, ("u", "v"))
                    copies.append(inner)
                    inner = vector
                lanes.append(inner)
            else:
                copies.append(inner)
        # The operand that the innermost copies select is held in registers: the fewest.
        copies.sort(key=lambda loop: -tile.copies.get(loop.dims[-1], 1))
        return outside, [*copies, *lanes]

    @staticmethod
    def _in_tile(root: Loop, tile: Tile) -> bool:
        """Whether the tile covers the whole loop."""
        dim = root.dims[-1]
        size = tile.size(dim)
        covered = isinstance(root.extent, int) and root.extent <= size
        return covered and (size > 1 or dim == tile.lane_dim)

    def window(
        self, stage: Stage, reductions: list[Loop], tile: Tile
    ) -> tuple[list[Loop], list[Loop]]:
        """Small reductions to unroll, (unrolled, others): windows whose loads overlap."""
        bodies = prod(tile.copies.values())
        unrolled: list[Loop] = []
        for loop in reversed(reductions):
            extent = loop.extent
            if extent == 1:
                continue
            if loop.step != 1 or not isinstance(extent, int) or extent > MAX_WINDOW:
                break
            if bodies * extent > MAX_BODIES:
                break
            bodies *= extent
            unrolled.insert(0, loop)
        return unrolled, [l for l in reductions if l not in unrolled]

    def unroll_all(self, window: list[Loop], inner: list[Loop], tile: Tile) -> None:
        for loop in (*window, *inner):
            if loop.dims[-1] == tile.lane_dim and loop is inner[-1]:
                self.writer.vectorize(loop)
            else:
                partial = loop in inner and loop.is_reduction and loop.stage.is_reassociable
                self.writer.unroll(loop, partial)

    def ordered(self, stage: Stage, loops: list[Loop], tile: Tile) -> list[Loop]:
        """Outer loops in the order that moves the least between caches."""
        sizes = {d: tile.size(l.dims[-1]) for l in loops for d in l.dims if len(l.dims) == 1}
        by_dims = {l.dims: l for l in loops}
        chunks = 1
        if self.is_parallel(tile.cycles):
            chunks = 2 * self.machine.cores
        order = Traffic(stage, sizes, self.machine).best_order(list(by_dims), chunks)
        return [by_dims[dims] for dims in order]

    # -- row groups --------------------------------------------------------------------------------

    def rows(self, group: Group) -> None:
        """Reductions and elementwise stages over common outer dimensions."""
        host, writer = group.host, self.writer
        rows = {d for d, k in enumerate(host.kinds) if k == "parallel"}
        roots = self.collapse(group, rows)
        tile = self.tile(host, roots)
        outer, inner = self.split_tile(host, roots, tile)
        shared = [l for l in outer if not l.is_reduction]
        own = [l for l in outer if l.is_reduction]
        writer.reorder([*shared, *own, *inner])
        self.unroll_all([], inner, tile)
        first = next((l for l in (*own, *inner)), None)
        if host.has_reduction and first is not None:
            writer.accumulate(first)
        plan = writer.plan
        work = sum(self.tile(s, plan.roots[s]).cycles for s in group.members) + tile.cycles
        self.parallelize(shared, work)
        if not shared:
            for stage in group.members:
                self.alone(stage)
            return
        lanes_inside = tile.lane_dim is not None and tile.lane_dim not in rows
        absorbed = self.absorbed(group)
        loops: dict[Stage, Loop | None] = {host: own[-1] if own else None}
        for stage in group.members:
            if stage not in absorbed:
                to_host = group.maps[stage]
                loops[stage] = self.row_stage(stage, to_host, rows, shared[-1], lanes_inside)
        for stage, target in absorbed.items():
            at = loops.get(target)
            if at is None:
                self.row_stage(stage, group.maps[stage], rows, shared[-1], lanes_inside)
            else:
                writer.fuse(stage, at)

    def row_stage(
        self, stage: Stage, to_host: dict[int, int], rows: set[int], at: Loop, lanes_inside: bool
    ) -> Loop | None:
        """Schedule a stage's own loops and fuse it; its innermost plain loop, or None."""
        writer = self.writer
        roots = writer.loops(stage)
        own = [l for l in roots if to_host.get(l.dims[0]) not in rows]
        plain: list[Loop] = []
        inner: list[Loop] = []
        if own and lanes_inside and not unvectorizable(stage):
            own = self.collapse_run(stage, own)
            fixed = frozenset(d for d in range(stage.rank) if all(d not in l.dims for l in own))
            tile = TileModel(stage, self.machine, fixed, own).best()
            plain, inner = self.split_tile(stage, own, tile)
            self.unroll_all([], inner, tile)
        else:
            plain = own
        plain = [l for l in plain if not l.is_reduction] + [l for l in plain if l.is_reduction]
        if plain or inner:
            keep = [l for l in writer.plan.order[stage] if l not in plain and l not in inner]
            writer.reorder([*keep, *plain, *inner])
        if stage.has_reduction:
            first = next((l for l in (*plain, *inner) if l.is_reduction), None)
            if first is not None:
                writer.accumulate(first)
        writer.fuse(stage, at)
        return plain[-1] if plain else None

    def absorbed(self, group: Group) -> dict[Stage, Stage]:
        """Elementwise stages that are computed inside the loops of the next one that reads them."""
        found: dict[Stage, Stage] = {}
        stages = sorted(group.maps, key=lambda s: s.index)
        for stage in stages:
            if stage.has_reduction or stage is group.host:
                continue
            readers = [s for s in stages if s.index > stage.index and depends(stage, s)]
            if not readers:
                continue
            first = readers[0]
            if first.rank != stage.rank or (
                first is group.host and not self._same(stage, first, group)
            ):
                continue
            if not self._same(stage, first, group) or stage.rank <= len(
                [k for k in group.host.kinds if k == "parallel"]
            ):
                continue
            between = [s for s in stages if stage.index < s.index < first.index]
            if any(depends(stage, s) for s in between):
                continue
            found[stage] = found.get(first, first)
        return {s: found.get(t, t) for s, t in found.items()}

    @staticmethod
    def _same(a: Stage, b: Stage, group: Group) -> bool:
        """Whether two stages run over the same dimensions."""
        return (
            set(group.maps[a].values()) == set(group.maps[b].values())
            and len(group.maps[a]) == a.rank
        )

    # -- elementwise -------------------------------------------------------------------------------

    def maps(self, group: Group) -> None:
        """Elementwise stages over one iteration space."""
        host, writer = group.host, self.writer
        roots = self.collapse(group, set())
        tile = self.tile(host, roots)
        outer, inner = self.split_tile(host, roots, tile)
        outer = self.ordered(host, outer, tile) if self._is_strided(host, tile) else outer
        writer.reorder([*outer, *inner])
        self.unroll_all([], inner, tile)
        self.parallelize(outer, tile.cycles)
        for stage in group.members:
            if outer:
                writer.fuse(stage, outer[-1])
            else:
                self.alone(stage)

    def alone(self, stage: Stage) -> None:
        """A stage by itself."""
        kind = "tile" if stage.has_reduction else "map"
        self.group(Group(stage, kind))

    def _is_strided(self, stage: Stage, tile: Tile) -> bool:
        lane = tile.lane_dim
        return lane is not None and any(
            a.coefficients is not None and a.coefficients[lane] not in (0, 1)
            for a in stage.accesses
            if not a.is_scalar
        )

    # -- loops -------------------------------------------------------------------------------------

    def collapse(self, group: Group, keep: set[int]) -> list[Loop]:
        """The host's loops, adjacent ones made one where all stages of the group allow it.

        Of a row group, the dimensions in `keep` are not mixed with the others.
        """
        host = group.host
        roots = self.writer.loops(host)
        runs: list[list[Loop]] = []
        for root in roots:
            last = runs[-1][-1] if runs else None
            if last is not None and self._can_collapse(group, last.dims[0], root.dims[0], keep):
                runs[-1].append(root)
            else:
                runs.append([root])
        return [self.writer.collapse(run) if len(run) > 1 else run[0] for run in runs]

    def collapse_run(self, stage: Stage, loops: list[Loop]) -> list[Loop]:
        """Collapse adjacent loops of one stage."""
        runs: list[list[Loop]] = []
        for loop in loops:
            last = runs[-1][-1] if runs else None
            if (
                last is not None
                and loop.dims[0] == last.dims[0] + 1
                and not not_collapsible(stage, last.dims[0], loop.dims[0])
            ):
                runs[-1].append(loop)
            else:
                runs.append([loop])
        return [self.writer.collapse(run) if len(run) > 1 else run[0] for run in runs]

    def _can_collapse(self, group: Group, a: int, b: int, keep: set[int]) -> bool:
        if (a in keep) != (b in keep):
            return False
        if not_collapsible(group.host, a, b):
            return False
        for stage, to_host in group.maps.items():
            back = {theirs: ours for ours, theirs in to_host.items()}
            if a not in back and b not in back:
                continue
            if a not in back or b not in back or not_collapsible(stage, back[a], back[b]):
                return False
        return True

    def is_parallel(self, cycles: float) -> bool:
        """Whether so much work is worth more than one core."""
        enough = PARALLEL_MICROSECONDS * self.machine.cycles_per_microsecond
        return self.machine.cores > 1 and cycles >= enough

    def parallelize(self, loops: list[Loop], cycles: float) -> None:
        """Make the outermost loops parallel where there is enough work for several cores."""
        cores = self.machine.cores
        if not self.is_parallel(cycles):
            return
        chunks = 1
        for loop in loops:
            if chunks >= cores * CHUNKS_PER_CORE:
                break
            extent = loop.extent if isinstance(loop.extent, int) else UNKNOWN_EXTENT
            if isinstance(loop.extent, int) and extent % loop.step and extent < 4 * loop.step:
                break
            self.writer.parallel(loop)
            chunks *= max(1, extent // loop.step)

"""Shaping the loops of one stage: register tiles, loop order, collapsing, parallel loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from math import ceil, prod

from ...targets.processor import Processor
from ..model.lanes import unvectorizable
from ..model.plan import Loop, iterations, sure_iterations
from ..model.stages import Stage
from ..primitives.accumulate import accumulate
from ..primitives.collapse import collapse, not_collapsible
from ..primitives.parallel import parallel
from ..primitives.prefetch import prefetch
from ..primitives.split import split
from ..primitives.unroll import unroll
from ..primitives.vectorize import vectorize
from .blocked import Blocked
from .choices import Choices
from .grouping import Group
from .register_tile import Tile
from .tiles import TileModel
from .traffic import Block, Traffic
from .unrolled import unrolled_window
from .work import bytes_moved, even_share
from .writer import ScheduleWriter

MOST_STEPS = 16
"""How many steps of a sum are unrolled at most where that decision is overridden."""


class Shaping:
    """Steps that all kinds of schedules consist of, written through a `ScheduleWriter`."""

    keeps_outer = False
    """Whether each tile needs a parallel loop around it, even one of a single iteration."""

    takes_blocks = True
    """Whether loops are considered in blocks that stay in a cache."""

    def __init__(
        self, writer: ScheduleWriter, machine: Processor, choices: Choices | None = None
    ) -> None:
        self.writer = writer
        self.choices = choices or Choices()
        self.machine = machine
        self.costs = machine.costs
        self.nested: dict[Stage, list[Loop]] = {}
        """For each stage, the outer loops that it shares with other groups: left as they are."""

    def free(self, stage: Stage) -> list[Loop]:
        """The unscheduled loops of a stage, except those that it shares with other groups."""
        outer = self.nested.get(stage)
        if outer is None:
            return self.writer.loops(stage)
        loops = [l for l in self.writer.plan.order[stage] if l not in outer]
        return sorted(loops, key=lambda l: l.dims)

    def within(self, stage: Stage, loops: Sequence[Loop], dims: set[int]) -> list[Loop]:
        """The outermost loops, of those around a stage and `loops`, that are over `dims` alone."""
        around = [*self.nested.get(stage, ()), *loops]
        return list(takewhile(lambda loop: dims.issuperset(loop.root.dims), around))

    def innermost(self, stage: Stage, loops: Sequence[Loop]) -> Loop | None:
        """The innermost of these loops or, if there are none, of the loops around the stage."""
        around = [*self.nested.get(stage, ()), *loops]
        return around[-1] if around else None

    def tile(self, stage: Stage, roots: list[Loop]) -> Tile:
        """The register tile of a stage; a collapsed loop counts as its last dimension."""
        fixed = frozenset(range(stage.rank)) if unvectorizable(stage, self.machine) else frozenset()
        model = TileModel(stage, self.machine, fixed, roots, self.parts(stage))
        return self.chosen_tile(stage, model)

    def chosen_tile(self, stage: Stage, model: TileModel) -> Tile:
        """The model's best tile of a stage, unless the decision is overridden."""
        question, once = model.question, self.choices.once
        best = once(("tile", *question), model.best)
        return self.choices.choose(
            f"tile {stage.index}", best, lambda: once(("tiles", *question), model.others)
        )

    def parts(self, stage: Stage) -> dict[int, int]:
        """{dimension: how many of its elements one iteration of its outer loop covers}."""
        return {l.root.dims[0]: l.step for l in self.nested.get(stage, ())}

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
        if (keep_outer or self.keeps_outer) and all(
            self._in_tile(r, tile) for r in roots if not r.is_reduction
        ):
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
                outer, inner = self.writer.put(split, root, size)
                outside.append(outer)
            if is_lane:
                if not isinstance(inner.extent, int) or inner.extent > tile.lanes:
                    one, inner = self.split_lanes(inner, tile.lanes)
                    copies.append(one)
                lanes.append(inner)
            else:
                copies.append(inner)
        # The fewest copies innermost: what they read is held in registers.
        copies.sort(key=lambda loop: -tile.copies.get(loop.dims[-1], 1))
        return outside, [*copies, *lanes]

    def split_lanes(self, loop: Loop, lanes: int) -> tuple[Loop, Loop]:
        """Split a loop into one over vectors and one over their lanes."""
        return self.writer.put(split, loop, lanes, names=(f"{loop.name}u", f"{loop.name}v"))

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
        """(unrolled, other reductions): which loops over a sum are unrolled around a tile.

        These are the loops of a small window, whose loads overlap; or some steps of the innermost
        loop, split off: as many as a vector of an operand has, or as the costs say.
        """
        bodies = prod(tile.copies.values())
        unrolled = self._unrolled(stage, reductions, tile)
        others = [l for l in reductions if l not in unrolled]
        if unrolled or not others:
            return unrolled, others
        last = others[-1]
        if last.dims[-1] in stage.indexed_dims and isinstance(last.extent, int):
            # Unrolled steps are constants: where all of the tile is too large, around remainders.
            self.writer.put(unroll, last, most=self.costs.tiles.bodies, sums=self._sums(stage))
            return [], others
        model = TileModel(stage, self.machine, frozenset(), others)
        last, count = others[-1], model.full_lanes
        if model.steps_at_once(tile.lane_dim) != last.dims[-1]:
            last = next((l for l in reversed(others) if l.extent != 1), last)
            count = self._steps(last, bodies)
        count = self.choices.choose(f"steps {stage.index}", count, lambda: _divisors(last, count))
        if count == 1:
            return [], others
        outer = [l for l in others if l is not last]
        if last.extent == count:
            return [last], outer
        around, steps = self.writer.put(split, last, count)
        return [steps], [*outer, around]

    def _unrolled(self, stage: Stage, reductions: Sequence[Loop], tile: Tile) -> list[Loop]:
        """The loops of a window that are unrolled around a tile, unless that is overridden."""
        most = unrolled_window(reductions, prod(tile.copies.values()), self.costs.tiles)
        if not most:
            return most
        model = TileModel(stage, self.machine, frozenset(), self.writer.plan.roots[stage])
        chosen = model.unrolled(tile, reductions)

        def others() -> list[list[Loop]]:
            parts = [[], *(most[i:] for i in range(len(most)))]
            return [one for one in parts if one != chosen]

        return self.choices.choose(f"window {stage.index}", chosen, others, most=len(most))

    def _sums(self, stage: Stage) -> int | None:
        """How many partial sums keep all units busy, so that no addition waits for another."""
        sums = ceil(self.machine.fma_latency * self.machine.full_width_units)
        return sums if stage.is_reassociable and sums > 1 else None

    def _steps(self, loop: Loop, bodies: int) -> int:
        """How many steps of a sum are unrolled around `bodies` bodies; it divides the extent."""
        costs, extent = self.costs.tiles, loop.extent
        if not isinstance(extent, int) or extent < costs.long_sum:
            return 1
        most = min(costs.sum_bodies // bodies, costs.unrolled_window)
        return next((n for n in range(most, 1, -1) if extent % n == 0), 1)

    def unroll_all(self, window: list[Loop], inner: list[Loop], tile: Tile) -> None:
        for loop in (*window, *inner):
            if loop.dims[-1] == tile.lane_dim and loop is inner[-1]:
                self.writer.put(vectorize, loop)
            else:
                partial = loop in inner and loop.is_reduction and loop.stage.is_reassociable
                self.writer.put(unroll, loop, partial=partial)

    def accumulate(self, stage: Stage, loops: Sequence[Loop]) -> None:
        """Keep the results of a reduction in registers while these loops run."""
        if stage.has_reduction and loops:
            self.writer.put(accumulate, loops[0])

    def prefetch(self, stage: Stage, roots: list[Loop], outer: Sequence[Loop], tile: Tile) -> None:
        """Prefetch an operand that comes from memory, if that pays on this machine.

        If a few consecutive tiles read the same part, each issues some of the prefetches, as fast
        as memory delivers. Otherwise each read issues one, although only the first pass needs it.
        """
        model = TileModel(stage, self.machine, frozenset(), roots, self.parts(stage))
        costs = self.costs.loops
        if not self.choices.either(f"prefetch {stage.index}", bool(costs.prefetch_passes)):
            return
        if self._ask_by_parts(model, outer, tile):
            return
        operand = model.streamed(tile.lane_dim)
        if (
            operand is not None
            and model.passes(operand, tile, model.least) <= costs.prefetch_passes
        ):
            ahead = costs.prefetch_bytes // model.bytes
            # Copies read rows that lie apart: each prefetches what the next tile reads there.
            apart = [n * operand.strides[d] for d, n in tile.copies.items()]
            if (
                max(apart, default=0) * model.bytes
                <= self.machine.l2_bytes // costs.prefetch_l2_part
            ):
                ahead = max([ahead, *apart])
            self.writer.put(prefetch, operand.access.number, stage, ahead)

    def _ask_by_parts(self, model: TileModel, outer: Sequence[Loop], tile: Tile) -> bool:
        """Spread the prefetches of the next panel over the tiles that read the current one.

        Returns whether that is possible: the panel must be contiguous, and there must be at least
        one iteration for each of its cache lines.
        """
        stage = model.stage
        operand = model.read_by_lanes(tile.lane_dim)
        if operand is None:
            return False
        changing = [i for i, l in enumerate(outer) if not operand.access.used.isdisjoint(l.dims)]
        if not changing:
            return False
        panel, over = outer[changing[-1]], list(outer[changing[-1] + 1 :])
        if not isinstance(panel.extent, int):
            return False
        ahead = panel.step * operand.strides[panel.dims[-1]]
        reduced = prod(
            e for e, k in zip(model.extents, stage.kinds, strict=True) if k != "parallel"
        )
        used = [d for d in operand.access.used if stage.kinds[d] == "parallel"]
        lines = prod(tile.size(d) for d in used) * model.bytes / self.machine.line_bytes
        if ahead != prod(tile.size(d) for d in used) * reduced:
            return False
        least = max(2, ceil(lines))
        if prod(map(sure_iterations, over)) < least:
            return False
        # The extent may be smaller than expected: no more iterations are relied on than needed.
        passes = least if len(over) == 1 and not isinstance(over[0].extent, int) else None
        self.writer.put(prefetch, operand.access.number, stage, ahead, over, passes=passes)
        return True

    def ordered(
        self, stage: Stage, loops: list[Loop], tile: Tile, over: Loop | None = None
    ) -> list[Loop]:
        """These outer loops in the order that moves the least data between caches.

        `over` is the loop over blocks around them, if there is one.
        """
        by_dims = {l.dims: l for l in loops}
        traffic, chunks = self._traffic(stage, loops, tile)
        block = Block(over.dims, over.step) if over is not None else None
        asked = list(by_dims), chunks, block, tile.cycles
        question, once = (*traffic.question, *by_dims, *asked[1:]), self.choices.once
        order = self.choices.choose(
            f"order {stage.index}",
            once(("order", *question), lambda: traffic.best_order(*asked)),
            lambda: once(("orders", *question), lambda: traffic.other_orders(*asked)),
        )
        return [by_dims[dims] for dims in order]

    def blocked(self, stage: Stage, loops: list[Loop], tile: Tile) -> Blocked:
        """These loops, one of them in blocks where that moves less data than whole loops do."""
        around = [l for l in loops if not l.is_reduction]
        if not self.takes_blocks or self.nested.get(stage):
            return Blocked(loops)
        if not all(isinstance(l.extent, int) for l in around):
            return Blocked(loops)
        traffic, chunks = self._traffic(stage, around, tile)
        groups = [l.dims for l in around]
        question, once = (*traffic.question, *groups, chunks), self.choices.once
        block = self.choices.choose(
            f"blocks {stage.index}",
            once(("block", *question), lambda: traffic.best_block(groups, chunks)),
            lambda: once(("blocks", *question), lambda: traffic.other_blocks(groups, chunks)),
        )
        if block is None:
            return Blocked(loops)
        loop = next(l for l in around if l.dims == block.dims)
        names = (f"{loop.name}b", f"{loop.name}r")
        over, inside = self.writer.put(split, loop, block.size, names=names)
        return Blocked([inside if l is loop else l for l in loops], over)

    def _traffic(self, stage: Stage, loops: list[Loop], tile: Tile) -> tuple[Traffic, int]:
        """(the model of loop orders, how many iterations the outermost loop has to have)."""
        sizes = {l.dims[-1]: tile.size(l.dims[-1]) for l in loops}
        chunks = 1
        if self.is_parallel(self.work([stage], tile.cycles)):
            chunks = self.costs.threads.ordered_iterations * self.machine.cores
        return Traffic(stage, sizes, self.machine, self.parts(stage)), chunks

    def collapse(self, group: Group, keep: set[int]) -> list[Loop]:
        """Collapse adjacent loops of the host where all stages of the group allow it.

        Dimensions in `keep` are not collapsed with the others.
        """

        def fits(a: Loop, b: Loop) -> bool:
            whole = a.root is a and b.root is b
            return whole and self._can_collapse(group, a.dims[0], b.dims[0], keep)

        return self._collapsed(self.free(group.host), fits)

    def collapse_run(self, stage: Stage, loops: list[Loop]) -> list[Loop]:
        """Collapse adjacent loops of one stage."""

        def fits(a: Loop, b: Loop) -> bool:
            i, j = a.dims[0], b.dims[0]
            return j == i + 1 and not not_collapsible(stage, i, j)

        return self._collapsed(loops, fits)

    def _collapsed(self, loops: Sequence[Loop], fits: Callable[[Loop, Loop], bool]) -> list[Loop]:
        runs: list[list[Loop]] = []
        for loop in loops:
            if runs and fits(runs[-1][-1], loop):
                runs[-1].append(loop)
            else:
                runs.append([loop])
        return [self.writer.put(collapse, run) if len(run) > 1 else run[0] for run in runs]

    def _can_collapse(self, group: Group, a: int, b: int, keep: set[int]) -> bool:
        if (a in keep) != (b in keep):
            return False
        if not_collapsible(group.host, a, b):
            return False
        for stage, to_host in (*group.maps.items(), *group.feeders.items()):
            back = {theirs: ours for ours, theirs in to_host.items()}
            if a not in back and b not in back:
                continue
            if a not in back or b not in back or not_collapsible(stage, back[a], back[b]):
                return False
        return True

    def work(self, stages: Iterable[Stage], cycles: float) -> float:
        """Cycles of stages that share loops: arithmetic, and moving all operands from memory.

        The cost of a parallel region is measured against the same estimate.
        """
        return cycles + bytes_moved(stages) / self.machine.memory_bandwidth

    def is_parallel(self, work: float) -> bool:
        """Whether work of this many cycles is worth starting other cores for."""
        enough = self.costs.threads.least_microseconds * self.machine.cycles_per_microsecond
        return self.machine.cores > 1 and work >= enough

    def parallelize(self, loops: list[Loop], work: float) -> list[Loop]:
        """Make the outermost loops parallel if there is enough work. Returns all loops in order.

        Enough loops are made parallel that each core gets several iterations, and all cores nearly
        the same number.
        """
        cores, costs = self.machine.cores, self.costs.threads
        if not self.is_parallel(work) or not loops or loops[0].stage in self.nested:
            return loops
        best, most = 0, 1 / cores + costs.least_gain
        for count in range(1, len(loops) + 1):
            share = even_share(loops[:count], self.machine)
            if share > most + costs.least_gain * (best > 0):
                best, most = count, share
            trips = prod(iterations(loop) for loop in loops[:count])
            if trips >= cores * costs.iterations_per_core and share >= costs.even:
                best = count
                break
        stage = loops[0].stage
        best = self.choices.choose(
            f"parallel {stage.index}",
            best,
            lambda: [n for n in range(len(loops) + 1) if n != best],
            most=len(loops),
        )
        for loop in loops[:best]:
            self.writer.put(parallel, loop)
        return loops


def _divisors(loop: Loop, count: int) -> list[int]:
    """The divisors of a loop's extent but `count`, up to `MOST_STEPS`."""
    if not isinstance(loop.extent, int):
        return []
    return [n for n in range(1, MOST_STEPS + 1) if n != count and loop.extent % n == 0]

"""Shaping the loops of one stage: register tiles, loop order, collapsing, parallel loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from ...dialects import memref
from ...ir.core import Value
from ...targets.machine import Machine
from ..model.lanes import unvectorizable
from ..model.plan import Loop, not_collapsible
from ..model.stages import UNKNOWN_EXTENT, Access, Stage
from .grouping import Group
from .tile_costs import MAX_BODIES, MAX_WINDOW, Tile
from .tiles import TileModel
from .traffic import Traffic
from .writer import ScheduleWriter

PARALLEL_MICROSECONDS = 20.0
"""Kernels with less work stay on one thread."""

CHUNKS_PER_CORE = 4
"""Parallel iterations a core that make more loops needless, if the shares are even."""

EVEN = 0.95
"""Part of the cores at work on average that is good enough."""

MIN_GAIN = 0.02
"""Part of the cores that must be gained for one more parallel loop."""

MANY_ITERATIONS = 2048
"""Parallel iterations of which every core has an even share anyway."""

PREFETCH_BYTES = 4096
"""How far ahead lines are asked for: at the end of a page the processor's own streams stop."""

MAX_PASSES = 8
"""Passes over an operand with prefetches in each."""


class Shaping:
    """What schedules of all kinds are made of, put down through a writer."""

    def __init__(self, writer: ScheduleWriter, machine: Machine) -> None:
        self.writer = writer
        self.machine = machine
        self.nested: dict[Stage, list[Loop]] = {}
        """The outer loops that stages share with those of other groups, and leave alone."""

    def free(self, stage: Stage) -> list[Loop]:
        """The loops of a stage that nothing was done to yet; inside those that it shares."""
        outer = self.nested.get(stage)
        if outer is None:
            return self.writer.loops(stage)
        loops = [l for l in self.writer.plan.order[stage] if l not in outer]
        return sorted(loops, key=lambda l: l.dims)

    def innermost(self, stage: Stage, loops: Sequence[Loop]) -> Loop | None:
        """The last of these loops of a stage, or of those around them."""
        around = [*self.nested.get(stage, ()), *loops]
        return around[-1] if around else None

    def tile(self, stage: Stage, roots: list[Loop]) -> Tile:
        """The best register tile, in terms of the first dimension of each loop."""
        fixed = frozenset(range(stage.rank)) if unvectorizable(stage) else frozenset()
        return TileModel(stage, self.machine, fixed, roots, self.parts(stage)).best()

    def parts(self, stage: Stage) -> dict[int, int]:
        """How much of the dimensions of outer loops each of their iterations has."""
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

    def prefetch(self, stage: Stage, roots: list[Loop], tile: Tile) -> None:
        """Ask ahead for an operand from memory of which every part is read a few times.

        In all passes but the first one lines are asked for in vain, which is not free.
        """
        model = TileModel(stage, self.machine, frozenset(), roots, self.parts(stage))
        operand = model.streamed(tile.lane_dim)
        if operand is not None and model.passes(operand, tile, model.least) <= MAX_PASSES:
            ahead = PREFETCH_BYTES // model.bytes
            # Vectors from several places: each asks for what stands in its place next.
            apart = [n * model.coefficient(operand, d) for d, n in tile.copies.items()]
            if max(apart, default=0) * model.bytes <= self.machine.l2_bytes // 4:
                ahead = max(ahead, *apart)
            self.writer.prefetch(stage, operand.number, ahead)

    def ordered(self, stage: Stage, loops: list[Loop], tile: Tile) -> list[Loop]:
        """Outer loops in the order that moves the least between caches."""
        sizes = {d: tile.size(l.dims[-1]) for l in loops for d in l.dims if len(l.dims) == 1}
        by_dims = {l.dims: l for l in loops}
        chunks = 1
        if self.is_parallel(self.work([stage], tile.cycles)):
            chunks = 2 * self.machine.cores
        order = Traffic(stage, sizes, self.machine, self.parts(stage)).best_order(
            list(by_dims), chunks
        )
        return [by_dims[dims] for dims in order]

    def collapse(self, group: Group, keep: set[int]) -> list[Loop]:
        """The host's loops, adjacent ones made one where all stages of the group allow it.

        Of a row group, the dimensions in `keep` are not mixed with the others.
        """
        host = group.host
        roots = self.free(host)
        runs: list[list[Loop]] = []
        for root in roots:
            last = runs[-1][-1] if runs else None
            if (
                last is not None
                and last.root is last
                and root.root is root
                and self._can_collapse(group, last.dims[0], root.dims[0], keep)
            ):
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
        for stage, to_host in (*group.maps.items(), *group.feeders.items()):
            back = {theirs: ours for ours, theirs in to_host.items()}
            if a not in back and b not in back:
                continue
            if a not in back or b not in back or not_collapsible(stage, back[a], back[b]):
                return False
        return True

    def work(self, stages: Iterable[Stage], cycles: float) -> float:
        """Cycles of stages that share loops: their arithmetic, and moving what they touch.

        What one of them makes for another hardly leaves the registers and is left out.
        """
        stages = list(stages)
        made = {a.value for s in stages for a in s.outputs if a.value.defined_by(memref.Alloc)}
        sizes: dict[Value, int] = {}
        for stage in stages:
            for a in stage.accesses:
                if not a.is_scalar and (a.value not in made or len(stages) == 1):
                    sizes[a.value] = min(sizes.get(a.value, 0) + touched(a), whole(a))
        return cycles + sum(sizes.values()) / self.machine.memory_bandwidth

    def is_parallel(self, work: float) -> bool:
        """Whether so many cycles are worth more than one core."""
        enough = PARALLEL_MICROSECONDS * self.machine.cycles_per_microsecond
        return self.machine.cores > 1 and work >= enough

    def parallelize(self, loops: Sequence[Loop], work: float) -> None:
        """Make the outermost loops parallel where there is enough work for several cores.

        As many loops as it takes for several iterations a core and even shares.
        """
        cores = self.machine.cores
        if not self.is_parallel(work) or not loops or loops[0].stage in self.nested:
            return
        best, most = 0, 1 / cores + MIN_GAIN
        for count in range(1, len(loops) + 1):
            share = even_share(loops[:count], cores)
            if share > most + MIN_GAIN * (best > 0):
                best, most = count, share
            trips = prod(_trips(loop) for loop in loops[:count])
            if trips >= cores * CHUNKS_PER_CORE and share >= EVEN:
                best = count
                break
        for loop in loops[:best]:
            self.writer.parallel(loop)


def even_share(loops: Sequence[Loop], cores: int) -> float:
    """The part of the cores that works on average, 1 at best, when iterations are dealt out.

    Each core has one run of the iterations of all loops, as the thread pool cuts them; a
    last iteration may be shorter.
    """
    weights = [1.0]
    for loop in loops:
        if not isinstance(loop.extent, int):
            return 1.0
        full, rest = divmod(loop.extent, loop.step)
        if len(weights) * (full + (rest > 0)) > MANY_ITERATIONS:
            return 1.0
        own = [1.0] * full + ([rest / loop.step] if rest else [])
        weights = [a * b for a in weights for b in own]
    count = len(weights)
    shares = [sum(weights[count * i // cores : count * (i + 1) // cores]) for i in range(cores)]
    return sum(shares) / (cores * max(shares)) if count else 1.0


def _trips(loop: Loop) -> int:
    extent = loop.extent if isinstance(loop.extent, int) else UNKNOWN_EXTENT
    return max(1, -(-extent // loop.step))


def touched(access: Access) -> int:
    """Bytes of the elements of a buffer that a stage touches."""
    extents = [e if isinstance(e, int) else UNKNOWN_EXTENT for e in access.stage.extents]
    total = _width(access)
    for expr, extent in zip(access.exprs, _shape(access), strict=True):
        linear = expr.linear(access.stage.rank)
        if linear is not None:
            reach = 1 + sum(abs(c) * (extents[d] - 1) for d, c in enumerate(linear[0]) if c)
            extent = min(extent, reach)
        total *= extent
    return total


def whole(access: Access) -> int:
    """Bytes of the buffer."""
    return _width(access) * prod(_shape(access))


def _width(access: Access) -> int:
    return getattr(access.element_type, "byte_width", 8)


def _shape(access: Access) -> list[int]:
    shape = access.value.type.shape  # type: ignore[attr-defined]
    return [d if d is not None else UNKNOWN_EXTENT for d in shape]

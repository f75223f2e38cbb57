"""What a register tile costs, from an analytical model of the core.

For one step of the reduction the model counts the cycles that arithmetic, loads and the latency of
dependent additions take, and weighs them by the steps that a tile needs for the whole iteration
space, remainders included. The cycles are kept by resource; a tile takes their sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial
from itertools import product
from math import inf, prod, sqrt
from typing import Any

from ...dialects import memref
from ...ir.decisions import Terms
from ...targets.processor import Processor
from ..codegen.vectors.reads import is_interleaved
from ..model.extents import expectation, expected, least
from ..model.plan import Loop
from ..model.stages import Stage
from ..model.steps import power_of_two, remainders
from .bodies import body_work, makes_integers, products, steps_shared, widest_element
from .matrix_tiles import MatrixTiles
from .operands import Operand, operands
from .overlap import Loads, Pass, Vectors
from .register_tile import Tile
from .unrolled import extents_of, unrolled_window


class TileEstimate:
    """The costs of the possible register tiles of one stage."""

    def __init__(
        self,
        stage: Stage,
        machine: Processor,
        fixed: frozenset[int],
        loops: Sequence[Loop],
        around: Collection[int] = (),
        window: Mapping[int, int] | None = None,
    ) -> None:
        """`window`: how many steps of which reductions are unrolled around the tile, where a
        schedule says so and the model is not to choose.
        """
        self.stage = stage
        self.machine = machine
        self.costs = machine.costs.tiles
        self.extents = [1] * stage.rank
        self.known = [True] * stage.rank
        self.least = [1] * stage.rank
        """The extents with the outermost unknown one taken to be 1, such as one image of 64 rows.

        Extents of reductions, and those that are expected to be larger, are not taken to be 1.
        """
        batch: frozenset[Hashable] = frozenset()
        for loop in loops:  # a collapsed loop counts as its last dimension
            dim, extent = loop.dims[-1], loop.extent
            self.known[dim] = isinstance(extent, int)
            self.extents[dim] = expected(extent)
            self.least[dim] = self.extents[dim]
            if not isinstance(extent, int) and stage.kinds[dim] == "parallel":
                unknown = frozenset(s for s in extent.symbols if not expectation(s))
                batch = batch or unknown
                if unknown <= batch:
                    self.least[dim] = least(extent)
        self.loops = loops
        self.fixed = fixed
        """Dimensions that cannot be split or vectorized."""
        self.around = around
        """Dimensions of outer loops: all passes happen within one iteration of these loops."""
        self.inputs = operands(a for a in stage.inputs if a.argument.has_uses)
        self.outputs = operands(stage.outputs)
        self.bytes = widest_element(stage)
        self.full_lanes = machine.lanes(self.bytes)
        self.registers = machine.registers(of_integers=makes_integers(stage))
        self.work = body_work(stage, machine.costs.operations)
        self.products = 0 if machine.has_fma else products(stage)
        self._looks_up = any(isinstance(op, memref.Load) for op in stage.body_ops())
        self.has_reduction = stage.has_reduction
        self.matrices = MatrixTiles.of(stage, machine, self.inputs, loops)
        self.large = [
            o for o in self.inputs if self.has_reduction and self._bytes(o) > machine.l2_bytes
        ]
        """Operands of a reduction that the L2 cache does not hold."""
        self._read_again = [o for o in self.inputs if self._shares_lines(o)]
        self._known_vectors: dict[tuple[int | None, int, int], Vectors] = {}
        self._given_window = window
        self._known_windows: dict[tuple[Any, ...], dict[int, int]] = {}
        self._known_steps: dict[tuple[Any, ...], tuple[Terms, float]] = {}
        used = {operand.access.used for operand in self.inputs} | {part.dims for part in self.work}
        self._steps_shared = {dims: steps_shared(stage, dims, loops) for dims in used}

    def reuses(self, dim: int) -> bool:
        """Whether copies along a dimension share loads."""
        return any(o.strides[dim] == 0 or o.slides(dim) for o in self.inputs)

    def _fills_gaps(self, dim: int, lane_dim: int | None) -> bool:
        """Whether copies along a dimension fill the gaps between the strided lanes of a result.

        False if the body loads elements at computed indices: strided lanes would gather them.
        """
        if lane_dim is None or self._looks_up:
            return False
        return any(
            o.strides[dim] == 1
            and is_interleaved(o.strides[lane_dim])
            and o.strides[lane_dim] == self.extents[dim]
            for o in self.outputs
        )

    # -- cost --------------------------------------------------------------------------------

    def cycles(self, tile: Tile) -> float:
        """The cycles of the whole iteration space."""
        return self.terms(tile).cycles

    def terms(self, tile: Tile) -> Terms:
        """The cycles of the whole iteration space, by resource.

        Where extents are not known, it is the geometric mean of two cases: one run with the
        expected extents, and as many runs as iterations with an extent of 1. A batch is often one
        image, and a good tile is nearly the best in both cases.
        """
        once = self.terms_for(tile, self.extents)
        if all(self.known) or self.extents == self.least:
            return once
        often = prod(self.extents) / max(1, prod(self.least))
        least = self.terms_for(tile, self.least)
        return Terms.between(once, least, sqrt(once.cycles * often * least.cycles))

    def terms_for(self, tile: Tile, extents: Sequence[int]) -> Terms:
        """The cycles of an iteration space of these extents, by resource."""
        found, instructions = dict[str, float](), 0.0
        form = (tile.lane_dim, tile.lanes, *sorted(tile.copies.items()))
        for count, sizes in self._variants(tile, extents):
            key = (form, *sizes.items())
            if (known := self._known_steps.get(key)) is None:
                known = self._known_steps[key] = self.step_terms(tile, sizes)
            step, code = known
            for name, cycles in step.by_resource.items():
                found[name] = found.get(name, 0.0) + count * cycles
            instructions += code
        kinds, lane = self.stage.kinds, tile.lane_dim
        if lane is not None and self.has_reduction:
            results = prod(e for e, k in zip(extents, kinds, strict=True) if k == "parallel")
            if kinds[lane] == "parallel":
                # Once for all steps of the reduction.
                stored = self._store_cycles((tile.lanes,), lane, tile.copies)
                found["loads"] += stored * results / tile.lanes
            else:
                steps = tile.lanes.bit_length() + tile.copies.get(lane, 1)
                found["latency"] += self.costs.combine_cycles * steps * results
        found["memory"] = self.stall(tile, sum(found.values()), extents)
        crowded = instructions / self.costs.code_instructions
        found["code"] = crowded * sum(found.values())
        return Terms(found)

    def _variants(self, tile: Tile, extents: Sequence[int]) -> list[tuple[float, dict[int, int]]]:
        """(steps, elements of each tiled dimension) for the full tile and its remainders."""
        dims = sorted({*tile.copies, tile.lane_dim} - {None})
        rest = prod(e for d, e in enumerate(extents) if d not in dims)
        variants: list[tuple[float, dict[int, int]]] = [(float(max(rest, 1)), {})]
        for dim in dims:
            whole = self.known[dim] or dim == tile.lane_dim
            size = min(tile.size(dim), max(extents[dim], 1)) if whole else tile.size(dim)
            full, remainder = divmod(extents[dim], size)
            options = [(full, size)] if full else []
            if whole:
                options += [(1, remainder)] if remainder else []
            else:
                for part in remainders(size):
                    count, remainder = divmod(remainder, part)
                    options += [(count, part)] if count else []
            variants = [
                (count * n, {**sizes, dim: s}) for count, sizes in variants for n, s in options
            ]
        return variants

    def stall(self, tile: Tile, cycles: float, extents: Sequence[int]) -> float:
        """Extra cycles that the first of several passes waits for an operand beyond the L2 cache.

        If loading overlapped with all passes, some wait might remain; only what exceeds it counts.
        """
        operand = self.streamed(tile.lane_dim)
        if operand is None:
            return 0.0
        bytes = self._bytes(operand)
        moved = bytes / self.machine.bandwidth_of(bytes, lately=operand.is_temporary)
        return max(0.0, moved - cycles / self.passes(operand, tile, extents)) - max(
            0.0, moved - cycles
        )

    def streamed(self, lane_dim: int | None) -> Operand | None:
        """The operand, read by lanes, that is too large for the L2 cache."""
        if lane_dim is None or self.stage.kinds[lane_dim] == "reduction":
            return None
        found = [o for o in self.large if o.strides[lane_dim] == 1]
        return found[0] if [o.count for o in found] == [1] else None

    def read_by_lanes(self, lane_dim: int | None) -> Operand | None:
        """The one large operand from outside the kernel with stride 1 along the lanes."""
        if lane_dim is None or self.stage.kinds[lane_dim] == "reduction":
            return None
        least = self.machine.costs.loops.prefetch_least
        found = [
            o
            for o in self.inputs
            if o.strides[lane_dim] == 1 and not o.is_temporary and self._bytes(o) >= least
        ]
        return found[0] if [o.count for o in found] == [1] else None

    def passes(self, operand: Operand, tile: Tile, extents: Sequence[int]) -> int:
        """How many consecutive register tiles read the same lines of an operand."""
        readers = prod(
            -(-extent // tile.size(d))
            for d, extent in enumerate(extents)
            if self.stage.kinds[d] == "parallel" and d not in operand.access.used
        )
        return max(1, readers * self._tiles_in_line(operand, tile))

    def _tiles_in_line(self, operand: Operand, tile: Tile) -> int:
        """How many adjacent tiles have their lanes in the same cache line."""
        lane = tile.lane_dim
        if lane is None or operand.strides[lane] != 1:
            return 1
        line = min(self.machine.line_bytes // self.bytes, self.extents[lane])
        return max(1, -(-line // tile.size(lane)))

    def _bytes(self, operand: Operand) -> int:
        access = operand.access
        return self.bytes * prod(
            self.extents[dim] if dim is not None and dim in self.around else expected(extent)
            for dim, extent in zip(access.plain_dims(), access.shape, strict=True)
        )

    def step_terms(
        self, tile: Tile, sizes: dict[int, int], window: Mapping[int, int] | None = None
    ) -> tuple[Terms, float]:
        """(cycles by resource, instructions) of one step of the sum in the tile's code.

        `window` has the reductions that are unrolled around the tile; by default the tile's own.
        """
        machine, lane_dim = self.machine, tile.lane_dim
        vectors = self._vectors(tile, sizes)
        if self.matrices is not None:
            loads = partial(self._loads, tile=tile, sizes=sizes, vectors=vectors)
            found = self.matrices.terms(lane_dim, len(vectors.widths), sizes, loads)
            if found is not None:
                return found
        copies = prod(n for d, n in sizes.items() if d != lane_dim)
        arithmetic, operations = self._arithmetic(tile, sizes, vectors)
        near, far, held, least = 0.0, 0.0, 0, 0
        once = [self._loads(operand, tile, sizes, vectors) for operand in self.inputs]
        for operand, (cycles, behind, registers) in zip(self.inputs, once, strict=True):
            share = operand.count / (self._steps_shared[operand.access.used] or 1)
            near, far = near + share * cycles, far + share * behind
            held += operand.count * registers
            least = min(least or registers, registers)
        accumulators = copies * len(vectors.widths)
        if window is None:
            window = self._window(tile, accumulators)
        steps, shared, at_once = 1, 0, held
        if window:
            # Elements that the window's places share are loaded once, and kept in between.
            steps, around = max(1, prod(window.values())), {**sizes, **window}
            again = [self._loads(o, tile, around, vectors) for o in self.inputs]
            near, far, at_once = 0.0, 0.0, 0
            for operand, one, all in zip(self.inputs, once, again, strict=True):
                near += operand.count * all.near / steps
                far += operand.count * all.far / steps
                between = max(1, steps - 1)
                shared += operand.count * -(-(steps * one.registers - all.registers) // between)
                at_once += operand.count * all.registers
        if not self.has_reduction:
            near += copies * self._store_cycles(vectors.widths, lane_dim, sizes)
        # One operand is held in registers, the others stream through one more. All are held
        # where the compiler loads what it can early, as it does of several steps at once.
        several = sum(o.count for o in self.inputs) > 1
        kept = held if self.steps_at_once(lane_dim) is not None else least * several
        # What a window keeps streams through registers of its own.
        needed = accumulators + kept + (shared or self.costs.streaming_registers)
        if machine.loads_early:
            needed = accumulators + at_once + self.costs.streaming_registers
        spill = max(0, needed - self.registers) / steps
        evicted = sum(o.count * self._refetch(o, tile, sizes) for o in self._read_again)
        micro_ops = operations + accumulators * self.products
        micro_ops += self.costs.loop_micro_ops / (steps if machine.loads_early else 1)
        micro_ops += (near + far) * machine.loads_per_cycle * machine.load_micro_ops
        latency = machine.fma_latency if self.has_reduction else 1
        busy = Pass(arithmetic, near, far, evicted, latency, micro_ops).cycles(machine)
        busy["loops"] = self.costs.loop_cycles
        busy["registers"] = self.costs.spill_cycles * spill
        return Terms(busy), operations + held

    def _arithmetic(
        self, tile: Tile, sizes: Mapping[int, int], vectors: Vectors
    ) -> tuple[float, float]:
        """(cycles, instructions) of the body's arithmetic in one pass; shared work counts once."""
        cycles = instructions = 0.0
        for part in self.work:
            count = prod(n for d, n in sizes.items() if d != tile.lane_dim and d in part.dims)
            count *= part.weight / self._steps_shared[part.dims]
            is_vector = tile.lane_dim is None or tile.lane_dim in part.dims
            each = vectors.arithmetic if is_vector else self.machine.fma_cycles(self.bytes)
            cycles += count * each
            instructions += count * (len(vectors.widths) if is_vector else 1)
        return cycles, instructions

    def steps_at_once(self, lane_dim: int | None) -> int | None:
        """The reduction of which a tile executes as many steps at once as vectors have lanes.

        It is the innermost one, on processors that multiply by one lane of a vector: a vector then
        holds the elements of an operand without lanes for all these steps. None on others.
        """
        if not self.machine.has_lane_operands or lane_dim is None:
            return None
        reductions = [l for l in self.loops if l.is_reduction and l.extent != 1]
        if not reductions or self.stage.kinds[lane_dim] != "parallel":
            return None
        last = reductions[-1].dims[-1]
        if last in self.fixed or not self.known[last] or self.extents[last] < self.full_lanes:
            return None
        found = any(o.strides[last] == 1 and o.strides[lane_dim] == 0 for o in self.inputs)
        return last if found else None

    def unrolled(self, tile: Tile, reductions: Sequence[Loop]) -> list[Loop]:
        """The innermost reductions that are unrolled around a tile: all that are small enough.

        Where compilers load all operands of a body at once, it is the number of them for which a
        step takes the fewest cycles.
        """
        found = unrolled_window(reductions, prod(tile.copies.values()), self.costs)
        if not self.machine.loads_early:
            return found
        dims = {*tile.copies, tile.lane_dim} - {None}
        sizes = {d: min(tile.size(d), max(self.extents[d], 1)) for d in dims if d is not None}
        parts = [found[i:] for i in range(len(found) + 1)]
        return min(parts, key=lambda one: self.step_terms(tile, sizes, extents_of(one))[0].cycles)

    def _window(self, tile: Tile, bodies: int) -> Mapping[int, int]:
        """The reductions that are unrolled around the tile, with their extents.

        Where compilers load operands one by one, unrolling counts only if all operands are loaded
        by vectors: in a product, loads hardly matter.
        """
        lane, early = tile.lane_dim, self.machine.loads_early
        if not early and (lane is None or any(o.strides[lane] == 0 for o in self.inputs)):
            return {}
        reductions = [l for l in self.loops if l.is_reduction and l.dims[-1] != lane]
        if early and self._given_window is not None:
            return self._given_window
        if early:
            form = (lane, tile.lanes, *sorted(tile.copies.items()))
            if form not in self._known_windows:
                self._known_windows[form] = extents_of(self.unrolled(tile, reductions))
            return self._known_windows[form]
        return extents_of(unrolled_window(reductions, bodies, self.costs))

    def _store_cycles(
        self, widths: Sequence[int], lane_dim: int | None, sizes: Mapping[int, int]
    ) -> float:
        """Cycles of storing vectors.

        Strided lanes are stored one by one, unless other copies are stored between them.
        """
        plain = [self.machine.load_cycles(w * self.bytes) for w in widths]
        if lane_dim is None:
            return sum(plain)
        strides = {o.strides[lane_dim] for o in self.outputs}
        apart = [
            c for c in strides
            if c != 1 and not any(
                n == c == self.extents[d] and self._fills_gaps(d, lane_dim)
                for d, n in sizes.items()
            )
        ]  # fmt: skip
        if apart:
            return sum(self.costs.scattered_store_cycles * w for w in widths)
        between = max(strides, default=1).bit_length() - 1
        return sum(cycles + between for cycles in plain)

    def _vectors(self, tile: Tile, sizes: Mapping[int, int]) -> Vectors:
        """The vectors along the lanes' dimension."""
        size = 1 if tile.lane_dim is None else sizes.get(tile.lane_dim, 1)
        key = (tile.lane_dim, tile.lanes, size)
        if key not in self._known_vectors:
            full, rest = divmod(size, tile.lanes)
            is_reduction = (
                tile.lane_dim is not None and self.stage.kinds[tile.lane_dim] == "reduction"
            )
            last = tile.lanes if is_reduction else power_of_two(rest)
            widths = [tile.lanes] * full + ([last] if rest else [])
            machine, bytes = self.machine, [w * self.bytes for w in widths]
            self._known_vectors[key] = Vectors(
                tuple(widths),
                sum(map(machine.fma_cycles, bytes)),
                sum(machine.load_cycles(n) for n in bytes),
                sum(machine.load_cycles(n, aligned=False) for n in bytes),
            )
        return self._known_vectors[key]

    def _loads(
        self, operand: Operand, tile: Tile, sizes: Mapping[int, int], vectors: Vectors
    ) -> Loads:
        """The loads of one operand: each different vector or scalar once."""
        lane, strides = tile.lane_dim, operand.strides
        count = operand.elements(sizes, lane)
        if lane is None or (stride := strides[lane]) == 0:
            steps = self.steps_at_once(lane)
            lanes = self.full_lanes if steps is not None and strides[steps] == 1 else 1
            return Loads(count / lanes / self.machine.loads_per_cycle, 0.0, count)
        registers = count * len(vectors.widths)
        if stride == 1:
            cycles = count * (vectors.unaligned if operand.slides(lane) else vectors.aligned)
            lines = operand.lines(lane, sum(vectors.widths), self.machine.line_bytes // self.bytes)
            streamed = count * lines * self.machine.line_bytes / self._bandwidth(operand, tile)
            if streamed > cycles:
                return Loads(0.0, streamed, registers)
            return Loads(cycles, 0.0, registers)
        if any(strides[d] == 1 and n == tile.lanes for d, n in tile.copies.items()):
            steps = self.costs.transpose_cycles + tile.lanes.bit_length()
            return Loads(registers * steps, 0.0, registers)
        if is_interleaved(stride):
            shuffles = (stride - 1) * len(vectors.widths)
            return Loads(count * (stride * vectors.unaligned + shuffles), 0.0, registers)
        return Loads(count * self.costs.gather_cycles * sum(vectors.widths), 0.0, registers)

    def _bandwidth(self, operand: Operand, tile: Tile) -> float:
        """Bytes per cycle at which a tile loads an operand that the one before it loaded too."""
        machine, kinds = self.machine, self.stage.kinds
        if not self.has_reduction:
            return inf
        # Whole lines are loaded; the parts that other tiles need are evicted before those run.
        unused = self._tiles_in_line(operand, tile)
        panel = (
            self.bytes
            * unused
            * prod(
                self.extents[d] if kinds[d] == "reduction" else tile.size(d)
                for d in operand.access.used
            )
        )
        if panel <= machine.l1_bytes:
            return inf
        if panel > machine.l2_bytes:
            return machine.bandwidth_of(panel) / unused
        # The other operand passes through the L2 cache too.
        return machine.l2_bandwidth / unused / (1 if panel <= machine.l2_bytes // 2 else 2)

    def _shares_lines(self, operand: Operand) -> bool:
        """Whether consecutive steps of the reduction read the same cache lines."""
        if self.around and operand.is_temporary:
            return False  # of a buffer that shrinks, rows are padded
        return any(
            0 < operand.strides[d] * self.bytes < self.machine.line_bytes
            for d, kind in enumerate(self.stage.kinds)
            if kind == "reduction" and self.extents[d] > 1
        )

    def _refetch(self, operand: Operand, tile: Tile, sizes: Mapping[int, int]) -> float:
        """Cycles of fetching lines again that were evicted before the next step needed them.

        Rows whose distance is a power of two map to few sets of the L1 cache. If there are
        more lines than a set holds (less one for streamed data), each evicts one still needed.
        """
        machine = self.machine
        if tile.lane_dim is None or operand.strides[tile.lane_dim]:
            return 0.0
        coefficients, rows, points = operand.access.coefficients, list[tuple[int, int]](), 1
        for d, n in sizes.items():
            apart = coefficients[d] if coefficients is not None else None
            if not isinstance(apart, int):
                return 0.0
            if apart:
                rows.append((apart * self.bytes, n))
                points *= n
        if points < machine.l1_ways:
            return 0.0
        copies = [range(0, apart * n, apart) for apart, n in rows]
        lines = {sum(place) // machine.line_bytes for place in product(*copies)}
        if len(lines) < machine.l1_ways:
            return 0.0
        sets = Counter(n % (machine.l1_way_bytes // machine.line_bytes) for n in lines)
        held = machine.l1_ways - 1
        again = sum(min(n, 2 * (n - held)) for n in sets.values() if n > held)
        return again * machine.line_bytes / machine.l2_bandwidth

"""What a register tile costs, from an analytical model of the core.

For one step of the reduction the model counts the cycles that arithmetic, loads and the latency of
dependent additions take, and weighs them by the steps that a tile needs for the whole iteration
space, remainders included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import inf, prod, sqrt

from ...dialects import memref
from ...ir.types import VectorType, element_type
from ...targets.costs import OperationCosts, TileCosts
from ...targets.machine import Machine
from ..codegen.vectors.reads import is_interleaved
from ..model.plan import Loop
from ..model.stages import UNKNOWN_EXTENT, Access, Stage, expected
from ..model.steps import halves, power_of_two


@dataclass(frozen=True)
class Tile:
    """Lanes along `lane_dim` (None: scalars), copies along dimensions; its cost in cycles."""

    lane_dim: int | None
    lanes: int
    copies: dict[int, int] = field(default_factory=dict)
    cycles: float = 0.0

    def size(self, dim: int) -> int:
        """Elements of a dimension in the tile."""
        return self.copies.get(dim, 1) * (self.lanes if dim == self.lane_dim else 1)


class TileEstimate:
    """What the possible tiles of one stage cost."""

    def __init__(
        self,
        stage: Stage,
        machine: Machine,
        fixed: frozenset[int],
        loops: Sequence[Loop],
        around: Collection[int] = (),
    ) -> None:
        self.stage = stage
        self.machine = machine
        self.costs = machine.costs.tiles
        self.extents = [1] * stage.rank
        self.known = [True] * stage.rank
        self.least = [1] * stage.rank
        """Extents where everything unknown is 1: 64 rows of each image, say, of one image.

        But not what is reduced, which hardly ever is one element.
        """
        for loop in loops:  # a collapsed loop counts as its last dimension
            dim, extent = loop.dims[-1], loop.extent
            self.known[dim] = isinstance(extent, int)
            self.extents[dim] = expected(extent)
            self.least[dim] = self.extents[dim]
            if not isinstance(extent, int) and stage.kinds[dim] == "parallel":
                self.least[dim] = max(1, extent.at(1))
        self.loops = loops
        self.fixed = fixed
        """Dimensions that cannot be split or vectorized."""
        self.around = around
        """Dimensions of outer loops, in one iteration of which all passes are made."""
        self.inputs = [a for a in stage.inputs if not a.is_scalar and a.argument.has_uses]
        self._terms = {a: _linear_terms(a) for a in self.inputs}
        self.bytes = widest_element(stage)
        self.full_lanes = machine.lanes(self.bytes)
        self.arithmetic = max(1, arithmetic_weight(stage, machine.costs.operations))

    def reuses(self, dim: int) -> bool:
        """Whether copies along a dimension share loads."""
        return any(self.coefficient(a, dim) == 0 or self._slides(a, dim) for a in self.inputs)

    def _fills_gaps(self, dim: int, lane_dim: int | None) -> bool:
        """Whether copies along a dimension stand between the lanes of what is stored.

        Not where the body looks elements up: lanes that lie apart would gather them.
        """
        if lane_dim is None or any(isinstance(op, memref.Load) for op in self.stage.body_ops()):
            return False
        return any(
            self.coefficient(a, dim) == 1
            and is_interleaved(self.coefficient(a, lane_dim))
            and self.coefficient(a, lane_dim) == self.extents[dim]
            for a in self.stage.outputs
        )

    def _slides(self, access: Access, dim: int | None) -> bool:
        """Whether a window slides along the dimension."""
        return any(len(t) > 1 and any(d == dim for _, d in t) for t in self._terms[access])

    # -- cost --------------------------------------------------------------------------------

    def cycles(self, tile: Tile) -> float:
        """Of the whole iteration space.

        Where it is unknown, the geometric mean of many iterations at once and of as many one by
        one: a batch is often one image, and a tile is good that is nearly the best for both.
        """
        total = self.cycles_for(tile, self.extents)
        if all(self.known):
            return total
        often = prod(self.extents) / max(1, prod(self.least))
        return sqrt(total * often * self.cycles_for(tile, self.least))

    def cycles_for(self, tile: Tile, extents: Sequence[int]) -> float:
        """Of an iteration space of these extents."""
        total, instructions = 0.0, 0.0
        for count, sizes in self._variants(tile, extents):
            cycles, code = self.step_cycles(tile, sizes)
            total += count * cycles
            instructions += code
        kinds = self.stage.kinds
        results = prod(e for e, k in zip(extents, kinds, strict=True) if k == "parallel")
        if tile.lane_dim is None:
            pass
        elif kinds[tile.lane_dim] == "parallel" and self.stage.has_reduction:
            # Once for all steps of the reduction.
            total += (
                self._store_cycles(tile.lanes, tile.lane_dim, tile.copies) * results / tile.lanes
            )
        elif kinds[tile.lane_dim] == "reduction":
            steps = tile.lanes.bit_length() + tile.copies.get(tile.lane_dim, 1)
            total += self.costs.combine_cycles * steps * results
        return (total + self.stall(tile, total, extents)) * (
            1 + instructions / self.costs.code_instructions
        )

    def _variants(
        self, tile: Tile, extents: Sequence[int]
    ) -> Iterator[tuple[float, dict[int, int]]]:
        """(steps, elements of each tiled dimension) for the full tile and its remainders."""
        dims = sorted(set(tile.copies) | ({tile.lane_dim} if tile.lane_dim is not None else set()))
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
                for part in halves(size):
                    count, remainder = divmod(remainder, part)
                    options += [(count, part)] if count else []
            variants = [
                (count * n, {**sizes, dim: s}) for count, sizes in variants for n, s in options
            ]
        yield from variants

    def stall(self, tile: Tile, cycles: float, extents: Sequence[int]) -> float:
        """Cycles of waiting for an operand that comes from memory in the first of several passes.

        While the others run nothing comes. What one pass would wait as well is left out.
        """
        operand = self.streamed(tile.lane_dim)
        if operand is None:
            return 0.0
        moved = self._bytes(operand) / self.machine.memory_bandwidth
        return max(0.0, moved - cycles / self.passes(operand, tile, extents)) - max(
            0.0, moved - cycles
        )

    def streamed(self, lane_dim: int | None) -> Access | None:
        """The operand, read by lanes, that is too large for the second-level cache."""
        if lane_dim is None or self.stage.kinds[lane_dim] == "reduction":
            return None
        found = [
            a for a in self.inputs
            if self.stage.has_reduction
            and self.coefficient(a, lane_dim) == 1
            and self._bytes(a) > self.machine.l2_bytes
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def passes(self, operand: Access, tile: Tile, extents: Sequence[int] | None = None) -> int:
        """How many register tiles one after the other read the same part of an operand."""
        used: set[int] = set().union(*(e.dims_used() for e in operand.exprs))
        return max(
            1,
            prod(
                -(-extent // tile.size(d))
                for d, extent in enumerate(self.extents if extents is None else extents)
                if self.stage.kinds[d] == "parallel" and d not in used
            ),
        )

    def _bytes(self, access: Access) -> int:
        shape = access.value.type.shape  # type: ignore[attr-defined]
        extents = [
            self.extents[dim]
            if dim is not None and dim in self.around
            else extent or UNKNOWN_EXTENT
            for dim, extent in zip(access.plain_dims(), shape, strict=True)
        ]
        return self.bytes * prod(extents)

    def step_cycles(self, tile: Tile, sizes: dict[int, int]) -> tuple[float, float]:
        """(cycles, instructions) of one pass through the tile's code."""
        machine, lane_dim = self.machine, tile.lane_dim
        vectors = self._vectors(tile, sizes)
        copies = prod(n for d, n in sizes.items() if d != lane_dim)
        per_vector = [machine.fma_cycles(w * self.bytes) for w in vectors]
        arithmetic = copies * sum(per_vector) * self.arithmetic
        loads, held = 0.0, []
        for access in self.inputs:
            cycles, registers = self._loads(access, tile, sizes, vectors)
            loads += cycles
            held.append(registers)
        accumulators = copies * len(vectors)
        is_reduction = self.stage.has_reduction
        window = self._window(tile, accumulators)
        if window:
            # Elements that the window's places share are loaded once.
            steps = max(1, prod(window.values()))
            loads = sum(
                self._loads(a, tile, {**sizes, **window}, vectors)[0] / steps for a in self.inputs
            )
        if not is_reduction:
            loads += copies * sum(self._store_cycles(w, lane_dim, sizes) for w in vectors)
        latency = machine.fma_latency if is_reduction else 1
        # One operand is held in registers, the others stream through one more. Of several steps
        # at once all are held: the compiler loads what it can early.
        steps = self.steps_at_once(lane_dim)
        kept = sum(held) if steps is not None else min(held) if len(held) > 1 else 0
        needed = accumulators + kept + self.costs.streaming_registers
        spill = max(0, needed - machine.vector_registers)
        again = sum(self._refetch(a, tile, sizes) for a in self.inputs)
        # They overlap, the worse the more each has to do.
        work = sum(cycles**self.costs.overlap for cycles in (arithmetic, loads, again))
        micro_ops = accumulators * self.arithmetic + self.costs.loop_micro_ops
        micro_ops += loads * machine.loads_per_cycle * machine.load_micro_ops
        busy = max(work ** (1 / self.costs.overlap), latency, micro_ops / machine.issue_width)
        code = accumulators * self.arithmetic + (sum(held) if held else 0)
        return busy + self.costs.loop_cycles + self.costs.spill_cycles * spill, code

    def steps_at_once(self, lane_dim: int | None) -> int | None:
        """The reduction of which as many steps as there are lanes are made at once.

        The innermost one, where the processor multiplies by a lane of a vector: one vector then
        holds what an operand without lanes has for these steps.
        """
        reductions = [l for l in self.loops if l.is_reduction and l.extent != 1]
        if not self.machine.has_lane_operands or lane_dim is None or not reductions:
            return None
        last = reductions[-1].dims[-1]
        if last in self.fixed or not self.known[last] or self.extents[last] < self.full_lanes:
            return None
        found = self.stage.kinds[lane_dim] == "parallel" and any(
            self.coefficient(a, last) == 1 and self.coefficient(a, lane_dim) == 0
            for a in self.inputs
        )
        return last if found else None

    def _window(self, tile: Tile, bodies: int) -> dict[int, int]:
        """Reductions that are unrolled around the tile, as `Shaping.window` has them.

        Counted where every operand is loaded by vectors: of a product, loads hardly matter.
        """
        lane = tile.lane_dim
        if lane is None or any(self.coefficient(a, lane) == 0 for a in self.inputs):
            return {}
        reductions = [l for l in self.loops if l.is_reduction and l.dims[-1] != lane]
        found = unrolled_window(reductions, bodies, self.costs)
        return {l.dims[-1]: l.extent for l in found if isinstance(l.extent, int)}

    def _store_cycles(self, width: int, lane_dim: int | None, sizes: dict[int, int]) -> float:
        """Cycles of storing one vector.

        Lanes that lie apart are stored one by one, unless other copies fill the gaps.
        """
        plain = self.machine.load_cycles(width * self.bytes)
        if lane_dim is None:
            return plain
        apart = [
            c for a in self.stage.outputs
            if (c := self.coefficient(a, lane_dim)) != 1
            and not any(
                self._fills_gaps(d, lane_dim) and n == c == self.extents[d]
                for d, n in sizes.items()
            )
        ]  # fmt: skip
        if apart:
            return self.costs.scattered_store_cycles * width
        between = max((self.coefficient(a, lane_dim) for a in self.stage.outputs), default=1)
        return plain + between.bit_length() - 1

    def _vectors(self, tile: Tile, sizes: dict[int, int]) -> list[int]:
        """The widths of the vectors along the lanes' dimension."""
        if tile.lane_dim is None:
            return [1]
        size = sizes.get(tile.lane_dim, 1)
        full, rest = divmod(size, tile.lanes)
        is_reduction = self.stage.kinds[tile.lane_dim] == "reduction"
        last = tile.lanes if is_reduction else power_of_two(rest)
        return [tile.lanes] * full + ([last] if rest else [])

    def _loads(
        self, access: Access, tile: Tile, sizes: dict[int, int], vectors: list[int]
    ) -> tuple[float, int]:
        """(cycles, registers) of one operand: each different vector or scalar loaded once."""
        lane, machine = tile.lane_dim, self.machine
        count = 1
        for terms in self._terms[access]:
            every, reach = 1, 1
            for factor, d in terms:
                if d != lane and (n := sizes.get(d, 1)) > 1:
                    every *= n
                    reach += factor * (n - 1)
            count *= min(every, reach)
        coefficient = self.coefficient(access, lane) if lane is not None else 0
        if coefficient == 0:
            steps = self.steps_at_once(lane)
            by_lanes = steps is not None and self.coefficient(access, steps) == 1
            return count / (self.full_lanes if by_lanes else 1) / machine.loads_per_cycle, count
        registers = count * len(vectors)
        if coefficient == 1:
            aligned = not self._slides(access, lane)
            cycles = count * sum(machine.load_cycles(w * self.bytes, aligned) for w in vectors)
            streamed = registers * tile.lanes * self.bytes
            return max(cycles, streamed / self._bandwidth(access, tile)), registers
        if any(
            self.coefficient(access, d) == 1 and n == tile.lanes for d, n in tile.copies.items()
        ):
            steps = self.costs.transpose_cycles + tile.lanes.bit_length()
            return count * steps * len(vectors), registers
        if is_interleaved(coefficient):
            cycles = sum(machine.load_cycles(w * self.bytes, False) for w in vectors)
            shuffles = (coefficient - 1) * len(vectors)
            return count * (coefficient * cycles + shuffles), registers
        return count * self.costs.gather_cycles * sum(vectors), registers

    def _bandwidth(self, access: Access, tile: Tile) -> float:
        """Bytes per cycle of an operand that the next tile reads again, after the reduction."""
        machine, kinds = self.machine, self.stage.kinds
        used: set[int] = set().union(*(e.dims_used() for e in access.exprs))
        sizes = (self.extents[d] if kinds[d] == "reduction" else tile.size(d) for d in used)
        panel = self.bytes * prod(sizes) if self.stage.has_reduction else 0
        if panel <= machine.l1_bytes:
            return inf
        # The other operand passes through the second cache too.
        return machine.l2_bandwidth / (1 if panel <= machine.l2_bytes // 2 else 2)

    def _refetch(self, access: Access, tile: Tile, sizes: dict[int, int]) -> float:
        """Cycles of fetching lines again that the next step of the reduction still needs.

        Rows a power of two apart fall on few sets of the first cache. Of more lines than a set
        holds, one of them left to what streams through, each pushes out one that is needed.
        """
        machine, lane = self.machine, tile.lane_dim
        if lane is None or access.coefficients is None or self.coefficient(access, lane):
            return 0.0
        if self.around and access.value.defined_by(memref.Alloc):
            return 0.0  # of a buffer that shrinks, rows are padded
        steps = {
            self.coefficient(access, d)
            for d, kind in enumerate(self.stage.kinds)
            if kind == "reduction" and self.extents[d] > 1
        }
        if not any(0 < step * self.bytes < machine.line_bytes for step in steps):
            return 0.0
        copies: list[list[int]] = []
        for d, n in sizes.items():
            apart = access.coefficients[d]
            if not isinstance(apart, int):
                return 0.0
            if apart:
                copies.append([apart * self.bytes * i for i in range(n)])
        lines = {sum(place) // machine.line_bytes for place in product(*copies)}
        if len(lines) < machine.l1_ways:
            return 0.0
        sets = Counter(n % (machine.l1_way_bytes // machine.line_bytes) for n in lines)
        held = machine.l1_ways - 1
        again = sum(min(n, 2 * (n - held)) for n in sets.values() if n > held)
        return again * machine.line_bytes / machine.l2_bandwidth

    def coefficient(self, access: Access, dim: int) -> int:
        """Elements between neighbours along a dimension; a large number where unknown."""
        if access.is_scalar:
            return 0
        if access.coefficients is None:
            used = set().union(*(e.dims_used() for e in access.exprs))
            return 1 << 20 if dim in used else 0
        c = access.coefficients[dim]
        return c if isinstance(c, int) else 1 << 20


def unrolled_window(reductions: Sequence[Loop], bodies: int, costs: TileCosts) -> list[Loop]:
    """The innermost reductions that are small enough to be unrolled around so many bodies."""
    unrolled: list[Loop] = []
    for loop in reversed(reductions):
        extent = loop.extent
        if extent == 1:
            continue
        if loop.step != 1 or not isinstance(extent, int) or extent > costs.unrolled_window:
            break
        if bodies * extent > costs.bodies:
            break
        bodies *= extent
        unrolled.insert(0, loop)
    return unrolled


def _linear_terms(access: Access) -> list[list[tuple[int, int]]]:
    """(factor, dimension) of each linear index expression."""
    found = []
    for expr in access.exprs:
        linear = expr.linear(access.stage.rank)
        if linear is not None:
            found.append([(abs(c), d) for d, c in enumerate(linear[0]) if c])
    return found


def widest_element(stage: Stage) -> int:
    """Bytes of the widest element that the stage computes with."""
    types = [a.element_type for a in stage.accesses]
    types += [v.type for op in stage.body_ops() for v in op.results]
    scalars = [element_type(t) for t in types if not isinstance(t, VectorType)]
    return max((getattr(t, "byte_width", 8) for t in scalars), default=4)


def arithmetic_weight(stage: Stage, costs: OperationCosts) -> int:
    """The body's arithmetic, a multiply-add being 1."""
    # A comparison and a select that keep the larger number are one instruction.
    total = -stage.combiners.count("maxnumf")
    for op in stage.body_ops():
        dialect, _, name = op.name.partition(".")
        if dialect == "math":
            total += getattr(costs, name, costs.other_math)
        elif dialect == "arith" and name not in ("constant", "mulf"):
            total += costs.divf if name == "divf" else 1
    return max(total, 0)

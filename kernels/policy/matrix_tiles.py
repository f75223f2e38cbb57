"""What a register tile costs whose products of bytes are computed in tile registers.

`--lower-to-amx` makes one product of 16 steps for every 16 rows and vector of the tile's sums.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...ir.decisions import Terms
from ...targets.processor import Processor
from ..codegen.matrices.sums import PRODUCTS, is_of_tiles
from ..model.extents import expected
from ..model.plan import Loop
from ..model.stages import Stage
from .operands import Operand
from .overlap import Loads, Pass


@dataclass(frozen=True)
class MatrixTiles:
    """The products of a stage that tile registers can take."""

    stage: Stage
    machine: Processor
    operands: Sequence[Operand]
    step: Loop
    """The innermost loop over the sum."""

    @staticmethod
    def of(
        stage: Stage, machine: Processor, operands: Sequence[Operand], loops: Sequence[Loop]
    ) -> MatrixTiles | None:
        """Those of a stage; None if it has none, or the processor has no such registers."""
        steps = [l for l in loops if l.is_reduction and l.extent != 1]
        if not machine.tiles.tile_registers or not steps or len(operands) != 2:
            return None
        dots = [op for op in stage.body_ops() if isinstance(op, PRODUCTS)]
        if len(dots) != 1 or not is_of_tiles(dots[0], machine.tiles):
            return None
        if not isinstance(steps[-1].extent, int):
            return None
        return MatrixTiles(stage, machine, operands, steps[-1])

    def shape(
        self, lane: int | None, vectors: int, sizes: Mapping[int, int]
    ) -> tuple[int, int] | None:
        """(rows, vectors) of the sums of a tile with `vectors` vectors along its lanes' dimension;
        None if its products are not computed in tile registers.
        """
        if lane is None or self.stage.kinds[lane] != "parallel":
            return None
        left, right = sorted(self.operands, key=lambda o: o.strides[lane])
        if (left.strides[lane], right.strides[lane]) != (0, 1):
            return None
        step = self.step.dims[-1]
        copies = {d: n for d, n in sizes.items() if d != lane and n > 1}
        rows = [n for d, n in copies.items() if right.strides[d] == 0]
        columns = [n for d, n in copies.items() if left.strides[d] == 0]
        columns += [vectors] if vectors > 1 else []
        known = len(rows) + len(columns) == len(copies) + (vectors > 1)
        if left.strides[step] != 1 or not known or len(rows) != 1 or len(columns) > 1:
            return None
        tiles, across = self.machine.tiles, columns[0] if columns else 1
        needed = tiles.needed(rows[0], across, expected(self.step.extent))
        fits = rows[0] >= tiles.least_rows and needed <= tiles.tile_registers
        return (rows[0], across) if fits else None

    def terms(
        self,
        lane: int | None,
        vectors: int,
        sizes: Mapping[int, int],
        loads: Callable[[Operand], Loads],
    ) -> tuple[Terms, float] | None:
        """(cycles by resource, instructions) of one step of the sum in a tile as in `shape`; None
        if its products are not computed in tile registers. `loads` has those of an operand.
        """
        shape = self.shape(lane, vectors, sizes)
        if shape is None or lane is None:
            return None
        step = self.one_step(*shape, loads(max(self.operands, key=lambda o: o.strides[lane])))
        return Terms(step.cycles(self.machine)), step.micro_ops

    def heights(self, rows: int) -> int:
        """How many tile registers so many rows take."""
        return -(-rows // self.machine.tiles.rows)

    def one_step(self, rows: int, vectors: int, right: Loads) -> Pass:
        """What a step of the sum takes, its share of a product of tiles; `right` loads vectors."""
        tiles, height = self.machine.tiles, self.heights(rows)
        steps, _ = tiles.steps(expected(self.step.extent))
        products, loads = height * vectors, height + vectors
        return Pass(
            arithmetic=products * tiles.product_cycles / steps,
            near=loads * tiles.load_cycles / steps,
            far=right.far,
            evicted=0.0,
            latency=tiles.product_latency / steps,
            micro_ops=(products + loads) / steps,
        )

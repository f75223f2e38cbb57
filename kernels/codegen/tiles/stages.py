"""A stage on one tile: operands are read, the body is evaluated, results are written."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.core import Value
from ...model.plan import Loop
from ...model.stages import Access, Stage
from ..code import Code
from .accumulators import Accumulation
from .axes import Axis, Tiled
from .bodies import Bodies
from .contraction import Contractions
from .memory import Memory
from .places import Position


class Tiles:
    """Writes the code of a stage on one tile, at a position of its loops."""

    def __init__(
        self, code: Code, memory: Memory, bodies: Bodies, contractions: Contractions
    ) -> None:
        self.code = code
        self.memory = memory
        self.bodies = bodies
        self.contractions = contractions

    def accumulation(self, stage: Stage, chains: int = 1) -> Accumulation:
        """Accumulators for a stage, which have no initial values yet."""
        return Accumulation(stage, self.code, self.memory, self.bodies, chains)

    def reads_results(self, stage: Stage, loops: Sequence[Loop]) -> bool:
        """Whether a stage reads results of its earlier steps, in a reduction among the loops."""
        linear = all(out.coefficients is not None for out in stage.outputs)
        reduces = any(loop.is_reduction for loop in loops)
        return linear and reduces and stage.reads_outputs

    def repeated(self, stage: Stage, loops: Sequence[Loop]) -> list[Loop]:
        """Unrolled reductions whose steps are written one by one; none in a contraction."""
        steps = [
            loop for loop in loops if loop.is_reduction and loop.is_unrolled and not loop.partial
        ]
        return [] if steps and self.contractions.applies(stage, loops) else steps

    def write(
        self,
        stage: Stage,
        at: Position,
        axes: Sequence[Axis],
        accumulation: Accumulation | None,
    ) -> None:
        """Write the code of a stage for one tile."""
        coordinates = self.memory.coordinates
        places = [
            coordinates.place(out, at, axes) if out.coefficients is not None else None
            for out in stage.outputs
        ]
        if accumulation is not None and places[0] is not None:
            total = accumulation.get(0, places[0]) if accumulation.table else None
            done = total and self.contractions.contract(stage, at, axes, total)
            if done is not None:
                accumulation.set(0, places[0], done, axes)
                return
        known = self._arguments(stage, at, axes)
        for number, (out, place) in enumerate(zip(stage.outputs, places, strict=True)):
            if not out.argument.has_uses:
                continue
            if place is None:
                known[out.argument] = self._load_anywhere(out, at, axes)
            elif accumulation is not None:
                known[out.argument] = accumulation.get(number, place)
            else:
                known[out.argument] = self.memory.read(place)
        results = self.bodies.run(stage, known, at, axes)
        for number, (out, place) in enumerate(zip(stage.outputs, places, strict=True)):
            result = results[number]
            if place is None:
                self._store_anywhere(out, at, axes, result)
            elif accumulation is not None:
                accumulation.set(number, place, result, axes)
            else:
                self.memory.store(place.kept(), self.bodies.spread(result, place.axes))

    def _arguments(self, stage: Stage, at: Position, axes: Sequence[Axis]) -> dict[Value, Tiled]:
        known: dict[Value, Tiled] = {}
        for access in stage.inputs:
            argument = access.argument
            if argument.has_uses or stage.body.last in argument.users:
                known[argument] = self._load(access, at, axes)
        return known

    def _load(self, access: Access, at: Position, axes: Sequence[Axis]) -> Tiled:
        if access.is_scalar:
            return Tiled(access.value)
        if access.coefficients is None:
            return self._load_anywhere(access, at, axes)
        place = self.memory.coordinates.place(access, at, axes)
        return self.memory.read(place)

    def _load_anywhere(self, access: Access, at: Position, axes: Sequence[Axis]) -> Tiled:
        return self.memory.gather(access, self.bodies.place_of(access, at, axes))

    def _store_anywhere(
        self, access: Access, at: Position, axes: Sequence[Axis], result: Tiled
    ) -> None:
        index = self.bodies.place_of(access, at, axes)
        along = tuple(a for a in axes if a in index.axes or a in result.axes)
        index = Tiled(self.bodies.spread(index, along), along)
        self.memory.scatter(access, index, self.bodies.spread(result, along))

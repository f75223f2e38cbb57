"""Writes a schedule; each operation is appended and at once applied to a plan of the loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ...dialects import linalg, schedule
from ...ir.core import Block, Region, Value
from ..model.names import dimension_names
from ..model.plan import Loop
from ..model.stages import Stage
from ..primitives.loops import loops as loops_of
from ..primitives.primitive import Primitive, Progress
from ..primitives.reorder import reorder

R = TypeVar("R")


class ScheduleWriter(Progress):
    """A `schedule.for` that is being written, and the plan that results from it so far."""

    def __init__(self, kernel: str, stages: Sequence[Stage]) -> None:
        self.block = Block([schedule.stage] * len(stages))
        self.op = schedule.For(kernel, Region([self.block]))
        super().__init__(stages, self.block.args)
        self.values: dict[Any, Value] = {one: value for value, one in self.known.items()}
        for stage, arg in zip(stages, self.block.args, strict=True):
            arg.name_hint = stage_name(stage)

    def put(
        self, one: Primitive[R], *arguments: Any, names: Sequence[str] = (), **properties: Any
    ) -> R:
        """Write a primitive and carry it out on the plan. Returns the loops or stages it makes.

        `names` are the names of its results.
        """
        op: Any = one.op(*map(self._value, arguments), **properties)
        for result, name in zip(op.results, names, strict=False):
            result.name_hint = name
        made = self.carry_out(op)
        self.block.append(op)
        self.values.update((self.known[value], value) for value in op.results)
        return made

    def _value(self, argument: Any) -> Any:
        if isinstance(argument, Loop | Stage):
            return self.values[argument]
        is_list = isinstance(argument, list) and argument and isinstance(argument[0], Loop)
        return [self.values[one] for one in argument] if is_list else argument

    def loops(self, stage: Stage) -> list[Loop]:
        """The root loops of a stage; the first call writes the primitive that names them."""
        roots = self.plan.roots[stage]
        if roots and roots[0] not in self.values:
            self.put(loops_of, len(roots), stage, names=dimension_names(stage))
        return list(roots)

    def reorder(self, loops: Sequence[Loop]) -> None:
        """Reorder loops; writes nothing if they are in this order already."""
        order = self.plan.order[loops[0].stage] if loops else []
        if [loop for loop in order if loop in set(loops)] != list(loops):
            self.put(reorder, list(loops))


def stage_name(stage: Stage) -> str:
    """A readable name of a stage: what kind of operation it is."""
    match stage.op:
        case linalg.Fill():
            return "fill"
        case linalg.Copy():
            return "copy"
    if stage.has_reduction:
        return "contract" if len(stage.inputs) > 1 else "reduce"
    return "map"

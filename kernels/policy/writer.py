"""Writing a schedule: each operation is put down and carried out on a plan at once."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import linalg, schedule
from ...ir.core import Block, Operation, Region, Value
from ..model.names import dimension_names
from ..model.plan import Loop, Plan
from ..model.stages import Stage


class ScheduleWriter:
    """A `schedule.for` in the making, and the plan that it stands for."""

    def __init__(self, kernel: str, stages: Sequence[Stage]) -> None:
        self.plan = Plan(stages)
        block = Block([schedule.stage] * len(stages))
        self.op = schedule.For(kernel, Region([block]))
        self.block = block
        self._stages: dict[Stage, Value] = dict(zip(stages, block.args, strict=True))
        self._loops: dict[Loop, Value] = {}
        for stage, arg in zip(stages, block.args, strict=True):
            arg.name_hint = stage_name(stage)

    def _put(self, op: Operation, loops: Sequence[Loop] = (), names: Sequence[str] = ()) -> None:
        self.block.append(op)
        for loop, result, name in zip(loops, op.results, names, strict=True):
            loop.name = result.name_hint = name
            self._loops[loop] = result

    def loops(self, stage: Stage) -> list[Loop]:
        """The loops of a stage that nothing was done to yet."""
        loops = list(self.plan.roots[stage])
        if loops and loops[0] not in self._loops:
            op = schedule.Loops(len(loops), self._stages[stage])
            self._put(op, loops, dimension_names(stage))
        return loops

    def split(
        self, loop: Loop, factor: int, names: tuple[str, str] = ("o", "i")
    ) -> tuple[Loop, Loop]:
        op = schedule.Split(self._loops[loop], factor)
        outer, inner = self.plan.split(loop, factor, op)
        self._put(op, (outer, inner), [f"{loop.name}{suffix}" for suffix in names])
        return outer, inner

    def collapse(self, loops: Sequence[Loop]) -> Loop:
        op = schedule.Collapse([self._loops[loop] for loop in loops])
        merged = self.plan.collapse(loops, op)
        self._put(op, [merged], ["".join(loop.name for loop in loops)])
        return merged

    def reorder(self, loops: Sequence[Loop]) -> None:
        """Bring loops in this order; nothing is written where they are in it already."""
        order = self.plan.order[loops[0].stage] if loops else []
        if [loop for loop in order if loop in set(loops)] == list(loops):
            return
        op = schedule.Reorder([self._loops[loop] for loop in loops])
        self.plan.reorder(loops, op)
        self._put(op)

    def parallel(self, loop: Loop) -> None:
        op = schedule.Parallel(self._loops[loop])
        self.plan.set_kind(loop, "parallel", op)
        self._put(op)

    def vectorize(self, loop: Loop) -> None:
        op = schedule.Vectorize(self._loops[loop])
        self.plan.set_kind(loop, "vector", op)
        self._put(op)

    def unroll(self, loop: Loop, partial: bool = False) -> None:
        op = schedule.Unroll(self._loops[loop], partial=partial)
        self.plan.set_kind(loop, "unroll", op, partial)
        self._put(op)

    def accumulate(self, loop: Loop) -> None:
        op = schedule.Accumulate(self._loops[loop])
        self.plan.accumulate(loop, op)
        self._put(op)

    def inline(self, stage: Stage) -> None:
        op = schedule.Inline(self._stages[stage])
        self.plan.inline(stage, op)
        self._put(op)

    def cache(self, stage: Stage, number: int, order: Sequence[int]) -> Stage:
        plain = list(order) == list(range(len(order)))
        op = schedule.Cache(number, self._stages[stage], None if plain else tuple(order))
        made = self.plan.cache(stage, number, order, op)
        self.block.append(op)
        op.results[0].name_hint = "copy"
        self._stages[made] = op.results[0]
        return made

    def prefetch(self, stage: Stage, number: int, ahead: int) -> None:
        op = schedule.Prefetch(number, self._stages[stage], ahead)
        self.plan.prefetch(stage, number, ahead, op)
        self._put(op)

    def fuse(self, stage: Stage, at: Loop, rolled: bool = False) -> None:
        op = schedule.Fuse(self._stages[stage], self._loops[at], rolled=rolled)
        self.plan.fuse(stage, at, op, rolled)
        self._put(op)


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

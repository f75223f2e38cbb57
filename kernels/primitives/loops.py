"""The loops of a stage, by name.

    stage                   for d0 in 0..M
                      ->        for d1 in 0..N
                                    stage(d0, d1)

Legal before anything was done to them. The plan stays as it is.
"""

from __future__ import annotations

from ...dialects import schedule
from ..model.legality import illegal
from ..model.plan import Loop, Plan
from ..model.stages import Stage
from .primitive import primitive


@primitive(schedule.Loops)
def loops(plan: Plan, op: schedule.Loops, stage: Stage) -> list[Loop]:
    """One loop for each dimension, outermost first."""
    whole = [loop for loop in plan.roots[stage] if loop.is_alive and len(loop.dims) == 1]
    if op.count != len(stage.kinds):
        raise illegal(op, f"asks for {op.count} loops of a stage that has {len(stage.kinds)}")
    if len(whole) != op.count:
        raise illegal(op, "must come before the loops of the stage are scheduled")
    return whole

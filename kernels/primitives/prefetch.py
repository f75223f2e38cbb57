"""An operand is asked for before it is read.

    y = y + w[k]      ->    prefetch w[k + ahead]
                            y = y + w[k]

Legal for an input buffer that is indexed linearly; what is asked for may lie beyond its end. In the
plan, the access has a distance.
"""

from __future__ import annotations

from ...dialects import schedule
from ..model.legality import illegal
from ..model.plan import Plan
from ..model.stages import Stage
from .primitive import primitive


@primitive(schedule.Prefetch)
def prefetch(plan: Plan, op: schedule.Prefetch, stage: Stage) -> None:
    """Ask for an operand ahead of its use."""
    access = next((a for a in stage.inputs if a.number == op.number), None)
    if access is None or access.is_scalar or access.coefficients is None:
        raise illegal(op, f"the stage has no input buffer {op.number} that it reads linearly")
    plan.prefetched[access] = op.ahead

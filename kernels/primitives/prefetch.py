"""An operand is prefetched before it is read.

    y = y + w[k]      ->    prefetch w[k + ahead]
                            y = y + w[k]

Legal for an input buffer that is indexed linearly; the prefetched elements may lie beyond its end.
In the plan, the access gets a distance. With loops `over`, each of their iterations prefetches a
part; the operand must not depend on these loops. `passes` says in how many iterations of the loop
all parts are prefetched.
"""

from __future__ import annotations

from ...dialects import schedule
from ..model.legality import illegal
from ..model.plan import Ahead, Loop, Plan
from ..model.stages import Stage
from .primitive import check_alive, primitive


@primitive(schedule.Prefetch)
def prefetch(plan: Plan, op: schedule.Prefetch, stage: Stage, *over: Loop) -> None:
    """Prefetch an operand ahead of its use."""
    access = next((a for a in stage.inputs if a.number == op.number), None)
    if access is None or access.is_scalar or access.coefficients is None:
        raise illegal(op, f"the stage has no input buffer {op.number} that it reads linearly")
    if over and not all(isinstance(c, int) for c in access.coefficients):
        raise illegal(op, "the strides of the operand are not known")
    for loop in over:
        check_alive(loop, op)
        if loop.stage is not stage:
            raise illegal(op, "expects loops of the stage")
        if any(access.coefficients[dim] != 0 for dim in loop.dims):
            raise illegal(op, "the operand depends on a loop that is to share its prefetches")
    if op.passes is not None and (len(over) != 1 or op.passes < 1):
        raise illegal(op, "takes `passes`, at least 1, with exactly one loop")
    plan.prefetched[access] = Ahead(op.ahead, over, op.passes or 0)

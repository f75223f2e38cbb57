"""The iterations of a loop are groups of threads of a device.

    for i in 0..N     ->    groups i in 0..N along x
        body(i)                 body(i)

Legal for a plain loop, shared or not, and once for each axis of a stage. That it is outermost, or
directly inside another one, and no reduction, is checked when all is done (`model/nest.py`), as of
parallel loops.
"""

from __future__ import annotations

from ...dialects import schedule
from ..model.binding import GROUPS
from ..model.legality import illegal
from ..model.plan import Loop, Plan
from .primitive import check_plain, primitive


@primitive(schedule.Bind)
def bind(plan: Plan, op: schedule.Bind, loop: Loop) -> None:
    """Make groups of a loop's iterations."""
    check_plain(loop, op)
    for other in plan.order[loop.stage]:
        if other.binding.axis == op.axis:
            raise illegal(op, f"another loop is bound to groups along {op.axis} already")
    loop.binding = GROUPS[op.axis]

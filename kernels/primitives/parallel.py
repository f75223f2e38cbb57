"""The iterations of a loop run on all cores.

    for i in 0..N     ->    parallel i in 0..N
        body(i)                 body(i)

Legal for a plain loop, shared or not. That it is outermost, or directly inside another parallel
loop, and no reduction, is checked when all is done (`model/nest.py`).
"""

from __future__ import annotations

from ...dialects import schedule
from ..model.binding import PARALLEL
from ..model.plan import Loop, Plan
from .primitive import check_plain, primitive


@primitive(schedule.Parallel)
def parallel(plan: Plan, op: schedule.Parallel, loop: Loop) -> None:
    """Make a loop parallel."""
    check_plain(loop, op)
    loop.binding = PARALLEL

"""The iterations of a loop are groups of threads of a device.

    for i in 0..N     ->    groups i in 0..N along x
        body(i)                 body(i)

Several loops along one axis count there as one, the last of which runs fastest. Legal for a plain
loop, shared or not. That it is outermost, or directly inside another one, and no reduction, is
checked when all is done (`model/nest.py`), as of parallel loops.
"""

from __future__ import annotations

from ...dialects import schedule
from ..model.binding import GROUPS
from ..model.plan import Loop, Plan
from .primitive import check_plain, primitive


@primitive(schedule.Bind)
def bind(plan: Plan, op: schedule.Bind, loop: Loop) -> None:
    """Make groups of a loop's iterations."""
    check_plain(loop, op)
    loop.binding = GROUPS[op.axis]

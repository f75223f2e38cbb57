"""Results stay in registers while a loop runs.

    for k in 0..K                   s = y[i]
        y[i] = y[i] + x[i, k]  ->   for k in 0..K
                                        s = s + x[i, k]
                                    y[i] = s

Legal for any loop that has not been replaced. Whether the loops inside it that the results depend
on are all unrolled or vectorized is checked after all primitives (`model/nest.py`).
"""

from __future__ import annotations

from ...dialects import schedule
from ..model.plan import Loop, Plan
from .primitive import check_alive, primitive


@primitive(schedule.Accumulate)
def accumulate(plan: Plan, op: schedule.Accumulate, loop: Loop) -> None:
    """Keep results in registers while the loop runs."""
    check_alive(loop, op)
    loop.accumulates = True

"""The iterations of a loop stand one after the other.

    for i in 0..3           body(0)
        body(i)       ->    body(1)
                            body(2)

With `most`, the loop stays one wherever the copies would have more bodies than that.

With `sums` too, the copies take turns in adding to several partial results.

With `partial`, for a reduction, each accumulates on its own:

    for k in 0..2           s0 = s0 + x[0]
        s = s + x[k]  ->    s1 = s1 + x[1]      s = s0 + s1 at the end

Legal for a plain loop of known extent that is the stage's own. That not too much is unrolled, and
that partial results can be combined, is checked when all is done (`model/nest.py`).
"""

from __future__ import annotations

from ...dialects import schedule
from ..model.binding import UNROLLED
from ..model.plan import Loop, Plan
from .primitive import check_counted, primitive


@primitive(schedule.Unroll)
def unroll(plan: Plan, op: schedule.Unroll, loop: Loop) -> None:
    """Make copies of a loop's body."""
    check_counted(loop, op)
    if op.most is not None:
        loop.most_bodies, loop.sums = op.most, op.sums or 0
        return
    loop.binding, loop.partial = UNROLLED, bool(op.partial)

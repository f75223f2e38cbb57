"""A group of several threads of a device executes an iteration of a loop.

    parallel i in 0..N                  groups i in 0..N, each of 128 threads
        body(i .. i + 16)         ->        body(i .. min(i + 16, N)), the rest masked

Legal for the outermost of the loops that are parallel or bound to groups; those directly inside it
are executed by the same groups. In the plan, the loop gets the number of threads. The last group
runs the same code as all others, and masks iterations beyond the end.
"""

from __future__ import annotations

from ...dialects import schedule
from ..model.legality import illegal
from ..model.plan import Loop, Plan
from .primitive import check_alive, primitive


@primitive(schedule.Threads)
def threads(plan: Plan, op: schedule.Threads, loop: Loop) -> None:
    """Set the number of threads of a group."""
    check_alive(loop, op)
    if not loop.at_once or plan.order[loop.stage][0] is not loop:
        raise illegal(op, "the loop is not the outermost one of those that groups share")
    loop.threads = op.threads

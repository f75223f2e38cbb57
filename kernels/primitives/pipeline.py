"""In hardware, iterations of a loop start before the ones before them have ended.

    for k in 0..K           for k in 0..K {nn.pipeline = 1}
        body(k)       ->        body(k)

The loop keeps its code; the attribute tells the generator of HLS C++ to pipeline it, and to
replicate the loops inside that are not replicated yet. Legal for any plain loop, shared or not.
"""

from __future__ import annotations

from ...dialects import schedule
from ...dialects.marks import PIPELINE
from ..model.binding import Binding
from ..model.plan import Loop, Plan
from .primitive import check_plain, primitive


@primitive(schedule.Pipeline)
def pipeline(plan: Plan, op: schedule.Pipeline, loop: Loop) -> None:
    """Let iterations of a loop overlap."""
    check_plain(loop, op)
    loop.binding = Binding("pipelined", mark=PIPELINE, value=op.interval or 1)

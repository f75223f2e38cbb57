"""Each iteration of a loop gets its own hardware.

    for n in 0..8           for n in 0..8 {nn.replicate = 8}
        body(n)       ->        body(n)

The loop keeps its code; the attribute tells the generator of HLS C++ to replicate its body. Legal
for a plain loop of known extent that is the stage's own.
"""

from __future__ import annotations

from ...dialects import schedule
from ...dialects.marks import REPLICATE
from ..model.binding import Binding
from ..model.plan import Loop, Plan
from .primitive import check_counted, primitive


@primitive(schedule.Replicate)
def replicate(plan: Plan, op: schedule.Replicate, loop: Loop) -> None:
    """Make hardware for each iteration of a loop."""
    check_counted(loop, op)
    assert isinstance(loop.extent, int)
    loop.binding = Binding("replicated", mark=REPLICATE, value=loop.extent)

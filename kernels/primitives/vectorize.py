"""The iterations of a loop become the lanes of vectors.

    for i in 0..8
        body(i)       ->    body([0, 1, .., 7])

Legal for a plain loop of known extent that is the stage's own and not the outer half of a split.
Whether it is the innermost one, and whether a reduction's lanes can be combined, is checked after
all primitives (`model/nest.py`).
"""

from __future__ import annotations

from ...dialects import schedule
from ..model.binding import VECTORIZED
from ..model.legality import illegal
from ..model.plan import Loop, Plan
from .primitive import check_counted, primitive


@primitive(schedule.Vectorize)
def vectorize(plan: Plan, op: schedule.Vectorize, loop: Loop) -> None:
    """Make lanes of a loop."""
    check_counted(loop, op)
    if loop.step != 1:
        raise illegal(op, "the outer half of a split cannot be vectorized")
    loop.binding = VECTORIZED

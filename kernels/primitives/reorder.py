"""Loops of one stage are permuted within their present positions.

    for i                   for k
        for j         ->        for j         (%k, %i: j stays where it is)
            for k                   for i

Legal for loops that no fused stage shares. Whether the order computes the same, with remainders
inside their outer halves and ordered reductions in their order, is checked when all is done
(`model/nest.py`).
"""

from __future__ import annotations

from ...dialects import schedule
from ..model.legality import illegal
from ..model.plan import Loop, Plan
from .primitive import check_free, one_stage, primitive


@primitive(schedule.Reorder)
def reorder(plan: Plan, op: schedule.Reorder, *loops: Loop) -> None:
    """Permute loops within their present positions."""
    stage = one_stage(loops, op)
    for loop in loops:
        check_free(loop, op)
    order = plan.order[stage]
    places = sorted(order.index(loop) for loop in loops)
    if len(set(places)) != len(loops):
        raise illegal(op, "names a loop twice")
    for place, loop in zip(places, loops, strict=True):
        order[place] = loop

"""Adjacent loops become one, the last of which runs fastest.

    for i in 0..N           for l in 0..N*M
        for j in 0..M   ->      body(l / M, l % M)
            body(i, j)

Legal for whole loops, neither split nor scheduled, over which every operand is contiguous: then no
division is needed. In the plan, one loop over all their dimensions takes their place.
"""

from __future__ import annotations

import itertools

from ...dialects import schedule
from ...ir.core import Operation
from ...ir.polynomial import Size
from ..model.legality import illegal
from ..model.plan import Loop, Plan
from ..model.stages import Stage
from .primitive import check_free, one_stage, primitive


@primitive(schedule.Collapse)
def collapse(plan: Plan, op: Operation, *loops: Loop) -> Loop:
    """The loop that replaces the others."""
    stage = one_stage(loops, op)
    for loop in loops:
        check_free(loop, op)
        if loop.root is not loop or not loop.is_serial:
            raise illegal(op, "takes whole loops, neither split nor already scheduled")
    for a, b in itertools.pairwise(loops):
        if reason := not_collapsible(stage, a.dims[-1], b.dims[0]):
            raise illegal(op, reason)
    order = plan.order[stage]
    at = order.index(loops[0])
    if order[at : at + len(loops)] != list(loops):
        raise illegal(op, "the loops are not adjacent in this order")
    extent: Size = 1
    for loop in loops:
        extent = extent * loop.extent
        loop.is_alive = False
    dims = tuple(d for loop in loops for d in loop.dims)
    merged = Loop(stage, dims, extent, "".join(loop.name for loop in loops))
    plan.replace(loops, [merged])
    plan.roots[stage] = [r for r in plan.roots[stage] if r not in loops] + [merged]
    return merged


def not_collapsible(stage: Stage, a: int, b: int) -> str | None:
    """Why dimension `a` and, inside it, `b` cannot become one loop; None if they can."""
    if stage.kinds[a] != stage.kinds[b]:
        return "cannot collapse a parallel loop with a reduction"
    if stage.indexed_dims & {a, b}:
        return "the body uses the coordinates of the loops"
    for access in stage.accesses:
        if access.is_scalar:
            continue
        if access.coefficients is None:
            return f"operand {access.number} is not indexed linearly"
        if access.coefficients[a] != access.coefficients[b] * stage.extents[b]:
            return f"operand {access.number} is not contiguous over the loops"
    return None

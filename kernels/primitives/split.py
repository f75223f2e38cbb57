"""One loop becomes two.

    for i in 0..E           for io in 0..E step F
        body(i)       ->        for ii in 0..min(F, E - io)
                                    body(io + ii)

Legal for a plain loop that no fused stage shares, but not for the outer half of a split, since the
extent of its inner half could not be computed. In the plan, the two halves replace the loop; the
outer one covers the loop's range, and determines the extent of the inner one.
"""

from __future__ import annotations

from ...dialects import schedule
from ...ir.core import Operation
from ..model.legality import illegal
from ..model.plan import Loop, Plan
from .primitive import check_free, check_plain, primitive


@primitive(schedule.Split)
def split(plan: Plan, op: schedule.Split, loop: Loop) -> tuple[Loop, Loop]:
    """The outer and the inner half, which has `factor` iterations."""
    return split_by(plan, op, loop, op.factor)


def split_by(plan: Plan, op: Operation, loop: Loop, factor: int) -> tuple[Loop, Loop]:
    """Split a loop into an outer loop with steps of `factor`, and an inner one of `factor`
    iterations. Returns both.

    `op` is the operation that errors name. Raises NncError if the loop cannot be split.
    """
    check_free(loop, op)
    check_plain(loop, op)
    if loop.rest is not None:
        raise illegal(op, "the outer half of a split cannot be split again; split the inner one")
    extent = loop.extent
    outer = Loop(loop.stage, loop.dims, extent, f"{loop.name}o", step=factor)
    inner_extent = min(factor, max(extent, 1)) if isinstance(extent, int) else factor
    inner = Loop(loop.stage, loop.dims, inner_extent, f"{loop.name}i")
    outer.root = inner.root = loop.root
    outer.span, outer.rest = loop, inner
    loop.parts, loop.is_alive = (outer, inner), False
    plan.replace([loop], [outer, inner])
    return outer, inner

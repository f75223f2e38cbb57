"""Two loops in blocks of the first one, so that iterations near each other share operands.

    for m in 0..M step 64                for b in 0..M step 8 * 64
        for n in 0..N step 32                for n in 0..N step 32
            body(m, n)           ->              for m in 0..min(8 * 64, M - b) step 64
                                                     body(b + m, n)

If the new loops are bound to groups along z, y and x, groups start in this order, since those along
x start first: eight successive groups need the same part of the operand that n runs along, and the
next eight need the same eight parts of the other operand as these. Legal for plain loops of one
stage, the second directly inside the first, that no fused stage shares. The first loop must be a
whole number of blocks, or the outer half of a split: groups beyond its end then have an inner half
without iterations. In the plan, the outer loop walks the span of the first one, and gives the inner
one its extent.
"""

from __future__ import annotations

from ...dialects import schedule
from ..model.legality import illegal
from ..model.plan import Loop, Plan
from .primitive import check_free, check_plain, one_stage, primitive


@primitive(schedule.Order)
def order(plan: Plan, op: schedule.Order, first: Loop, second: Loop) -> tuple[Loop, Loop]:
    """(the loop over blocks, the loop over the iterations in a block)."""
    stage = one_stage((first, second), op)
    for loop in (first, second):
        check_free(loop, op)
        check_plain(loop, op)
    if first is second:
        raise illegal(op, "names a loop twice")
    loops = plan.order[stage]
    at = loops.index(first)
    if loops[at : at + 2] != [first, second]:
        raise illegal(op, "the second loop must stand directly inside the first one")
    if not can_order(first, op.factor):
        raise illegal(op, f"'{first.name}' is neither a multiple of {op.factor} nor split")
    outer, inner = _blocks(first, op.factor)
    plan.replace([first, second], [outer, second, inner])
    return outer, inner


def can_order(loop: Loop, factor: int) -> bool:
    """Whether blocks of `factor` iterations need no condition: they divide the loop, or it is
    split.
    """
    extent = loop.span.extent
    return loop.rest is not None or (isinstance(extent, int) and extent % factor == 0)


def _blocks(loop: Loop, factor: int) -> tuple[Loop, Loop]:
    """The halves of a loop, which may be the outer half of a split itself."""
    span, step = loop.span, loop.step * factor
    extent = min(step, max(span.extent, 1)) if isinstance(span.extent, int) else step
    outer = Loop(loop.stage, loop.dims, span.extent, f"{loop.name}o", step=step)
    block = Loop(loop.stage, loop.dims, extent, loop.name)
    inner = block
    if loop.rest is not None:
        inner = Loop(loop.stage, loop.dims, extent, f"{loop.name}i", step=loop.step)
        inner.span, inner.rest = block, loop.rest
        block.parts, block.is_alive = (inner, loop.rest), False
    outer.root = block.root = inner.root = loop.root
    outer.span, outer.rest = span, block
    span.parts, span.is_alive = (outer, block), False
    loop.is_alive = False
    return outer, inner

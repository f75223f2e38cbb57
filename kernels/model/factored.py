"""Legality of reductions with partial results for each iteration of a loop."""

from __future__ import annotations

from .legality import illegal
from .plan import Loop, Plan


def check_factored(plan: Plan) -> None:
    """Raise if partial results would be written before they are complete."""
    for out, made in plan.factored.items():
        order = plan.order[out.stage]
        reason = _wrong_order(order, made.loop)
        if reason is not None:
            raise illegal(out.stage.op, f"schedule: {reason}")


def _wrong_order(order: list[Loop], loop: Loop) -> str | None:
    if loop not in order:
        return "the loop with partial results of its own is gone: it was split or collapsed"
    if loop.in_tile or loop.accumulates:
        return "a loop with partial results of its own must stay a loop"
    tile = len(order)
    while tile and order[tile - 1].in_tile:
        tile -= 1
    own = order.index(loop)
    start = next((i for i, one in enumerate(order) if one.accumulates), tile)
    if start < own:
        return "a loop with partial results of its own stands inside the accumulation"
    for i, one in enumerate(order):
        if one.is_reduction and (i < own or i < min(start, tile)):
            return (
                "the other loops of a reduction with partial results must be inside of an "
                "accumulation"
            )
    return None

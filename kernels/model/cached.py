"""Operands copied into workgroup memory: the part that one iteration needs, and legality.

One iteration of the loop at which an operand is copied walks over all loops inside it; a subscript
that adds some of them up goes from the sum of their first values to that of their last ones:

    x[2 * p + k]   p in 0..8 and k in 0..3 inside the loop   ->   2 * 7 + 2 + 1 = 17 elements
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from ...dialects.memref import base_buffer
from ...ir.diagnostics import Diagnostic
from .legality import IllegalScheduleError
from .plan import Cached, Loop, Plan
from .stages import Access, Stage


def leaves(loop: Loop) -> Iterator[Loop]:
    """The loops that splits have made of one, from the outside in."""
    if loop.parts is None:
        yield loop
    else:
        for part in loop.parts:
            yield from leaves(part)


def first_inside(
    plan: Plan, stage: Stage, dim: int, at: Loop, entered: Container[Loop] = ()
) -> Loop | None:
    """The outermost loop of a dimension inside another loop; None if all are around it.

    Loops in `entered` count as being around that loop.
    """
    order = plan.order[stage]
    place = order.index(at)
    inside = [loop for loop in order[place + 1 :] if dim in loop.dims and loop not in entered]
    root = next(r for r in plan.roots[stage] if dim in r.dims)
    return next((leaf for leaf in leaves(root) if leaf in inside), None)


def check_cached(plan: Plan) -> None:
    """Raise if an operand cannot be copied into workgroup memory as the plan says."""
    for access, cached in plan.cached.items():
        reason = (
            _wrong_place(plan, access.stage, cached)
            or _wrong_size(plan, access, cached.at)
            or _written(plan, access, cached.at)
        )
        if reason is not None:
            raise IllegalScheduleError(
                Diagnostic("error", f"schedule: {reason}", cached.location, ())
            )


def _wrong_place(plan: Plan, stage: Stage, cached: Cached) -> str | None:
    at = cached.at
    if not at.is_alive:
        return "the loop at which an operand is copied is gone: it was split or collapsed"
    if at.in_tile:
        return f"an operand cannot be copied at a loop that is {at.binding.name}"
    around = plan.leading(stage)[: plan.order[stage].index(at) + 1]
    if around[-1].at_once and cached.buffers > 1:
        return "iterations that run at once have no next one to copy for"
    if not any(loop.binding.axis for loop in around):
        return "an operand in workgroup memory needs a loop around it that is bound to groups"
    return None


def _wrong_size(plan: Plan, access: Access, at: Loop) -> str | None:
    """Why the part that one iteration needs is not a box of constant size; None if it is."""
    stage = access.stage
    if not access.linear or any(linear is None for linear in access.linear):
        return "an operand in workgroup memory must be subscripted by sums of loops"
    for linear in access.linear:
        for dim, factor in linear.terms:  # type: ignore[union-attr]
            if factor < 0:
                return "an operand in workgroup memory cannot be read backwards"
            root = next(r for r in plan.roots[stage] if dim in r.dims)
            if len(root.dims) > 1:
                return "an operand in workgroup memory cannot depend on collapsed loops"
            first = first_inside(plan, stage, dim, at)
            if first is None:
                continue
            own = list(leaves(root))
            order = plan.order[stage]
            if any(order.index(leaf) <= order.index(at) for leaf in own[own.index(first) :]):
                return "the part of an operand that an iteration copies must be contiguous"
            if not isinstance(first.extent, int):
                return (
                    "the part of an operand that an iteration copies has no known size: split "
                    f"dimension {dim} around the loop"
                )
    return None


def _written(plan: Plan, access: Access, at: Loop) -> str | None:
    """Why the operand may change while the loop runs; None if it cannot."""
    base, stage = base_buffer(access.value), access.stage
    depth = plan.order[stage].index(at) + 1
    for other in plan.stages:
        if _shared_depth(plan, other, stage) >= depth and any(
            base_buffer(out.value) is base for out in other.outputs
        ):
            return f"stage {other.index} writes an operand in workgroup memory while it is there"
    return None


def run_apart(plan: Plan, one: Access, other: Access) -> bool:
    """Whether the loops at which two operands are copied run one after the other, in each
    iteration of all loops around them.
    """
    depth = _shared_depth(plan, one.stage, other.stage)
    return one.stage is not other.stage and all(
        plan.order[access.stage].index(plan.cached[access].at) >= depth for access in (one, other)
    )


def _shared_depth(plan: Plan, one: Stage, other: Stage) -> int:
    """How many loops two stages share; all loops if they are the same stage."""
    if one is other:
        return len(plan.order[one])
    paths = []
    for stage in (one, other):
        path = [(stage, len(plan.order[stage]))]
        while (share := plan.sharing.get(path[-1][0])) is not None:
            path.append((share.host, min(path[-1][1], share.depth)))
        paths.append(dict(path))
    return max(
        (min(depth, paths[1][host]) for host, depth in paths[0].items() if host in paths[1]),
        default=0,
    )

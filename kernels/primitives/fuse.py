"""A stage is computed inside a loop of another, its host.

    for i                           for i
        for j                           for j
            t[i, j] = f(x[i, j])          t = f(x[i, j])
    for i                      ->         y[i, j] = g(t)
        for j
            y[i, j] = g(t[i, j])

Legal if each shared loop of the host corresponds to a loop of the stage: both run over the same
dimension of a buffer that both stages use. The stage must not be fused already, and no other stage
may be fused into it. Whether the order of reads and writes is preserved is checked after all
primitives (`model/nest.py`). In the plan, the stage's loops over the same dimensions are split and
collapsed like the host's, and the shared loops come first.
"""

from __future__ import annotations

from ...dialects import schedule
from ...ir.core import Operation
from ..model.binding import SERIAL
from ..model.legality import illegal
from ..model.plan import Loop, Plan, Sharing
from ..model.stages import Stage
from .collapse import collapse
from .primitive import check_alive, primitive
from .split import split_by


@primitive(schedule.Fuse)
def fuse(plan: Plan, op: schedule.Fuse, stage: Stage, at: Loop) -> None:
    """Move a stage into the loops of another stage, its host, down to the loop `at`."""
    host = at.stage
    check_alive(at, op)
    if stage is host:
        raise illegal(op, "cannot fuse a stage into itself")
    if at.in_lanes:
        raise illegal(op, "cannot fuse inside the lanes of a vector; fuse further outside")
    if stage in plan.sharing:
        raise illegal(op, "the stage is already fused")
    if any(s.host is stage for s in plan.sharing.values()):
        raise illegal(op, "another stage is already fused into this one")
    matches = plan.matching_dims(stage, host)
    depth = plan.order[host].index(at) + 1
    twins = _twins(plan, stage, host, matches, op)
    for loop in plan.order[host][:depth]:
        if loop not in twins:
            raise illegal(
                op,
                "the stage has no loop that corresponds to "
                f"dimension {loop.dims[0]} of the stage it is fused into",
            )
    plan.order[stage] = _order(plan, stage, host, twins, depth, op)
    for loop in (*plan.order[host][:depth], *plan.order[stage][:depth]):
        loop.is_shared = True
    plan.sharing[stage] = Sharing(host, depth, matches, op.loc)


def _twins(
    plan: Plan, stage: Stage, host: Stage, matches: dict[int, int], op: Operation
) -> dict[Loop, Loop]:
    """The stage's loop for each of the host's, made as that was made."""
    to_stage = {theirs: ours for ours, theirs in matches.items()}
    twins: dict[Loop, Loop] = {}
    for root in plan.roots[host]:
        own = _twin_of_root(plan, stage, root, to_stage, op)
        if own is not None:
            _mirror_splits(plan, root, own, twins, op)
    return twins


def _order(
    plan: Plan, stage: Stage, host: Stage, twins: dict[Loop, Loop], depth: int, op: schedule.Fuse
) -> list[Loop]:
    """The stage's loops: shared ones, plain ones of its own, then copies and lanes.

    What the host unrolls or vectorizes, its twin does too.
    """
    shared = plan.order[host][:depth]
    inner = [twins[loop] for loop in plan.order[host][depth:] if loop in twins]
    for loop in plan.order[host]:
        keep = loop.in_lanes or (loop.is_unrolled and not op.rolled)
        if loop in twins and (keep or loop in shared):
            twins[loop].binding = SERIAL if loop.at_once else loop.binding
    mirrored = set(twins.values())
    if op.ordered:
        mirrored, inner = {twins[loop] for loop in shared}, []
    own_loops = [loop for loop in plan.order[stage] if loop not in mirrored]
    rest = [*inner, *(loop for loop in own_loops if not loop.is_serial)]
    return [
        *(twins[loop] for loop in shared),
        *(loop for loop in own_loops if loop.is_serial),
        *sorted(rest, key=lambda loop: (loop.in_tile, loop.in_lanes)),
    ]


def _twin_of_root(
    plan: Plan, stage: Stage, root: Loop, to_stage: dict[int, int], op: Operation
) -> Loop | None:
    """The stage's loop over the same dimensions, untouched or split; None if there is none."""
    dims = [to_stage[d] for d in root.dims if d in to_stage]
    if len(dims) < len(root.dims):
        return None
    own = {r.dims: r for r in plan.roots[stage]}
    if (same := own.get(tuple(dims))) is not None and same.parts is not None:
        return same
    loops = [own.get((d,)) for d in dims]
    if any(r is None or not r.is_alive or not r.is_serial for r in loops):
        return None
    if len(loops) == 1:
        return loops[0]
    order = plan.order[stage]
    places = sorted(order.index(r) for r in loops)  # type: ignore[arg-type]
    for place, loop in zip(places, loops, strict=True):
        order[place] = loop  # type: ignore[assignment]
    return collapse(plan, op, *loops)


def _mirror_splits(
    plan: Plan, theirs: Loop, own: Loop, twins: dict[Loop, Loop], op: Operation
) -> None:
    if theirs.parts is None:
        if own.parts is None:
            twins[theirs] = own
        return
    outer, inner = theirs.parts
    if own.parts is not None and own.parts[0].step != outer.step:
        return
    own_outer, own_inner = own.parts or split_by(plan, op, own, outer.step)
    _mirror_splits(plan, outer, own_outer, twins, op)
    _mirror_splits(plan, inner, own_inner, twins, op)

"""An operand is read through a copy, which a new stage makes.

    for m, n, k                                   for a, b
        y[m, n] += x[m, k] * w[n, k]    ->            t[a, b] = w[b, a]
                                                  for m, n, k
                                                      y[m, n] += x[m, k] * t[k, n]

Legal for an input buffer of a stage that is not fused and none of whose loops are collapsed. In the
plan, the new stage stands before the other one, with loops of its own: fused into a loop of the
other, it copies what one iteration needs. Its operations come into the block with the loops.

In a group's own memory, at a loop:

    groups m, n                           groups m, n
        for ko in 0..K step 16                for ko in 0..K step 16
            y += x[m, ko + ki]     ->             t[..] = x[m, ko + ..]
               * w[ko + ki, n]                    y += t[ki] * w[ko + ki, n]

and with 2 buffers, where `if` leaves out what lies beyond the end:

            t[0][..] = x[m, ..]
            for ko in 0..K step 16
                r = x[m, ko + 16 + ..]              (if ko + 16 < K)
                y += t[ko / 16 % 2][ki] * w[ko + ki, n]
                t[(ko / 16 + 1) % 2][..] = r        (if ko + 16 < K)

With `padded`, where stages make the operand of another buffer and a border of one number, they go:

    xp[..] = 0                            groups m
    xp[1 + i] = x[i]                          for ko in 0..K step 16
    groups m                      ->              t[..] = x[.. - 1], 0 outside
        for ko, ki                                y += t[ki + ..] * w[ko + ki]
            y += xp[..] * w[ko + ki]

Where an iteration needs whole rows, the border around them in the copy is written once, before the
loop.

Legal for an input buffer that is subscripted by sums of loops, at a plain loop of the stage. That
loops bound to groups are around it, that what one iteration needs is of known size, and that nobody
writes the operand meanwhile is checked when all is done (`model/cached.py`). The plan notes it; the
copies are made with the loops (`codegen/tiles/caches.py`).
"""

from __future__ import annotations

from ...dialects import arith, linalg, memref, schedule
from ...ir.affine import AffineDim, AffineMap
from ...ir.attributes import IntegerAttr
from ...ir.core import Operation, Value
from ...ir.types import MemRefType, index
from ..model.legality import illegal
from ..model.plan import Border, Cached, Loop, Plan
from ..model.stages import Access, Stage, make_stage
from .borders import padded
from .primitive import check_alive, check_uncollapsed, check_unfused, primitive


@primitive(schedule.Cache)
def cache(plan: Plan, op: schedule.Cache, stage: Stage, at: Loop | None = None) -> Stage | None:
    """The stage that copies an operand of another, which reads the copy from now on.

    None where groups keep the copy in their own memory.
    """
    if at is not None:
        _in_workgroup(plan, op, stage, at)
        return None
    check_unfused(plan, stage, op)
    check_uncollapsed(plan, stage, op)
    made = _copying(stage, op)
    plan.insert(made, before=stage)
    plan.caches.append((made, stage))
    op.copies[0].name_hint = op.copies[0].name_hint or "copy"
    return made


def _in_workgroup(plan: Plan, op: schedule.Cache, stage: Stage, at: Loop) -> None:
    access, order = _operand(stage, op)
    check_alive(at, op)
    if at.stage is not stage:
        raise illegal(op, "expects a loop of the stage")
    if access in plan.cached:
        raise illegal(op, "the operand is in workgroup memory already")
    buffers = op.buffers or 1
    if buffers > 1 and at.at_once:
        raise illegal(op, "iterations that run at once have no next one to copy for")
    border = _without_border(plan, op, access) if op.padded else None
    plan.cached[access] = Cached(at, tuple(order), buffers, op.loc, border)


def _without_border(plan: Plan, op: schedule.Cache, access: Access) -> Border:
    """Let a stage read the inside of a padded operand. Returns the padding; its makers go."""
    found = padded(access, plan.stages)
    if isinstance(found, str):
        raise illegal(op, f"the operand is not padded: {found}")
    for maker in found.makers:
        check_unfused(plan, maker, op)
    begin = found.border.begin
    moved = tuple(e + -b if b else e for e, b in zip(access.exprs, begin, strict=True))
    access.redirect(found.source, moved)
    for maker in found.makers:
        plan.remove(maker)
    return found.border


def _operand(stage: Stage, op: schedule.Cache) -> tuple[Access, list[int]]:
    """(the access to the operand, the order of its dimensions in the copy)."""
    access = next((a for a in stage.inputs if a.number == op.number), None)
    if access is None or access.is_scalar:
        raise illegal(op, f"the stage has no input buffer {op.number}")
    rank = len(access.shape)
    order = list(range(rank) if op.order is None else op.order)
    if sorted(order) != list(range(rank)):
        raise illegal(op, f"{order} is not an order of the operand's {rank} dimensions")
    return access, order


def _copying(stage: Stage, op: schedule.Cache) -> Stage:
    """A new stage whose operations, an allocation and a copy, are in no block; see `insert`."""
    access, order = _operand(stage, op)
    shape = access.shape
    type = MemRefType(tuple(shape[d] for d in order), access.element_type)
    sizes = [_size(access.value, d) for d in order if shape[d] is None]
    buffer = memref.Alloc(sizes, [], memref=type).result
    back = [order.index(i) for i in range(len(shape))]
    source = AffineMap(len(shape), 0, tuple(AffineDim(d) for d in back))
    copy = linalg.Generic.build(
        [access.value],
        [buffer],
        [source, AffineMap.identity(len(shape))],
        ["parallel"] * len(shape),
        lambda builder, element, old: element,
    )
    for i, d in enumerate(order):
        if shape[d] is None:
            stage.symbols.follow((buffer, i), (access.value, d))
    made = make_stage(copy, stage.index, stage.symbols)
    access.redirect(buffer, tuple(access.exprs[d] for d in order))
    return made


def insert(made: Stage, before: Operation) -> None:
    """Put the operations of a copying stage before those of the stage that reads the copy."""
    block = before.parent
    assert block is not None
    for op in _operations(made):
        op.loc = before.loc
        block.insert_before(op, before)
    block.insert_after(memref.Dealloc(made.outputs[0].value, loc=before.loc), before)


def discard(made: Stage) -> None:
    """Destroy the operations of a copying stage that are in no block."""
    for op in reversed(_operations(made)):
        op.drop_all_references()


def _operations(made: Stage) -> list[Operation]:
    """The operations that compute a copy's sizes, allocate it, and copy."""
    allocation = made.outputs[0].value.defining_op
    assert allocation is not None
    sizes = [v.defining_op for v in allocation.operands]
    places = [op.operands[1].defining_op for op in sizes if op is not None]
    found = (*places, *sizes, allocation, made.op)
    return [op for op in found if op is not None]


def _size(buffer: Value, dim: int) -> Value:
    at = arith.Constant(IntegerAttr(dim, index)).result
    return memref.Dim(buffer, at).result

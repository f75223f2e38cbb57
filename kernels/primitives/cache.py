"""An operand is read through a copy, which a new stage makes.

    for m, n, k                                   for a, b
        y[m, n] += x[m, k] * w[n, k]    ->            t[a, b] = w[b, a]
                                                  for m, n, k
                                                      y[m, n] += x[m, k] * t[k, n]

Legal for an input buffer of a stage that is not fused and none of whose loops are collapsed. In the
plan, the new stage stands before the other one, with loops of its own: fused into a loop of the
other, it copies what one iteration needs. Its operations come into the block with the loops.
"""

from __future__ import annotations

from ...dialects import arith, linalg, memref, schedule
from ...ir.affine import AffineDim, AffineMap
from ...ir.attributes import IntegerAttr
from ...ir.core import Operation, Value
from ...ir.types import MemRefType, index
from ..model.legality import illegal
from ..model.plan import Plan
from ..model.stages import Stage, make_stage
from .primitive import check_uncollapsed, check_unfused, primitive


@primitive(schedule.Cache)
def cache(plan: Plan, op: schedule.Cache, stage: Stage) -> Stage:
    """The stage that copies an operand of another, which reads the copy from now on."""
    check_unfused(plan, stage, op)
    check_uncollapsed(plan, stage, op)
    made = _copying(stage, op)
    plan.insert(made, before=stage)
    plan.caches.append((made, stage))
    op.copy.name_hint = op.copy.name_hint or "copy"
    return made


def _copying(stage: Stage, op: schedule.Cache) -> Stage:
    """A new stage whose operations, an allocation and a copy, are in no block; see `insert`."""
    number = op.number
    access = next((a for a in stage.inputs if a.number == number), None)
    if access is None or access.is_scalar:
        raise illegal(op, f"the stage has no input buffer {number}")
    shape = access.value.type.shape  # type: ignore[attr-defined]
    order = list(range(len(shape)) if op.order is None else op.order)
    if sorted(order) != list(range(len(shape))):
        raise illegal(op, f"{order} is no order of the operand's {len(shape)} dimensions")
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
    """Let go of the operations of a copying stage that are in no block."""
    for op in reversed(_operations(made)):
        op.drop_all_references()


def _operations(made: Stage) -> list[Operation]:
    """The allocation of a copy with the sizes that it needs, and the copying."""
    allocation = made.outputs[0].value.defining_op
    assert allocation is not None
    sizes = [v.defining_op for v in allocation.operands]
    places = [op.operands[1].defining_op for op in sizes if op is not None]
    found = (*places, *sizes, allocation, made.op)
    return [op for op in found if op is not None]


def _size(buffer: Value, dim: int) -> Value:
    at = arith.Constant(IntegerAttr(dim, index)).result
    return memref.Dim(buffer, at).result

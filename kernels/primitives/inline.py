"""A stage that only copies is removed; its readers read the source of the copy.

    for i, j
        t[i, j] = x[j, i]              for i, j
    for i, j                    ->         y[i, j] = g(x[j, i])
        y[i, j] = g(t[i, j])

Legal for a stage that writes its whole buffer, each element once, which only stages read, while
nothing changes or frees the source. In the plan, the stage and its loops are gone, and the readers'
accesses are those of the source.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import memref, schedule
from ...dialects.memref import base_buffer
from ...ir.affine import AffineExpr
from ...ir.core import Operation, Value
from ...ir.traits import is_pure
from ...ir.types import MemRefType
from ..model.legality import illegal
from ..model.plan import Plan
from ..model.stages import Access, Stage
from .primitive import check_uncollapsed, check_unfused, primitive


@primitive(schedule.Inline)
def inline(plan: Plan, op: schedule.Inline, stage: Stage) -> None:
    """Let all readers of a copy read its source."""
    check_unfused(plan, stage, op)
    readers = readers_of_copy(stage, plan.stages)
    if isinstance(readers, str):
        raise illegal(op, f"cannot inline: {readers}")
    source = next(a for a in stage.inputs if not a.is_scalar)
    place = {d: i for i, d in enumerate(stage.outputs[0].plain_dims())}
    for access in readers:
        check_uncollapsed(plan, access.stage, op)
        dims: list[AffineExpr] = [access.exprs[place[d]] for d in range(stage.rank)]
        access.redirect(source.value, tuple(e.replace(dims) for e in source.exprs))
    plan.remove(stage)


def readers_of_copy(stage: Stage, stages: Sequence[Stage]) -> list[Access] | str:
    """The accesses that read the copy a stage makes, or why it cannot be inlined."""
    last = stage.body.last
    inputs = [a for a in stage.inputs if not a.is_scalar]
    if len(inputs) != 1 or len(stage.outputs) != 1 or last is None:
        return "the stage does not copy one buffer to another"
    (source,), (out,) = inputs, stage.outputs
    if stage.has_reduction or last.operands[0] is not source.argument:
        return "the stage computes something"
    if not _covers(out):
        return "the stage does not write its whole buffer, each element once"
    if out.value.defined_by(memref.Alloc) is None:
        return "the copy may be used elsewhere"
    own = {s.op for s in stages}
    if any(u not in own and not isinstance(u, memref.Dealloc) for u in out.value.users):
        return "the copy is used by other operations than stages"
    readers = []
    for other in stages:
        if other is stage:
            continue
        if any(a.value is out.value for a in other.outputs):
            return "another stage writes the copy"
        readers += [a for a in other.inputs if a.value is out.value]
    if readers and is_changed(source.value, stage, readers, stages):
        return "what the stage copies is overwritten or freed before the copy is read"
    return readers


def is_changed(
    source: Value, copy: Stage, readers: Sequence[Access], stages: Sequence[Stage]
) -> bool:
    """Whether anything between a copy and the last reader of it may write or free the source."""
    base = base_buffer(source)
    by_op = {s.op: s for s in stages}
    last = max(readers, key=lambda a: a.stage.index).stage
    op = copy.op.next
    while op is not None:
        known = by_op.get(op)  # type: ignore[call-overload]
        if known is not None:
            if any(base_buffer(a.value) is base for a in known.outputs):
                return True
        elif not is_pure(op) and _uses(op, base):
            return True
        if op is last.op:
            break
        op = op.next
    return False


def _uses(op: Operation, base: Value) -> bool:
    return any(
        isinstance(v.type, MemRefType) and base_buffer(v) is base
        for inner in op.walk()
        for v in inner.operands
    )


def _covers(out: Access) -> bool:
    dims, symbols = out.plain_dims(), out.stage.symbols
    every = None not in dims and len(set(dims)) == len(dims) == out.stage.rank
    return every and all(
        d is not None and out.stage.extents[d] == symbols.of(out.value, i)
        for i, d in enumerate(dims)
    )

"""Each iteration of a loop of a reduction has results of its own, which a new stage adds up.

    for m, n                                groups m, n, ko in 0..K step F
        for ko in 0..K step F                   s = 0
            for ki in 0..F                      for ki in 0..F
                y[m, n] +=            ->            s += f(m, n, ko + ki)
                    f(m, n, ko + ki)            t[ko / F, m, n] = s
                                            for m, n
                                                for p in 0..ceil(K / F)
                                                    y[m, n] += t[p, m, n]

So groups can share a sum that is long where there are few results, and the order in which it is
added up does not depend on who comes first. Legal for the outermost loop of a dimension of a
reduction whose partial results can be combined, in a stage that is not fused, with one result that
is subscripted by plain loops. That all other loops of the reduction are inside, and accumulate in
registers, is checked when all is done (`model/factored.py`). In the plan, the stage writes into a
buffer of partial results, and the new one stands behind it. Source: Halide's and TVM's rfactor.
"""

from __future__ import annotations

from ...dialects import arith, linalg, memref, schedule
from ...ir.affine import AffineConstant, AffineDim, AffineMap
from ...ir.attributes import IntegerAttr
from ...ir.core import Operation, Value
from ...ir.types import MemRefType, index
from ..codegen.combining import combiner_op
from ..model.legality import illegal
from ..model.plan import Factored, Loop, Plan
from ..model.stages import Access, Stage, make_stage
from .primitive import check_plain, check_unfused, primitive


@primitive(schedule.Rfactor)
def rfactor(plan: Plan, op: schedule.Rfactor, loop: Loop) -> Stage:
    """Give each iteration of a reduction loop partial results; returns the stage that combines
    them.
    """
    stage = loop.stage
    check_plain(loop, op)
    check_unfused(plan, stage, op)
    if any(out in plan.factored for out in stage.outputs):
        raise illegal(op, "the stage has partial results already")
    if not loop.is_reduction:
        raise illegal(op, "only a reduction has partial results")
    root = loop.root
    if len(root.dims) > 1 or loop not in (root, *(root.parts or ())[:1]):
        raise illegal(op, "expects the outermost loop of one dimension")
    out = _output(stage, op)
    before, buffer = _partial_results(stage, out, loop, op)
    combining = _combining(stage, out, buffer)
    for i, d in enumerate(out.plain_dims()):
        if out.shape[i] is None:
            assert d is not None
            stage.symbols.follow((buffer, i + 1), (out.value, i))
    made = make_stage(combining, stage.index + 1, stage.symbols)
    out.redirect(buffer, (AffineConstant(0), *out.exprs))
    plan.insert_after(made, stage)
    plan.factored[out] = Factored(loop, made, tuple(before))
    loop.is_factored = True
    op.combined.name_hint = op.combined.name_hint or "combined"
    return made


def _output(stage: Stage, op: Operation) -> Access:
    """The access of a reduction's only result; raises if it cannot be split into partial ones."""
    if len(stage.outputs) != 1:
        raise illegal(op, "the stage has several results")
    (out,) = stage.outputs
    if not stage.is_reassociable:
        raise illegal(op, "the results of the reduction cannot be combined from partial ones")
    dims = out.plain_dims()
    is_whole = stage.op.operands[out.number] is out.value
    if None in dims or len(set(dims)) != len(dims) or not is_whole:
        raise illegal(op, "the result is not subscripted by plain loops")
    return out


def _partial_results(
    stage: Stage, out: Access, loop: Loop, op: Operation
) -> tuple[list[Operation], Value]:
    """The operations that make a buffer for the results of each iteration, and the buffer."""
    ops: list[Operation] = []

    def value(made: Operation) -> Value:
        ops.append(made)
        return made.results[0]

    def number(n: int) -> Value:
        return value(arith.Constant(IntegerAttr(n, index)))

    sizes: list[Value] = []
    whole = loop.root.extent
    parts = -(-whole // loop.step) if isinstance(whole, int) else None
    if parts is None:
        extent = value(memref.Dim(*_known_as(stage, loop.dims[0], number, op)))
        sizes.append(value(arith.CeilDivUI(extent, number(loop.step))))
    for i, size in enumerate(out.shape):
        if size is None:
            sizes.append(value(memref.Dim(out.value, number(i))))
    type = MemRefType((parts, *out.shape), out.element_type)
    return ops, value(memref.Alloc(sizes, [], memref=type))


def _known_as(stage: Stage, dim: int, number, op: Operation) -> tuple[Value, Value]:
    """(operand, dimension number) whose extent equals that of a stage's dimension."""
    for access in stage.inputs:
        if not access.is_scalar and access.value in stage.op.operands:
            dims = access.plain_dims()
            if dim in dims:
                return access.value, number(dims.index(dim))
    raise illegal(op, "the loop's extent is not known")


def _combining(stage: Stage, out: Access, buffer: Value) -> linalg.Generic:
    """y[i, ..] = y[i, ..] combined with each t[p, i, ..]."""
    rank = len(out.shape)
    kind = stage.combiners[0]
    assert kind is not None
    op_class = combiner_op(kind, out.element_type)
    results = tuple(map(AffineDim, range(rank)))
    old = stage.combiner_op(0)
    flags = old.properties.get("fastmath") if old is not None else None
    properties = {} if flags is None else {"fastmath": flags}

    def body(builder, element, total):
        made = op_class.create((total, element), (total.type,), None, dict(properties))
        return builder.insert(made).results[0]

    return linalg.Generic.build(
        [buffer],
        [out.value],
        [AffineMap(rank + 1, 0, (AffineDim(rank), *results)), AffineMap(rank + 1, 0, results)],
        [*["parallel"] * rank, "reduction"],
        body,
    )


def insert(made: Factored, behind: Operation) -> None:
    """Put the operations of partial results around those of the stage that makes them."""
    block = behind.parent
    assert block is not None
    for op in made.before:
        op.loc = behind.loc
        block.insert_before(op, behind)
    made.combined.op.loc = behind.loc
    block.insert_after(made.combined.op, behind)
    buffer = made.before[-1].results[0]
    block.insert_after(memref.Dealloc(buffer, loc=behind.loc), made.combined.op)


def discard(made: Factored) -> None:
    """Destroy the operations of partial results that are in no block."""
    for op in (made.combined.op, *reversed(made.before)):
        op.drop_all_references()

"""--lower-affine: the affine dialect as loops of scf, accesses of memref and arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..dialects import affine, arith, memref, scf, vector
from ..dialects.affine.loops import grouped
from ..dialects.memref.atomics import identity
from ..ir.affine import AffineExpr, AffineMap
from ..ir.builder import Builder
from ..ir.core import Block, Operation, Region, Value
from ..ir.passes import Pass, PassContext
from ..ir.rewriting import PatternSet, Rewriter, apply_once, rewrite
from ..ir.types import i1


@dataclass(frozen=True)
class LowerAffine(Pass, name="lower-affine", anchor="func.func"):
    """Lower the affine dialect to scf, memref, vector and arith.

        affine.for %i = 0 to %n step 4 {            scf.for %i = %c0 to %n step %c4 {
          %x = affine.load %m[%i + 1] : ..    ->      %j = arith.addi %i, %c1 : index
        }                                             %x = memref.load %m[%j] : ..
                                                    }

    Quotients are rounded down, as in affine maps, and remainders have the sign of the divisor. A
    parallel loop with results becomes sequential loops, which combine values in order.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        """Lower each operation, those in the bodies of loops after the loops."""
        apply_once(op, _PATTERNS, context.trace)


# -- indices --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Index:
    """An index whose operators insert operations: affine expressions are evaluated with it."""

    b: Builder
    value: Value

    def _made(self, cls: type, lhs: _Index | int, rhs: _Index | int) -> _Index:
        operands = (_value(self.b, lhs), _value(self.b, rhs))
        return _Index(self.b, self.b.insert(cls(*operands)).result)

    def __add__(self, other: _Index | int) -> _Index:
        return self._made(arith.AddI, self, other)

    def __radd__(self, other: int) -> _Index:
        return self._made(arith.AddI, other, self)

    def __mul__(self, other: _Index | int) -> _Index:
        return self._made(arith.MulI, self, other)

    def __rmul__(self, other: int) -> _Index:
        return self._made(arith.MulI, other, self)

    def __neg__(self) -> _Index:
        return self._made(arith.SubI, 0, self)

    def __floordiv__(self, other: _Index | int) -> _Index:
        return self._made(arith.FloorDivSI, self, other)

    def __rfloordiv__(self, other: int) -> _Index:
        return self._made(arith.FloorDivSI, other, self)

    def __mod__(self, other: _Index | int) -> _Index:
        return self._made(arith.SubI, self, self // other * other)

    def __rmod__(self, other: int) -> _Index:
        return self._made(arith.SubI, other, other // self * self)


def _value(b: Builder, number: _Index | int) -> Value:
    """An index as a value."""
    if isinstance(number, _Index):
        return number.value
    return b.insert(arith.Constant.index(int(number))).result


def _evaluated(
    b: Builder, exprs: Sequence[AffineExpr], dims: int, operands: Sequence[Value]
) -> list[_Index | int]:
    """Affine expressions of operands, of which the first `dims` are dimensions."""
    given = [_Index(b, v) for v in operands]
    return [e.evaluate(given[:dims], given[dims:]) for e in exprs]


def _results(b: Builder, map: AffineMap, operands: Sequence[Value]) -> list[Value]:
    """The results of a map of these operands."""
    found = _evaluated(b, map.results, map.dim_count, operands)
    return [_value(b, one) for one in found]


def _chain(b: Builder, cls: Any, values: Sequence[Value]) -> Value:
    """All values, at least one, combined by an operation of two."""
    found, *rest = values
    for value in rest:
        found = b.insert(cls(found, value)).results[0]
    return found


@rewrite(affine.Apply)
def lower_apply(op: affine.Apply, rewriter: Rewriter) -> None:
    """affine.apply -> arithmetic"""
    rewriter.replace(op, _results(rewriter, op.map.map, op.mapOperands))


@rewrite(affine.Min)
def lower_min(op: affine.Min, rewriter: Rewriter) -> None:
    """affine.min -> arith.minsi of its map's results"""
    rewriter.replace(
        op, _chain(rewriter, arith.MinSI, _results(rewriter, op.map.map, op.mapOperands))
    )


@rewrite(affine.Max)
def lower_max(op: affine.Max, rewriter: Rewriter) -> None:
    """affine.max -> arith.maxsi of its map's results"""
    rewriter.replace(
        op, _chain(rewriter, arith.MaxSI, _results(rewriter, op.map.map, op.mapOperands))
    )


@rewrite(affine.DelinearizeIndex)
def lower_delinearize(op: affine.DelinearizeIndex, rewriter: Rewriter) -> None:
    """affine.delinearize_index -> quotients and remainders"""
    digits = op.evaluate(*(_Index(rewriter, v) for v in op.operands))
    rewriter.replace(op, [_value(rewriter, one) for one in digits])


@rewrite(affine.LinearizeIndex)
def lower_linearize(op: affine.LinearizeIndex, rewriter: Rewriter) -> None:
    """affine.linearize_index -> products and sums"""
    number = op.evaluate(*(_Index(rewriter, v) for v in op.operands))
    rewriter.replace(op, _value(rewriter, number))


# -- memory ---------------------------------------------------------------------------------------


@rewrite(affine.Load)
def lower_load(op: affine.Load, rewriter: Rewriter) -> None:
    """affine.load -> memref.load"""
    at = _results(rewriter, op.map.map, op.indices)
    rewriter.replace(op, memref.Load(op.memref, at, attributes=op.attributes))


@rewrite(affine.Store)
def lower_store(op: affine.Store, rewriter: Rewriter) -> None:
    """affine.store -> memref.store"""
    at = _results(rewriter, op.map.map, op.indices)
    rewriter.replace(op, memref.Store(op.value, op.memref, at, attributes=op.attributes))


@rewrite(affine.VectorLoad)
def lower_vector_load(op: affine.VectorLoad, rewriter: Rewriter) -> None:
    """affine.vector_load -> vector.load"""
    at = _results(rewriter, op.map.map, op.indices)
    load = vector.Load(op.memref, at, result=op.result.type, attributes=op.attributes)
    rewriter.replace(op, load)


@rewrite(affine.VectorStore)
def lower_vector_store(op: affine.VectorStore, rewriter: Rewriter) -> None:
    """affine.vector_store -> vector.store"""
    at = _results(rewriter, op.map.map, op.indices)
    rewriter.replace(op, vector.Store(op.value, op.memref, at, attributes=op.attributes))


@rewrite(affine.Prefetch)
def lower_prefetch(op: affine.Prefetch, rewriter: Rewriter) -> None:
    """affine.prefetch -> memref.prefetch"""
    at = _results(rewriter, op.map.map, op.indices)
    flags = (op.isWrite, op.localityHint, op.isDataCache)
    rewriter.replace(op, memref.Prefetch(op.memref, at, *flags, attributes=op.attributes))


@rewrite(affine.DmaStart)
def lower_dma_start(op: affine.DmaStart, rewriter: Rewriter) -> None:
    """affine.dma_start -> memref.dma_start"""
    names = ("src_map", "dst_map", "tag_map")
    found, (count, *strides) = op.accesses(*names)
    source, target, tag = (
        [buffer, *_results(rewriter, op.map_named(name), operands)]
        for name, (buffer, operands) in zip(names, found, strict=True)
    )
    rewriter.replace(op, memref.DmaStart([*source, *target, count, *tag, *strides]))


@rewrite(affine.DmaWait)
def lower_dma_wait(op: affine.DmaWait, rewriter: Rewriter) -> None:
    """affine.dma_wait -> memref.dma_wait"""
    [(tag, operands)], (count,) = op.accesses("tag_map")
    at = _results(rewriter, op.map_named("tag_map"), operands)
    rewriter.replace(op, memref.DmaWait(tag, at, count))


# -- control flow ---------------------------------------------------------------------------------


def _move(body: Block, end: Operation, args: Sequence[Value], rewriter: Rewriter) -> None:
    """Move a body, without its affine.yield, before an operation."""
    for old, new in zip(body.args, args, strict=True):
        new.name_hint = new.name_hint or old.name_hint
    assert body.last is not None
    rewriter.erase(body.last)
    rewriter.inline_block_before(body, end, args)


def _fill(block: Block, body: Block, end: Operation, rewriter: Rewriter) -> None:
    """Move a body into an empty block with as many arguments, and end it."""
    block.append(end)
    _move(body, end, block.args, rewriter)


def _yielded(body: Block) -> list[Value]:
    assert isinstance(body.last, affine.Yield)
    return list(body.last.values)


@rewrite(affine.For)
def lower_for(op: affine.For, rewriter: Rewriter) -> None:
    """affine.for -> scf.for"""
    lower = _chain(
        rewriter, arith.MaxSI, _results(rewriter, op.lowerBoundMap.map, op.lowerBoundOperands)
    )
    upper = _chain(
        rewriter, arith.MinSI, _results(rewriter, op.upperBoundMap.map, op.upperBoundOperands)
    )
    step = rewriter.insert(arith.Constant.index(op.step))
    loop = rewriter.insert(scf.For.of(lower, upper, step, op.inits, op.loc))
    loop.attributes.update(op.attributes)
    body = op.body.blocks[0]
    _fill(loop.body_block, body, scf.Yield(_yielded(body)), rewriter)
    rewriter.replace(op, loop.results)


@rewrite(affine.If)
def lower_if(op: affine.If, rewriter: Rewriter) -> None:
    """affine.if -> scf.if of the comparisons, all of which must hold"""
    whole = op.condition.set
    exprs = [e for e, _ in whole.constraints]
    zero = rewriter.insert(arith.Constant.index(0)).result
    numbers = _evaluated(rewriter, exprs, whole.dim_count, op.set_operands)
    conditions: list[Value] = []
    for (_, is_zero), number in zip(whole.constraints, numbers, strict=True):
        compared = arith.CmpI("eq" if is_zero else "sge", _value(rewriter, number), zero)
        conditions.append(rewriter.insert(compared).result)
    if not conditions:
        conditions = [rewriter.insert(arith.Constant.of(1, i1)).result]
    holds = _chain(rewriter, arith.AndI, conditions)
    regions = [Region([Block()] if old.blocks else []) for old in op.regions]
    types = [v.type for v in op.outs]
    made = rewriter.insert(scf.If(holds, *regions, outs=types, attributes=op.attributes))
    for old, new in zip(op.regions, regions, strict=True):
        if old.blocks:
            body = old.blocks[0]
            _fill(new.blocks[0], body, scf.Yield(_yielded(body)), rewriter)
    rewriter.replace(op, made.results)


_COMBINED_BY = {
    "addf": arith.AddF, "addi": arith.AddI, "andi": arith.AndI, "maximumf": arith.MaximumF,
    "maxnumf": arith.MaxNumF, "maxs": arith.MaxSI, "maxu": arith.MaxUI,
    "minimumf": arith.MinimumF, "minnumf": arith.MinNumF, "mins": arith.MinSI,
    "minu": arith.MinUI, "mulf": arith.MulF, "muli": arith.MulI, "ori": arith.OrI,
    "xori": arith.XOrI,
}  # fmt: skip
"""Kind of a reduction -> its operation; `assign` takes the later value."""


def _combined(b: Builder, kind: str, old: Value, new: Value) -> Value:
    return new if kind == "assign" else b.insert(_COMBINED_BY[kind](old, new)).result


@rewrite(affine.Parallel)
def lower_parallel(op: affine.Parallel, rewriter: Rewriter) -> None:
    """affine.parallel -> scf.parallel, or, if it has results, sequential loops"""
    low, up = op.lowerBoundsMap.map, op.upperBoundsMap.map
    split = low.dim_count + low.symbol_count
    lows = grouped(_results(rewriter, low, op.mapOperands[:split]), op.lowerBoundsGroups)
    ups = grouped(_results(rewriter, up, op.mapOperands[split:]), op.upperBoundsGroups)
    lower = [_chain(rewriter, arith.MaxSI, values) for values in lows]
    upper = [_chain(rewriter, arith.MinSI, values) for values in ups]
    steps = [rewriter.insert(arith.Constant.index(n)).result for n in op.steps]
    if op.outs or not steps:
        rewriter.replace(op, _in_order(op, list(zip(lower, upper, steps, strict=True)), rewriter))
        return
    loop = rewriter.insert(scf.Parallel.of(lower, upper, steps, loc=op.loc))
    loop.attributes.update(op.attributes)
    _fill(loop.body_block, op.body.blocks[0], scf.Reduce.of([]), rewriter)
    rewriter.replace(op, [])


def _in_order(
    op: affine.Parallel, bounds: Sequence[tuple[Value, Value, Value]], rewriter: Rewriter
) -> Sequence[Value]:
    """Put sequential loops, which carry the results, in place of a parallel one. Returns these."""
    starts = [identity(k, v.type) for k, v in zip(op.kinds, op.outs, strict=True)]
    carried: Sequence[Value] = [
        rewriter.insert(arith.Constant.of(start.item(), v.type)).result
        for start, v in zip(starts, op.outs, strict=True)
    ]
    loops: list[scf.For] = []
    at: Builder = rewriter
    end: Operation = op
    for bound in bounds:
        loop = at.insert(scf.For.of(*bound, carried, op.loc))
        carried = loop.iter_args
        end = scf.Yield(carried)
        loop.body_block.append(end)
        if loops:
            _yield_instead(loops[-1], loop.results)
        loops.append(loop)
        at = Builder.before_op(end)
    body, variables = op.body.blocks[0], [loop.induction_var for loop in loops]
    known: dict[Value, Value] = dict(zip(body.args, variables, strict=True))
    values = [known.get(v, v) for v in _yielded(body)]
    _move(body, end, variables, rewriter)
    pairs = zip(op.kinds, carried, values, strict=True)
    combined = [_combined(at, kind, old, new) for kind, old, new in pairs]
    if not loops:
        return combined
    _yield_instead(loops[-1], combined)
    return loops[0].results


def _yield_instead(loop: scf.For, values: Sequence[Value]) -> None:
    end = loop.body_block.last
    assert end is not None
    for i, value in enumerate(values):
        end.set_operand(i, value)


_PATTERNS = PatternSet(
    (
        *(lower_apply, lower_min, lower_max, lower_delinearize, lower_linearize),
        *(lower_load, lower_store, lower_vector_load, lower_vector_store),
        *(lower_prefetch, lower_dma_start, lower_dma_wait),
        *(lower_for, lower_if, lower_parallel),
    )
)

"""Lowering of `nn.non_zero`: the positions of the elements that are not 0, in row-major order."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith, nn, scf
from ...ir.affine import AffineDim, AffineMap
from ...ir.core import Value
from ...ir.types import Type, i1, i64, index
from .emitter import Emitter, buffer_type
from .extents import Size
from .ranks import has_ranks, rank_type
from .reshaping import reinterpreted
from .scalars import convert
from .scans import Scan, is_short
from .table import lowers


@lowers(nn.NonZero)
def lower_non_zero(e: Emitter, op: nn.NonZero) -> None:
    """Lower `nn.non_zero` to a parallel scan on a device, elsewhere to a loop over the elements."""
    source = e.buffer(op.x)
    if has_ranks(e, op, e.sizes(source), 1):
        _by_threads(e, op, source)
    else:
        _one_by_one(e, op, source)


def _one_by_one(e: Emitter, op: nn.NonZero, source: Value) -> None:
    """Count the elements that are not 0, then write their positions."""
    extents, element = e.sizes(source), op.x.type.element_type
    count = e.alloc([], index)
    e.store(e.index(0), count)

    def found(where: Sequence[Value]) -> Value:
        return convert(e, e.load(source, where), element, i1)

    with e.loops(extents) as where, e.when(found(where)):
        e.store(e.value(e.add(e.load(count), 1)), count)
    out = _destination(e, op, e.load(count))
    e.store(e.index(0), count)
    with e.loops(extents) as where, e.when(found(where)):
        column = e.load(count)
        for row, at in enumerate(where):
            e.store(e.from_index(at, i64), out, [row, column])
        e.store(e.value(e.add(column, 1)), count)


def _by_threads(e: Emitter, op: nn.NonZero, source: Value) -> None:
    """Number the elements; the host reads how many there are; each position is searched for."""
    extents, element = e.sizes(source), op.x.type.element_type
    total = e.product(extents)
    number = rank_type(total)
    one, none = e.constant(1, number), e.constant(0, number)

    def flag(x: Value) -> Value:
        return e.insert(arith.Select(convert(e, x, element, i1), one, none)).result

    def add(so_far: Value, x: Value) -> Value:
        return e.insert(arith.AddI(so_far, x)).result

    scan, elements = Scan(e, none, add), reinterpreted(e, source, [total])
    if total != 0 and is_short(total):
        ends = e.alloc([total], number)
        scan.short(elements, 0, ends, flag)
    else:
        ends = scan.long(elements, 0, flag)
    count = e.alloc([], number)
    e.fill(none, count)
    last = e.subview(ends, [e.sub(e.size(ends, 0), 1)], [1])
    maps = [AffineMap(1, 0, (AffineDim(0),)), AffineMap(1, 0, ())]
    e.generic([last], [count], maps, ["reduction"], lambda _, x, so_far: add(so_far, x))
    counted = e.to_index(e.load(count))
    out = _destination(e, op, counted)
    if not extents:
        return
    with e.apart([counted]) as (column,):
        at: Size = _first_above(e, ends, e.size(ends, 0), column, number)
        for row, extent in reversed(list(enumerate(extents))):
            before = e.floordiv(at, extent) if row else 0
            e.store(e.from_index(e.sub(at, e.mul(before, extent)), i64), out, [row, column])
            at = before


def _destination(e: Emitter, op: nn.NonZero, count: Value) -> Value:
    known = buffer_type(op.out.type).shape[1]
    return e.destination(op.out, [op.x.type.rank, known if known is not None else count])


def _first_above(e: Emitter, ends: Value, count: Size, least: Value, number: Type) -> Value:
    """The index of the first element above `least` of a buffer of `count` ascending elements.

    There is one.
    """
    wanted = e.from_index(least, number)
    loop = e.insert(scf.While.of([e.index(0), e.value(count)], [index, index], e.loc))
    with e.inside(loop.before.block):
        low, high = loop.before.block.args
        e.insert(scf.Condition(e.compare("slt", low, high), [low, high]))
    with e.inside(loop.after.block):
        low, high = loop.after.block.args
        middle = e.floordiv(e.add(low, high), 2)
        # It is always less; a proof sees it here.
        middle = e.select(e.compare("ult", middle, count), middle, 0)
        is_above = e.insert(arith.CmpI("sgt", e.load(ends, [middle]), wanted)).result
        next_low = e.select(is_above, low, e.add(middle, 1))
        e.insert(scf.Yield([e.value(next_low), e.value(e.select(is_above, middle, high))]))
    return loop.outs[0]

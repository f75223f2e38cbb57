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
from .table import lowers

BLOCK = 256
"""Elements that are counted together. The number up to an element is a sum over those of its block
and over the blocks before it, which are least together if both are the square root of all; this is
that of 65,536 elements."""


@lowers(nn.NonZero)
def lower_non_zero(e: Emitter, op: nn.NonZero) -> None:
    """Number the elements with all threads of a device, or else one after the other."""
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
    blocks = e.add(e.floordiv(total, BLOCK), 1)  # One at least: there is an element to read.
    padded = e.mul(blocks, BLOCK)
    flags = e.alloc([padded], number)
    e.fill(e.constant(0, number), flags)

    def flag(e: Emitter, x: Value, _: Value) -> Value:
        there = convert(e, x, element, i1)
        one, none = e.constant(1, number), e.constant(0, number)
        return e.insert(arith.Select(there, one, none)).result

    e.elementwise([reinterpreted(e, source, [total])], e.subview(flags, [0], [total]), flag)
    ends, count = _running_counts(e, reinterpreted(e, flags, [blocks, BLOCK]), number)
    counted = e.to_index(e.load(count))
    out = _destination(e, op, counted)
    if not extents:
        return
    with e.apart([counted]) as (column,):
        at: Size = _first_above(e, reinterpreted(e, ends, [padded]), padded, column, number)
        for row, extent in reversed(list(enumerate(extents))):
            before = e.floordiv(at, extent) if row else 0
            e.store(e.from_index(e.sub(at, e.mul(before, extent)), i64), out, [row, column])
            at = before


def _destination(e: Emitter, op: nn.NonZero, count: Value) -> Value:
    known = buffer_type(op.out.type).shape[1]
    return e.destination(op.out, [op.x.type.rank, known if known is not None else count])


def _running_counts(e: Emitter, flags: Value, number: Type) -> tuple[Value, Value]:
    """The sum of a matrix's elements up to each one, row by row; and the sum of all."""
    blocks, _ = sizes = e.sizes(flags)
    none = e.constant(0, number)
    ends, sums, befores, count = (
        e.alloc(shape, number) for shape in (sizes, [blocks], [blocks], [])
    )
    for buffer in (ends, sums, befores, count):
        e.fill(none, buffer)

    def total(e: Emitter, x: Value, so_far: Value) -> Value:
        return e.insert(arith.AddI(so_far, x)).result

    def up_to(relation: str, own: int, other: int):
        def add(e: Emitter, x: Value, so_far: Value) -> Value:
            counts = e.compare(relation, e.position(other), e.position(own))
            return total(e, e.insert(arith.Select(counts, x, none)).result, so_far)

        return add

    def over(rank: int, *dims: int) -> AffineMap:
        return AffineMap(rank, 0, tuple(map(AffineDim, dims)))

    summed = ["parallel", "reduction"]
    e.generic([flags], [sums], [over(2, 0, 1), over(2, 0)], summed, total)
    e.generic([sums], [count], [over(1, 0), over(1)], ["reduction"], total)
    e.generic([sums], [befores], [over(2, 1), over(2, 0)], summed, up_to("slt", 0, 1))
    maps = [over(3, 0, 2), over(3, 0, 1)]
    e.generic([flags], [ends], maps, ["parallel", *summed], up_to("sle", 1, 2))
    maps = [over(2, 0), over(2, 0, 1)]
    e.generic([befores], [ends], maps, ["parallel", "parallel"], total)
    return ends, count


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

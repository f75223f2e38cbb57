"""Reductions that also say where, running sums, and sorting."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith, nn
from ...ir.core import Value
from ...ir.types import FloatType, IntegerType, MemRefType, Type, i1, i64
from .emitter import Emitter, Size, buffer_type, storage_type
from .scalars import apply, compute_type, convert, narrow
from .table import lowers


def before(e: Emitter, a: Value, b: Value, element: Type, largest: bool) -> Value:
    """Whether element a comes before b: it is larger (or smaller); NaN counts as largest."""
    if isinstance(element, FloatType):
        # `ugt` is true where one is NaN; then a wins unless b is NaN.
        if largest:
            wins = e.insert(arith.CmpF("ugt", a, b)).result
            settled = e.insert(arith.CmpF("ord", b, b)).result
        else:
            wins = e.insert(arith.CmpF("ult", a, b)).result
            settled = e.insert(arith.CmpF("ord", a, a)).result
        return e.insert(arith.AndI(wins, settled)).result
    unsigned = isinstance(element, IntegerType) and (
        element.signedness == "u" or element.width == 1
    )
    relation = ("u" if unsigned else "s") + ("gt" if largest else "lt")
    return e.insert(arith.CmpI(relation, a, b)).result


@lowers(nn.Argmax, nn.Argmin)
def lower_arg(e: Emitter, op: nn.Argmax | nn.Argmin) -> None:
    """A loop along the axis that keeps the best element and its place, for all positions."""
    source = e.buffer(op.x)
    axis, extents, element = op.axis, e.sizes(source), op.x.type.element_type
    sizes = list(extents)
    if op.keep_dims:
        sizes[axis] = 1
    else:
        del sizes[axis]
    out = e.destination(op.out, sizes)
    largest = isinstance(op, nn.Argmax)

    def search(e: Emitter, _: Value) -> Value:
        rank = len(extents)
        where: list[Size] = [
            e.position(d if op.keep_dims or d < axis else d - 1) if d != axis else 0
            for d in range(rank)
        ]
        first = e.load(source, where)

        def step(i: Value, best: Value, place: Value) -> Sequence[Value]:
            candidate = e.load(source, [*where[:axis], i, *where[axis + 1 :]])
            if op.select_last_index:
                loses = _strictly(e, best, candidate, element, largest)
                wins = e.insert(arith.XOrI(loses, e.constant(1, i1))).result
            else:
                wins = _strictly(e, candidate, best, element, largest)
            here = e.from_index(i, i64)
            return (
                e.insert(arith.Select(wins, candidate, best)).result,
                e.insert(arith.Select(wins, here, place)).result,
            )

        _, place = e.fold_loop(extents[axis], [first, e.constant(0, i64)], step, lower=1)
        return place

    e.elementwise([], out, search)


def _strictly(e: Emitter, a: Value, b: Value, element: Type, largest: bool) -> Value:
    """Whether a is better than b, NaN being better than any number, whatever is sought."""
    if not isinstance(element, FloatType):
        return before(e, a, b, element, largest)
    relation = "ugt" if largest else "ult"
    wins = e.insert(arith.CmpF(relation, a, b)).result
    settled = e.insert(arith.CmpF("ord", b, b)).result
    return e.insert(arith.AndI(wins, settled)).result


@lowers(nn.Cumsum)
def lower_cumsum(e: Emitter, op: nn.Cumsum) -> None:
    """A loop along the axis for each other position, the sum so far carried along."""
    source = e.buffer(op.x)
    axis, extents, element = op.axis, e.sizes(source), op.x.type.element_type
    out = e.destination(op.out, extents)
    wide = compute_type(element)
    others = [n for d, n in enumerate(extents) if d != axis]
    with e.loops(others) as where:

        def step(i: Value, total: Value) -> Sequence[Value]:
            at = e.sub(e.sub(extents[axis], 1), i) if op.reverse else i
            place = [*where[:axis], at, *where[axis:]]
            value = convert(e, e.load(source, place), element, wide)
            after = apply(e, "add", element, [total, value])
            e.store(narrow(e, total if op.exclusive else after, element), out, place)
            return [after]

        e.fold_loop(extents[axis], [e.constant(0, storage_type(wide))], step)


@lowers(nn.TopK)
def lower_top_k(e: Emitter, op: nn.TopK) -> None:
    """Selection: the best of what is left, k times, marked in a row of flags.

    Equal elements come in the order of their positions, as the first best one is taken.
    """
    source = e.buffer(op.x)
    axis, extents, element = op.axis, e.sizes(source), op.x.type.element_type
    known = buffer_type(op.out.type).shape[axis]
    count: Size
    if known is not None:
        count = known
    else:
        held = e.operand(op.k)
        if isinstance(held.type, MemRefType):
            held = e.load(held, [0] * op.k.type.rank)
        count = e.to_index(held)
    sizes = [count if d == axis else n for d, n in enumerate(extents)]
    out, places = e.destination(op.out, sizes), e.destination(op.indices, sizes)
    taken = e.alloc([extents[axis]], i1)
    no, yes = e.constant(0, i1), e.constant(1, i1)
    others = [n for d, n in enumerate(extents) if d != axis]
    with e.loops(others) as where:

        def at(i: Size) -> list[Size]:
            return [*where[:axis], i, *where[axis:]]

        with e.loop(extents[axis]) as i:
            e.store(no, taken, [i])
        with e.loop(count) as rank:
            nothing = e.constant(-1, i64)
            zero = e.constant(0, storage_type(element))

            def better(i: Value, best: Value, place: Value) -> Sequence[Value]:
                candidate = e.load(source, at(i))
                free = e.insert(arith.XOrI(e.load(taken, [i]), yes)).result
                first = e.insert(arith.CmpI("slt", place, e.constant(0, i64))).result
                wins = before(e, candidate, best, element, op.largest)
                wins = e.insert(arith.OrI(wins, first)).result
                wins = e.insert(arith.AndI(wins, free)).result
                return (
                    e.insert(arith.Select(wins, candidate, best)).result,
                    e.insert(arith.Select(wins, e.from_index(i, i64), place)).result,
                )

            best, place = e.fold_loop(extents[axis], [zero, nothing], better)
            e.store(best, out, at(rank))
            e.store(place, places, at(rank))
            e.store(yes, taken, [e.to_index(place)])

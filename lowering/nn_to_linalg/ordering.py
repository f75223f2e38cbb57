"""Lowering of row sorting, by ranks or by merging."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith, nn, scf
from ...ir.core import Value
from ...ir.types import i1, i64, index
from .emitter import Emitter
from .extents import Size
from .ranks import count_before, has_ranks, places_of_ranks, rank_type
from .reshaping import reinterpreted
from .sorting import before
from .table import lowers


@lowers(nn.SortRows)
def lower_sort_rows(e: Emitter, op: nn.SortRows) -> None:
    """Sort by ranks on a device, with all of its threads; elsewhere by merging."""
    source = e.buffer(op.x)
    count, columns = e.sizes(source)
    out = e.destination(op.out, [count])
    if has_ranks(e, op, [columns], count):
        _by_ranks(e, op, source, out)
    else:
        _by_merging(e, op, source, out)


def _by_ranks(e: Emitter, op: nn.SortRows, source: Value, out: Value) -> None:
    """Rank by the last column; then by the one before it, equal elements by the ranks so far; .."""
    count, columns = e.sizes(source)
    number, element = rank_type(count), op.x.type.element_type
    ranks, finer = (e.alloc([count, 1], number) for _ in range(2))
    e.elementwise([], ranks, lambda e, _: e.from_index(e.position(0), number))

    def leads(a: Value, b: Value) -> Value:
        return before(e, a, b, element, largest=False)

    with e.loop(columns) as behind:
        at = e.sub(e.sub(columns, 1), behind)
        count_before(e, e.subview(source, [0, at], [count, 1]), 0, leads, finer, ranks)
        e.copy(finer, ranks)
    places_of_ranks(e, reinterpreted(e, ranks, [count]), 0, out)


def _by_merging(e: Emitter, op: nn.SortRows, source: Value, out: Value) -> None:
    """Merge sorted runs of 1, 2, 4, .. rows, two by two."""
    count, columns = e.sizes(source)
    with e.loop(count) as i:
        e.store(e.from_index(i, i64), out, [i])
    if columns == 0:
        return
    merged = e.alloc([count], i64)
    some = e.compare("sgt", columns, 0)
    loop = e.insert(scf.While.of([e.index(1)], [index], e.loc))
    with e.inside(loop.before.block):
        (width,) = loop.before.block.args
        more = e.insert(arith.AndI(some, e.compare("slt", width, count))).result
        e.insert(scf.Condition(more, [width]))
    with e.inside(loop.after.block):
        (width,) = loop.after.block.args
        both = e.add(width, width)
        with e.loop(e.ceildiv(count, both)) as i:
            start = e.mul(i, both)
            middle = e.min(e.add(start, width), count)
            end = e.min(e.add(start, both), count)
            _merge(e, op, source, out, merged, [start, middle, end])
        e.copy(merged, out)
        e.insert(scf.Yield([e.value(both)]))


def _merge(
    e: Emitter, op: nn.SortRows, source: Value, rows: Value, merged: Value, bounds: Sequence[Size]
) -> None:
    """Merge two sorted runs of row numbers; of equal rows, those of the first run come first."""
    start, middle, end = bounds

    def step(at: Value, first: Value, second: Value) -> Sequence[Value]:
        a = e.load(rows, [e.min(first, e.sub(middle, 1))])
        b = e.load(rows, [e.min(second, e.sub(end, 1))])
        has_first, has_second = e.compare("slt", first, middle), e.compare("slt", second, end)
        behind = _is_before(e, op, source, e.to_index(b), e.to_index(a))
        none_left = e.insert(arith.XOrI(has_first, e.constant(1, i1))).result
        ahead = e.insert(arith.OrI(none_left, behind)).result
        takes_second = e.insert(arith.AndI(has_second, ahead)).result
        e.store(e.insert(arith.Select(takes_second, b, a)).result, merged, [at])
        next_first = e.select(takes_second, first, e.add(first, 1))
        next_second = e.select(takes_second, e.add(second, 1), second)
        return [e.value(next_first), e.value(next_second)]

    e.fold_loop(end, [e.value(start), e.value(middle)], step, lower=start)


def _is_before(e: Emitter, op: nn.SortRows, source: Value, a: Value, b: Value) -> Value:
    """Whether row a comes before row b; the first column in which they differ decides."""
    columns, element = e.sizes(source)[1], op.x.type.element_type
    last = e.sub(columns, 1)
    no = e.constant(0, i1)
    loop = e.insert(scf.While.of([e.index(0), no, no], [index, i1], e.loc))
    with e.inside(loop.before.block):
        column, smaller, larger = loop.before.block.args
        differ = e.insert(arith.OrI(smaller, larger)).result
        same = e.insert(arith.XOrI(differ, e.constant(1, i1))).result
        goes_on = e.insert(arith.AndI(same, e.compare("slt", column, columns))).result
        e.insert(scf.Condition(goes_on, [column, smaller]))
    with e.inside(loop.after.block):
        column = e.min(loop.after.block.args[0], last)
        x, y = e.load(source, [a, column]), e.load(source, [b, column])
        signs = [before(e, *pair, element, largest=False) for pair in ((x, y), (y, x))]
        e.insert(scf.Yield([e.value(e.add(column, 1)), *signs]))
    return loop.outs[1]

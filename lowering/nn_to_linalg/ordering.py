"""Lowering of row sorting, by ranks or by merging, and of non-maximum suppression of boxes."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith, nn, scf
from ...ir.core import Value
from ...ir.types import IntegerType, MemRefType, i1, i64, index
from .emitter import Emitter
from .extents import Size
from .ranks import count_before, has_ranks, places_of_ranks, rank_type
from .reshaping import reinterpreted
from .scalars import apply, compute_type, widen
from .sorting import before
from .table import lowers


@lowers(nn.SortRows)
def lower_sort_rows(e: Emitter, op: nn.SortRows) -> None:
    """Sort by ranks, with all threads of a device, or else by merging."""
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


@lowers(nn.Suppress)
def lower_suppress(e: Emitter, op: nn.Suppress) -> None:
    """Compare each eligible box with the boxes kept so far, until one overlaps with it."""
    boxes, eligible = e.buffer(op.boxes), e.buffer(op.eligible)
    *lists, count = e.sizes(eligible)
    for extent, other in zip([*lists, count], e.sizes(boxes), strict=False):
        e.require_equal(extent, other, "boxes and eligible differ in an extent")
    out = e.destination(op.out, [*lists, count])
    kind = compute_type(op.boxes.type.element_type)
    limit, threshold = (_number(e, v) for v in (op.limit, op.threshold))
    element = op.boxes.type.element_type
    threshold = widen(e, threshold, op.threshold.type.element_type)
    apart = lists if e.globals.has_groups else []
    kept, number = e.alloc([*apart, count, 4], kind), e.alloc(apart, index)
    e.fill(e.constant(0, IntegerType(1)), out)
    with e.apart(lists) as where:
        own = where[: len(apart)]
        e.store(e.index(0), number, own)
        with e.loop(count) as i:
            room = e.insert(arith.CmpI("slt", e.from_index(e.load(number, own), i64), limit)).result
            counts = e.insert(arith.AndI(room, e.load(eligible, [*where, i]))).result
            with e.when(counts):
                box = [widen(e, e.load(boxes, [*where, i, c]), element) for c in range(4)]
                used = e.load(number, own)
                hit = _overlaps(e, box, kept, own, used, threshold)
                free = e.insert(arith.XOrI(hit, e.constant(1, i1))).result
                with e.when(free):
                    for c, corner in enumerate(box):
                        e.store(corner, kept, [*own, used, c])
                    e.store(e.value(e.add(used, 1)), number, own)
                    e.store(e.constant(1, i1), out, [*where, i])


def _number(e: Emitter, tensor: Value) -> Value:
    held = e.operand(tensor)
    return e.load(held) if isinstance(held.type, MemRefType) else held


def _overlaps(
    e: Emitter,
    box: Sequence[Value],
    kept: Value,
    own: Sequence[Size],
    used: Value,
    threshold: Value,
) -> Value:
    """Whether a box overlaps by more than the threshold with a box kept so far.

    `kept` has these boxes under the indices `own`, `used` of them.
    """
    loop = e.insert(scf.While.of([e.index(0), e.constant(0, i1)], [index, i1], e.loc))
    with e.inside(loop.before.block):
        i, hit = loop.before.block.args
        free = e.insert(arith.XOrI(hit, e.constant(1, i1))).result
        goes_on = e.insert(arith.AndI(free, e.compare("slt", i, used))).result
        e.insert(scf.Condition(goes_on, [i, hit]))
    with e.inside(loop.after.block):
        i = loop.after.block.args[0]
        other = [e.load(kept, [*own, i, c]) for c in range(4)]
        found = _is_over(e, box, other, threshold)
        e.insert(scf.Yield([e.value(e.add(i, 1)), found]))
    return loop.outs[1]


def _is_over(e: Emitter, a: Sequence[Value], b: Sequence[Value], threshold: Value) -> Value:
    """Whether intersection over union of two boxes is above the threshold; 0 if one has no area."""
    kind = threshold.type
    zero = e.constant(0, kind)

    def do(name: str, x: Value, y: Value) -> Value:
        return apply(e, name, kind, [x, y])

    def area(box: Sequence[Value]) -> Value:
        return do("mul", do("sub", box[2], box[0]), do("sub", box[3], box[1]))

    sides = [
        do("max", do("sub", do("min", a[2 + d], b[2 + d]), do("max", a[d], b[d])), zero)
        for d in range(2)
    ]
    common, first, second = do("mul", *sides), area(a), area(b)
    union = do("sub", do("add", first, second), common)
    result = e.insert(arith.CmpF("ogt", do("div", common, union), threshold)).result
    for part in (common, first, second):
        positive = e.insert(arith.CmpF("ogt", part, zero)).result
        result = e.insert(arith.AndI(result, positive)).result
    return result

"""Lowering of non-maximum suppression of boxes.

A thread compares each box with those kept before it. All threads of a device take blocks of boxes,
one after the other: each thread has a box behind the block, and finds out for itself which boxes of
the block are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith, nn, scf
from ...ir.core import Value
from ...ir.types import IntegerType, MemRefType, i1, i32, i64, index
from .bounds import inside
from .emitter import Emitter
from .extents import Size
from .ranks import all_threads_pay
from .scalars import apply, compute_type, widen
from .table import lowers

BLOCK = 32
"""The boxes of a block: as many as an integer has bits that all devices have."""


@lowers(nn.Suppress)
def lower_suppress(e: Emitter, op: nn.Suppress) -> None:
    """Keep each eligible box that does not overlap much with one kept before it."""
    boxes, eligible = e.buffer(op.boxes), e.buffer(op.eligible)
    *lists, count = e.sizes(eligible)
    for extent, other in zip([*lists, count], e.sizes(boxes), strict=False):
        e.require_equal(extent, other, "boxes and eligible differ in an extent")
    out = e.destination(op.out, [*lists, count])
    launches = -(-count // BLOCK) if isinstance(count, int) else 0
    if all_threads_pay(e, op, [*lists, count], count, launches):
        _by_blocks(e, op, out)
    else:
        _one_by_one(e, op, out)


def _by_blocks(e: Emitter, op: nn.Suppress, out: Value) -> None:
    """Decide on the boxes of a block, then on those behind it that overlap with them."""
    *lists, count = e.sizes(out)
    one, none = e.constant(1, i32), e.constant(0, i32)
    gone, used = e.alloc([*lists, count], i32), e.alloc([*lists, e.add(count, 1)], index)
    e.elementwise(
        [e.buffer(op.eligible)],
        gone,
        lambda e, x, _: e.insert(arith.Select(x, none, one)).result,
    )
    e.fill(e.index(0), used)
    overlaps = _overlaps_in_blocks(e, op, out)
    with e.loop(e.ceildiv(count, BLOCK)) as block:
        first = e.mul(block, BLOCK)
        left = e.sub(count, first)
        with e.parallel([*lists, left]) as (*own, behind):
            bits, number = _kept_of_block(e, op, own, first, block, (gone, used, overlaps))
            at = e.add(first, behind)
            with e.when(e.compare("eq", behind, 0)):
                e.store(number, used, [*own, e.add(block, 1)])
            with e.when(e.compare("slt", behind, BLOCK)):
                e.store(_has_bit(e, bits, behind), out, [*own, at])
            some = e.insert(arith.CmpI("ne", bits, none)).result
            is_behind = e.compare("sge", behind, BLOCK)
            with e.when(e.insert(arith.AndI(is_behind, some)).result):
                box, threshold = _box(e, op, [*own, at]), _threshold(e, op)

                def meet(k: Value, hit: Value) -> list[Value]:
                    other = _box(e, op, [*own, e.add(first, k)])
                    found = _is_over(e, box, other, threshold)
                    found = e.insert(arith.AndI(found, _has_bit(e, bits, k))).result
                    return [e.insert(arith.OrI(hit, found)).result]

                (hit,) = e.fold_loop(BLOCK, [e.constant(0, i1)], meet)
                with e.when(hit):
                    e.store(one, gone, [*own, at])


def _overlaps_in_blocks(e: Emitter, op: nn.Suppress, out: Value) -> Value:
    """A bit for each box before a box in its block: whether the two overlap by more than the
    threshold.
    """
    *lists, count = e.sizes(out)
    overlaps = e.alloc([*lists, count], i32)
    with e.apart([*lists, count]) as (*own, i):
        first = e.mul(e.floordiv(i, BLOCK), BLOCK)
        box, threshold = _box(e, op, [*own, i]), _threshold(e, op)

        def meet(k: Value, bits: Value) -> list[Value]:
            other = _box(e, op, [*own, e.add(first, k)])
            return [_with_bit(e, bits, k, _is_over(e, box, other, threshold))]

        (bits,) = e.fold_loop(e.sub(i, first), [e.constant(0, i32)], meet)
        e.store(bits, overlaps, [*own, i])
    return overlaps


def _kept_of_block(
    e: Emitter,
    op: nn.Suppress,
    own: Sequence[Size],
    first: Size,
    block: Size,
    buffers: tuple[Value, Value, Value],
) -> list[Value]:
    """A bit for each box of a block: whether it is kept; and how many are, up to its end."""
    gone, used, overlaps = buffers
    count, none = e.size(gone, len(own)), e.constant(0, i32)
    limit = _number(e, op.limit)

    def decide(k: Value, bits: Value, number: Value) -> list[Value]:
        at = [*own, e.add(first, k)]
        met = e.insert(arith.AndI(e.load(overlaps, at), bits)).result
        either = e.insert(arith.OrI(met, e.load(gone, at))).result
        is_free = e.insert(arith.CmpI("eq", either, none)).result
        has_room = e.insert(arith.CmpI("slt", e.from_index(number, i64), limit)).result
        is_kept = e.insert(arith.AndI(is_free, has_room)).result
        after = e.select(is_kept, e.add(number, 1), number)
        return [_with_bit(e, bits, k, is_kept), e.value(after)]

    before = e.load(used, [*own, block])
    has_room = e.insert(arith.CmpI("slt", e.from_index(before, i64), limit)).result
    length = e.select(has_room, e.min(e.sub(count, first), BLOCK), 0)
    return e.fold_loop(length, [none, before], decide)


def _with_bit(e: Emitter, bits: Value, k: Value, is_set: Value) -> Value:
    """An integer of 32 bits, of which bit k is set if `is_set`."""
    bit = e.insert(arith.ShLI(e.constant(1, i32), e.from_index(k, i32))).result
    bit = e.insert(arith.Select(is_set, bit, e.constant(0, i32))).result
    return e.insert(arith.OrI(bits, bit)).result


def _has_bit(e: Emitter, bits: Value, k: Value) -> Value:
    """Whether bit k of an integer of 32 bits is set."""
    shifted = e.insert(arith.ShRUI(bits, e.from_index(k, i32))).result
    return e.insert(arith.TruncI(shifted, out=i1)).result


def _box(e: Emitter, op: nn.Suppress, at: Sequence[Size]) -> list[Value]:
    """The corners of a box, in the type in which they are compared."""
    boxes, element = e.buffer(op.boxes), op.boxes.type.element_type
    return [widen(e, e.load(boxes, [*at, c]), element) for c in range(4)]


def _threshold(e: Emitter, op: nn.Suppress) -> Value:
    return widen(e, _number(e, op.threshold), op.threshold.type.element_type)


def _one_by_one(e: Emitter, op: nn.Suppress, out: Value) -> None:
    """Compare each eligible box with the boxes kept so far, until one overlaps with it."""
    eligible, kind = e.buffer(op.eligible), compute_type(op.boxes.type.element_type)
    *lists, count = e.sizes(out)
    limit, threshold = _number(e, op.limit), _threshold(e, op)
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
                box = _box(e, op, [*where, i])
                used = inside(e, e.load(number, own), count)
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
    used: Size,
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
        at = inside(e, i, e.size(kept, len(own)))
        other = [e.load(kept, [*own, at, c]) for c in range(4)]
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

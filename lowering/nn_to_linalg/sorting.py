"""Lowering of top-k: the best elements along an axis, sorted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects import arith, nn, scf
from ...ir.conversions import is_small
from ...ir.core import Value
from ...ir.types import FloatType, IntegerType, MemRefType, Type, i64, index
from .bounds import within
from .emitter import Emitter, buffer_type
from .extents import Size
from .ranks import count_before, has_ranks, places_of_ranks, rank_type
from .scalars import widen
from .storage import storage_type
from .table import lowers


def before(e: Emitter, a: Value, b: Value, element: Type, largest: bool) -> Value:
    """Whether element a comes before b: a is larger (or smaller), with NaN as the largest."""
    a, b = (widen(e, v, element) if is_small(element) else v for v in (a, b))
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


@dataclass
class Heap:
    """The best elements so far and their indices, in a heap with the worst at the root.

    Of equal elements the first one is better. `where` are the leading indices into both buffers.
    """

    e: Emitter
    values: Value
    places: Value
    element: Type
    largest: bool
    where: Sequence[Size] = ()

    def before(self, a: Value, b: Value) -> Value:
        return before(self.e, a, b, self.element, self.largest)

    def worse(self, a: Sequence[Value], b: Sequence[Value]) -> Value:
        """Whether (value, index) `a` sorts after `b`."""
        e = self.e
        ahead, behind = self.before(a[0], b[0]), self.before(b[0], a[0])
        later = e.insert(arith.CmpI("sgt", a[1], b[1])).result
        return e.insert(
            arith.Select(
                ahead, e.constant(0, later.type), e.insert(arith.OrI(behind, later)).result
            )
        ).result

    def at(self, i: Size) -> list[Value]:
        return [self.e.load(held, [*self.where, i]) for held in (self.values, self.places)]

    def put(self, i: Size, value: Value, place: Value) -> None:
        self.e.store(value, self.values, [*self.where, i])
        self.e.store(place, self.places, [*self.where, i])

    def sink(self, start: Size, count: Size, value: Value, place: Value) -> None:
        """Put an element into a heap of `count`, from place `start` downwards below
        all worse ones.
        """
        e = self.e
        loop = e.insert(scf.While.of([e.value(start)], [index, index, *self.types], e.loc))
        with e.inside(loop.before.block):
            hole = loop.before.block.args[0]
            left = e.add(e.add(hole, hole), 1)
            end = e.sub(count, 1)
            # Both children are read, whether they exist or not.
            first, second = e.min(left, end), e.min(e.add(left, 1), end)
            a, b = self.at(first), self.at(second)
            is_second = self.worse(b, a)
            child = [
                e.insert(arith.Select(is_second, y, x)).result
                for x, y in zip([first, *a], [second, *b], strict=True)
            ]
            exists = e.compare("slt", left, count)
            goes_on = e.insert(arith.AndI(exists, self.worse(child[1:], [value, place]))).result
            e.insert(scf.Condition(goes_on, [hole, *child]))
        with e.inside(loop.after.block):
            hole, child, *moved = loop.after.block.args
            self.put(hole, *moved)
            e.insert(scf.Yield([child]))
        self.put(loop.outs[0], value, place)

    @property
    def types(self) -> list[Type]:
        return [storage_type(self.element), i64]


@lowers(nn.TopK)
def lower_top_k(e: Emitter, op: nn.TopK) -> None:
    """Sort by ranks, with all threads of a device, or else each list by itself in a heap."""
    source = e.buffer(op.x)
    axis, extents = op.axis, e.sizes(source)
    known = buffer_type(op.out.type).shape[axis]
    count: Size
    if known is not None:
        count = known
    else:
        held = e.operand(op.k)
        if isinstance(held.type, MemRefType):
            held = e.load(held, [0] * op.k.type.rank)
        count = e.extent(held)
    if isinstance(count, Value) or isinstance(extents[axis], Value):
        fits = e.compare("sle", count, extents[axis])
        e.require(fits, f"k is more than there are elements along axis {axis}")
    sizes = [count if d == axis else n for d, n in enumerate(extents)]
    out, places = e.destination(op.out, sizes), e.destination(op.indices, sizes)
    if count == 0:
        return
    others = [n for d, n in enumerate(extents) if d != axis]
    if has_ranks(e, op, others, extents[axis], count):
        _by_ranks(e, op, source, out, places)
    else:
        _by_heaps(e, op, source, out, places)


def _by_ranks(e: Emitter, op: nn.TopK, source: Value, out: Value, places: Value) -> None:
    """Count for each element how many are better, then look for the element of each rank."""
    axis, extents, element = op.axis, e.sizes(source), op.x.type.element_type
    counts = e.alloc(extents, rank_type(extents[axis]))
    count_before(e, source, axis, lambda a, b: before(e, a, b, element, op.largest), counts)
    places_of_ranks(e, counts, axis, places)

    def pick(e: Emitter, place: Value, _: Value) -> Value:
        at: list[Size] = [e.position(d) for d in range(len(extents))]
        at[axis] = within(e, place, extents[axis])
        return e.load(source, at)

    e.elementwise([places], out, pick)


def _by_heaps(e: Emitter, op: nn.TopK, source: Value, out: Value, places: Value) -> None:
    """Keep a heap of the best elements so far; most others are only compared with its root.

    At the end the elements are taken off the heap, the worst one first.
    """
    axis, extents, element = op.axis, e.sizes(source), op.x.type.element_type
    count = e.size(out, axis)
    others = [n for d, n in enumerate(extents) if d != axis]
    heaps = others if e.globals.has_groups else []
    values, numbers = (e.alloc([*heaps, count], type) for type in (element, i64))
    some = e.compare("sgt", count, 0)
    with e.apart(others) as where, e.when(some):
        heap = Heap(e, values, numbers, element, op.largest, where[: len(heaps)])

        def at(i: Size) -> list[Size]:
            return [*where[:axis], i, *where[axis:]]

        with e.loop(count) as i:
            heap.put(i, e.load(source, at(i)), e.from_index(i, i64))
        half = e.floordiv(count, 2)
        with e.loop(half) as i:
            start = e.sub(e.sub(half, 1), i)
            heap.sink(start, count, *heap.at(start))
        with e.loop(extents[axis], lower=count) as i:
            candidate = e.load(source, at(i))
            with e.when(heap.before(candidate, heap.at(0)[0])):
                heap.sink(0, count, candidate, e.from_index(i, i64))
        with e.loop(count) as i:
            end = e.sub(e.sub(count, 1), i)
            value, place = heap.at(0)
            e.store(value, out, at(end))
            e.store(place, places, at(end))
            with e.when(e.compare("sgt", end, 0)):
                heap.sink(0, end, *heap.at(end))

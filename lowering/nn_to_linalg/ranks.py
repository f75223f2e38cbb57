"""Sorting by counting, for devices: an element's rank is the number of elements before it.

That takes n^2 comparisons, but none waits for another one, so all threads of a device share them:
a thread that sorts n elements alone waits for memory about as often as thousands of threads do
that compare each with each. Nothing is stored where a value says, so no two threads can meet: the
element of each rank is searched for, as a sum in which one term alone is not 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ...dialects import arith
from ...ir.affine import AffineDim, AffineMap
from ...ir.core import Operation, Value
from ...ir.types import IntegerType, i32, i64
from ...kernels.on_host import comes_from_memory
from .emitter import Emitter
from .extents import Size


def all_threads_pay(
    e: Emitter,
    op: Operation,
    shared: Sequence[Size],
    steps: Size | None = None,
    launches: int = 0,
) -> bool:
    """Whether all threads of a device finish sooner than one that waits for memory at each step.

    For each of its `steps` they compute as many elements as the product of the extents `shared`,
    and they take so many more `launches`. What is known only when the model runs is taken as 1, and
    as many steps. Where threads do not run in lockstep, the device is a processor, for which one
    thread is no slower than any other. So is the host, which has the operation if the device lacks
    its numbers.
    """
    machine = e.globals.machine
    most = machine.work_while_waiting
    if most == 0 or e.globals.target.lacks(op):
        return False
    work: float = prod(n for n in shared if isinstance(n, int))
    if isinstance(steps, int):
        cycles = launches * machine.launch_cycles / max(steps, 1)
        work += cycles * machine.least_cores * machine.multiply_adds
    return work <= most


def has_ranks(
    e: Emitter, op: Operation, lists: Sequence[Size], count: Size, kept: Size = 0
) -> bool:
    """Whether lists of `count` elements each are sorted sooner by ranks than by one thread each.

    `lists` are the extents beside. `kept` is the number of elements that are wanted; if it is read
    from memory, the host has the operation.
    """
    if isinstance(kept, Value) and comes_from_memory(kept):
        return False
    return all_threads_pay(e, op, [*lists, count])


def rank_type(count: Size) -> IntegerType:
    """The type of ranks in lists of `count` elements."""
    return i32 if isinstance(count, int) and count < 1 << 31 else i64


def count_before(
    e: Emitter,
    source: Value,
    axis: int,
    before: Callable[[Value, Value], Value],
    counts: Value,
    earlier: Value | None = None,
) -> None:
    """Set an element of `counts` to the number of elements of `source` before it along an axis.

    Of elements of which none is before the other, the one with the lower index leads, or with the
    lower number in `earlier`, a buffer of the same shape.
    """
    extents = e.sizes(source)
    rank, number = len(extents), counts.type.element_type
    e.fill(e.constant(0, number), counts)
    every = tuple(AffineDim(d) for d in range(rank))
    other = (*every[:axis], AffineDim(rank), *every[axis + 1 :])
    own, others = (AffineMap(rank + 1, 0, results) for results in (every, other))

    def add(e: Emitter, x: Value, y: Value, *numbers: Value) -> Value:
        *order, so_far = numbers
        if order:
            is_earlier = e.insert(arith.CmpI("slt", order[1], order[0])).result
        else:
            is_earlier = e.compare("slt", e.position(rank), e.position(axis))
        not_behind = e.insert(arith.XOrI(before(x, y), e.constant(1, is_earlier.type))).result
        leads = e.insert(arith.Select(is_earlier, not_behind, before(y, x))).result
        one, none = e.constant(1, number), e.constant(0, number)
        counted = e.insert(arith.Select(leads, one, none)).result
        return e.insert(arith.AddI(so_far, counted)).result

    kinds = [*["parallel"] * rank, "reduction"]
    compared = [buffer for buffer in (source, earlier) if buffer is not None]
    inputs = [buffer for buffer in compared for _ in range(2)]
    e.generic(inputs, [counts], [*[own, others] * len(compared), own], kinds, add)


def places_of_ranks(e: Emitter, counts: Value, axis: int, places: Value) -> None:
    """Set places[.., r, ..] to the index along the axis of the element with rank r, for each r."""
    number = counts.type.element_type
    rank = len(e.sizes(counts))
    e.fill(e.constant(0, i64), places)
    every = tuple(AffineDim(d) for d in range(rank))
    searched = (*every[:axis], AffineDim(rank), *every[axis + 1 :])
    maps = [AffineMap(rank + 1, 0, results) for results in (searched, every)]

    def find(e: Emitter, held: Value, so_far: Value) -> Value:
        is_here = e.insert(arith.CmpI("eq", held, e.from_index(e.position(axis), number))).result
        place, none = e.from_index(e.position(rank), i64), e.constant(0, i64)
        found = e.insert(arith.Select(is_here, place, none)).result
        return e.insert(arith.AddI(so_far, found)).result

    e.generic([counts], [places], maps, [*["parallel"] * rank, "reduction"], find)

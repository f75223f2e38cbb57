"""Lowering of argmax and argmin, and of running sums and products."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith, nn
from ...ir.affine import AffineMap
from ...ir.comprehension import combiner_identity
from ...ir.core import Value
from ...ir.types import i32, i64
from .emitter import Emitter
from .extents import Size
from .scalars import apply, compute_type, convert, is_float, narrow
from .scans import Scan, is_short, scan_pays
from .storage import storage_type
from .table import lowers


@lowers(nn.Argmax, nn.Argmin)
def lower_arg(e: Emitter, op: nn.Argmax | nn.Argmin) -> None:
    """Reduce to the extreme along the axis, then to the first (or last) position that has it.

    These are two ordinary reductions, in any order of elements. NaN is better than any number.
    """
    source, axis = e.buffer(op.x), op.axis
    extents, element = e.sizes(source), op.x.type.element_type
    wide = compute_type(element)
    rank, last = len(extents), op.select_last_index
    kept = [n for d, n in enumerate(extents) if d != axis]
    sizes = [1 if d == axis else n for d, n in enumerate(extents)] if op.keep_dims else kept
    out = e.destination(op.out, sizes)
    every = AffineMap.identity(rank)
    row = AffineMap(rank, 0, tuple(r for d, r in enumerate(every.results) if d != axis))
    kinds = ["reduction" if d == axis else "parallel" for d in range(rank)]

    combiner = "max" if isinstance(op, nn.Argmax) else "min"
    best = e.alloc(kept, storage_type(wide))
    e.fill(e.constant(combiner_identity(combiner, wide), storage_type(wide)), best)

    def better(e: Emitter, x: Value, so_far: Value) -> Value:
        return apply(e, combiner, wide, [so_far, convert(e, x, element, wide)])

    e.generic([source], [best], [every, row], kinds, better)

    extent = extents[axis]
    number = i32 if isinstance(extent, int) and extent < 1 << 31 else i64
    place = e.alloc(kept, number)
    first = "max" if last else "min"
    nowhere = e.constant(combiner_identity(first, number), number)
    e.fill(nowhere, place)

    def where(e: Emitter, x: Value, extreme: Value, so_far: Value) -> Value:
        found = apply(e, "eq", wide, [convert(e, x, element, wide), extreme])
        if is_float(wide):
            found = e.insert(arith.OrI(found, apply(e, "is_nan", element, [x]))).result
        here = e.from_index(e.position(axis), number)
        here = e.insert(arith.Select(found, here, nowhere)).result
        return apply(e, first, number, [so_far, here])

    e.generic([source, best], [place], [every, row, row], kinds, where)

    of_out = row if op.keep_dims else AffineMap.identity(rank - 1)
    maps = [of_out, AffineMap.identity(len(sizes))]
    parallel = ["parallel"] * len(sizes)
    e.generic([place], [out], maps, parallel, lambda e, n, _: convert(e, n, number, i64))


@lowers(nn.Cumsum, nn.Cumprod)
def lower_running(e: Emitter, op: nn.Cumsum | nn.Cumprod) -> None:
    """Emit a loop along the axis that carries the result so far, for each index of the axes before
    it.

    If there are axes after it, their elements are contiguous: the result so far is then a row, with
    which each iteration combines the next row. On a device, a thread computes one element of the
    row, or all threads share the lists, if there are few.
    """
    source, axis = e.buffer(op.x), op.axis
    extents, element = e.sizes(source), op.x.type.element_type
    out = e.destination(op.out, extents)
    wide = compute_type(element)
    start = e.constant(op.start, storage_type(wide))
    inner = extents[axis + 1 :]
    # In another order a product of floats overflows where it is 0 in this one.
    has_order = op.combine == "mul" and is_float(wide)
    if not has_order and scan_pays(e, op, [*extents[:axis], *inner], extents[axis]):
        _scan(e, op, source, out)
        return

    def step(place: Sequence[Size], total: Value) -> Value:
        value = convert(e, e.load(source, place), element, wide)
        after = apply(e, op.combine, element, [total, value])
        e.store(narrow(e, total if op.exclusive else after, element), out, place)
        return after

    def along(i: Value) -> Size:
        return e.sub(e.sub(extents[axis], 1), i) if op.reverse else i

    if e.globals.has_groups or all(n == 1 for n in inner):
        with e.apart([*extents[:axis], *inner]) as at:

            def follow(i: Value, total: Value) -> list[Value]:
                return [step([*at[:axis], along(i), *at[axis:]], total)]

            e.fold_loop(extents[axis], [start], follow)
        return
    row = e.alloc(inner, storage_type(wide))
    with e.loops(extents[:axis]) as before:
        with e.loops(inner) as behind:
            e.store(start, row, behind)
        with e.loop(extents[axis]) as i:
            at = along(i)
            with e.loops(inner) as behind:
                e.store(step([*before, at, *behind], e.load(row, behind)), row, behind)


def _scan(e: Emitter, op: nn.Cumsum | nn.Cumprod, source: Value, out: Value) -> None:
    """Write the running results, which all threads of a device compute."""
    extents, element = e.sizes(source), op.x.type.element_type
    wide = compute_type(element)
    start = e.constant(op.start, storage_type(wide))

    def combine(total: Value, value: Value) -> Value:
        return apply(e, op.combine, element, [total, value])

    def read(x: Value) -> Value:
        return convert(e, x, element, wide)

    scan = Scan(e, start, combine, op.exclusive, op.reverse)
    if is_short(extents[op.axis]):
        found = out if wide is element else e.alloc(extents, wide)
        scan.short(source, op.axis, found, read)
    else:
        found = scan.long(source, op.axis, read)
        found = e.subview(found, [0] * len(extents), extents)
    if found is not out:
        e.elementwise([found], out, lambda e, x, _: narrow(e, x, element))

"""Lowering of ops that copy: concatenation, slices, transposes, broadcasts, triangles."""

from __future__ import annotations

from ...dialects import arith, memref, nn
from ...ir.affine import AffineDim, AffineMap
from ...ir.core import Value
from ...ir.types import MemRefType, i1, index
from ...passes.nn.constants import constant_array
from .comprehensions import lower
from .emitter import Emitter, buffer_type
from .extents import Size
from .reading import is_viewed
from .table import lowers


@lowers(nn.Concat)
def lower_concat(e: Emitter, op: nn.Concat) -> None:
    """Copy each operand to its part of the result."""
    parts = [e.buffer(v) for v in op.inputs]
    axis = op.axis
    extents = [e.size(p, axis) for p in parts]
    total: Size = 0
    for extent in extents:
        total = e.add(total, extent)
    sizes = e.sizes(parts[0])
    # An extent that is unknown of one operand may be known of another.
    for other in parts[1:]:
        known = other.type.shape
        sizes = [k if k is not None else s for s, k in zip(sizes, known, strict=True)]
    for part in parts:
        for dim, (found, wanted) in enumerate(zip(e.sizes(part), sizes, strict=True)):
            if dim != axis:
                e.require_equal(found, wanted, f"its operands differ in extent {dim}")
    sizes[axis] = total
    out = e.destination(op.out, sizes)
    at: Size = 0
    for part, extent in zip(parts, extents, strict=True):
        offsets: list[Size] = [0] * len(sizes)
        offsets[axis] = at
        e.copy(part, e.subview(out, offsets, e.sizes(part)))
        at = e.add(at, extent)


@lowers(nn.Slice)
def lower_slice(e: Emitter, op: nn.Slice) -> None:
    """Copy or view a strided part of the operand; negative steps need index arithmetic."""
    steps = op.steps or (1,) * op.x.type.rank
    if any(s < 0 for s in steps):
        lower(e, op)
        return
    source = e.buffer(op.x)
    sizes = [
        d if d is not None else _to_the_end(e, e.size(source, axis), op.starts[axis], steps[axis])
        for axis, d in enumerate(buffer_type(op.out.type).shape)
    ]
    if 0 not in sizes and is_viewed(op):
        e.buffers[op.out] = e.subview(source, op.starts, sizes, steps)
        return
    out = e.destination(op.out, sizes)
    if 0 not in sizes:
        e.copy(e.subview(source, op.starts, sizes, steps), out)


def _to_the_end(e: Emitter, size: Size, start: int, step: int) -> Size:
    """The number of elements from `start` to the end of an axis, in steps of `step`."""
    return e.ceildiv(e.max(e.sub(size, start), 0), step) if start else e.ceildiv(size, step)


@lowers(nn.SliceDynamic)
def lower_slice_dynamic(e: Emitter, op: nn.SliceDynamic) -> None:
    """Copy element by element between bounds read from memory, clamped by NumPy's rules.

    If axes and steps are known and the steps are positive, copy a strided view instead.
    """
    rank = op.x.type.rank
    known = [constant_array(v) for v in (op.axes, op.steps)]
    if known[0] is not None and known[1] is not None:
        in_range = (known[0] >= -rank) & (known[0] < rank)
        if (in_range & (known[1] > 0) & (known[1] <= _MOST_STEPS)).all():
            return _slice_forwards(e, op, (known[0] % rank).tolist(), known[1].tolist())
    source = e.buffer(op.x)
    starts, ends, axes, steps = (e.buffer(v) for v in (op.starts, op.ends, op.axes, op.steps))
    first: list[Size] = [0] * rank
    step: list[Size] = [1] * rank
    count: list[Size] = e.sizes(source)
    count_known = e.size(starts, 0)
    if not isinstance(count_known, int):
        return _slice_by_table(e, op, source, (starts, ends, axes, steps))
    for i in range(count_known):
        axis = _slice_axis(e, axes, i, rank)
        start, end, by = _slice_numbers(e, i, starts, ends, steps)
        for d in range(rank):
            here = e.compare("eq", axis, d) if rank > 1 else None
            found = _slice_bounds(e, start, end, by, e.size(source, d))
            for table, value in zip((first, count, step), found, strict=True):
                table[d] = value if here is None else e.select(here, value, table[d])
    shape = buffer_type(op.out.type).shape
    sizes = [d if d is not None else s for d, s in zip(shape, count, strict=True)]
    _strided_copy(e, source, e.destination(op.out, sizes), first, step)
    return None


_MOST_STEPS = 1 << 31
"""The most steps along a dimension for which strides surely fit their type."""


def _slice_forwards(e: Emitter, op: nn.SliceDynamic, axes: list[int], steps: list[int]) -> None:
    """Lower a slice of known axes and known positive steps, with bounds read from memory."""
    source, starts, ends = (e.buffer(v) for v in (op.x, op.starts, op.ends))
    first: list[Size] = [0] * op.x.type.rank
    sizes, by = e.sizes(source), [1] * op.x.type.rank
    for i, (axis, step) in enumerate(zip(axes, steps, strict=True)):
        extent = e.size(source, axis)

        def bound(buffer: Value, i: int = i, extent: Size = extent) -> Size:
            found = e.bounded_index(e.load(buffer, [i]), e.add(extent, 1))
            found = e.select(e.compare("slt", found, 0), e.add(found, extent), found)
            return e.min(e.max(found, 0), extent)

        first[axis], by[axis] = bound(starts), step
        sizes[axis] = e.ceildiv(e.max(e.sub(bound(ends), first[axis]), 0), step)
    shape = buffer_type(op.out.type).shape
    sizes = [d if d is not None else s for d, s in zip(shape, sizes, strict=True)]
    e.copy(e.subview(source, first, sizes, by), e.destination(op.out, sizes))


def _slice_by_table(e: Emitter, op: nn.SliceDynamic, source: Value, lists: tuple) -> None:
    """Lower a slice whose axes are known only at run time: store the bounds of each
    axis in tables.
    """
    rank = op.x.type.rank
    tables = [e.alloc([rank], index) for _ in range(3)]
    for d in range(rank):
        for table, value in zip(tables, (0, e.size(source, d), 1), strict=True):
            e.store(e.value(value), table, [d])
    starts, ends, axes, steps = lists
    with e.loop(e.size(starts, 0)) as i:
        axis = _slice_axis(e, axes, i, rank)
        start, end, by = _slice_numbers(e, i, starts, ends, steps)
        extent = e.insert(memref.Dim(source, axis)).result
        for table, value in zip(tables, _slice_bounds(e, start, end, by, extent), strict=True):
            e.store(e.value(value), table, [axis])
    first, count, step = ([e.load(t, [d]) for d in range(rank)] for t in tables)
    shape = buffer_type(op.out.type).shape
    sizes = [d if d is not None else s for d, s in zip(shape, count, strict=True)]
    _strided_copy(e, source, e.destination(op.out, sizes), first, step)


def _slice_axis(e: Emitter, axes: Value, i: Size, rank: int) -> Value:
    """Axis `i` of a list, counted from the front; emits a check that it is within the rank."""
    axis = e.load_index(axes, [i])
    axis = e.select(e.compare("slt", axis, 0), e.add(axis, rank), axis)
    e.require(e.compare("ult", axis, rank), f"an axis is not one of the {rank} of its operand")
    return axis


def _slice_numbers(
    e: Emitter, i: Size, starts: Value, ends: Value, steps: Value
) -> tuple[Value, Value, Value]:
    """Start, end and step of entry `i`; emits a check that the step is not 0."""
    start, end, step = (e.load(b, [i]) for b in (starts, ends, steps))
    zero = e.constant(0, step.type)
    e.require(e.insert(arith.CmpI("ne", step, zero)).result, "a step is 0")
    return start, end, step


def _slice_bounds(
    e: Emitter, start: Value, end: Value, step: Value, extent: Size
) -> tuple[Size, Size, Size]:
    """The first index, the number of elements and the step of `start:end:step`."""
    beyond = e.add(extent, 1)
    start, end, step = (e.bounded_index(v, beyond) for v in (start, end, step))
    down = e.compare("slt", step, 0)
    least = e.select(down, -1, 0)
    most = e.select(down, e.sub(extent, 1), extent)

    def clamp(bound: Value) -> Size:
        bound = e.select(e.compare("slt", bound, 0), e.add(bound, extent), bound)
        return e.min(e.max(bound, least), most)

    first, last = clamp(start), clamp(end)
    span = e.select(down, e.sub(first, last), e.sub(last, first))
    size = e.select(down, e.sub(0, step), step)
    number = e.max(e.ceildiv(span, e.max(size, 1)), 0)
    return first, number, step


def _strided_copy(e: Emitter, source: Value, out: Value, first, step) -> None:
    rank = source.type.rank

    def read(e: Emitter, _: Value) -> Value:
        at = [e.add(first[d], e.mul(e.position(d), step[d])) for d in range(rank)]
        return e.load(source, at)

    e.elementwise([], out, read)


@lowers(nn.TransposeDynamic)
def lower_transpose_dynamic(e: Emitter, op: nn.TransposeDynamic) -> None:
    """Copy a view with the operand's sizes and strides in the order read from memory."""
    source, permutation = e.buffer(op.x), e.buffer(op.permutation)
    extents = e.sizes(source)
    strides = e.strides(extents)
    sizes: list[Size] = []
    steps: list[Size] = []
    places = [e.load_index(permutation, [d]) for d in range(len(extents))]
    _require_permutation(e, places)
    for at in places:
        size, step = extents[0], strides[0]
        for i in range(1, len(extents)):
            here = e.compare("eq", at, i)
            size, step = e.select(here, extents[i], size), e.select(here, strides[i], step)
        sizes.append(size)
        steps.append(step)
    shape = buffer_type(op.out.type).shape
    sizes = [s if d is None else d for d, s in zip(shape, sizes, strict=True)]
    view = e.insert(memref.ReinterpretCast.of(source, 0, sizes, steps)).result
    e.copy(view, e.destination(op.out, sizes))


def _require_permutation(e: Emitter, places: list[Value]) -> None:
    """Emit checks that each dimension occurs in the permutation."""
    for d in range(len(places)):
        here = [e.compare("eq", at, d) for at in places]
        some = e.constant(0, i1)
        for one in here:
            some = e.insert(arith.OrI(some, one)).result
        e.require(some, f"no dimension of the result is dimension {d} of its operand")


@lowers(nn.BroadcastDynamic)
def lower_broadcast_dynamic(e: Emitter, op: nn.BroadcastDynamic) -> None:
    """Copy a view that repeats the operand, with strides of 0.

    An extent is that of the shape in memory, or the operand's where that is 1.
    """
    source, shape = e.operand(op.x), e.buffer(op.shape)
    type = buffer_type(op.out.type)
    lead = type.rank - op.x.type.rank
    length = op.shape.type.shape[0]
    sizes: list[Size] = []
    for axis, known in enumerate(type.shape):
        at = axis - (type.rank - length)
        wanted: Size = e.load_extent(shape, [at]) if at >= 0 else 1
        text = f"its operand does not fit extent {axis} of the shape"
        if known is not None:
            e.require_equal(wanted, known, text, or_one=True)
            sizes.append(known)
            if axis >= lead and isinstance(source.type, MemRefType):
                e.require_equal(e.size(source, axis - lead), known, text, or_one=True)
            continue
        if axis >= lead and isinstance(source.type, MemRefType):
            extent = e.size(source, axis - lead)
            if extent != 1:
                one = e.compare("eq", wanted, 1)
                fits = e.insert(arith.OrI(one, e.compare("eq", wanted, extent))).result
                if not isinstance(extent, int):
                    fits = e.insert(arith.OrI(fits, e.compare("eq", extent, 1))).result
                e.require(fits, text)
            wanted = e.select(e.compare("eq", wanted, 1), extent, wanted)
        sizes.append(wanted)
    out = e.destination(op.out, sizes)
    if not isinstance(source.type, MemRefType):
        e.fill(source, out)
        return
    extents = e.sizes(source)
    steps = e.strides(extents)
    for axis, extent in enumerate(extents):
        repeats = extent == 1 if isinstance(extent, int) else e.compare("eq", extent, 1)
        if isinstance(repeats, Value):
            steps[axis] = e.select(repeats, 0, steps[axis])
        elif repeats:
            steps[axis] = 0
    view = e.insert(memref.ReinterpretCast.of(source, 0, sizes[lead:], steps)).result
    maps = [
        AffineMap(type.rank, 0, tuple(AffineDim(d) for d in range(lead, type.rank))),
        AffineMap.identity(type.rank),
    ]
    e.generic([view], [out], maps, ["parallel"] * type.rank, lambda e, x, _: x)


@lowers(nn.Trilu)
def lower_trilu(e: Emitter, op: nn.Trilu) -> None:
    """Copy the elements on one side of a diagonal, and write zeros elsewhere."""
    source = e.buffer(op.x)
    out = e.destination(op.out, e.sizes(source))
    rank = op.x.type.rank
    zero = e.element(0, op.out.type.element_type)
    k: Size = 0
    if op.k is not None:
        held = e.operand(op.k)
        k = e.to_index(e.load(held, [0] * op.k.type.rank) if _in_memory(held) else held)

    def keep(e: Emitter, x: Value, _: Value) -> Value:
        distance = e.sub(e.position(rank - 1), e.position(rank - 2))
        kept = e.compare("sge" if op.upper else "sle", distance, k)
        return e.insert(arith.Select(kept, x, zero)).result

    e.elementwise([source], out, keep)


def _in_memory(value: Value) -> bool:
    return isinstance(value.type, MemRefType)

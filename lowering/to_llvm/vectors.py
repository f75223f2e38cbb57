"""Lowering of vector ops that make and rearrange vectors."""

from __future__ import annotations

from typing import Any

from ...dialects import llvm, vector
from ...dialects.index_lists import mix
from ...ir.attributes import DenseElements
from ...ir.core import Value
from ...ir.types import VectorType, i1, i32
from .casts import resize_integer
from .conversion import FunctionLowering, lowers
from .emitter import Linear
from .rearrange import (
    ANY,
    element,
    from_scalars,
    insert,
    shuffle,
    splat,
)
from .types import is_rows, row_count, row_shape


def bind_rows(f: FunctionLowering, result: Value, rows: list[Value]) -> None:
    """Let these rows represent a vector."""
    f.bind(result, rows if is_rows(result.type) else rows[0])


@lowers(vector.Broadcast)
def _broadcast(f: FunctionLowering, op: vector.Broadcast) -> None:
    type = op.results[0].type
    row = splat(f, f.value(op.source), row_shape(type)[0])
    bind_rows(f, op.results[0], [row] * row_count(type))


# -- elements and parts ------------------------------------------------------------------------


def _flat_row(position: list[int], shape: tuple[Any, ...]) -> int:
    at = 0
    for i, extent in zip(position, shape, strict=False):
        at = at * extent + i
    return at


def _choose(f: FunctionLowering, parts: list[list[Value]], at: Value) -> list[Value]:
    """The part with the index `at`, by a chain of selects."""
    chosen = parts[0]
    for i, part in enumerate(parts[1:], 1):
        here = f.icmp("eq", at, f.integer(i))
        chosen = [
            f.emit(llvm.Select, [here, a, b], a.type) for a, b in zip(part, chosen, strict=True)
        ]
    return chosen


@lowers(vector.Extract)
def _extract(f: FunctionLowering, op: vector.Extract) -> None:
    type, result = op.source.type, op.results[0]
    position = mix(op.static_position, op.dynamic_position)
    rows = f.rows(op.source)
    leading = position[: max(0, type.rank - 1)]
    for d, at in enumerate(leading):
        below = row_count(VectorType(type.shape[d:], type.element_type)) // type.shape[d]
        parts = [rows[i : i + below] for i in range(0, len(rows), below)]
        rows = parts[max(at, 0)] if isinstance(at, int) else _choose(f, parts, f.value(at))
    if type.rank and len(position) < type.rank:
        bind_rows(f, result, rows)
        return
    lane = position[-1] if position else 0
    found = element(f, rows[0], max(lane, 0) if isinstance(lane, int) else f.value(lane))
    if isinstance(result.type, VectorType):
        found = from_scalars(f, [found])
    f.bind(result, found)


@lowers(vector.Insert)
def _insert(f: FunctionLowering, op: vector.Insert) -> None:
    type, result = op.dest.type, op.results[0]
    position = mix(op.static_position, op.dynamic_position)
    rows = list(f.rows(op.dest))
    full = len(position) == type.rank
    new = f.rows(op.valueToStore)
    leading = position[:-1] if full and position else position
    count = len(new) if not full else 1
    starts = _row_starts(f, leading, type, len(rows), count)
    for start, here in starts:
        for k in range(count):
            old = rows[start + k]
            value = _inserted(f, op, old, position, new[k]) if full else new[k]
            rows[start + k] = (
                value if here is None else f.emit(llvm.Select, [here, value, old], old.type)
            )
    bind_rows(f, result, rows)


def _row_starts(
    f: FunctionLowering, leading: list[Any], type: VectorType, total: int, count: int
) -> list[tuple[int, Value | None]]:
    """(first row, condition or None) for each place that indices known at run time may select."""
    starts: list[tuple[int, Value | None]] = [(0, None)]
    for d, at in enumerate(leading):
        below = row_count(VectorType(type.shape[d:], type.element_type)) // type.shape[d]
        if isinstance(at, int):
            starts = [(start + max(at, 0) * below, here) for start, here in starts]
            continue
        index = f.value(at)
        grown: list[tuple[int, Value | None]] = []
        for i in range(type.shape[d]):
            equal = f.icmp("eq", index, f.integer(i))
            for start, here in starts:
                both = equal if here is None else f.emit(llvm.And, [here, equal], i1)
                grown.append((start + i * below, both))
        starts = grown
    return starts


def _inserted(
    f: FunctionLowering, op: vector.Insert, row: Value, position: list[Any], value: Value
) -> Value:
    if isinstance(value.type, VectorType):
        value = element(f, value, 0)
    lane = position[-1] if position else 0
    at = f.integer(max(lane, 0)) if isinstance(lane, int) else f.value(lane)
    return insert(f, row, value, at)


@lowers(vector.ExtractStridedSlice)
def _extract_strided_slice(f: FunctionLowering, op: vector.ExtractStridedSlice) -> None:
    """Lower a slice of a row; --lower-tiles cuts all others into such."""
    first, size = int(op.offsets[0]), int(op.sizes[0])
    f.bind(op.results[0], shuffle(f, f.value(op.source), None, range(first, first + size)))


@lowers(vector.InsertStridedSlice)
def _insert_strided_slice(f: FunctionLowering, op: vector.InsertStridedSlice) -> None:
    """Lower the insertion of a row into one of a vector's rows."""
    *outer, first = (int(a) for a in op.offsets)
    rows, row = list(f.rows(op.dest)), f.value(op.valueToStore)
    number, width = _flat_row(outer, op.dest.type.shape), op.dest.type.shape[-1]
    inside = range(first, first + op.valueToStore.type.shape[0])
    if len(inside) < width:
        wide = shuffle(f, row, None, [i - first if i in inside else ANY for i in range(width)])
        row = shuffle(f, rows[number], wide, [i + width * (i in inside) for i in range(width)])
    rows[number] = row
    bind_rows(f, op.results[0], rows)


# -- rearrangement -----------------------------------------------------------------------------


@lowers(vector.Shuffle)
def _shuffle(f: FunctionLowering, op: vector.Shuffle) -> None:
    first, second = op.v1.type, op.v2.type
    if first.rank > 1:
        below = row_count(first) // first.shape[0]
        rows = f.rows(op.v1) + f.rows(op.v2)
        chosen = [rows[max(i, 0) * below + k] for i in op.mask for k in range(below)]
        bind_rows(f, op.results[0], chosen)
        return
    a, b = f.value(op.v1), f.value(op.v2)
    size = row_shape(first)[0]
    if a.type is b.type:
        f.bind(op.results[0], shuffle(f, a, b, op.mask))
        return
    other = row_shape(second)[0]
    width = max(size, other)
    wide = [
        v
        if v.type.shape[0] == width
        else shuffle(f, v, None, [i if i < v.type.shape[0] else ANY for i in range(width)])
        for v in (a, b)
    ]
    mask = [i if i < size else i - size + width for i in op.mask]
    f.bind(op.results[0], shuffle(f, wide[0], wide[1], mask))


@lowers(vector.Interleave)
def _interleave(f: FunctionLowering, op: vector.Interleave) -> None:
    rows = []
    for a, b in zip(f.rows(op.lhs), f.rows(op.rhs), strict=True):
        size = a.type.shape[0]
        rows.append(shuffle(f, a, b, [i for k in range(size) for i in (k, size + k)]))
    bind_rows(f, op.results[0], rows)


@lowers(vector.Deinterleave)
def _deinterleave(f: FunctionLowering, op: vector.Deinterleave) -> None:
    for start, result in enumerate(op.results):
        size = op.source.type.shape[-1]
        mask = range(start, size, 2)
        bind_rows(f, result, [shuffle(f, row, None, mask) for row in f.rows(op.source)])


@lowers(vector.Bitcast)
def _bitcast(f: FunctionLowering, op: vector.Bitcast) -> None:
    type = f.types.scalar_or_row(op.results[0].type)
    rows = [
        row if row.type is type else f.emit(llvm.Bitcast, [row], type) for row in f.rows(op.source)
    ]
    bind_rows(f, op.results[0], rows)


@lowers(vector.FromElements)
def _from_elements(f: FunctionLowering, op: vector.FromElements) -> None:
    width = row_shape(op.results[0].type)[0]
    scalars = [f.value(v) for v in op._operands]
    rows = [from_scalars(f, scalars[i : i + width]) for i in range(0, len(scalars), width)]
    bind_rows(f, op.results[0], rows)


@lowers(vector.ToElements)
def _to_elements(f: FunctionLowering, op: vector.ToElements) -> None:
    results = iter(op.results)
    for row in f.rows(op._operands[0]):
        for lane in range(row.type.shape[0]):
            f.bind(next(results), element(f, row, lane))


# -- masks -------------------------------------------------------------------------------------


def lanes_below(f: FunctionLowering, bound: Linear, size: int) -> Value:
    """A mask of the lanes below a bound. It compares in 32 bits, which take half the registers."""
    type = VectorType((size,), i1)
    if not bound.terms:
        count = min(max(bound.constant, 0), size)
        return f.constant(DenseElements.from_list([1] * count + [0] * (size - count), type), type)
    value = f.materialize(bound)
    computed = f.scopes[-1].computed
    key = ("mask", value, size)
    known = computed.get(key)
    if known is None:
        high = f.emit(llvm.IntrSMin, [value, f.integer(size)], value.type)
        count = f.emit(llvm.IntrSMax, [high, f.integer(0)], value.type)
        narrow = resize_integer(f, count, i32, signed=True)
        lanes = VectorType((size,), i32)
        steps = f.constant(DenseElements.from_list(list(range(size)), lanes), lanes)
        known = computed[key] = f.icmp("ult", steps, splat(f, narrow, size))
    return known


def mask_rows(f: FunctionLowering, bounds: list[Linear], shape: tuple[int, ...]) -> list[Value]:
    """The rows of a mask that is set where each index is below its bound."""
    width = shape[-1] if shape else 1
    lanes = lanes_below(f, bounds[-1], width) if shape else lanes_below(f, Linear((), 1), 1)
    none = lanes_below(f, Linear((), 0), width)
    rows: list[Value] = [lanes]
    for extent, bound in zip(reversed(shape[:-1]), reversed(bounds[:-1]), strict=True):
        grown: list[Value] = []
        for i in range(extent):
            if not bound.terms:
                grown += rows if i < bound.constant else [none] * len(rows)
                continue
            here = f.icmp("sgt", f.materialize(bound), f.integer(i))
            grown += [f.emit(llvm.Select, [here, row, none], row.type) for row in rows]
        rows = grown
    return rows


@lowers(vector.CreateMask)
def _create_mask(f: FunctionLowering, op: vector.CreateMask) -> None:
    bounds = [f.linear(v) for v in op._operands]
    shape = op.results[0].type.shape
    if not shape and bounds:
        shape = (1,)
    bind_rows(f, op.results[0], mask_rows(f, bounds, shape))


@lowers(vector.ConstantMask)
def _constant_mask(f: FunctionLowering, op: vector.ConstantMask) -> None:
    bounds = [Linear((), n) for n in op.mask_dim_sizes]
    shape = op.results[0].type.shape or (1,)
    bind_rows(f, op.results[0], mask_rows(f, bounds, shape))


@lowers(vector.Step)
def _step(f: FunctionLowering, op: vector.Step) -> None:
    type = f.types.row(op.results[0].type)
    values = list(range(type.shape[0]))
    f.bind(op.results[0], f.constant(DenseElements.from_list(values, type), type))

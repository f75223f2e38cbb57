"""Lowering of vector arithmetic: products, contractions, reductions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from ...dialects import llvm, vector
from ...ir.attributes import Attribute
from ...ir.core import Operation, Value
from ...ir.types import FloatType, Type, VectorType, bf16, f32
from .casts import extend_float, truncate_float
from .conversion import FunctionLowering, element_scalar, lowers
from .elementwise import by_rows, fastmath, float_op
from .rearrange import (
    as_rows,
    element,
    from_scalars,
    positions,
    rearrange,
    splat,
)
from .types import is_rows, row_type
from .vectors import bind_rows

Properties = dict[str, Attribute] | None

COMBINE: dict[str, tuple[type[Operation], type[Operation]]] = {
    "add": (llvm.Add, llvm.IntrVectorReduceAdd),
    "mul": (llvm.Mul, llvm.IntrVectorReduceMul),
    "minui": (llvm.IntrUMin, llvm.IntrVectorReduceUMin),
    "minsi": (llvm.IntrSMin, llvm.IntrVectorReduceSMin),
    "maxui": (llvm.IntrUMax, llvm.IntrVectorReduceUMax),
    "maxsi": (llvm.IntrSMax, llvm.IntrVectorReduceSMax),
    "and": (llvm.And, llvm.IntrVectorReduceAnd),
    "or": (llvm.Or, llvm.IntrVectorReduceOr),
    "xor": (llvm.Xor, llvm.IntrVectorReduceXor),
    "minnumf": (llvm.IntrMinNum, llvm.IntrVectorReduceFMin),
    "maxnumf": (llvm.IntrMaxNum, llvm.IntrVectorReduceFMax),
    "minimumf": (llvm.IntrMinimum, llvm.IntrVectorReduceFMinimum),
    "maximumf": (llvm.IntrMaximum, llvm.IntrVectorReduceFMaximum),
}
"""Kind of combination -> the op of two values, and that of a row; for floats see below."""

COMBINE_FLOATS: dict[str, tuple[type[Operation], type[Operation], float]] = {
    "add": (llvm.FAdd, llvm.IntrVectorReduceFAdd, -0.0),
    "mul": (llvm.FMul, llvm.IntrVectorReduceFMul, 1.0),
}
"""Sums and products of floats also have a start value; -0.0 changes no sum."""


def combine(f: FunctionLowering, kind: str, a: Value, b: Value, flags: Properties) -> Value:
    """Two scalars or rows combined, element by element."""
    if isinstance(element_scalar(a.type), FloatType):
        cls = COMBINE_FLOATS[kind][0] if kind in COMBINE_FLOATS else COMBINE[kind][0]
        return float_op(f, cls, [a, b], flags)
    return f.emit(COMBINE[kind][0], [a, b], a.type)


def reduce_row(
    f: FunctionLowering, kind: str, row: Value, acc: Value | None, flags: Properties
) -> Value:
    """The elements of a row combined, and with `acc` first.

    Numerics: sums and products of floats are taken in order, unless `flags` allow another;
    of bf16, in f32, and rounded once.
    """
    scalar = element_scalar(row.type)
    if scalar is bf16:
        wide = extend_float(f, row, f32)
        start = None if acc is None else extend_float(f, acc, f32)
        return truncate_float(f, reduce_row(f, kind, wide, start, flags), bf16)
    if isinstance(scalar, FloatType) and kind in COMBINE_FLOATS:
        _, cls, identity = COMBINE_FLOATS[kind]
        start = acc if acc is not None else f.number(identity, scalar)
        return f.emit(cls, [start, row], scalar, flags)
    properties = flags if isinstance(scalar, FloatType) else None
    total = f.emit(COMBINE[kind][1], [row], scalar, properties)
    return total if acc is None else combine(f, kind, acc, total, flags)


@lowers(vector.Fma)
def _fma(f: FunctionLowering, op: vector.Fma) -> None:
    by_rows(f, op, lambda *row: float_op(f, llvm.IntrFma, row))


@lowers(vector.Reduction)
def _reduction(f: FunctionLowering, op: vector.Reduction) -> None:
    acc = None if op.acc is None else f.value(op.acc)
    f.bind(op.results[0], reduce_row(f, op.kind, f.value(op.vector), acc, fastmath(op)))


@lowers(vector.MultiReduction)
def _multi_reduction(f: FunctionLowering, op: vector.MultiReduction) -> None:
    """Rows are combined first, so that few are reduced across their lanes."""
    type, kind = op.source.type, op.kind
    reduced = sorted(op.reduction_dims)
    kept = [d for d in range(type.rank) if d not in reduced]
    if not reduced:
        pairs = zip(f.rows(op.acc), f.rows(op.source), strict=True)
        bind_rows(f, op.results[0], [combine(f, kind, a, b, None) for a, b in pairs])
        return
    last = type.rank - 1
    index = positions(type.shape).transpose([*kept, *reduced])
    if last in reduced:
        found = _reduce_lanes(f, op, index, len(kept))
    else:
        found = _reduce_rows(f, op, kept, reduced)
    f.bind(op.results[0], found)


def _reduce_rows(f: FunctionLowering, op: Any, kept: list[int], reduced: list[int]) -> Any:
    """Where the last dimension stays: rows combined element by element."""
    type = op.source.type
    source = f.rows(op.source)
    numbers = positions(type.shape[:-1]).transpose([*kept[:-1], *reduced])
    groups = numbers.reshape(-1, _product(type.shape[d] for d in reduced)).tolist()
    rows = []
    for acc, group in zip(f.rows(op.acc), groups, strict=True):
        total = source[group[0]]
        for at in group[1:]:
            total = combine(f, op.kind, total, source[at], None)
        rows.append(combine(f, op.kind, acc, total, None))
    return rows if is_rows(op.results[0].type) else rows[0]


def _reduce_lanes(f: FunctionLowering, op: Any, index: Any, kept: int) -> Any:
    """Where the last dimension goes: the elements of each result in one row or several."""
    width = index.shape[-1]
    source = f.rows(op.source)
    totals = []
    accs = _scalars(f, op.acc)
    per_result = _product(index.shape[kept:])
    for acc, group in zip(accs, index.reshape(-1, per_result).tolist(), strict=True):
        rows = rearrange(f, source, [group[i : i + width] for i in range(0, len(group), width)])
        total = rows[0]
        for row in rows[1:]:
            total = combine(f, op.kind, total, row, None)
        totals.append(reduce_row(f, op.kind, total, acc, None))
    type = op.results[0].type
    if not isinstance(type, VectorType):
        return totals[0]
    size: int = row_type(type).shape[0]  # type: ignore[assignment]
    made = [from_scalars(f, totals[i : i + size]) for i in range(0, len(totals), size)]
    return made if is_rows(type) else made[0]


def _scalars(f: FunctionLowering, value: Value) -> list[Value]:
    """All elements of a vector, or the scalar."""
    if not isinstance(value.type, VectorType):
        return [f.value(value)]
    return [
        element(f, row, lane)
        for row in f.rows(value)
        for lane in range(row.type.shape[0])  # type: ignore[attr-defined]
    ]


def _product(numbers: Any) -> int:
    import math

    return math.prod(numbers)


# -- products ----------------------------------------------------------------------------------


def multiply_add(f: FunctionLowering, kind: str, a: Value, b: Value, acc: Value | None) -> Value:
    """`acc` combined with a * b; a fused multiply-add for sums of floats."""
    scalar = element_scalar(a.type)
    if isinstance(scalar, FloatType):
        if kind == "add" and acc is not None:
            return float_op(f, llvm.IntrFma, [a, b, acc])
        term = float_op(f, llvm.FMul, [a, b])
    else:
        term = f.emit(llvm.Mul, [a, b], a.type)
    return term if acc is None else combine(f, kind, acc, term, None)


@lowers(vector.OuterProduct)
def _outerproduct(f: FunctionLowering, op: vector.OuterProduct) -> None:
    lhs, rhs = op.lhs, op.rhs
    accs: Sequence[Value | None] = [None] * lhs.type.shape[0] if op.acc is None else f.rows(op.acc)
    if not isinstance(rhs.type, VectorType):
        row = f.value(lhs)
        other = splat(f, f.value(rhs), lhs.type.shape[0])
        f.bind(op.results[0], multiply_add(f, op.kind, row, other, accs[0]))
        return
    left, right = f.value(lhs), f.value(rhs)
    rows = [
        multiply_add(f, op.kind, _splat_lane(f, left, i, rhs.type.shape[0]), right, acc)
        for i, acc in enumerate(accs)
    ]
    bind_rows(f, op.results[0], rows)


def _splat_lane(f: FunctionLowering, row: Value, lane: int, size: int) -> Value:
    (spread,) = rearrange(f, [row], [[lane] * size])
    return spread


@lowers(vector.Contract)
def _contract(f: FunctionLowering, op: vector.Contract) -> None:
    """Rows along the last dimension of the result; or, for a scalar, of a reduction."""
    maps = [[e.position for e in map.results] for map in op.maps]  # type: ignore[attr-defined]
    sizes = op.extents()
    lane = maps[2][-1] if maps[2] else len(sizes) - 1
    width = sizes[lane]
    scalar_result = not isinstance(op.acc.type, VectorType)
    outer = [i for i in range(len(sizes)) if i != lane]
    totals: dict[tuple[int, ...], Value | None] = {}
    accs = iter(f.rows(op.acc))
    if scalar_result:
        totals[()] = None
    else:
        for at in product(*[range(sizes[i]) for i in maps[2][:-1]]):
            totals[at] = next(accs)
    wide = op.acc.type
    for point in product(*[range(sizes[i]) for i in outer]):
        here = dict(zip(outer, point, strict=True))
        a, b = (
            _contract_row(f, value, map, here, lane, width, wide)
            for value, map in zip((op.lhs, op.rhs), maps, strict=False)
        )
        key = () if scalar_result else tuple(here[i] for i in maps[2][:-1])
        totals[key] = multiply_add(f, op.kind, a, b, totals[key])
    if scalar_result:
        row = totals[()]
        assert row is not None
        f.bind(op.results[0], reduce_row(f, op.kind, row, f.value(op.acc), None))
    else:
        bind_rows(f, op.results[0], list(totals.values()))  # type: ignore[arg-type]


def _contract_row(
    f: FunctionLowering,
    value: Value,
    map: list[int],
    here: dict[int, int],
    lane: int,
    width: int,
    wide: Type,
) -> Value:
    """The row of an operand along the lanes, at a point of the other iterators."""
    type: VectorType = value.type  # type: ignore[assignment]
    at = tuple(slice(None) if i == lane else here[i] for i in map)
    index = positions(type.shape)[at]  # type: ignore[arg-type]
    row = as_rows(index)[0] if lane in map else [int(index)] * width
    (found,) = rearrange(f, f.rows(value), [row])
    element_type = element_scalar(wide)
    if isinstance(element_type, FloatType) and element_scalar(type) is not element_type:
        return extend_float(f, found, element_type)
    return found


@lowers(vector.Scan)
def _scan(f: FunctionLowering, op: vector.Scan) -> None:
    """Slice by slice along the dimension; a slice of the last dimension is a column."""
    import numpy as np

    type: VectorType = op.source.type
    index = np.moveaxis(positions(type.shape), op.reduction_dim, 0)  # type: ignore[arg-type]
    slices = [rearrange(f, f.rows(op.source), as_rows(part)) for part in index]
    running = f.rows(op.initial_value)
    steps: list[list[Value]] = []
    for i, part in enumerate(slices):
        following = [combine(f, op.kind, a, b, None) for a, b in zip(running, part, strict=True)]
        if op.inclusive:
            running = following if i else part
            steps.append(running)
        else:
            steps.append(running)
            running = following
    made = [row for step in steps for row in step]
    order = np.moveaxis(positions(index.shape), 0, op.reduction_dim)
    bind_rows(f, op.results[0], rearrange(f, made, as_rows(order)))
    bind_rows(f, op.results[1], steps[-1])

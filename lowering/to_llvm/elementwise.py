"""Lowering of arith, which is elementwise, on scalars and on the rows of vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...dialects import arith, llvm, ub
from ...dialects.llvm.attributes import OVERFLOW_FLAGS
from ...ir.attributes import Attribute, DenseElements, DenseResource, IntegerAttr
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.types import (
    FloatType,
    IndexType,
    MemRefType,
    Type,
    VectorType,
    f64,
    lane_type,
)
from .conversion import FunctionLowering, lowers
from .emitter import Linear
from .small_floats import narrowed, widened
from .types import is_rows, row_count

RowFunction = Callable[..., Value]


def by_rows(
    f: FunctionLowering, op: Operation, function: RowFunction, operands: Any = None
) -> None:
    """Let the function's results for the operands' rows, or for scalar operands, represent the
    result.
    """
    result = op.results[0]
    operands = op._operands if operands is None else operands
    if is_rows(result.type):
        rows = zip(*[f.rows(v) for v in operands], strict=True)
        f.bind(result, [function(*row) for row in rows])
    else:
        f.bind(result, function(*[f.value(v) for v in operands]))


def by_float_rows(f: FunctionLowering, op: Operation, function: RowFunction) -> None:
    """As `by_rows`, for floats; types without arithmetic are computed in f32 and rounded once.

    See `small_floats.is_computed`.
    """
    elements = [lane_type(v.type) for v in op._operands]
    result = lane_type(op.results[0].type)

    def row(*values: Value) -> Value:
        wide = [widened(f, v, e) for v, e in zip(values, elements, strict=True)]
        return narrowed(f, function(*wide), result)

    by_rows(f, op, row)


# -- flags -----------------------------------------------------------------------------------

_FASTMATH_CACHE: dict[str, dict[str, Attribute]] = {}


def fastmath(op: Operation) -> dict[str, Attribute] | None:
    """The properties of an llvm op with the same fast-math flags."""
    flags = op.properties.get("fastmath")
    if flags is None or flags.value == "none":  # type: ignore[attr-defined]
        return None
    text = flags.value  # type: ignore[attr-defined]
    known = _FASTMATH_CACHE.get(text)
    if known is None:
        known = _FASTMATH_CACHE[text] = {"fastmathFlags": llvm.FastmathFlagsAttr(text)}
    return known


_OVERFLOW = {
    text: {"overflowFlags": OVERFLOW_FLAGS.from_python(text)} for text in ("nsw", "nuw", "nsw,nuw")
}


def overflow(op: Operation) -> dict[str, Attribute] | None:
    """The properties of an llvm op with the same overflow flags."""
    flags = op.properties.get("overflowFlags")
    if flags is None or flags.value == "none":  # type: ignore[attr-defined]
        return None
    return _OVERFLOW[flags.value]  # type: ignore[attr-defined]


# -- constants -------------------------------------------------------------------------------


@lowers(arith.Constant)
def _constant(f: FunctionLowering, op: arith.Constant) -> None:
    value, type = op.properties["value"], op.results[0].type
    if isinstance(type, IndexType):
        f.bind(op.results[0], Linear((), value.value))  # type: ignore[attr-defined]
    elif isinstance(type, VectorType):
        f.bind(op.results[0], _vector_constant(f, value, type))
    else:
        f.bind(op.results[0], _scalar_constant(f, value, type))


def _scalar_constant(f: FunctionLowering, value: Attribute, type: Type) -> Value:
    """A constant in its LLVM type; a float of a type that LLVM does not have becomes its bits."""
    scalar = f.types.scalar(type)
    if isinstance(type, FloatType) and scalar is not type:
        bits = int.from_bytes(type.to_bytes(value.value), "little")  # type: ignore[attr-defined]
        value = IntegerAttr(bits, scalar)
    elif isinstance(value, IntegerAttr) and value.type is not scalar:
        value = IntegerAttr(value.value, scalar)
    return f.constant(value, scalar)


def _vector_constant(f: FunctionLowering, value: Attribute, type: VectorType) -> Any:
    if isinstance(value, DenseResource):
        value = DenseElements.from_numpy(value.to_numpy(), type)
    if not isinstance(value, DenseElements):
        raise NncError(f"{value} is not a vector constant")
    row = f.types.row(type)
    if isinstance(type.element_type, IndexType):
        numbers = [f.types.index.wrap(n) for n in value.values()]
        value = DenseElements.from_list(numbers, VectorType(type.shape, f.types.index))
    width = value.type.element_type.byte_width
    if value.is_splat:
        one = f.constant(DenseElements(row, value.data), row)
        return [one] * row_count(type) if is_rows(type) else one
    step = width * row.shape[0]
    rows = [
        f.constant(_dense_row(value.data[i : i + step], row), row)
        for i in range(0, len(value.data), step)
    ]
    return rows if is_rows(type) else rows[0]


def _dense_row(data: bytes, row: VectorType) -> DenseElements:
    """A row's elements from their bytes; a splat if all are equal."""
    width = row.element_type.byte_width
    one = data[:width]
    return DenseElements(row, one if one * (len(data) // width) == data else data)


@lowers(ub.Poison)
def _poison(f: FunctionLowering, op: ub.Poison) -> None:
    type = op.results[0].type
    values = [f.poison(t) for t in f.types.flat(type)]
    f.bind_flat(op.results[0], values)


# -- floats ----------------------------------------------------------------------------------


def float_op(
    f: FunctionLowering,
    cls: type[Operation],
    operands: Sequence[Value],
    properties: dict[str, Attribute] | None = None,
) -> Value:
    """Emit a float operation on scalars or rows of a type for which LLVM has arithmetic."""
    if cls in (llvm.IntrMaxNum, llvm.IntrMinNum) and not f.module.target.has_maxnum:
        return _selected(f, cls is llvm.IntrMaxNum, *operands)
    return f.emit(cls, operands, operands[0].type, properties)


def _selected(f: FunctionLowering, greatest: bool, a: Value, b: Value) -> Value:
    """The larger (or smaller) of two floats; if one is NaN, the other one."""
    first = f.fcmp("ogt" if greatest else "olt", a, b)
    chosen = f.emit(llvm.Select, [first, a, b], a.type)
    return f.emit(llvm.Select, [f.fcmp("uno", b, b), a, chosen], a.type)


def _float(llvm_class: type[Operation]) -> Any:
    def lower(f: FunctionLowering, op: Operation) -> None:
        flags = fastmath(op)
        _check_float(op)
        by_float_rows(f, op, lambda *row: float_op(f, llvm_class, row, flags))

    return lower


def _check_float(op: Operation) -> None:
    """Raise NncError for a float type that has no arithmetic."""
    element = lane_type(op.results[0].type)
    if isinstance(element, FloatType) and element.kind not in ("f16", "bf16", "f32", "f64"):
        raise NncError(f"there is no arithmetic on {element}; extend it to f32 first")


for _arith_class, _llvm_class in {
    arith.AddF: llvm.FAdd,
    arith.SubF: llvm.FSub,
    arith.MulF: llvm.FMul,
    arith.DivF: llvm.FDiv,
    arith.RemF: llvm.FRem,
    arith.NegF: llvm.FNeg,
    arith.MaxNumF: llvm.IntrMaxNum,
    arith.MinNumF: llvm.IntrMinNum,
}.items():
    lowers(_arith_class)(_float(_llvm_class))


def _splat_number(value: Value) -> float | None:
    """The number, if the value is a scalar constant or a splat; else None."""
    op = value.defining_op
    if not isinstance(op, llvm.Constant):
        return None
    attribute = op.properties["value"]
    if isinstance(attribute, DenseElements):
        return attribute.values()[0] if attribute.is_splat else None
    return attribute.value  # type: ignore[attr-defined]


def extremum(
    f: FunctionLowering, greatest: bool, a: Value, b: Value, flags: dict[str, Attribute] | None
) -> Value:
    """The larger (or smaller) of two floats: NaN if one is NaN, and +0.0 is larger than -0.0.

    If one is constant, a comparison and a select suffice, which are one instruction on x86. Only
    max(x, 0.0) also needs a sum with 0.0, which turns -0.0 into 0.0 and changes nothing else.
    """
    if _splat_number(b) is None and _splat_number(a) is not None:
        a, b = b, a
    limit = _splat_number(b)
    cls = llvm.IntrMaximum if greatest else llvm.IntrMinimum
    negative_zero = limit == 0 and math.copysign(1.0, limit) < 0
    if limit is None or math.isnan(limit) or (negative_zero and not greatest):
        if f.module.compares_f64 and lane_type(a.type) is f64:
            return _compared_extremum(f, greatest, a, b)
        return f.emit(cls, [a, b], a.type, flags)
    takes_limit = f.fcmp("olt" if greatest else "ogt", a, b)
    chosen = f.emit(llvm.Select, [takes_limit, b, a], a.type)
    if greatest and limit == 0 and not negative_zero and not _ignores_signs(flags):
        return f.emit(llvm.FAdd, [chosen, b], a.type)
    return chosen


def _compared_extremum(f: FunctionLowering, greatest: bool, a: Value, b: Value) -> Value:
    """`extremum` by comparisons; by a sum where an operand is NaN or both are zeros."""

    def negated(value: Value) -> Value:
        return value if greatest else f.emit(llvm.FNeg, [value], type)

    type = a.type
    total = negated(f.emit(llvm.FAdd, [negated(a), negated(b)], type))
    zeros = [f.fcmp("oeq", v, f.number(0.0, type)) for v in (a, b)]
    zero = f.emit(llvm.And, zeros, zeros[0].type)
    by_sum = f.emit(llvm.Or, [zero, f.fcmp("uno", a, b)], zero.type)
    farther = f.fcmp("ogt" if greatest else "olt", a, b)
    chosen = f.emit(llvm.Select, [farther, a, b], type)
    return f.emit(llvm.Select, [by_sum, total, chosen], type)


def _ignores_signs(flags: dict[str, Attribute] | None) -> bool:
    if flags is None:
        return False
    text = flags["fastmathFlags"].value  # type: ignore[attr-defined]
    return text == "fast" or "nsz" in text.split(",")


@lowers(arith.MaximumF, arith.MinimumF)
def _maximum(f: FunctionLowering, op: Operation) -> None:
    flags = fastmath(op)
    greatest = isinstance(op, arith.MaximumF)
    _check_float(op)
    by_float_rows(f, op, lambda a, b: extremum(f, greatest, a, b, flags))


# -- comparisons and select ------------------------------------------------------------------


@lowers(arith.CmpI)
def _cmpi(f: FunctionLowering, op: arith.CmpI) -> None:
    properties = {"predicate": op.properties["predicate"]}
    type = f.types.scalar_or_row(op.results[0].type)
    by_rows(f, op, lambda a, b: f.emit(llvm.ICmp, [a, b], type, properties))


@lowers(arith.CmpF)
def _cmpf(f: FunctionLowering, op: arith.CmpF) -> None:
    properties = {"predicate": op.properties["predicate"], **(fastmath(op) or {})}
    type = f.types.scalar_or_row(op.results[0].type)
    by_float_rows(f, op, lambda a, b: f.emit(llvm.FCmp, [a, b], type, properties))


@lowers(arith.Select)
def _select(f: FunctionLowering, op: arith.Select) -> None:
    condition, a, b = op._operands
    result = op.results[0]
    if isinstance(result.type, MemRefType):
        flat = [
            f.emit(llvm.Select, [f.value(condition), x, y], x.type)
            for x, y in zip(f.flat(a), f.flat(b), strict=True)
        ]
        f.bind_flat(result, flat)
    elif isinstance(condition.type, VectorType):
        by_rows(f, op, lambda c, x, y: f.emit(llvm.Select, [c, x, y], x.type))
    else:
        chosen = f.value(condition)
        by_rows(f, op, lambda x, y: f.emit(llvm.Select, [chosen, x, y], x.type), [a, b])

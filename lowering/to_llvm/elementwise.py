"""Lowering of arith: elementwise on scalars, and on the rows of vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...dialects import arith, llvm, ub
from ...dialects.llvm.attributes import FCMP_PREDICATE, ICMP_PREDICATE, OVERFLOW_FLAGS
from ...ir.attributes import Attribute, DenseElements, DenseResource, IntegerAttr
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.types import (
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    Type,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    with_shape_of,
)
from .conversion import FunctionLowering, Linear, element_scalar, lowers
from .small_floats import from_bf16, to_bf16, truncate_f64_to_half
from .types import is_rows, row_type, scalar_type

RowFunction = Callable[..., Value]


def result_row_type(type: Type) -> Type:
    """The LLVM type of a scalar, or of each row of a vector."""
    return row_type(type) if isinstance(type, VectorType) else scalar_type(type)


def by_rows(
    f: FunctionLowering, op: Operation, function: RowFunction, operands: Any = None
) -> None:
    """Bind the only result to what the function gives for each row of the operands."""
    result = op.results[0]
    operands = op._operands if operands is None else operands
    if is_rows(result.type):
        rows = zip(*[f.rows(v) for v in operands], strict=True)
        f.bind(result, [function(*row) for row in rows])
    else:
        f.bind(result, function(*[f.value(v) for v in operands]))


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
        f.bind(op.results[0], f.constant(_scalar_constant(value, type), scalar_type(type)))


def _scalar_constant(value: Attribute, type: Type) -> Attribute:
    """The attribute in the LLVM type: floats that LLVM lacks become their bits."""
    scalar = scalar_type(type)
    if isinstance(type, FloatType) and scalar is not type:
        bits = int.from_bytes(type.to_bytes(value.value), "little")  # type: ignore[attr-defined]
        return IntegerAttr(bits, scalar)
    if isinstance(value, IntegerAttr) and value.type is not scalar:
        return IntegerAttr(value.value, scalar)
    return value


def _vector_constant(f: FunctionLowering, value: Attribute, type: VectorType) -> Any:
    if isinstance(value, DenseResource):
        value = DenseElements.from_numpy(value.to_numpy(), type)
    if not isinstance(value, DenseElements):
        raise NncError(f"{value} is no vector constant")
    row = row_type(type)
    width = type.element_type.byte_width  # type: ignore[attr-defined]
    if value.is_splat:
        one = f.constant(DenseElements(row, value.data), row)
        return [one] * _rows(type) if is_rows(type) else one
    step = width * row.shape[0]  # type: ignore[operator]
    rows = [
        f.constant(_dense_row(value.data[i : i + step], row), row)
        for i in range(0, len(value.data), step)
    ]
    return rows if is_rows(type) else rows[0]


def _dense_row(data: bytes, row: VectorType) -> DenseElements:
    """A row from its bytes, which become a splat where all elements are equal."""
    width = row.element_type.byte_width  # type: ignore[attr-defined]
    one = data[:width]
    return DenseElements(row, one if one * (len(data) // width) == data else data)


def _rows(type: VectorType) -> int:
    from .types import row_count

    return row_count(type)


@lowers(ub.Poison)
def _poison(f: FunctionLowering, op: ub.Poison) -> None:
    from .types import flat_types

    type = op.results[0].type
    values = [f.poison(t) for t in flat_types(type)]
    f.bind_flat(op.results[0], values)


# -- floats ----------------------------------------------------------------------------------


def float_op(
    f: FunctionLowering,
    cls: type[Operation],
    operands: Sequence[Value],
    properties: dict[str, Attribute] | None = None,
) -> Value:
    """A float operation on rows of one type; bf16 is computed in f32 and rounded."""
    type = operands[0].type
    element = type.element_type if isinstance(type, VectorType) else type
    if element is bf16:
        wide = [from_bf16(f, v) for v in operands]
        return to_bf16(f, f.emit(cls, wide, wide[0].type, properties))
    return f.emit(cls, operands, type, properties)


def _float(llvm_class: type[Operation]) -> Any:
    def lower(f: FunctionLowering, op: Operation) -> None:
        flags = fastmath(op)
        _check_float(op)
        by_rows(f, op, lambda *row: float_op(f, llvm_class, row, flags))

    return lower


def _check_float(op: Operation) -> None:
    """Raise for a float format that has no arithmetic."""
    element = op.results[0].type
    element = element.element_type if isinstance(element, VectorType) else element
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
    """The float that all elements of a constant are, or None."""
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
    """The larger or smaller of two floats: NaN if one is, and +0.0 above -0.0.

    With a constant, a comparison and a select are the same, and one instruction on x86; only
    max(-0.0, 0.0) then needs a sum with 0.0, which changes nothing else.
    """
    if _splat_number(b) is None and _splat_number(a) is not None:
        a, b = b, a
    limit = _splat_number(b)
    cls = llvm.IntrMaximum if greatest else llvm.IntrMinimum
    negative_zero = limit == 0 and math.copysign(1.0, limit) < 0
    if limit is None or math.isnan(limit) or (negative_zero and not greatest):
        return f.emit(cls, [a, b], a.type, flags)
    beyond = "olt" if greatest else "ogt"
    properties = {"predicate": FCMP_PREDICATE.from_python(beyond)}
    outside = f.emit(llvm.FCmp, [a, b], with_shape_of(a.type, i1), properties)
    chosen = f.emit(llvm.Select, [outside, b, a], a.type)
    if greatest and limit == 0 and not negative_zero and not _ignores_signs(flags):
        return f.emit(llvm.FAdd, [chosen, b], a.type)
    return chosen


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

    def row(a: Value, b: Value) -> Value:
        if element_scalar(a.type) is bf16:
            wide = extremum(f, greatest, from_bf16(f, a), from_bf16(f, b), flags)
            return to_bf16(f, wide)
        return extremum(f, greatest, a, b, flags)

    by_rows(f, op, row)


# -- integers --------------------------------------------------------------------------------


def _plain_integer(llvm_class: type[Operation], flagged: bool = False) -> Any:
    def lower(f: FunctionLowering, op: Operation) -> None:
        flags = overflow(op) if flagged else None
        by_rows(f, op, lambda a, b: f.emit(llvm_class, [a, b], a.type, flags))

    return lower


for _arith_class, _llvm_class in {
    arith.AndI: llvm.And,
    arith.OrI: llvm.Or,
    arith.XOrI: llvm.Xor,
    arith.ShRSI: llvm.AShr,
    arith.ShRUI: llvm.LShr,
    arith.MaxSI: llvm.IntrSMax,
    arith.MaxUI: llvm.IntrUMax,
    arith.MinSI: llvm.IntrSMin,
    arith.MinUI: llvm.IntrUMin,
}.items():
    lowers(_arith_class)(_plain_integer(_llvm_class))
lowers(arith.ShLI)(_plain_integer(llvm.Shl, flagged=True))


@lowers(arith.AddI, arith.SubI)
def _add_or_sub(f: FunctionLowering, op: Operation) -> None:
    if isinstance(op.results[0].type, IndexType):
        a, b = (f.linear(v) for v in op._operands)
        sign = 1 if isinstance(op, arith.AddI) else -1
        f.bind(op.results[0], a.plus(b.scaled(sign)))
        return
    cls = llvm.Add if isinstance(op, arith.AddI) else llvm.Sub
    flags = overflow(op)
    by_rows(f, op, lambda a, b: f.emit(cls, [a, b], a.type, flags))


@lowers(arith.MulI)
def _mul(f: FunctionLowering, op: Operation) -> None:
    if isinstance(op.results[0].type, IndexType):
        f.bind(op.results[0], multiply(f, *(f.linear(v) for v in op._operands)))
        return
    flags = overflow(op)
    by_rows(f, op, lambda a, b: f.emit(llvm.Mul, [a, b], a.type, flags))


def multiply(f: FunctionLowering, a: Linear, b: Linear) -> Linear:
    """The product of two sums; emitted unless one is a constant."""
    if not a.terms:
        a, b = b, a
    if not b.terms:
        return a.scaled(b.constant)
    return Linear(((f.product(f.materialize(a), f.materialize(b)), 1),), 0)


# -- integer division --------------------------------------------------------------------------


def _known_nonzero(f: FunctionLowering, divisor: Value, signed: bool) -> bool:
    """Whether a divisor is a constant by which division never traps."""
    op = divisor.defining_op
    if not isinstance(op, llvm.Constant):
        return False
    value = op.properties["value"]
    numbers = value.values() if isinstance(value, DenseElements) else [value.value]  # type: ignore[attr-defined]
    return all(n not in ((0, -1) if signed else (0,)) for n in numbers)


def safe_divisor(f: FunctionLowering, a: Value, b: Value, signed: bool) -> Value:
    """The divisor, or 1 where the division would trap: by zero, or the least number by -1.

    The processor stops the whole process for those; so x / 0 is x here, and the least
    number by -1 wraps to itself, as it does in NumPy.
    """
    if _known_nonzero(f, b, signed):
        return b
    type = b.type
    condition = with_shape_of(type, i1)

    def equal(x: Value, n: int) -> Value:
        properties = {"predicate": ICMP_PREDICATE.from_python("eq")}
        return f.emit(llvm.ICmp, [x, f.integer(n, type)], condition, properties)

    traps = equal(b, 0)
    if signed:
        least = -(1 << (element_scalar(type).width - 1))  # type: ignore[attr-defined]
        overflows = f.emit(llvm.And, [equal(a, least), equal(b, -1)], condition)
        traps = f.emit(llvm.Or, [traps, overflows], condition)
    return f.emit(llvm.Select, [traps, f.integer(1, type), b], type)


def _divide(llvm_class: type[Operation], signed: bool) -> Any:
    def lower(f: FunctionLowering, op: Operation) -> None:
        if isinstance(op.results[0].type, IndexType):
            known = [f.known_integer(v) for v in op._operands]
            if None not in known and known[1] != 0 and known[0] >= 0 and known[1] > 0:  # type: ignore[operator]
                a, b = known
                quotient = llvm_class in (llvm.SDiv, llvm.UDiv)
                f.bind(op.results[0], Linear((), a // b if quotient else a % b))  # type: ignore[operator]
                return
        by_rows(
            f,
            op,
            lambda a, b: f.emit(llvm_class, [a, safe_divisor(f, a, b, signed)], a.type),
        )
        _note_non_negative(f, op, signed)

    return lower


def _note_non_negative(f: FunctionLowering, op: Operation, signed: bool) -> None:
    """Quotients and remainders of indices that are not negative are not, either."""
    if not isinstance(op.results[0].type, IndexType):
        return
    operands = [f.values[v] for v in op._operands]
    if all(is_non_negative(f, v) for v in operands):
        f.non_negative.add(f.values[op.results[0]])


def is_non_negative(f: FunctionLowering, index: Linear | Value) -> bool:
    """Whether an index is known not to be negative."""
    if not isinstance(index, Linear):
        return index in f.non_negative
    return index.constant >= 0 and all(c > 0 and v in f.non_negative for v, c in index.terms)


lowers(arith.DivSI)(_divide(llvm.SDiv, signed=True))
lowers(arith.DivUI)(_divide(llvm.UDiv, signed=False))
lowers(arith.RemSI)(_divide(llvm.SRem, signed=True))
lowers(arith.RemUI)(_divide(llvm.URem, signed=False))


def icmp(f: FunctionLowering, predicate: str, a: Value, b: Value) -> Value:
    """A comparison of integers."""
    properties = {"predicate": ICMP_PREDICATE.from_python(predicate)}
    return f.emit(llvm.ICmp, [a, b], with_shape_of(a.type, i1), properties)


def floor_divide(f: FunctionLowering, a: Value, b: Value, up: bool = False) -> Value:
    """The quotient of signed integers rounded down, or `up`."""
    type = a.type
    b = safe_divisor(f, a, b, signed=True)
    quotient = f.emit(llvm.SDiv, [a, b], type)
    back = f.emit(llvm.Mul, [quotient, b], type)
    inexact = icmp(f, "ne", back, a)
    zero = f.integer(0, type)
    same_sign = "eq" if up else "ne"
    signs = icmp(f, same_sign, icmp(f, "slt", a, zero), icmp(f, "slt", b, zero))
    adjust = f.emit(llvm.And, [inexact, signs], inexact.type)
    step = f.emit(llvm.Add, [quotient, f.integer(1 if up else -1, type)], type)
    return f.emit(llvm.Select, [adjust, step, quotient], type)


@lowers(arith.FloorDivSI)
def _floordivsi(f: FunctionLowering, op: Operation) -> None:
    by_rows(f, op, lambda a, b: floor_divide(f, a, b))
    _note_non_negative(f, op, True)


@lowers(arith.CeilDivSI)
def _ceildivsi(f: FunctionLowering, op: Operation) -> None:
    by_rows(f, op, lambda a, b: floor_divide(f, a, b, up=True))
    _note_non_negative(f, op, True)


@lowers(arith.CeilDivUI)
def _ceildivui(f: FunctionLowering, op: Operation) -> None:
    def row(a: Value, b: Value) -> Value:
        type = a.type
        b = safe_divisor(f, a, b, signed=False)
        quotient = f.emit(llvm.UDiv, [a, b], type)
        back = f.emit(llvm.Mul, [quotient, b], type)
        step = f.emit(llvm.Add, [quotient, f.integer(1, type)], type)
        return f.emit(llvm.Select, [icmp(f, "ne", back, a), step, quotient], type)

    by_rows(f, op, row)


# -- wide results --------------------------------------------------------------------------------


def _two_results(f: FunctionLowering, op: Operation, function: Any) -> None:
    """Bind two results to what the function gives for each row."""
    pairs = [function(*row) for row in zip(*[f.rows(v) for v in op._operands], strict=True)]
    for result, rows in zip(op.results, zip(*pairs, strict=True), strict=True):
        f.bind(result, list(rows) if is_rows(result.type) else rows[0])


@lowers(arith.AddUIExtended)
def _addui_extended(f: FunctionLowering, op: Operation) -> None:
    def row(a: Value, b: Value) -> tuple[Value, Value]:
        total = f.emit(llvm.Add, [a, b], a.type)
        return total, icmp(f, "ult", total, a)

    _two_results(f, op, row)


@lowers(arith.MulSIExtended, arith.MulUIExtended)
def _mul_extended(f: FunctionLowering, op: Operation) -> None:
    extend = llvm.SExt if isinstance(op, arith.MulSIExtended) else llvm.ZExt

    def row(a: Value, b: Value) -> tuple[Value, Value]:
        bits = element_scalar(a.type).width  # type: ignore[attr-defined]
        wide = with_shape_of(a.type, IntegerType(2 * bits))
        product = f.emit(llvm.Mul, [f.emit(extend, [v], wide) for v in (a, b)], wide)
        high = f.emit(llvm.LShr, [product, f.integer(bits, wide)], wide)
        return f.emit(llvm.Trunc, [product], a.type), f.emit(llvm.Trunc, [high], a.type)

    _two_results(f, op, row)


# -- comparisons and select ------------------------------------------------------------------


@lowers(arith.CmpI)
def _cmpi(f: FunctionLowering, op: arith.CmpI) -> None:
    properties = {"predicate": op.properties["predicate"]}
    type = result_row_type(op.results[0].type)
    by_rows(f, op, lambda a, b: f.emit(llvm.ICmp, [a, b], type, properties))


@lowers(arith.CmpF)
def _cmpf(f: FunctionLowering, op: arith.CmpF) -> None:
    properties = {"predicate": op.properties["predicate"], **(fastmath(op) or {})}
    type = result_row_type(op.results[0].type)

    def row(a: Value, b: Value) -> Value:
        if element_scalar(a.type) is bf16:
            a, b = from_bf16(f, a), from_bf16(f, b)
        return f.emit(llvm.FCmp, [a, b], type, properties)

    by_rows(f, op, row)


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


# -- casts -----------------------------------------------------------------------------------


def cast(f: FunctionLowering, cls: type[Operation], value: Value, element: Type) -> Value:
    """The cast of a scalar or row to another element type."""
    return f.emit(cls, [value], with_shape_of(value.type, element))


def _cast(llvm_class: type[Operation]) -> Any:
    def lower(f: FunctionLowering, op: Operation) -> None:
        type = result_row_type(op.results[0].type)
        by_rows(f, op, lambda a: f.emit(llvm_class, [a], type))

    return lower


lowers(arith.ExtSI)(_cast(llvm.SExt))
lowers(arith.ExtUI)(_cast(llvm.ZExt))


@lowers(arith.TruncI)
def _trunci(f: FunctionLowering, op: Operation) -> None:
    type, flags = result_row_type(op.results[0].type), overflow(op)
    by_rows(f, op, lambda a: f.emit(llvm.Trunc, [a], type, flags))


def resize_integer(f: FunctionLowering, value: Value, element: Type, signed: bool) -> Value:
    """An integer of another width: truncated, or extended with the sign or zeros."""
    have, want = element_scalar(value.type).width, element.width  # type: ignore[attr-defined]
    if have == want:
        return value
    if have > want:
        return cast(f, llvm.Trunc, value, element)
    return cast(f, llvm.SExt if signed else llvm.ZExt, value, element)


@lowers(arith.IndexCast, arith.IndexCastUI)
def _index_cast(f: FunctionLowering, op: Operation) -> None:
    source, result = op._operands[0], op.results[0]
    if isinstance(result.type, MemRefType):
        f.bind(result, f.memref(source))
        return
    signed = isinstance(op, arith.IndexCast)
    element = element_scalar(result.type)
    known = f.known_integer(source)
    if known is not None and isinstance(result.type, IndexType) and (signed or known >= 0):
        f.bind(result, Linear((), known))
        return
    by_rows(f, op, lambda a: resize_integer(f, a, element, signed))


@lowers(arith.Bitcast)
def _bitcast(f: FunctionLowering, op: Operation) -> None:
    source, result = op._operands[0], op.results[0]
    if isinstance(result.type, MemRefType):
        f.bind(result, f.memref(source))
        return
    type = result_row_type(result.type)
    by_rows(f, op, lambda a: a if a.type is type else f.emit(llvm.Bitcast, [a], type))


@lowers(arith.ExtF)
def _extf(f: FunctionLowering, op: Operation) -> None:
    element = element_scalar(op.results[0].type)
    _only_wide_floats(op)
    by_rows(f, op, lambda a: extend_float(f, a, element))


def extend_float(f: FunctionLowering, value: Value, element: Type) -> Value:
    """A wider float of the same value."""
    if element_scalar(value.type) is bf16:
        value = from_bf16(f, value)
        if element is f32:
            return value
    return cast(f, llvm.FPExt, value, element)


@lowers(arith.TruncF)
def _truncf(f: FunctionLowering, op: arith.TruncF) -> None:
    if op.roundingmode not in (None, "to_nearest_even"):
        raise NncError(f"rounding mode {op.roundingmode} is not supported")
    element = element_scalar(op.results[0].type)
    _only_wide_floats(op)
    by_rows(f, op, lambda a: truncate_float(f, a, element))


def truncate_float(f: FunctionLowering, value: Value, element: Type) -> Value:
    """A narrower float, rounded once to nearest even."""
    source = element_scalar(value.type)
    if source is f64 and element in (f16, bf16):
        value = truncate_f64_to_half(f, value)
    if element is bf16:
        return to_bf16(f, value)
    return cast(f, llvm.FPTrunc, value, element)


def _only_wide_floats(op: Operation) -> None:
    for value in (*op._operands, *op.results):
        type = value.type.element_type if isinstance(value.type, VectorType) else value.type
        if type.kind not in ("f16", "bf16", "f32", "f64"):  # type: ignore[attr-defined]
            raise NncError(f"there is no conversion of {type}")


@lowers(arith.SIToFP, arith.UIToFP)
def _int_to_float(f: FunctionLowering, op: Operation) -> None:
    cls = llvm.SIToFP if isinstance(op, arith.SIToFP) else llvm.UIToFP
    element = element_scalar(op.results[0].type)

    def row(a: Value) -> Value:
        if element is not bf16:
            return cast(f, cls, a, element)
        # f64 holds integers of up to 53 bits, so only wider ones are rounded twice.
        return truncate_float(f, cast(f, cls, a, f64), bf16)

    by_rows(f, op, row)


@lowers(arith.FPToSI, arith.FPToUI)
def _float_to_int(f: FunctionLowering, op: Operation) -> None:
    cls = llvm.FPToSI if isinstance(op, arith.FPToSI) else llvm.FPToUI
    element = element_scalar(op.results[0].type)

    def row(a: Value) -> Value:
        if element_scalar(a.type) is bf16:
            a = from_bf16(f, a)
        return cast(f, cls, a, element)

    by_rows(f, op, row)

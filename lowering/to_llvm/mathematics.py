"""Lowering of math: intrinsics where LLVM has them, else calls of libm for each element.

`--expand-math` has replaced most of these ops by arithmetic before. Those that are left are exact
in hardware, of f64, or rare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects import llvm, math
from ...ir.attributes import Attribute, BoolAttr, IntegerAttr
from ...ir.core import Operation, Value
from ...ir.types import (
    VectorType,
    f16,
    f32,
    f64,
    i1,
    i32,
    lane_type,
    with_shape_of,
)
from .casts import extend_float, truncate_float
from .conversion import FunctionLowering, lowers
from .elementwise import by_float_rows, by_rows, fastmath, float_op
from .small_floats import narrowed, widened


def _intrinsic(llvm_class: type[Operation]) -> Any:
    def lower(f: FunctionLowering, op: Operation) -> None:
        flags = fastmath(op)
        by_float_rows(f, op, lambda *row: float_op(f, llvm_class, row, flags))

    return lower


for _math_class, _llvm_class in {
    math.AbsF: llvm.IntrFabs,
    math.Ceil: llvm.IntrCeil,
    math.Floor: llvm.IntrFloor,
    math.Trunc: llvm.IntrTrunc,
    math.Round: llvm.IntrRound,
    math.Sqrt: llvm.IntrSqrt,
    math.CopySign: llvm.IntrCopySign,
}.items():
    lowers(_math_class)(_intrinsic(_llvm_class))


@lowers(math.Fma)
def _fma(f: FunctionLowering, op: Operation) -> None:
    flags = fastmath(op)
    by_float_rows(f, op, lambda *row: float_op(f, f.module.fma, row, flags))


@lowers(math.RoundEven)
def _round_even(f: FunctionLowering, op: Operation) -> None:
    """`roundeven` on Linux, `nearbyint` on other systems.

    On a processor without an instruction it is a function of libm, and only Linux has `roundeven`.
    `nearbyint` gives the same in the rounding mode that threads start in.
    """
    linux = f.module.system == "linux"
    _intrinsic(llvm.IntrRoundEven if linux else llvm.IntrNearbyInt)(f, op)


@lowers(math.Rsqrt)
def _rsqrt(f: FunctionLowering, op: Operation) -> None:
    """Emit 1 / sqrt(x), both rounded, since the processor's estimate is far less exact."""
    flags = fastmath(op)

    def row(x: Value) -> Value:
        if lane_type(x.type) is f16:
            return truncate_float(f, row(extend_float(f, x, f32)), f16)
        root = f.emit(llvm.IntrSqrt, [x], x.type, flags)
        return f.emit(llvm.FDiv, [f.number(1.0, x.type), root], x.type, flags)

    by_float_rows(f, op, row)


@lowers(math.ClampF)
def _clampf(f: FunctionLowering, op: Operation) -> None:
    flags = fastmath(op)

    def row(x: Value, low: Value, high: Value) -> Value:
        at_least = float_op(f, llvm.IntrMaximum, [x, low], flags)
        return float_op(f, llvm.IntrMinimum, [at_least, high], flags)

    by_float_rows(f, op, row)


# -- functions of libm -------------------------------------------------------------------------

LIBM: dict[type[Operation], str] = {
    math.Exp: "exp",
    math.Exp2: "exp2",
    math.ExpM1: "expm1",
    math.Log: "log",
    math.Log2: "log2",
    math.Log10: "log10",
    math.Log1p: "log1p",
    math.Sin: "sin",
    math.Cos: "cos",
    math.Tan: "tan",
    math.Asin: "asin",
    math.Acos: "acos",
    math.Atan: "atan",
    math.Sinh: "sinh",
    math.Cosh: "cosh",
    math.Tanh: "tanh",
    math.Asinh: "asinh",
    math.Acosh: "acosh",
    math.Atanh: "atanh",
    math.Erf: "erf",
    math.Erfc: "erfc",
    math.Cbrt: "cbrt",
    math.PowF: "pow",
    math.Atan2: "atan2",
}
"""The name of the C function for f64; that for f32 ends in `f`."""


def call_by_element(f: FunctionLowering, name: str, operands: Sequence[Value]) -> Value:
    """Call a C function of floats for each element; f16 is computed in f32."""
    type = operands[0].type
    element = lane_type(type)
    if element is f16:
        wide = [extend_float(f, v, f32) for v in operands]
        return truncate_float(f, call_by_element(f, name, wide), f16)
    symbol = name if element is f64 else name + "f"
    f.module.need_function(symbol, [element] * len(operands), element, pure=True)
    if not isinstance(type, VectorType):
        return f.append(llvm.Call.of(symbol, list(operands), element)).results[0]
    result = f.poison(type)
    for i in range(type.shape[0]):
        at = f.integer(i)
        parts = [f.emit(llvm.ExtractElement, [v, at], element) for v in operands]
        value = f.append(llvm.Call.of(symbol, parts, element)).results[0]
        result = f.emit(llvm.InsertElement, [result, value, at], type)
    return result


def _libm(name: str) -> Any:
    def lower(f: FunctionLowering, op: Operation) -> None:
        by_float_rows(f, op, lambda *row: call_by_element(f, name, row))

    return lower


for _math_class, _name in LIBM.items():
    lowers(_math_class)(_libm(_name))


@lowers(math.SinCos)
def _sincos(f: FunctionLowering, op: Operation) -> None:
    (source,) = op._operands
    element = lane_type(source.type)
    wide = [widened(f, row, element) for row in f.rows(source)]
    for result, name in zip(op.results, ("sin", "cos"), strict=True):
        rows = [narrowed(f, call_by_element(f, name, [row]), element) for row in wide]
        f.bind(result, rows if len(rows) > 1 else rows[0])


@lowers(math.FPowI)
def _fpowi(f: FunctionLowering, op: Operation) -> None:
    """Call `pow` in f64, which holds the exponent exactly: at most the last bit is wrong."""
    element = lane_type(op.results[0].type)

    def row(base: Value, exponent: Value) -> Value:
        wide = extend_float(f, widened(f, base, element), f64)
        power = f.emit(llvm.SIToFP, [exponent], with_shape_of(exponent.type, f64))
        result = call_by_element(f, "pow", [wide, power])
        return result if element is f64 else truncate_float(f, result, element)

    by_rows(f, op, row)


# -- integers ----------------------------------------------------------------------------------


def _integer(llvm_class: type[Operation], flag: str = "") -> Any:
    properties: dict[str, Attribute] | None = {flag: BoolAttr(False)} if flag else None

    def lower(f: FunctionLowering, op: Operation) -> None:
        by_rows(f, op, lambda x: f.emit(llvm_class, [x], x.type, properties))

    return lower


lowers(math.AbsI)(_integer(llvm.IntrAbs, "is_int_min_poison"))
lowers(math.CtLz)(_integer(llvm.IntrCtLz, "is_zero_poison"))
lowers(math.CtTz)(_integer(llvm.IntrCtTz, "is_zero_poison"))
lowers(math.CtPop)(_integer(llvm.IntrCtPop))


@lowers(math.IPowI)
def _ipowi(f: FunctionLowering, op: Operation) -> None:
    """Square and multiply over the bits of the exponent.

    A negative exponent gives 0, except for bases 1 and -1. That includes base 0, which would be a
    division by zero and must not stop the process.
    """

    def row(base: Value, exponent: Value) -> Value:
        type = base.type
        one, zero = f.integer(1, type), f.integer(0, type)
        power, factor = one, base
        for bit in range(lane_type(type).width):
            mask = f.integer(1 << bit, type)
            here = f.icmp("ne", f.emit(llvm.And, [exponent, mask], type), zero)
            product = f.emit(llvm.Mul, [power, factor], type)
            power = f.emit(llvm.Select, [here, product, power], type)
            factor = f.emit(llvm.Mul, [factor, factor], type)
        # base**-n is base**n for 1 and -1, as the loop computed it with the bits of -n.
        unit = f.emit(
            llvm.Or,
            [f.icmp("eq", base, one), f.icmp("eq", base, f.integer(-1, type))],
            with_shape_of(type, i1),
        )
        small = f.emit(llvm.Select, [unit, power, zero], type)
        return f.emit(llvm.Select, [f.icmp("slt", exponent, zero), small, power], type)

    by_rows(f, op, row)


# -- classes of floats -------------------------------------------------------------------------

# LLVM's mask of classes: signaling and quiet NaN, then from -inf to +inf.
_NAN, _INFINITE, _NORMAL = 0x003, 0x204, 0x108


def _float_class(mask: int) -> Any:
    def lower(f: FunctionLowering, op: Operation) -> None:
        type = f.types.scalar_or_row(op.results[0].type)
        element = lane_type(op._operands[0].type)

        def row(x: Value) -> Value:
            # In f32 a denormal f16 is normal; LLVM tells that from bits alone.
            if element is not f16 or mask != _NORMAL:
                x = widened(f, x, element)
            return f.emit(llvm.IntrIsFPClass, [x], type, {"bit": IntegerAttr(mask, i32)})

        by_rows(f, op, row)

    return lower


lowers(math.IsNan)(_float_class(_NAN))
lowers(math.IsInf)(_float_class(_INFINITE))
lowers(math.IsFinite)(_float_class(0x3FF & ~(_NAN | _INFINITE)))
lowers(math.IsNormal)(_float_class(_NORMAL))

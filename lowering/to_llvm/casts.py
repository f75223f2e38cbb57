"""Lowering of the casts of arith, between widths and kinds of numbers."""

from __future__ import annotations

from typing import Any

from ...dialects import arith, llvm
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.types import (
    IndexType,
    MemRefType,
    Type,
    bf16,
    f16,
    f64,
    lane_type,
)
from .conversion import FunctionLowering, lowers
from .elementwise import by_float_rows, by_rows, overflow
from .emitter import Linear
from .small_floats import is_computed, narrowed, truncate_f64_to_half

# -- casts -----------------------------------------------------------------------------------


def _cast(llvm_class: type[Operation]) -> Any:
    def lower(f: FunctionLowering, op: Operation) -> None:
        type = f.types.scalar_or_row(op.results[0].type)
        by_rows(f, op, lambda a: f.emit(llvm_class, [a], type))

    return lower


lowers(arith.ExtSI)(_cast(llvm.SExt))
lowers(arith.ExtUI)(_cast(llvm.ZExt))


@lowers(arith.TruncI)
def _trunci(f: FunctionLowering, op: Operation) -> None:
    type, flags = f.types.scalar_or_row(op.results[0].type), overflow(op)
    by_rows(f, op, lambda a: f.emit(llvm.Trunc, [a], type, flags))


def resize_integer(f: FunctionLowering, value: Value, element: Type, signed: bool) -> Value:
    """An integer in the width of `element`: truncated, or extended with its sign or zeros."""
    have, want = lane_type(value.type).width, element.width  # type: ignore[attr-defined]
    if have == want:
        return value
    if have > want:
        return f.cast(llvm.Trunc, value, element)
    return f.cast(llvm.SExt if signed else llvm.ZExt, value, element)


@lowers(arith.IndexCast, arith.IndexCastUI)
def _index_cast(f: FunctionLowering, op: Operation) -> None:
    source, result = op._operands[0], op.results[0]
    if isinstance(result.type, MemRefType):
        f.bind(result, f.memref(source))
        return
    signed = isinstance(op, arith.IndexCast)
    element = f.types.element(result.type)
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
    type = f.types.scalar_or_row(result.type)
    by_rows(f, op, lambda a: a if a.type is type else f.emit(llvm.Bitcast, [a], type))


@lowers(arith.ExtF)
def _extf(f: FunctionLowering, op: Operation) -> None:
    element = lane_type(op.results[0].type)
    _only_wide_floats(op)
    by_float_rows(f, op, lambda a: extend_float(f, a, element))


def extend_float(f: FunctionLowering, value: Value, element: Type) -> Value:
    """The same value in the LLVM float type `element`, which is at least as wide."""
    return value if lane_type(value.type) is element else f.cast(llvm.FPExt, value, element)


@lowers(arith.TruncF)
def _truncf(f: FunctionLowering, op: arith.TruncF) -> None:
    if op.roundingmode not in (None, "to_nearest_even"):
        raise NncError(f"rounding mode {op.roundingmode} is not supported")
    element = lane_type(op.results[0].type)
    _only_wide_floats(op)
    by_rows(f, op, lambda a: truncate_float(f, a, element))


def truncate_float(f: FunctionLowering, value: Value, element: Type) -> Value:
    """The value in the narrower float type `element`, rounded once, to nearest even."""
    source = lane_type(value.type)
    if source is f64 and element in (f16, bf16):
        value = truncate_f64_to_half(f, value)
    if is_computed(f, element):
        return narrowed(f, value, element)
    return f.cast(llvm.FPTrunc, value, element)


def _only_wide_floats(op: Operation) -> None:
    for value in (*op._operands, *op.results):
        type = lane_type(value.type)
        if type.kind not in ("f16", "bf16", "f32", "f64"):
            raise NncError(f"there is no conversion of {type}")


@lowers(arith.SIToFP, arith.UIToFP)
def _int_to_float(f: FunctionLowering, op: Operation) -> None:
    cls = llvm.SIToFP if isinstance(op, arith.SIToFP) else llvm.UIToFP
    element = lane_type(op.results[0].type)

    def row(a: Value) -> Value:
        if not is_computed(f, element):
            return f.cast(cls, a, element)
        # f64 holds integers of up to 53 bits, so only wider ones are rounded twice.
        return truncate_float(f, f.cast(cls, a, f64), element)

    by_rows(f, op, row)


@lowers(arith.FPToSI, arith.FPToUI)
def _float_to_int(f: FunctionLowering, op: Operation) -> None:
    cls = llvm.FPToSI if isinstance(op, arith.FPToSI) else llvm.FPToUI
    element = f.types.element(op.results[0].type)
    by_float_rows(f, op, lambda a: f.cast(cls, a, element))

"""Lowering of arith's integer arithmetic; sums and products of indices are kept as `Linear`."""

from __future__ import annotations

from typing import Any

from ...dialects import arith, llvm
from ...ir.attributes import DenseElements
from ...ir.core import Operation, Value
from ...ir.types import (
    IndexType,
    IntegerType,
    lane_type,
    with_shape_of,
)
from .conversion import FunctionLowering, lowers
from .elementwise import by_rows, overflow
from .emitter import Linear
from .products import accumulated
from .types import is_rows

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
    if isinstance(op, arith.AddI) and accumulated(f, op):
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
    """The product of two sums; code is emitted unless one is constant."""
    if not a.terms:
        a, b = b, a
    if not b.terms:
        return a.scaled(b.constant)
    return Linear(((f.product(f.materialize(a), f.materialize(b)), 1),), 0)


# -- integer division --------------------------------------------------------------------------


def _known_nonzero(f: FunctionLowering, divisor: Value, signed: bool) -> bool:
    """Whether a divisor is a constant with which no division traps."""
    op = divisor.defining_op
    if not isinstance(op, llvm.Constant):
        return False
    value = op.properties["value"]
    numbers = value.values() if isinstance(value, DenseElements) else [value.value]  # type: ignore[attr-defined]
    return all(n not in ((0, -1) if signed else (0,)) for n in numbers)


def safe_divisor(f: FunctionLowering, a: Value, b: Value, signed: bool) -> Value:
    """The divisor, or 1 where the division would trap: by 0, or of the least number by -1.

    The processor would stop the whole process. With 1, x / 0 is x, and the least number divided by
    -1 is itself, as in NumPy.
    """
    if _known_nonzero(f, b, signed):
        return b
    type = b.type
    traps = f.icmp("eq", b, f.integer(0, type))
    if signed:
        least = -(1 << (lane_type(type).width - 1))
        pairs = ((a, least), (b, -1))
        overflows = f.emit(
            llvm.And, [f.icmp("eq", x, f.integer(n, type)) for x, n in pairs], traps.type
        )
        traps = f.emit(llvm.Or, [traps, overflows], traps.type)
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
    """Note that a quotient or remainder of two indices that are not negative is not either."""
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


def floor_divide(f: FunctionLowering, a: Value, b: Value, up: bool = False) -> Value:
    """The quotient of signed integers rounded down, or with `up` rounded up."""
    type = a.type
    b = safe_divisor(f, a, b, signed=True)
    quotient = f.emit(llvm.SDiv, [a, b], type)
    back = f.emit(llvm.Mul, [quotient, b], type)
    inexact = f.icmp("ne", back, a)
    zero = f.integer(0, type)
    same_sign = "eq" if up else "ne"
    signs = f.icmp(same_sign, f.icmp("slt", a, zero), f.icmp("slt", b, zero))
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
        return f.emit(llvm.Select, [f.icmp("ne", back, a), step, quotient], type)

    by_rows(f, op, row)


# -- wide results --------------------------------------------------------------------------------


def _two_results(f: FunctionLowering, op: Operation, function: Any) -> None:
    """Let the pairs that the function gives for each row represent the op's two results."""
    pairs = [function(*row) for row in zip(*[f.rows(v) for v in op._operands], strict=True)]
    for result, rows in zip(op.results, zip(*pairs, strict=True), strict=True):
        f.bind(result, list(rows) if is_rows(result.type) else rows[0])


@lowers(arith.AddUIExtended)
def _addui_extended(f: FunctionLowering, op: Operation) -> None:
    def row(a: Value, b: Value) -> tuple[Value, Value]:
        total = f.emit(llvm.Add, [a, b], a.type)
        return total, f.icmp("ult", total, a)

    _two_results(f, op, row)


@lowers(arith.MulSIExtended, arith.MulUIExtended)
def _mul_extended(f: FunctionLowering, op: Operation) -> None:
    extend = llvm.SExt if isinstance(op, arith.MulSIExtended) else llvm.ZExt

    def row(a: Value, b: Value) -> tuple[Value, Value]:
        bits = lane_type(a.type).width
        wide = with_shape_of(a.type, IntegerType(2 * bits))
        product = f.emit(llvm.Mul, [f.emit(extend, [v], wide) for v in (a, b)], wide)
        high = f.emit(llvm.LShr, [product, f.integer(bits, wide)], wide)
        return f.emit(llvm.Trunc, [product], a.type), f.emit(llvm.Trunc, [high], a.type)

    _two_results(f, op, row)

"""Values with operators that emit arith and math ops: formulas that read as formulas.

    f = Formulas(rewriter, type)     # f32, or a vector of f32
    x = f.float(value)
    y = (x * x).fma(x, 1.0)          # x * x * x + 1, the last step rounded once if `f.fused`

`Float`, `Int` and `Bool` have the shape of the type; Python numbers become splat constants,
each made once per `Formulas`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...dialects import arith, math
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.types import Type, f32, f64, i32, i64, with_shape_of


@dataclass
class Formulas:
    """An emitter of ops on values of one shape; `wide` computes in f64 and i64 instead.

    `fused` says that the machine has a multiply-add that rounds once. Elsewhere it is two
    operations, and costs up to half an ulp more at each step that shows in the result. `has_f64`
    says that f32 can be computed in f64.
    """

    builder: Builder
    shape_of: Type
    wide: bool = False
    fused: bool = True
    has_f64: bool = True
    constants: dict[tuple[Type, str], Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.float_type = with_shape_of(self.shape_of, f64 if self.wide else f32)
        self.int_type = with_shape_of(self.shape_of, i64 if self.wide else i32)

    def emit(self, op: Operation) -> Value:
        """Insert an op; its result."""
        return self.builder.insert(op).result

    def constant(self, number: float | int, type: Type) -> Value:
        """A number in all elements; -0.0 and 0.0 differ."""
        key = (type, repr(number))
        known = self.constants.get(key)
        if known is None:
            known = self.constants[key] = self.emit(arith.Constant.of(number, type))
        return known

    def float(self, x: Value | float | int) -> Float:
        """A value, or a constant of the float type."""
        return Float(self, x if isinstance(x, Value) else self.constant(float(x), self.float_type))

    def int(self, x: Value | int) -> Int:
        """A value, or a constant of the integer type."""
        return Int(self, x if isinstance(x, Value) else self.constant(x, self.int_type))


@dataclass(frozen=True)
class Bool:
    """A condition in each element."""

    code: Formulas
    value: Value

    def __and__(self, other: Bool) -> Bool:
        return Bool(self.code, self.code.emit(arith.AndI(self.value, other.value)))

    def __or__(self, other: Bool) -> Bool:
        return Bool(self.code, self.code.emit(arith.OrI(self.value, other.value)))

    def select(self, yes: Float | float, no: Float | float) -> Float:
        """The first where the condition holds, else the second."""
        code = next((x.code for x in (yes, no) if isinstance(x, Float)), self.code)
        yes, no = _float(code, yes), _float(code, no)
        return Float(code, code.emit(arith.Select(self.value, yes.value, no.value)))

    def select_int(self, yes: Int | int, no: Int | int) -> Int:
        """The first where the condition holds, else the second."""
        yes, no = _int(self.code, yes), _int(self.code, no)
        return Int(self.code, self.code.emit(arith.Select(self.value, yes.value, no.value)))


@dataclass(frozen=True)
class Int:
    """An i32 in each element (i64 in wide formulas); arithmetic wraps."""

    code: Formulas
    value: Value

    def _binary(self, op: type[Operation], other: Int | int) -> Int:
        right = _int(self.code, other).value
        return Int(self.code, self.code.emit(op(self.value, right)))  # type: ignore[call-arg]

    def __add__(self, other: Int | int) -> Int:
        return self._binary(arith.AddI, other)

    def __sub__(self, other: Int | int) -> Int:
        return self._binary(arith.SubI, other)

    def __rsub__(self, other: int) -> Int:
        return _int(self.code, other) - self

    def __and__(self, other: Int | int) -> Int:
        return self._binary(arith.AndI, other)

    def __or__(self, other: Int | int) -> Int:
        return self._binary(arith.OrI, other)

    def __xor__(self, other: Int | int) -> Int:
        return self._binary(arith.XOrI, other)

    def __lshift__(self, count: int) -> Int:
        return self._binary(arith.ShLI, count)

    def __rshift__(self, count: int) -> Int:
        """Arithmetic: the sign stays."""
        return self._binary(arith.ShRSI, count)

    def at_most(self, limit: int) -> Int:
        """The lesser of both, signed."""
        return self._binary(arith.MinSI, limit)

    def compare(self, predicate: str, other: Int | int) -> Bool:
        """A predicate of arith.cmpi."""
        right = _int(self.code, other).value
        return Bool(self.code, self.code.emit(arith.CmpI(predicate, self.value, right)))

    def as_float(self) -> Float:
        """The float with these bits."""
        return Float(self.code, self.code.emit(_bitcast(self.value, self.code.float_type)))

    def to_float(self) -> Float:
        """The float nearest to the number."""
        cast = arith.SIToFP(self.value, out=self.code.float_type)
        return Float(self.code, self.code.emit(cast))


@dataclass(frozen=True)
class Float:
    """An f32 in each element (f64 in wide formulas)."""

    code: Formulas
    value: Value

    def _binary(self, op: type[Operation], other: Float | float) -> Float:
        right = _float(self.code, other).value
        return Float(self.code, self.code.emit(op(self.value, right)))  # type: ignore[call-arg]

    def _unary(self, op: type[Operation]) -> Float:
        return Float(self.code, self.code.emit(op(self.value)))  # type: ignore[call-arg]

    def __add__(self, other: Float | float) -> Float:
        return self._binary(arith.AddF, other)

    def __sub__(self, other: Float | float) -> Float:
        return self._binary(arith.SubF, other)

    def __rsub__(self, other: float) -> Float:
        return _float(self.code, other) - self

    def __mul__(self, other: Float | float) -> Float:
        return self._binary(arith.MulF, other)

    def __truediv__(self, other: Float | float) -> Float:
        return self._binary(arith.DivF, other)

    def __rtruediv__(self, other: float) -> Float:
        return _float(self.code, other) / self

    def __neg__(self) -> Float:
        return self._unary(arith.NegF)

    def fma(self, factor: Float | float, addend: Float | float) -> Float:
        """self * factor + addend, rounded once where the machine does so."""
        b, c = _float(self.code, factor), _float(self.code, addend)
        if not self.code.fused:
            return self * b + c
        return Float(self.code, self.code.emit(math.Fma(self.value, b.value, c.value)))

    def abs(self) -> Float:
        """Without the sign."""
        return self._unary(math.AbsF)

    def sqrt(self) -> Float:
        """The square root, correctly rounded."""
        return self._unary(math.Sqrt)

    def round_even(self) -> Float:
        """The nearest integral number, halves to even."""
        return self._unary(math.RoundEven)

    def copy_sign(self, other: Float) -> Float:
        """The magnitude with the sign of another."""
        return self._binary(math.CopySign, other)

    def bits(self) -> Int:
        """The bits as an integer."""
        return Int(self.code, self.code.emit(_bitcast(self.value, self.code.int_type)))

    def compare(self, predicate: str, other: Float | float) -> Bool:
        """A predicate of arith.cmpf."""
        right = _float(self.code, other).value
        return Bool(self.code, self.code.emit(arith.CmpF(predicate, self.value, right)))

    def __lt__(self, other: Float | float) -> Bool:
        return self.compare("olt", other)

    def __gt__(self, other: Float | float) -> Bool:
        return self.compare("ogt", other)

    def equals(self, other: Float | float) -> Bool:
        """Whether both are the same number; false for NaN."""
        return self.compare("oeq", other)

    def at_least(self, limit: float) -> Float:
        """`limit` where the number is less; NaN stays. One instruction on most machines."""
        return (self < limit).select(limit, self)

    def at_most(self, limit: float) -> Float:
        """`limit` where the number is greater; NaN stays."""
        return (self > limit).select(limit, self)

    def polynomial(self, coefficients: Sequence[float]) -> Float:
        """The polynomial with these coefficients, the constant one first (Horner)."""
        total = _float(self.code, coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            total = total.fma(self, coefficient)
        return total

    def widened(self, wide: Formulas) -> Float:
        """The f32 as f64."""
        return Float(wide, wide.emit(arith.ExtF(self.value, out=wide.float_type)))

    def narrowed(self, narrow: Formulas) -> Float:
        """The f64 rounded to f32."""
        return Float(narrow, narrow.emit(arith.TruncF(self.value, out=narrow.float_type)))


def _float(code: Formulas, x: Float | float) -> Float:
    return x if isinstance(x, Float) else code.float(x)


def _int(code: Formulas, x: Int | int) -> Int:
    return x if isinstance(x, Int) else code.int(x)


def _bitcast(value: Value, type: Type) -> Operation:
    return arith.Bitcast(value, out=type)


def bits_of(number: float) -> int:
    """The bits of an f32, as a signed integer."""
    return struct.unpack("<i", struct.pack("<f", number))[0]


def nearest(number: float) -> float:
    """The f32 nearest to a number."""
    return struct.unpack("<f", struct.pack("<f", number))[0]

"""LLVM's intrinsics of floats and integers as ops `llvm.intr.*`, those that our lowerings make."""

# ruff: noqa: N815 - the names of properties are upstream's

from __future__ import annotations

from ...ir.constraints import Same
from ...ir.declare import (
    BOOL,
    I32,
    Op,
    Operand,
    Result,
    attribute,
    operand,
    result,
)
from ...ir.traits import Commutative, Pure
from .arithmetic import BoolLike, FloatLike, IntegerLike
from .attributes import FASTMATH

_FUNCTIONAL = "`(` operands `)` attr-dict `:` functional-type(operands, results)"


# -- floats ----------------------------------------------------------------------------------


class FloatIntrinsic(Op):
    """Base of functions of one float, element by element."""

    x: Operand = operand(FloatLike)
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(Same("x"))

    format = _FUNCTIONAL


class BinaryFloatIntrinsic(Op):
    """Base of functions of two floats, element by element."""

    a: Operand = operand(FloatLike)
    b: Operand = operand(Same("a"))
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(Same("a"))

    format = _FUNCTIONAL


class TernaryFloatIntrinsic(Op):
    """Base of functions of three floats, element by element."""

    a: Operand = operand(FloatLike)
    b: Operand = operand(Same("a"))
    c: Operand = operand(Same("a"))
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(Same("a"))

    format = _FUNCTIONAL


class IntrFabs(FloatIntrinsic, name="llvm.intr.fabs", traits=(Pure,)):
    """The magnitude; clears the sign of NaN too."""

    example = "%r = llvm.intr.fabs(%x) : (f32) -> f32"


class IntrSqrt(FloatIntrinsic, name="llvm.intr.sqrt", traits=(Pure,)):
    """Square root, correctly rounded."""

    example = "%r = llvm.intr.sqrt(%x) : (f32) -> f32"


class IntrFloor(FloatIntrinsic, name="llvm.intr.floor", traits=(Pure,)):
    """The largest integer not above."""

    example = "%r = llvm.intr.floor(%x) : (f32) -> f32"


class IntrCeil(FloatIntrinsic, name="llvm.intr.ceil", traits=(Pure,)):
    """The smallest integer not below."""

    example = "%r = llvm.intr.ceil(%x) : (f32) -> f32"


class IntrRint(FloatIntrinsic, name="llvm.intr.rint", traits=(Pure,)):
    """The nearest integer in the current rounding mode."""

    example = "%r = llvm.intr.rint(%x) : (f32) -> f32"


class IntrNearbyInt(FloatIntrinsic, name="llvm.intr.nearbyint", traits=(Pure,)):
    """The nearest integer in the current rounding mode, raising no flag."""

    example = "%r = llvm.intr.nearbyint(%x) : (f32) -> f32"


class IntrRoundEven(FloatIntrinsic, name="llvm.intr.roundeven", traits=(Pure,)):
    """The nearest integer, ties to even."""

    example = "%r = llvm.intr.roundeven(%x) : (f32) -> f32"


class IntrRound(FloatIntrinsic, name="llvm.intr.round", traits=(Pure,)):
    """The nearest integer, ties away from zero."""

    example = "%r = llvm.intr.round(%x) : (f32) -> f32"


class IntrTrunc(FloatIntrinsic, name="llvm.intr.trunc", traits=(Pure,)):
    """The integer towards zero."""

    example = "%r = llvm.intr.trunc(%x) : (f32) -> f32"


class IntrExp(FloatIntrinsic, name="llvm.intr.exp", traits=(Pure,)):
    """e to the power of the operand."""

    example = "%r = llvm.intr.exp(%x) : (f32) -> f32"


class IntrExp2(FloatIntrinsic, name="llvm.intr.exp2", traits=(Pure,)):
    """2 to the power of the operand."""

    example = "%r = llvm.intr.exp2(%x) : (f32) -> f32"


class IntrLog(FloatIntrinsic, name="llvm.intr.log", traits=(Pure,)):
    """Natural logarithm."""

    example = "%r = llvm.intr.log(%x) : (f32) -> f32"


class IntrLog2(FloatIntrinsic, name="llvm.intr.log2", traits=(Pure,)):
    """Logarithm to base 2."""

    example = "%r = llvm.intr.log2(%x) : (f32) -> f32"


class IntrLog10(FloatIntrinsic, name="llvm.intr.log10", traits=(Pure,)):
    """Logarithm to base 10."""

    example = "%r = llvm.intr.log10(%x) : (f32) -> f32"


class IntrSin(FloatIntrinsic, name="llvm.intr.sin", traits=(Pure,)):
    """Sine."""

    example = "%r = llvm.intr.sin(%x) : (f32) -> f32"


class IntrCos(FloatIntrinsic, name="llvm.intr.cos", traits=(Pure,)):
    """Cosine."""

    example = "%r = llvm.intr.cos(%x) : (f32) -> f32"


class IntrTan(FloatIntrinsic, name="llvm.intr.tan", traits=(Pure,)):
    """Tangent."""

    example = "%r = llvm.intr.tan(%x) : (f32) -> f32"


class IntrAsin(FloatIntrinsic, name="llvm.intr.asin", traits=(Pure,)):
    """Arc sine."""

    example = "%r = llvm.intr.asin(%x) : (f32) -> f32"


class IntrAcos(FloatIntrinsic, name="llvm.intr.acos", traits=(Pure,)):
    """Arc cosine."""

    example = "%r = llvm.intr.acos(%x) : (f32) -> f32"


class IntrAtan(FloatIntrinsic, name="llvm.intr.atan", traits=(Pure,)):
    """Arc tangent."""

    example = "%r = llvm.intr.atan(%x) : (f32) -> f32"


class IntrSinh(FloatIntrinsic, name="llvm.intr.sinh", traits=(Pure,)):
    """Hyperbolic sine."""

    example = "%r = llvm.intr.sinh(%x) : (f32) -> f32"


class IntrCosh(FloatIntrinsic, name="llvm.intr.cosh", traits=(Pure,)):
    """Hyperbolic cosine."""

    example = "%r = llvm.intr.cosh(%x) : (f32) -> f32"


class IntrTanh(FloatIntrinsic, name="llvm.intr.tanh", traits=(Pure,)):
    """Hyperbolic tangent."""

    example = "%r = llvm.intr.tanh(%x) : (f32) -> f32"


class IntrPow(BinaryFloatIntrinsic, name="llvm.intr.pow", traits=(Pure,)):
    """a to the power of b."""

    example = "%r = llvm.intr.pow(%a, %b) : (f32, f32) -> f32"


class IntrCopySign(BinaryFloatIntrinsic, name="llvm.intr.copysign", traits=(Pure,)):
    """The magnitude of a with the sign of b."""

    example = "%r = llvm.intr.copysign(%a, %b) : (f32, f32) -> f32"


class IntrMaxNum(BinaryFloatIntrinsic, name="llvm.intr.maxnum", traits=(Pure, Commutative)):
    """The larger; the other one where one is NaN."""

    example = "%r = llvm.intr.maxnum(%a, %b) : (f32, f32) -> f32"


class IntrMinNum(BinaryFloatIntrinsic, name="llvm.intr.minnum", traits=(Pure, Commutative)):
    """The smaller; the other one where one is NaN."""

    example = "%r = llvm.intr.minnum(%a, %b) : (f32, f32) -> f32"


class IntrMaximum(BinaryFloatIntrinsic, name="llvm.intr.maximum", traits=(Pure, Commutative)):
    """The larger; NaN where one is NaN; +0 is larger than -0."""

    example = "%r = llvm.intr.maximum(%a, %b) : (f32, f32) -> f32"


class IntrMinimum(BinaryFloatIntrinsic, name="llvm.intr.minimum", traits=(Pure, Commutative)):
    """The smaller; NaN where one is NaN; -0 is smaller than +0."""

    example = "%r = llvm.intr.minimum(%a, %b) : (f32, f32) -> f32"


class IntrFma(TernaryFloatIntrinsic, name="llvm.intr.fma", traits=(Pure,)):
    """a * b + c, rounded once."""

    example = "%r = llvm.intr.fma(%a, %b, %c) : (f32, f32, f32) -> f32"


class IntrFMulAdd(TernaryFloatIntrinsic, name="llvm.intr.fmuladd", traits=(Pure,)):
    """a * b + c, rounded once or twice, whichever is faster."""

    example = "%r = llvm.intr.fmuladd(%a, %b, %c) : (f32, f32, f32) -> f32"


class IntrPowI(Op, name="llvm.intr.powi", traits=(Pure,)):
    """A float to an integer power."""

    val: Operand = operand(FloatLike)
    power: Operand = operand(IntegerLike)
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(Same("val"))

    format = _FUNCTIONAL
    example = "%r = llvm.intr.powi(%x, %n) : (f32, i32) -> f32"


class IntrIsFPClass(Op, name="llvm.intr.is.fpclass", traits=(Pure,)):
    """Whether the float is of one of the classes in the mask `bit`, as LLVM numbers them."""

    val: Operand = operand(FloatLike)
    bit: int = attribute(I32)
    res: Result = result(BoolLike)

    example = '%r = "llvm.intr.is.fpclass"(%x) <{bit = 3 : i32}> : (f32) -> i1'


# -- integers --------------------------------------------------------------------------------


class IntegerIntrinsic(Op):
    """Base of functions of one integer, element by element."""

    x: Operand = operand(IntegerLike)
    res: Result = result(Same("x"))

    format = _FUNCTIONAL


class BinaryIntegerIntrinsic(Op):
    """Base of functions of two integers, element by element."""

    a: Operand = operand(IntegerLike)
    b: Operand = operand(Same("a"))
    res: Result = result(Same("a"))

    format = _FUNCTIONAL


class IntrSMax(BinaryIntegerIntrinsic, name="llvm.intr.smax", traits=(Pure, Commutative)):
    """The larger signed integer."""

    example = "%r = llvm.intr.smax(%a, %b) : (i32, i32) -> i32"


class IntrSMin(BinaryIntegerIntrinsic, name="llvm.intr.smin", traits=(Pure, Commutative)):
    """The smaller signed integer."""

    example = "%r = llvm.intr.smin(%a, %b) : (i32, i32) -> i32"


class IntrUMax(BinaryIntegerIntrinsic, name="llvm.intr.umax", traits=(Pure, Commutative)):
    """The larger unsigned integer."""

    example = "%r = llvm.intr.umax(%a, %b) : (i32, i32) -> i32"


class IntrUMin(BinaryIntegerIntrinsic, name="llvm.intr.umin", traits=(Pure, Commutative)):
    """The smaller unsigned integer."""

    example = "%r = llvm.intr.umin(%a, %b) : (i32, i32) -> i32"


class IntrCtPop(IntegerIntrinsic, name="llvm.intr.ctpop", traits=(Pure,)):
    """The number of ones."""

    example = "%r = llvm.intr.ctpop(%x) : (i32) -> i32"


class IntrBitReverse(IntegerIntrinsic, name="llvm.intr.bitreverse", traits=(Pure,)):
    """The bits in reverse order."""

    example = "%r = llvm.intr.bitreverse(%x) : (i32) -> i32"


class IntrBSwap(IntegerIntrinsic, name="llvm.intr.bswap", traits=(Pure,)):
    """The bytes in reverse order."""

    example = "%r = llvm.intr.bswap(%x) : (i32) -> i32"


class IntrCtLz(IntegerIntrinsic, name="llvm.intr.ctlz", traits=(Pure,)):
    """The number of leading zeros."""

    is_zero_poison: bool = attribute(BOOL)

    format = None
    example = '%r = "llvm.intr.ctlz"(%x) <{is_zero_poison = false}> : (i32) -> i32'


class IntrCtTz(IntegerIntrinsic, name="llvm.intr.cttz", traits=(Pure,)):
    """The number of trailing zeros."""

    is_zero_poison: bool = attribute(BOOL)

    format = None
    example = '%r = "llvm.intr.cttz"(%x) <{is_zero_poison = false}> : (i32) -> i32'


class IntrAbs(IntegerIntrinsic, name="llvm.intr.abs", traits=(Pure,)):
    """The magnitude of a signed integer."""

    is_int_min_poison: bool = attribute(BOOL)

    format = None
    example = '%r = "llvm.intr.abs"(%x) <{is_int_min_poison = false}> : (i32) -> i32'

"""LLVM's intrinsics of numbers as ops `llvm.intr.*`, those that our lowerings make; promises."""

# ruff: noqa: N815 - the names of properties are upstream's

from __future__ import annotations

from ..vocabulary import *
from .arithmetic import BoolLike, FloatLike, IntegerLike, LLVMType
from .attributes import FASTMATH
from .checks import check_bundles

_FUNCTIONAL = "`(` operands `)` attr-dict `:` functional-type(operands, results)"


# -- floats ----------------------------------------------------------------------------------


class FloatIntrinsic(Op):
    """Base of functions of one float, element by element."""

    x: Operand = operand(FloatLike)
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(Same("x"))

    format = _FUNCTIONAL
    example = "%r = {name}(%x) : (f32) -> f32"


class BinaryFloatIntrinsic(Op):
    """Base of functions of two floats, element by element."""

    a: Operand = operand(FloatLike)
    b: Operand = operand(Same("a"))
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(Same("a"))

    format = _FUNCTIONAL
    example = "%r = {name}(%a, %b) : (f32, f32) -> f32"


class IntrFabs(FloatIntrinsic, name="llvm.intr.fabs", traits=(Pure,)):
    """The magnitude; clears the sign of NaN too."""


class IntrSqrt(FloatIntrinsic, name="llvm.intr.sqrt", traits=(Pure,)):
    """Square root, correctly rounded."""


class IntrFloor(FloatIntrinsic, name="llvm.intr.floor", traits=(Pure,)):
    """The largest integer not above."""


class IntrCeil(FloatIntrinsic, name="llvm.intr.ceil", traits=(Pure,)):
    """The smallest integer not below."""


class IntrNearbyInt(FloatIntrinsic, name="llvm.intr.nearbyint", traits=(Pure,)):
    """The nearest integer in the rounding mode; raises no flag."""


class IntrRoundEven(FloatIntrinsic, name="llvm.intr.roundeven", traits=(Pure,)):
    """The nearest integer, ties to even."""


class IntrRound(FloatIntrinsic, name="llvm.intr.round", traits=(Pure,)):
    """The nearest integer, ties away from zero."""


class IntrTrunc(FloatIntrinsic, name="llvm.intr.trunc", traits=(Pure,)):
    """The integer towards zero."""


class IntrCopySign(BinaryFloatIntrinsic, name="llvm.intr.copysign", traits=(Pure,)):
    """The magnitude of a with the sign of b."""


class IntrMaxNum(BinaryFloatIntrinsic, name="llvm.intr.maxnum", traits=(Pure, Commutative)):
    """The larger of two floats; where one of them is NaN, the other one."""


class IntrMinNum(BinaryFloatIntrinsic, name="llvm.intr.minnum", traits=(Pure, Commutative)):
    """The smaller of two floats; where one of them is NaN, the other one."""


class IntrMaximum(BinaryFloatIntrinsic, name="llvm.intr.maximum", traits=(Pure, Commutative)):
    """The larger of two floats; NaN where one is NaN; +0 is larger than -0."""


class IntrMinimum(BinaryFloatIntrinsic, name="llvm.intr.minimum", traits=(Pure, Commutative)):
    """The smaller of two floats; NaN where one is NaN; -0 is smaller than +0."""


class IntrFma(Op, name="llvm.intr.fma", traits=(Pure,)):
    """a * b + c, rounded once."""

    a: Operand = operand(FloatLike)
    b: Operand = operand(Same("a"))
    c: Operand = operand(Same("a"))
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(Same("a"))

    format = _FUNCTIONAL
    example = "%r = llvm.intr.fma(%a, %b, %c) : (f32, f32, f32) -> f32"


class IntrFMulAdd(Op, name="llvm.intr.fmuladd", traits=(Pure,)):
    """a * b + c, rounded once or twice, whichever is faster."""

    a: Operand = operand(FloatLike)
    b: Operand = operand(Same("a"))
    c: Operand = operand(Same("a"))
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(Same("a"))

    format = _FUNCTIONAL
    example = "%r = llvm.intr.fmuladd(%a, %b, %c) : (f32, f32, f32) -> f32"


class IntrIsFPClass(Op, name="llvm.intr.is.fpclass", traits=(Pure,)):
    """Whether the float is of one of the classes in the mask `bit`, as LLVM numbers them."""

    val: Operand = operand(FloatLike)
    bit: int = attribute(I32)
    res: Result = result(BoolLike)

    example = '%r = "llvm.intr.is.fpclass"(%x) <{bit = 3 : i32}> : (f32) -> i1'


# -- promises ------------------------------------------------------------------------------


class IntrAssume(Op, name="llvm.intr.assume", traits=(WritesMemory,)):
    """Promise that a condition holds."""

    cond: Operand = operand(BoolLike)
    op_bundle_operands: Operands = operands(LLVMType)
    op_bundle_sizes: tuple[int, ...] = attribute(I32_ARRAY, default=())
    op_bundle_tags: tuple | None = attribute(ARRAY, optional=True)

    format = (
        "$cond custom<OpBundles>($op_bundle_operands, type($op_bundle_operands), "
        "$op_bundle_tags) `:` type($cond) attr-dict"
    )
    example = "llvm.intr.assume %c : i1"

    def verify_op(self) -> None:
        """Check that the operand bundles fit their operands and tags."""
        check_bundles(self)


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
    example = "%r = {name}(%a, %b) : (i32, i32) -> i32"


class IntrSMax(BinaryIntegerIntrinsic, name="llvm.intr.smax", traits=(Pure, Commutative)):
    """The larger signed integer."""


class IntrSMin(BinaryIntegerIntrinsic, name="llvm.intr.smin", traits=(Pure, Commutative)):
    """The smaller signed integer."""


class IntrUMax(BinaryIntegerIntrinsic, name="llvm.intr.umax", traits=(Pure, Commutative)):
    """The larger unsigned integer."""


class IntrUMin(BinaryIntegerIntrinsic, name="llvm.intr.umin", traits=(Pure, Commutative)):
    """The smaller unsigned integer."""


class IntrCtPop(IntegerIntrinsic, name="llvm.intr.ctpop", traits=(Pure,)):
    """The number of ones."""

    example = "%r = llvm.intr.ctpop(%x) : (i32) -> i32"


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

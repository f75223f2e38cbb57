"""Arithmetic, comparisons and casts of the llvm dialect."""

# ruff: noqa: N815 - the names of properties are upstream's

from __future__ import annotations

from ...ir.constraints import Derived
from ...ir.types import lane_type
from ..vocabulary import *
from .attributes import FASTMATH, FCMP_PREDICATE, ICMP_PREDICATE, OVERFLOW_FLAGS
from .checks import check_bitcast, check_extension
from .metadata import Dereferenceable, attribute_of
from .types import PointerType, is_llvm_type


def _scalar_or_vector(words: str, *classes: type[Type]) -> Constraint:
    def allows(t: Type) -> bool:
        return isinstance(lane_type(t), classes)

    return Constraint(words, allows)


LLVMType = Constraint("LLVM dialect-compatible type", is_llvm_type)
IntegerLike = _scalar_or_vector(
    "signless integer or LLVM dialect-compatible vector of signless integer", IntegerType
)
FloatLike = _scalar_or_vector(
    "floating point LLVM type or LLVM dialect-compatible vector of floating point LLVM type",
    FloatType,
)
IntegerOrPointerLike = _scalar_or_vector(
    "signless integer or LLVM pointer type or vector of them", IntegerType, PointerType
)
AnyPointer = Constraint("LLVM pointer type", lambda t: isinstance(t, PointerType))
PointerLike = _scalar_or_vector("LLVM pointer type or vector of LLVM pointer type", PointerType)
BoolLike = Constraint(
    "1-bit signless integer or vector of it",
    lambda t: lane_type(t) is i1,
)


def _condition_of(field: str) -> Derived:
    return Derived(field, lambda t: with_shape_of(t, i1), f"i1 in the shape of {field}")


# -- integers ------------------------------------------------------------------------------


class IntegerBinary(Op):
    """Base of binary operations on integers."""

    lhs: Operand = operand(IntegerLike)
    rhs: Operand = operand(Same("lhs"))
    res: Result = result(Same("lhs"))

    format = "$lhs `,` $rhs attr-dict `:` type($res)"
    example = "%r = {name} %a, %b : i64"


class OverflowBinary(IntegerBinary):
    """Base of integer operations that may promise not to wrap."""

    overflowFlags: str = attribute(OVERFLOW_FLAGS, default="none")

    format = "$lhs `,` $rhs custom<OverflowFlags>($overflowFlags) attr-dict `:` type($res)"


class ExactBinary(IntegerBinary):
    """Base of integer operations that may promise to lose no bit."""

    isExact: bool = attribute(UNIT)

    format = "(`exact` $isExact^)? $lhs `,` $rhs attr-dict `:` type($res)"
    example = "%r = {name} %a, %b : i64"


class Add(OverflowBinary, name="llvm.add", traits=(Pure, Commutative)):
    """Integer sum."""

    example = "%r = llvm.add %a, %b overflow<nsw> : i64"


class Sub(OverflowBinary, name="llvm.sub", traits=(Pure,)):
    """Integer difference."""

    example = "%r = llvm.sub %a, %b : i64"


class Mul(OverflowBinary, name="llvm.mul", traits=(Pure, Commutative)):
    """Integer product."""

    example = "%r = llvm.mul %a, %b overflow<nsw, nuw> : i64"


class Shl(OverflowBinary, name="llvm.shl", traits=(Pure,)):
    """Shift left."""

    example = "%r = llvm.shl %a, %b : i64"


class UDiv(ExactBinary, name="llvm.udiv", traits=(Pure,)):
    """Unsigned quotient."""


class SDiv(ExactBinary, name="llvm.sdiv", traits=(Pure,)):
    """Signed quotient, rounded to zero."""

    example = "%r = llvm.sdiv exact %a, %b : i64"


class LShr(ExactBinary, name="llvm.lshr", traits=(Pure,)):
    """Shift right, zeros in."""


class AShr(ExactBinary, name="llvm.ashr", traits=(Pure,)):
    """Shift right, sign in."""


class URem(IntegerBinary, name="llvm.urem", traits=(Pure,)):
    """Unsigned remainder."""


class SRem(IntegerBinary, name="llvm.srem", traits=(Pure,)):
    """Signed remainder, with the sign of the dividend."""


class And(IntegerBinary, name="llvm.and", traits=(Pure, Commutative)):
    """Bitwise and."""


class Or(IntegerBinary, name="llvm.or", traits=(Pure, Commutative)):
    """Bitwise or; `disjoint` promises that no bit is set in both."""

    isDisjoint: bool = attribute(UNIT)

    format = "(`disjoint` $isDisjoint^)? $lhs `,` $rhs attr-dict `:` type($res)"
    example = "%r = llvm.or disjoint %a, %b : i64"


class Xor(IntegerBinary, name="llvm.xor", traits=(Pure, Commutative)):
    """Bitwise exclusive or."""


class ICmp(Op, name="llvm.icmp", traits=(Pure,)):
    """Compare integers or pointers."""

    predicate: str = attribute(ICMP_PREDICATE)
    lhs: Operand = operand(IntegerOrPointerLike)
    rhs: Operand = operand(Same("lhs"))
    res: Result = result(_condition_of("lhs"))

    format = "custom<QuotedEnum>($predicate) $lhs `,` $rhs attr-dict `:` type($lhs)"
    example = '%r = llvm.icmp "slt" %a, %b : i64'


# -- floats --------------------------------------------------------------------------------


class FloatBinary(Op):
    """Base of binary operations on floats."""

    lhs: Operand = operand(FloatLike)
    rhs: Operand = operand(Same("lhs"))
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(Same("lhs"))

    format = "$lhs `,` $rhs attr-dict `:` type($res)"
    example = "%r = {name} %a, %b : f32"


class FAdd(FloatBinary, name="llvm.fadd", traits=(Pure, Commutative)):
    """Sum of floats."""

    example = "%r = llvm.fadd %a, %b {fastmathFlags = #llvm.fastmath<contract>} : f32"


class FSub(FloatBinary, name="llvm.fsub", traits=(Pure,)):
    """Difference of floats."""


class FMul(FloatBinary, name="llvm.fmul", traits=(Pure, Commutative)):
    """Product of floats."""

    example = "%r = llvm.fmul %a, %b : vector<4xf32>"


class FDiv(FloatBinary, name="llvm.fdiv", traits=(Pure,)):
    """Quotient of floats."""


class FRem(FloatBinary, name="llvm.frem", traits=(Pure,)):
    """Remainder of floats, with the sign of the dividend (C's fmod)."""


class FNeg(Op, name="llvm.fneg", traits=(Pure,)):
    """The sign flipped, of NaN too."""

    operand_: Operand = operand(FloatLike)
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(Same("operand_"))

    format = "$operand_ attr-dict `:` type($res)"
    example = "%r = llvm.fneg %a : f32"


class FCmp(Op, name="llvm.fcmp", traits=(Pure,)):
    """Compare floats; `o` predicates are false where one is NaN, `u` ones true."""

    predicate: str = attribute(FCMP_PREDICATE)
    lhs: Operand = operand(FloatLike)
    rhs: Operand = operand(Same("lhs"))
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(_condition_of("lhs"))

    format = "custom<QuotedEnum>($predicate) $lhs `,` $rhs attr-dict `:` type($lhs)"
    example = '%r = llvm.fcmp "olt" %a, %b : f32'


# -- values that are neither ---------------------------------------------------------------


class Select(Op, name="llvm.select", traits=(Pure,)):
    """One of two values, element by element where the condition is a vector."""

    condition: Operand = operand(BoolLike)
    trueValue: Operand = operand(LLVMType)
    falseValue: Operand = operand(Same("trueValue"))
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(Same("trueValue"))

    format = (
        "$condition `,` $trueValue `,` $falseValue attr-dict `:` type($condition) `,` "
        "type($trueValue)"
    )
    example = "%r = llvm.select %c, %a, %b : i1, f32"


class Freeze(Op, name="llvm.freeze", traits=(Pure,)):
    """The value, or any fixed value where it is poison."""

    val: Operand = operand(LLVMType)
    res: Result = result(Same("val"))

    format = "$val attr-dict `:` type($val)"
    example = "%r = llvm.freeze %a : f32"


# -- casts ---------------------------------------------------------------------------------


class Cast(Op):
    """Base of the casts."""

    arg: Operand = operand(LLVMType)
    res: Result = result(LLVMType)

    format = "$arg attr-dict `:` type($arg) `to` type($res)"


class Trunc(Cast, name="llvm.trunc", traits=(Pure,)):
    """The low bits of an integer."""

    overflowFlags: str = attribute(OVERFLOW_FLAGS, default="none")

    format = "$arg custom<OverflowFlags>($overflowFlags) attr-dict `:` type($arg) `to` type($res)"
    example = "%r = llvm.trunc %a overflow<nsw> : i64 to i32"


class SExt(Cast, name="llvm.sext", traits=(Pure,)):
    """An integer extended to more bits with its sign."""

    example = "%r = llvm.sext %a : i32 to i64"

    def verify_op(self) -> None:
        """Check that the result is wider than the operand."""
        check_extension(self, self.arg.type, self.res.type)


class ZExt(Cast, name="llvm.zext", traits=(Pure,)):
    """An integer extended to more bits with zeros; `nneg` promises that it is not negative."""

    nonNeg: bool = attribute(UNIT)

    format = "(`nneg` $nonNeg^)? $arg attr-dict `:` type($arg) `to` type($res)"
    example = "%r = llvm.zext %a : i32 to i64"

    def verify_op(self) -> None:
        """Check that the result is wider than the operand."""
        check_extension(self, self.arg.type, self.res.type)


class UIToFP(Cast, name="llvm.uitofp", traits=(Pure,)):
    """A float from an unsigned integer, rounded to nearest."""

    nonNeg: bool = attribute(UNIT)

    format = "(`nneg` $nonNeg^)? $arg attr-dict `:` type($arg) `to` type($res)"
    example = "%r = llvm.uitofp %a : i32 to f32"


class SIToFP(Cast, name="llvm.sitofp", traits=(Pure,)):
    """A float from a signed integer, rounded to nearest."""

    example = "%r = llvm.sitofp %a : i32 to f32"


class FPToSI(Cast, name="llvm.fptosi", traits=(Pure,)):
    """A signed integer, rounded to zero; poison where it does not fit."""

    example = "%r = llvm.fptosi %a : f32 to i32"


class FPToUI(Cast, name="llvm.fptoui", traits=(Pure,)):
    """An unsigned integer, rounded to zero; poison where it does not fit."""

    example = "%r = llvm.fptoui %a : f32 to i32"


class FPExt(Cast, name="llvm.fpext", traits=(Pure,)):
    """A wider float."""

    example = "%r = llvm.fpext %a : f32 to f64"


class FPTrunc(Cast, name="llvm.fptrunc", traits=(Pure,)):
    """A narrower float, rounded to nearest, ties to even."""

    example = "%r = llvm.fptrunc %a : f64 to f32"


class Bitcast(Cast, name="llvm.bitcast", traits=(Pure,)):
    """The same bits as another type of the same size."""

    example = "%r = llvm.bitcast %a : f32 to i32"

    def verify_op(self) -> None:
        """Check that pointers are cast to pointers only."""
        check_bitcast(self, self.arg.type, self.res.type)


class PtrToInt(Cast, name="llvm.ptrtoint", traits=(Pure,)):
    """The address as an integer."""

    example = "%r = llvm.ptrtoint %p : !llvm.ptr to i64"


class IntToPtr(Cast, name="llvm.inttoptr", traits=(Pure,)):
    """The integer as an address."""

    dereferenceable: Attribute | None = attribute(attribute_of(Dereferenceable), optional=True)

    format = (
        "$arg (`dereferenceable` `` $dereferenceable^)? attr-dict `:` type($arg) `to` type($res)"
    )
    example = "%r = llvm.inttoptr %a : i64 to !llvm.ptr"


class AddrSpaceCast(Cast, name="llvm.addrspacecast", traits=(Pure,)):
    """The pointer in another address space."""

    example = "%r = llvm.addrspacecast %p : !llvm.ptr to !llvm.ptr<1>"

"""LLVM's intrinsics as ops `llvm.intr.*`, those that our lowerings make."""

# ruff: noqa: N815 - the names of properties are upstream's

from __future__ import annotations

from ...ir.constraints import Same
from ...ir.declare import (
    BOOL,
    I32,
    I32_ARRAY,
    Op,
    Operand,
    Operands,
    Result,
    attribute,
    operand,
    operands,
    result,
)
from ...ir.traits import Commutative, Pure, ReadsMemory, WritesMemory
from .aggregates import LLVMVector
from .arithmetic import BoolLike, FloatLike, IntegerLike, LLVMType, PointerLike
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


# -- reductions ------------------------------------------------------------------------------


class VectorReduction(Op):
    """Base of reductions of a vector to one element."""

    vec: Operand = operand(LLVMVector)
    res: Result = result(LLVMType)

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The element type."""
        return [operand_types[-1].element_type]


class FloatVectorReduction(VectorReduction):
    """Base of reductions of a vector of floats without a start value."""

    fastmathFlags: str = attribute(FASTMATH, default="none")

    format = _FUNCTIONAL


class SeededVectorReduction(Op):
    """Base of reductions with a start value; in order, unless fast-math flags allow any."""

    start_value: Operand = operand(FloatLike)
    vec: Operand = operand(LLVMVector)
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(Same("start_value"))


class IntrVectorReduceAdd(VectorReduction, name="llvm.intr.vector.reduce.add", traits=(Pure,)):
    """The sum of the elements."""

    example = '%r = "llvm.intr.vector.reduce.add"(%v) : (vector<4xi32>) -> i32'


class IntrVectorReduceMul(VectorReduction, name="llvm.intr.vector.reduce.mul", traits=(Pure,)):
    """The product of the elements."""

    example = '%r = "llvm.intr.vector.reduce.mul"(%v) : (vector<4xi32>) -> i32'


class IntrVectorReduceAnd(VectorReduction, name="llvm.intr.vector.reduce.and", traits=(Pure,)):
    """The bitwise and of the elements."""

    example = '%r = "llvm.intr.vector.reduce.and"(%v) : (vector<4xi32>) -> i32'


class IntrVectorReduceOr(VectorReduction, name="llvm.intr.vector.reduce.or", traits=(Pure,)):
    """The bitwise or of the elements."""

    example = '%r = "llvm.intr.vector.reduce.or"(%v) : (vector<4xi32>) -> i32'


class IntrVectorReduceXor(VectorReduction, name="llvm.intr.vector.reduce.xor", traits=(Pure,)):
    """The bitwise exclusive or of the elements."""

    example = '%r = "llvm.intr.vector.reduce.xor"(%v) : (vector<4xi32>) -> i32'


class IntrVectorReduceSMax(VectorReduction, name="llvm.intr.vector.reduce.smax", traits=(Pure,)):
    """The largest signed element."""

    example = '%r = "llvm.intr.vector.reduce.smax"(%v) : (vector<4xi32>) -> i32'


class IntrVectorReduceSMin(VectorReduction, name="llvm.intr.vector.reduce.smin", traits=(Pure,)):
    """The smallest signed element."""

    example = '%r = "llvm.intr.vector.reduce.smin"(%v) : (vector<4xi32>) -> i32'


class IntrVectorReduceUMax(VectorReduction, name="llvm.intr.vector.reduce.umax", traits=(Pure,)):
    """The largest unsigned element."""

    example = '%r = "llvm.intr.vector.reduce.umax"(%v) : (vector<4xi32>) -> i32'


class IntrVectorReduceUMin(VectorReduction, name="llvm.intr.vector.reduce.umin", traits=(Pure,)):
    """The smallest unsigned element."""

    example = '%r = "llvm.intr.vector.reduce.umin"(%v) : (vector<4xi32>) -> i32'


class IntrVectorReduceFMax(
    FloatVectorReduction, name="llvm.intr.vector.reduce.fmax", traits=(Pure,)
):
    """The largest element that is not NaN."""

    example = "%r = llvm.intr.vector.reduce.fmax(%v) : (vector<4xf32>) -> f32"


class IntrVectorReduceFMin(
    FloatVectorReduction, name="llvm.intr.vector.reduce.fmin", traits=(Pure,)
):
    """The smallest element that is not NaN."""

    example = "%r = llvm.intr.vector.reduce.fmin(%v) : (vector<4xf32>) -> f32"


class IntrVectorReduceFMaximum(
    FloatVectorReduction, name="llvm.intr.vector.reduce.fmaximum", traits=(Pure,)
):
    """The largest element; NaN if one is."""

    example = "%r = llvm.intr.vector.reduce.fmaximum(%v) : (vector<4xf32>) -> f32"


class IntrVectorReduceFMinimum(
    FloatVectorReduction, name="llvm.intr.vector.reduce.fminimum", traits=(Pure,)
):
    """The smallest element; NaN if one is."""

    example = "%r = llvm.intr.vector.reduce.fminimum(%v) : (vector<4xf32>) -> f32"


class IntrVectorReduceFAdd(
    SeededVectorReduction, name="llvm.intr.vector.reduce.fadd", traits=(Pure,)
):
    """The start value plus all elements."""

    example = (
        '%r = "llvm.intr.vector.reduce.fadd"(%s, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> '
        ": (f32, vector<4xf32>) -> f32"
    )


class IntrVectorReduceFMul(
    SeededVectorReduction, name="llvm.intr.vector.reduce.fmul", traits=(Pure,)
):
    """The start value times all elements."""

    example = (
        '%r = "llvm.intr.vector.reduce.fmul"(%s, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> '
        ": (f32, vector<4xf32>) -> f32"
    )


# -- memory ----------------------------------------------------------------------------------


class IntrMaskedLoad(Op, name="llvm.intr.masked.load", traits=(ReadsMemory,)):
    """The elements in memory where the mask is set, else those of the pass-through."""

    data: Operand = operand(PointerLike)
    mask: Operand = operand(BoolLike)
    pass_thru: Operands = operands(LLVMType)
    alignment: int = attribute(I32)
    res: Result = result(LLVMVector)

    format = "operands attr-dict `:` functional-type(operands, results)"
    example = (
        "%v = llvm.intr.masked.load %p, %m, %z {alignment = 4 : i32} : "
        "(!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>"
    )


class IntrMaskedStore(Op, name="llvm.intr.masked.store", traits=(WritesMemory,)):
    """Write the elements where the mask is set."""

    value: Operand = operand(LLVMVector)
    data: Operand = operand(PointerLike)
    mask: Operand = operand(BoolLike)
    alignment: int = attribute(I32)

    format = (
        "$value `,` $data `,` $mask attr-dict `:` type($value) `,` type($mask) `into` type($data)"
    )
    example = (
        "llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32} : "
        "vector<4xf32>, vector<4xi1> into !llvm.ptr"
    )


class IntrMaskedGather(Op, name="llvm.intr.masked.gather", traits=(ReadsMemory,)):
    """The elements at many addresses where the mask is set, else those of the pass-through."""

    ptrs: Operand = operand(PointerLike)
    mask: Operand = operand(BoolLike)
    pass_thru: Operands = operands(LLVMType)
    alignment: int = attribute(I32)
    res: Result = result(LLVMVector)

    format = "operands attr-dict `:` functional-type(operands, results)"
    example = (
        "%v = llvm.intr.masked.gather %p, %m, %z {alignment = 4 : i32} : "
        "(vector<4x!llvm.ptr>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>"
    )


class IntrMaskedScatter(Op, name="llvm.intr.masked.scatter", traits=(WritesMemory,)):
    """Write the elements to many addresses where the mask is set."""

    value: Operand = operand(LLVMVector)
    ptrs: Operand = operand(PointerLike)
    mask: Operand = operand(BoolLike)
    alignment: int = attribute(I32)

    format = (
        "$value `,` $ptrs `,` $mask attr-dict `:` type($value) `,` type($mask) `into` type($ptrs)"
    )
    example = (
        "llvm.intr.masked.scatter %v, %p, %m {alignment = 4 : i32} : "
        "vector<4xf32>, vector<4xi1> into vector<4x!llvm.ptr>"
    )


class IntrMaskedExpandLoad(Op, name="llvm.intr.masked.expandload", traits=(ReadsMemory,)):
    """Consecutive elements in memory spread over the lanes where the mask is set."""

    ptr: Operand = operand(PointerLike)
    mask: Operand = operand(BoolLike)
    passthru: Operand = operand(LLVMVector)
    res: Result = result(Same("passthru"))

    example = (
        '%v = "llvm.intr.masked.expandload"(%p, %m, %z) : '
        "(!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>"
    )


class IntrMaskedCompressStore(Op, name="llvm.intr.masked.compressstore", traits=(WritesMemory,)):
    """Write the lanes where the mask is set next to each other."""

    value: Operand = operand(LLVMVector)
    ptr: Operand = operand(PointerLike)
    mask: Operand = operand(BoolLike)

    example = (
        '"llvm.intr.masked.compressstore"(%v, %p, %m) : '
        "(vector<4xf32>, !llvm.ptr, vector<4xi1>) -> ()"
    )


class IntrMemcpy(Op, name="llvm.intr.memcpy", traits=(WritesMemory,)):
    """Copy bytes; the ranges do not overlap, or are the same."""

    dst: Operand = operand(PointerLike)
    src: Operand = operand(PointerLike)
    len: Operand = operand(IntegerLike)
    isVolatile: bool = attribute(BOOL)

    example = (
        '"llvm.intr.memcpy"(%d, %s, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()'
    )


class IntrMemmove(Op, name="llvm.intr.memmove", traits=(WritesMemory,)):
    """Copy bytes between ranges that may overlap."""

    dst: Operand = operand(PointerLike)
    src: Operand = operand(PointerLike)
    len: Operand = operand(IntegerLike)
    isVolatile: bool = attribute(BOOL)

    example = (
        '"llvm.intr.memmove"(%d, %s, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()'
    )


class IntrMemset(Op, name="llvm.intr.memset", traits=(WritesMemory,)):
    """Set bytes to a value."""

    dst: Operand = operand(PointerLike)
    val: Operand = operand(IntegerLike)
    len: Operand = operand(IntegerLike)
    isVolatile: bool = attribute(BOOL)

    example = '"llvm.intr.memset"(%d, %v, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()'


class IntrPrefetch(Op, name="llvm.intr.prefetch", traits=(WritesMemory,)):
    """Ask for a cache line ahead of its use: `rw` 1 to write, `hint` 0 to 3 (keep)."""

    addr: Operand = operand(PointerLike)
    rw: int = attribute(I32)
    hint: int = attribute(I32)
    cache: int = attribute(I32)

    example = (
        '"llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> '
        ": (!llvm.ptr) -> ()"
    )


# -- hints -----------------------------------------------------------------------------------


class IntrAssume(Op, name="llvm.intr.assume", traits=(WritesMemory,)):
    """Promise that a condition holds."""

    cond: Operand = operand(BoolLike)
    op_bundle_sizes: tuple[int, ...] = attribute(I32_ARRAY, default=())

    format = "$cond attr-dict `:` type($cond)"
    example = "llvm.intr.assume %c : i1"

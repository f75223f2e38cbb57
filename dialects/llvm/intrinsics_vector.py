"""LLVM's reductions of vectors as ops `llvm.intr.*`."""

# ruff: noqa: N815 - the names of properties are upstream's

from __future__ import annotations

from ..vocabulary import *
from .aggregates import LLVMVector
from .arithmetic import FloatLike, LLVMType
from .attributes import FASTMATH

_FUNCTIONAL = "`(` operands `)` attr-dict `:` functional-type(operands, results)"


class VectorReduction(Op):
    """Base of reductions of a vector to one element."""

    vec: Operand = operand(LLVMVector)
    res: Result = result(LLVMType)

    example = '%r = "{name}"(%v) : (vector<4xi32>) -> i32'

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The element type."""
        return [operand_types[-1].element_type]


class FloatVectorReduction(VectorReduction):
    """Base of reductions of a vector of floats without a start value."""

    fastmathFlags: str = attribute(FASTMATH, default="none")

    format = _FUNCTIONAL
    example = "%r = {name}(%v) : (vector<4xf32>) -> f32"


class SeededVectorReduction(Op):
    """Base of reductions with a start value; in order, unless fast-math flags allow any."""

    start_value: Operand = operand(FloatLike)
    vec: Operand = operand(LLVMVector)
    fastmathFlags: str = attribute(FASTMATH, default="none")
    res: Result = result(Same("start_value"))


class IntrVectorReduceAdd(VectorReduction, name="llvm.intr.vector.reduce.add", traits=(Pure,)):
    """The sum of the elements."""


class IntrVectorReduceMul(VectorReduction, name="llvm.intr.vector.reduce.mul", traits=(Pure,)):
    """The product of the elements."""


class IntrVectorReduceAnd(VectorReduction, name="llvm.intr.vector.reduce.and", traits=(Pure,)):
    """The bitwise and of the elements."""


class IntrVectorReduceOr(VectorReduction, name="llvm.intr.vector.reduce.or", traits=(Pure,)):
    """The bitwise or of the elements."""


class IntrVectorReduceXor(VectorReduction, name="llvm.intr.vector.reduce.xor", traits=(Pure,)):
    """The bitwise exclusive or of the elements."""


class IntrVectorReduceSMax(VectorReduction, name="llvm.intr.vector.reduce.smax", traits=(Pure,)):
    """The largest signed element."""


class IntrVectorReduceSMin(VectorReduction, name="llvm.intr.vector.reduce.smin", traits=(Pure,)):
    """The smallest signed element."""


class IntrVectorReduceUMax(VectorReduction, name="llvm.intr.vector.reduce.umax", traits=(Pure,)):
    """The largest unsigned element."""


class IntrVectorReduceUMin(VectorReduction, name="llvm.intr.vector.reduce.umin", traits=(Pure,)):
    """The smallest unsigned element."""


class IntrVectorReduceFMax(
    FloatVectorReduction, name="llvm.intr.vector.reduce.fmax", traits=(Pure,)
):
    """The largest element that is not NaN."""


class IntrVectorReduceFMin(
    FloatVectorReduction, name="llvm.intr.vector.reduce.fmin", traits=(Pure,)
):
    """The smallest element that is not NaN."""


class IntrVectorReduceFMaximum(
    FloatVectorReduction, name="llvm.intr.vector.reduce.fmaximum", traits=(Pure,)
):
    """The largest element; NaN if one is."""


class IntrVectorReduceFMinimum(
    FloatVectorReduction, name="llvm.intr.vector.reduce.fminimum", traits=(Pure,)
):
    """The smallest element; NaN if one is."""


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

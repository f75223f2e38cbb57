"""LLVM's intrinsics of vectors and matrices as ops `llvm.intr.*`."""

# ruff: noqa: N815 - the names of properties are upstream's

from __future__ import annotations

from ...ir.constraints import Constraint, Same
from ...ir.core import Operation
from ...ir.declare import BOOL, I32, I64, Op, Operand, Result, attribute, operand, result
from ...ir.traits import Pure, ReadsMemory, WritesMemory
from ...ir.types import IntegerType, Type, VectorType
from .aggregates import LLVMVector
from .arithmetic import AnyPointer, FloatLike, LLVMType
from .attributes import FASTMATH

_FUNCTIONAL = "`(` operands `)` attr-dict `:` functional-type(operands, results)"
_Integer = Constraint("signless integer", lambda t: isinstance(t, IntegerType))


# -- reductions ------------------------------------------------------------------------------


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


# -- parts -----------------------------------------------------------------------------------


def _bits(type: Type) -> int:
    element = type.element_type  # type: ignore[attr-defined]
    return type.shape[0] * getattr(element, "bit_width", 64)  # type: ignore[attr-defined]


def _verify_parts(op: Operation, whole: Type, part: Type, verb: str) -> None:
    """The part of a fixed vector is fixed; neither is too large, and both have a dimension."""
    if any(isinstance(one, VectorType) and one.rank != 1 for one in (whole, part)):
        raise op.error("takes vectors of one dimension")
    if max(_bits(whole), _bits(part)) > 131072:
        raise op.error("failed to verify that vectors are not bigger than 2^17 bits.")
    if isinstance(part, VectorType) and any(part.scalable) and not any(whole.scalable):  # type: ignore[attr-defined]
        raise op.error(f"failed to verify that it is not {verb} fixed-length vectors.")


class IntrVectorInsert(Op, name="llvm.intr.vector.insert", traits=(Pure,)):
    """A vector with the elements from a position on replaced by those of another."""

    dstvec: Operand = operand(LLVMVector)
    srcvec: Operand = operand(LLVMVector)
    pos: int = attribute(I64)
    res: Result = result(Same("dstvec"))

    format = "$srcvec `,` $dstvec `[` $pos `]` attr-dict `:` type($srcvec) `into` type($res)"
    example = """func.func @f(%arg0: vector<4xf32>, %arg1: vector<8xf32>) {
  %0 = llvm.intr.vector.insert %arg0, %arg1[4] : vector<4xf32> into vector<8xf32>
  return
}"""

    def verify_op(self) -> None:
        """The part fits."""
        _verify_parts(self, self.dstvec.type, self.srcvec.type, "inserting scalable into")


class IntrVectorExtract(Op, name="llvm.intr.vector.extract", traits=(Pure,)):
    """Elements of a vector from a position on."""

    srcvec: Operand = operand(LLVMVector)
    pos: int = attribute(I64)
    res: Result = result(LLVMVector)

    format = "$srcvec `[` $pos `]` attr-dict `:` type($res) `from` type($srcvec)"
    example = "%r = llvm.intr.vector.extract %v[4] : vector<4xf32> from vector<8xf32>"

    def verify_op(self) -> None:
        """The part fits."""
        _verify_parts(self, self.srcvec.type, self.res.type, "extracting scalable from")


class IntrGetActiveLaneMask(Op, name="llvm.intr.get.active.lane.mask", traits=(Pure,)):
    """Which lanes of a loop that starts at `base` are below `n`."""

    base: Operand = operand(_Integer)
    n: Operand = operand(_Integer)
    res: Result = result(LLVMVector)

    format = "$base `,` $n attr-dict `:` type($base) `,` type($n) `to` type($res)"
    example = "%m = llvm.intr.get.active.lane.mask %i, %n : i64, i64 to vector<7xi1>"


# -- matrices: columns one after the other in a vector ---------------------------------------


class IntrMatrixLoad(Op, name="llvm.intr.matrix.column.major.load", traits=(ReadsMemory,)):
    """A matrix from memory; `stride` elements lie between the starts of columns."""

    data: Operand = operand(AnyPointer)
    stride: Operand = operand(_Integer)
    isVolatile: bool = attribute(BOOL)
    rows: int = attribute(I32)
    columns: int = attribute(I32)
    res: Result = result(LLVMVector)

    format = (
        "$data `,` `<` `stride` `=` $stride `>` attr-dict `:` type($res) `from` type($data) "
        "`stride` type($stride)"
    )
    example = (
        "%r = llvm.intr.matrix.column.major.load %p, <stride = %s> {columns = 16 : i32, "
        "isVolatile = false, rows = 3 : i32} : vector<48xf32> from !llvm.ptr stride i64"
    )


class IntrMatrixStore(Op, name="llvm.intr.matrix.column.major.store", traits=(WritesMemory,)):
    """Write a matrix; `stride` elements lie between the starts of columns."""

    matrix: Operand = operand(LLVMVector)
    data: Operand = operand(AnyPointer)
    stride: Operand = operand(_Integer)
    isVolatile: bool = attribute(BOOL)
    rows: int = attribute(I32)
    columns: int = attribute(I32)

    format = (
        "$matrix `,` $data `,` `<` `stride` `=` $stride `>` attr-dict `:` type($matrix) `to` "
        "type($data) `stride` type($stride)"
    )
    example = (
        "llvm.intr.matrix.column.major.store %m, %p, <stride = %s> {columns = 16 : i32, "
        "isVolatile = false, rows = 3 : i32} : vector<48xf32> to !llvm.ptr stride i64"
    )


class IntrMatrixMultiply(Op, name="llvm.intr.matrix.multiply"):
    """The product of two matrices."""

    lhs: Operand = operand(LLVMVector)
    rhs: Operand = operand(LLVMVector)
    lhs_rows: int = attribute(I32)
    lhs_columns: int = attribute(I32)
    rhs_columns: int = attribute(I32)
    res: Result = result(LLVMVector)

    format = "$lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type($res)"
    example = (
        "%r = llvm.intr.matrix.multiply %a, %b {lhs_columns = 16 : i32, lhs_rows = 4 : i32, "
        "rhs_columns = 3 : i32} : (vector<64xf32>, vector<48xf32>) -> vector<12xf32>"
    )


class IntrMatrixTranspose(Op, name="llvm.intr.matrix.transpose"):
    """A matrix with rows and columns exchanged."""

    matrix: Operand = operand(LLVMVector)
    rows: int = attribute(I32)
    columns: int = attribute(I32)
    res: Result = result(LLVMVector)

    format = "$matrix attr-dict `:` type($matrix) `into` type($res)"
    example = (
        "%r = llvm.intr.matrix.transpose %m {columns = 16 : i32, rows = 3 : i32} : "
        "vector<48xf32> into vector<48xf32>"
    )

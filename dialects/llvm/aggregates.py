"""Constants, vectors and aggregates of the llvm dialect."""

from __future__ import annotations

from ..vocabulary import *
from .arithmetic import IntegerLike, LLVMType, PointerLike
from .checks import check_constant
from .types import ArrayType, StructType

Aggregate = Constraint("LLVM aggregate type", lambda t: isinstance(t, (ArrayType, StructType)))
LLVMVector = Constraint("LLVM dialect-compatible vector type", lambda t: isinstance(t, VectorType))


class Constant(Op, name="llvm.mlir.constant", traits=(Pure, ConstantLike)):
    """A constant of scalar, vector or array type."""

    value: Attribute = attribute()
    res: Result = result(LLVMType)

    format = "`` `(` $value `)` attr-dict `:` type($res)"
    example = "%c = llvm.mlir.constant(1 : i64) : i64"

    def verify_op(self) -> None:
        """Check that the value fits the type."""
        check_constant(self, self.value, self.res.type)


class Zero(Op, name="llvm.mlir.zero", traits=(Pure,)):
    """All bits zero: the null pointer, 0, an aggregate of them."""

    res: Result = result(LLVMType)

    format = "attr-dict `:` type($res)"
    example = "%p = llvm.mlir.zero : !llvm.ptr"


class Undef(Op, name="llvm.mlir.undef", traits=(Pure,)):
    """An unspecified value, which may be another one at each use."""

    res: Result = result(LLVMType)

    format = "attr-dict `:` type($res)"
    example = "%u = llvm.mlir.undef : f32"


class Poison(Op, name="llvm.mlir.poison", traits=(Pure,)):
    """A value that must not be observed."""

    res: Result = result(LLVMType)

    format = "attr-dict `:` type($res)"
    example = "%u = llvm.mlir.poison : vector<4xf32>"


class DSOLocalEquivalent(Op, name="llvm.dso_local_equivalent", traits=(Pure, ConstantLike)):
    """A function that behaves as another one and is in the same library."""

    function_name: str = attribute(SYMBOL)
    res: Result = result(PointerLike)

    format = "$function_name attr-dict `:` type($res)"
    example = """llvm.func @f() -> !llvm.ptr {
  %0 = llvm.dso_local_equivalent @f : !llvm.ptr
  llvm.return %0 : !llvm.ptr
}"""


class AddressOf(Op, name="llvm.mlir.addressof", traits=(Pure,)):
    """The address of a global or a function."""

    global_name: str = attribute(SYMBOL)
    res: Result = result(PointerLike)

    format = "$global_name attr-dict `:` type($res)"
    example = """llvm.func @f() -> !llvm.ptr {
  %0 = llvm.mlir.addressof @f : !llvm.ptr
  llvm.return %0 : !llvm.ptr
}"""


def _member(container: Type, position: Sequence[int]) -> Type:
    at = container
    for i in position:
        match at:
            case StructType(elements) if 0 <= i < len(elements):
                at = elements[i]
            case ArrayType(size, element) if 0 <= i < size:
                at = element
            case _:
                raise NncError(f"position out of bounds: {i}")
    return at


class ExtractValue(Op, name="llvm.extractvalue", traits=(Pure,)):
    """A member of a struct or array."""

    container: Operand = operand(Aggregate)
    position: tuple[int, ...] = attribute(INT_ARRAY)
    res: Result = result(LLVMType)

    format = "$container `` $position attr-dict `:` type($container) ` `"
    example = "%m = llvm.extractvalue %s[0] : !llvm.struct<(i64, ptr)>"

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The member's type."""
        return [_member(operand_types[0], properties["position"].values)]


class InsertValue(Op, name="llvm.insertvalue", traits=(Pure,)):
    """The struct or array with one member replaced."""

    container: Operand = operand(Aggregate)
    value: Operand = operand(LLVMType)
    position: tuple[int, ...] = attribute(INT_ARRAY)
    res: Result = result(Same("container"))

    format = "custom<InsertValue>($container, $value, $position) attr-dict `:` type($container) ` `"
    example = """llvm.func @f(%arg0: !llvm.struct<(i64, ptr)>, %arg1: i64) {
  %0 = llvm.insertvalue %arg1, %arg0[0] : !llvm.struct<(i64, ptr)>
  llvm.return
}"""

    def verify_op(self) -> None:
        """Check that the member has the value's type."""
        member = _member(self.container.type, self.position)
        if member is not self.value.type:
            raise self.error(f"cannot insert {self.value.type} into a member of type {member}")


class ExtractElement(Op, name="llvm.extractelement", traits=(Pure,)):
    """An element of a vector."""

    vector: Operand = operand(LLVMVector)
    position: Operand = operand(IntegerLike)
    res: Result = result(LLVMType)

    format = "$vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)"
    example = "%x = llvm.extractelement %v[%i : i64] : vector<4xf32>"

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The element type."""
        return [operand_types[0].element_type]


class InsertElement(Op, name="llvm.insertelement", traits=(Pure,)):
    """The vector with one element replaced."""

    vector: Operand = operand(LLVMVector)
    value: Operand = operand(LLVMType)
    position: Operand = operand(IntegerLike)
    res: Result = result(Same("vector"))

    format = (
        "custom<InsertElement>($vector, $value, $position, type($position)) attr-dict "
        "`:` type($vector)"
    )
    example = """llvm.func @f(%arg0: vector<4xf32>, %arg1: f32, %arg2: i64) {
  %0 = llvm.insertelement %arg1, %arg0[%arg2 : i64] : vector<4xf32>
  llvm.return
}"""


class ShuffleVector(Op, name="llvm.shufflevector", traits=(Pure,)):
    """Elements of two vectors, chosen by a mask; -1 is any value."""

    v1: Operand = operand(LLVMVector)
    v2: Operand = operand(Same("v1"))
    mask: tuple[int, ...] = attribute(I32_ARRAY)
    res: Result = result(LLVMVector)

    format = "$v1 `,` $v2 $mask attr-dict `:` type($v1) ` `"
    example = "%w = llvm.shufflevector %v, %v [0, 0, -1, 7] : vector<4xf32>"

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """A vector as long as the mask."""
        rows, first = len(properties["mask"].values), operand_types[0]
        return [VectorType((rows,), first.element_type, first.scalable)]

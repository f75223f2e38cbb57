"""Calls of the llvm dialect: of functions, intrinsics and assembly; and exceptions."""

# ruff: noqa: N815 - the names of properties are upstream's

from __future__ import annotations

from ...ir.declare import TYPE
from ..index_lists import plain_error
from ..vocabulary import *
from .arithmetic import AnyPointer, LLVMType
from .attributes import ASM_DIALECT, CCONV, FASTMATH, TAIL_CALL_KIND
from .checks import check_bundles
from .memory import MemoryAccess
from .metadata import MemoryEffects, attribute_of
from .types import LLVMFunctionType

_BUNDLES = "custom<OpBundles>($op_bundle_operands, type($op_bundle_operands), $op_bundle_tags)"


class Call(MemoryAccess, name="llvm.call"):
    """Call a function by name, or through a pointer that is the first operand."""

    callee: str | None = attribute(SYMBOL, optional=True)
    callee_operands: Sequence[Value] = operands(LLVMType)
    op_bundle_operands: Sequence[Value] = operands(LLVMType)
    var_callee_type: Type | None = attribute(TYPE, optional=True)
    fastmathFlags: str = attribute(FASTMATH, default="none")
    CConv: str = attribute(CCONV, default="ccc")
    TailCallKind: str = attribute(TAIL_CALL_KIND, default="none")
    op_bundle_sizes: tuple[int, ...] = attribute(I32_ARRAY, default=())
    op_bundle_tags: tuple | None = attribute(ARRAY, optional=True)
    memory_effects: Attribute | None = attribute(attribute_of(MemoryEffects), optional=True)
    convergent: bool = attribute(UNIT)
    no_unwind: bool = attribute(UNIT)
    will_return: bool = attribute(UNIT)
    no_inline: bool = attribute(UNIT)
    always_inline: bool = attribute(UNIT)
    inline_hint: bool = attribute(UNIT)
    arg_attrs: tuple | None = attribute(ARRAY, optional=True)
    res_attrs: tuple | None = attribute(ARRAY, optional=True)
    res: OptionalResult = optional_result(LLVMType)

    format = (
        f"custom<CallHead>($callee, $callee_operands, $var_callee_type) {_BUNDLES} attr-dict "
        "`:` custom<CallType>($callee, $callee_operands, type($callee_operands), type($res))"
    )
    example = """llvm.func @expf(f32) -> f32
llvm.func @f(%arg0: f32, %arg1: !llvm.ptr) {
  %0 = llvm.call @expf(%arg0) : (f32) -> f32
  %1 = llvm.call %arg1(%0) : !llvm.ptr, (f32) -> f32
  llvm.return
}"""

    def verify_op(self) -> None:
        """Check that the operand bundles fit their operands and tags."""
        if self.op_bundle_sizes or self.op_bundle_operands:
            check_bundles(self)

    @staticmethod
    def of(
        callee: str | ValueLike,
        arguments: Sequence[Value],
        result: Type | None = None,
        loc: Location = UNKNOWN,
        variadic: LLVMFunctionType | None = None,
    ) -> Call:
        """A call of a symbol or of a pointer."""
        operands_ = list(arguments)
        properties: dict[str, Attribute] = {}
        if isinstance(callee, str):
            properties["callee"] = SymbolRefAttr(callee)
        else:
            operands_.insert(0, as_value(callee))
        if variadic is not None:
            properties["var_callee_type"] = variadic
        properties["operandSegmentSizes"] = DenseArrayAttr(i32, (len(operands_), 0))
        properties["op_bundle_sizes"] = DenseArrayAttr(i32, ())
        types = [] if result is None else [result]
        return Call.create(operands_, types, properties=properties, loc=loc)


class Invoke(Op, name="llvm.invoke", traits=(Terminator,)):
    """Call a function, and jump to one block after it, to another where it throws."""

    var_callee_type: Type | None = attribute(TYPE, optional=True)
    callee: str | None = attribute(SYMBOL, optional=True)
    callee_operands: Sequence[Value] = operands(LLVMType)
    arg_attrs: tuple | None = attribute(ARRAY, optional=True)
    res_attrs: tuple | None = attribute(ARRAY, optional=True)
    normalDestOperands: Sequence[Value] = operands(LLVMType)
    unwindDestOperands: Sequence[Value] = operands(LLVMType)
    branch_weights: tuple[int, ...] | None = attribute(I32_ARRAY, optional=True)
    CConv: str = attribute(CCONV, default="ccc")
    op_bundle_operands: Sequence[Value] = operands(LLVMType)
    op_bundle_sizes: tuple[int, ...] = attribute(I32_ARRAY, default=())
    op_bundle_tags: tuple | None = attribute(ARRAY, optional=True)
    res: OptionalResult = optional_result(LLVMType)
    normalDest: Block = successor()
    unwindDest: Block = successor()

    format = (
        "custom<InvokeHead>($callee, $callee_operands, $var_callee_type, $normalDest, "
        f"$normalDestOperands, $unwindDest, $unwindDestOperands) {_BUNDLES} attr-dict "
        "`:` custom<CallType>($callee, $callee_operands, type($callee_operands), type($res))"
    )
    example = """llvm.func @personality(...) -> i32
llvm.func @f(%arg0: i32) -> i32 attributes {personality = @personality} {
  %0 = llvm.invoke @f(%arg0) to ^bb1(%arg0 : i32) unwind ^bb2 : (i32) -> i32
^bb1(%1: i32):
  llvm.return %1 : i32
^bb2:
  %2 = llvm.landingpad cleanup : !llvm.struct<(ptr, i32)>
  llvm.resume %2 : !llvm.struct<(ptr, i32)>
}"""

    def verify_op(self) -> None:
        """Check that the unwind block starts with a landing pad."""
        check_bundles(self)
        first = next(iter(self.unwindDest), None)
        if first is None or first.name != "llvm.landingpad":
            raise plain_error(
                self,
                "first operation in unwind destination should be a llvm.landingpad operation",
            )


class CallIntrinsic(Op, name="llvm.call_intrinsic"):
    """Call LLVM's intrinsic of a name, whichever it is."""

    intrin: str = attribute(STRING)
    args: Sequence[Value] = operands(LLVMType)
    fastmathFlags: str = attribute(FASTMATH, default="none")
    op_bundle_operands: Sequence[Value] = operands(LLVMType)
    op_bundle_sizes: tuple[int, ...] = attribute(I32_ARRAY, default=())
    op_bundle_tags: tuple | None = attribute(ARRAY, optional=True)
    arg_attrs: tuple | None = attribute(ARRAY, optional=True)
    res_attrs: tuple | None = attribute(ARRAY, optional=True)
    res: OptionalResult = optional_result(LLVMType)

    format = (
        f"$intrin `` `(` $args `)` {_BUNDLES} attr-dict "
        "`:` custom<Signature>($args, type($args), type($res))"
    )
    example = '%r = llvm.call_intrinsic "llvm.sqrt.f32"(%x) : (f32) -> f32'

    def verify_op(self) -> None:
        """Check that the name is that of an intrinsic."""
        check_bundles(self)
        if not self.intrin.startswith("llvm."):
            raise self.error("intrinsic name must start with 'llvm.'")


class InlineAsm(Op, name="llvm.inline_asm"):
    """Assembly with its constraints."""

    args: Sequence[Value] = operands(LLVMType)
    asm_string: str = attribute(STRING)
    constraints: str = attribute(STRING)
    has_side_effects: bool = attribute(UNIT)
    is_align_stack: bool = attribute(UNIT)
    tail_call_kind: str = attribute(TAIL_CALL_KIND, default="none")
    asm_dialect: str | None = attribute(ASM_DIALECT, optional=True)
    operand_attrs: tuple | None = attribute(ARRAY, optional=True)
    res: OptionalResult = optional_result(LLVMType)

    format = (
        "(`has_side_effects` $has_side_effects^)? (`is_align_stack` $is_align_stack^)? "
        "(`tail_call_kind` `=` $tail_call_kind^)? (`asm_dialect` `=` $asm_dialect^)? "
        "(`operand_attrs` `=` $operand_attrs^)? attr-dict $asm_string `,` $constraints $args `:` "
        "functional-type($args, $res)"
    )
    example = '%r = llvm.inline_asm has_side_effects "bswap $0", "=r,r" %x : (i32) -> i32'


class VaArg(Op, name="llvm.va_arg"):
    """The next of the arguments of a variadic function."""

    arg: Operand = operand(AnyPointer)
    res: Result = result(LLVMType)

    format = "$arg attr-dict `:` functional-type($arg, $res)"
    example = "%x = llvm.va_arg %list : (!llvm.ptr) -> i32"

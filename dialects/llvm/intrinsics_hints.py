"""LLVM's intrinsics that compute nothing as ops `llvm.intr.*`: hints, debug information.

And floats computed with a rounding mode of their own, whose effect is on the exception flags.
"""

# ruff: noqa: N815 - the names of properties are upstream's

from __future__ import annotations

from ...ir.attributes import Attribute
from ...ir.constraints import Constraint, Exactly, Same
from ...ir.declare import (
    ARRAY,
    I32_ARRAY,
    Op,
    Operand,
    Operands,
    Result,
    attribute,
    float_kind,
    operand,
    operands,
    result,
)
from ...ir.traits import Pure, WritesMemory
from ...ir.types import FloatType, IntegerType, i1
from .arithmetic import AnyPointer, BoolLike, LLVMType
from .attributes import EXCEPTION_BEHAVIOR, ROUNDING_MODE
from .checks import check_bundles
from .debug_info import EXPRESSION, LABEL, LOCAL_VARIABLE, NO_OPERATIONS
from .intrinsic_table import I8_ATTRIBUTE
from .metadata import AliasScope, attribute_of
from .types import token

_Integer = Constraint("signless integer", lambda t: isinstance(t, IntegerType))


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
        """The operand bundles fit."""
        check_bundles(self)


class IntrExpect(Op, name="llvm.intr.expect", traits=(Pure,)):
    """The value, which is likely the one expected."""

    val: Operand = operand(_Integer)
    expected: Operand = operand(Same("val"))
    res: Result = result(Same("val"))

    format = "$val `,` $expected attr-dict `:` type($val)"
    example = "%r = llvm.intr.expect %x, %y : i32"


class IntrExpectWithProbability(Op, name="llvm.intr.expect.with.probability", traits=(Pure,)):
    """The value, which is the one expected with a probability."""

    val: Operand = operand(_Integer)
    expected: Operand = operand(Same("val"))
    prob: float = attribute(float_kind(FloatType("f64")))
    res: Result = result(Same("val"))

    format = "$val `,` $expected `,` $prob attr-dict `:` type($val)"
    example = "%r = llvm.intr.expect.with.probability %x, %y, 5.000000e-01 : i16"


class IntrNoAliasScopeDecl(Op, name="llvm.intr.experimental.noalias.scope.decl"):
    """Where a scope of accesses that do not alias starts."""

    scope: Attribute = attribute(attribute_of(AliasScope))

    format = "$scope attr-dict"
    example = (
        "llvm.intr.experimental.noalias.scope.decl "
        '#llvm.alias_scope<id = "a", domain = #llvm.alias_scope_domain<id = "d">>'
    )


class IntrUBSanTrap(Op, name="llvm.intr.ubsantrap"):
    """Stop the program, which a sanitizer found at fault."""

    failureKind: int = attribute(I8_ATTRIBUTE)

    format = "prop-dict attr-dict"
    example = "llvm.intr.ubsantrap <{failureKind = 1 : i8}>"


class IntrCoroSuspend(Op, name="llvm.intr.coro.suspend"):
    """Suspend a coroutine; how it goes on."""

    save: Operand = operand(Exactly(token, "LLVM token type"))
    final: Operand = operand(Exactly(i1, "1-bit signless integer"))
    res: Result = result(LLVMType)

    format = "$save `,` $final attr-dict `:` type($res)"
    example = "%r = llvm.intr.coro.suspend %t, %c : i8"


# -- debug information -----------------------------------------------------------------------

_VARIABLE = '#llvm.di_local_variable<scope = #llvm.di_file<"a.c" in "/">, name = "x">'


class IntrDbgDeclare(Op, name="llvm.intr.dbg.declare", traits=(WritesMemory,)):
    """The address at which a source variable lies."""

    addr: Operand = operand(AnyPointer)
    varInfo: Attribute = attribute(LOCAL_VARIABLE)
    locationExpr: Attribute = attribute(EXPRESSION, default=NO_OPERATIONS)

    format = "qualified($varInfo) (qualified($locationExpr)^)? `=` $addr `:` type($addr) attr-dict"
    example = f"llvm.intr.dbg.declare {_VARIABLE} = %p : !llvm.ptr"


class IntrDbgValue(Op, name="llvm.intr.dbg.value", traits=(WritesMemory,)):
    """The value that a source variable has from here on."""

    value: Operand = operand(LLVMType)
    varInfo: Attribute = attribute(LOCAL_VARIABLE)
    locationExpr: Attribute = attribute(EXPRESSION, default=NO_OPERATIONS)

    format = (
        "qualified($varInfo) (qualified($locationExpr)^)? `=` $value `:` type($value) attr-dict"
    )
    example = (
        f"llvm.intr.dbg.value {_VARIABLE} #llvm.di_expression<[DW_OP_plus_uconst(8)]> = %x : i32"
    )


class IntrDbgLabel(Op, name="llvm.intr.dbg.label", traits=(WritesMemory,)):
    """Where a label of the source stands."""

    label: Attribute = attribute(LABEL)

    format = "$label attr-dict"
    example = 'llvm.intr.dbg.label #llvm.di_label<scope = #llvm.di_file<"a.c" in "/">, name = "x">'


# -- floats with a rounding mode -------------------------------------------------------------


class ConstrainedCast(Op):
    """Base of casts to floats that round as they say."""

    arg_0: Operand = operand(LLVMType)
    roundingmode: str = attribute(ROUNDING_MODE)
    fpExceptionBehavior: str = attribute(EXCEPTION_BEHAVIOR)
    res: Result = result(LLVMType)

    format = "$arg_0 $roundingmode $fpExceptionBehavior attr-dict `:` type($arg_0) `to` type($res)"


class IntrConstrainedUIToFP(
    ConstrainedCast, name="llvm.intr.experimental.constrained.uitofp", traits=(Pure,)
):
    """A float from an unsigned integer."""

    example = "%r = llvm.intr.experimental.constrained.uitofp %x towardzero ignore : i32 to f32"


class IntrConstrainedSIToFP(
    ConstrainedCast, name="llvm.intr.experimental.constrained.sitofp", traits=(Pure,)
):
    """A float from a signed integer."""

    example = "%r = llvm.intr.experimental.constrained.sitofp %x tonearest maytrap : i32 to f32"


class IntrConstrainedFPTrunc(
    ConstrainedCast, name="llvm.intr.experimental.constrained.fptrunc", traits=(Pure,)
):
    """A narrower float."""

    example = "%r = llvm.intr.experimental.constrained.fptrunc %x upward strict : f64 to f32"


class IntrConstrainedFPExt(Op, name="llvm.intr.experimental.constrained.fpext", traits=(Pure,)):
    """A wider float."""

    arg_0: Operand = operand(LLVMType)
    fpExceptionBehavior: str = attribute(EXCEPTION_BEHAVIOR)
    res: Result = result(LLVMType)

    format = "$arg_0 $fpExceptionBehavior attr-dict `:` type($arg_0) `to` type($res)"
    example = "%r = llvm.intr.experimental.constrained.fpext %x ignore : f32 to f64"

"""Control flow and calls of the llvm dialect."""

# ruff: noqa: N815 - the names of properties are upstream's

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.attributes import Attribute, DenseArrayAttr, DenseElements, SymbolRefAttr
from ...ir.constraints import Exactly
from ...ir.core import Block, Value
from ...ir.declare import (
    ANY,
    ARRAY,
    I32_ARRAY,
    SYMBOL,
    TYPE,
    Op,
    Operand,
    OptionalResult,
    ValueLike,
    as_value,
    attribute,
    operand,
    operands,
    optional_operand,
    optional_result,
    successor,
)
from ...ir.location import UNKNOWN, Location
from ...ir.traits import Terminator
from ...ir.types import Type, VectorType, i1, i32
from .arithmetic import IntegerLike, LLVMType
from .attributes import CCONV, FASTMATH, TAIL_CALL_KIND
from .types import LLVMFunctionType


class Br(Op, name="llvm.br", traits=(Terminator,)):
    """Jump to a block; the operands become its arguments."""

    destOperands: Sequence[Value] = operands(LLVMType)
    loop_annotation: Attribute | None = attribute(ANY, optional=True)
    dest: Block = successor()

    format = "custom<Successor>($dest, $destOperands, type($destOperands)) attr-dict"
    example = """llvm.func @f(%x: i64) {
  llvm.br ^bb1(%x : i64)
^bb1(%y: i64):
  llvm.return
}"""


class CondBr(Op, name="llvm.cond_br", traits=(Terminator,)):
    """Jump to one of two blocks."""

    condition: Operand = operand(Exactly(i1, "1-bit signless integer"))
    trueDestOperands: Sequence[Value] = operands(LLVMType)
    falseDestOperands: Sequence[Value] = operands(LLVMType)
    branch_weights: tuple[int, ...] | None = attribute(I32_ARRAY, optional=True)
    loop_annotation: Attribute | None = attribute(ANY, optional=True)
    trueDest: Block = successor()
    falseDest: Block = successor()

    format = (
        "$condition (`weights` `(` $branch_weights^ `)`)? `,` "
        "custom<Successor>($trueDest, $trueDestOperands, type($trueDestOperands)) `,` "
        "custom<Successor>($falseDest, $falseDestOperands, type($falseDestOperands)) attr-dict"
    )
    example = """llvm.func @f(%c: i1, %x: i64) {
  llvm.cond_br %c, ^bb1(%x : i64), ^bb2
^bb1(%y: i64):
  llvm.br ^bb2
^bb2:
  llvm.return
}"""

    @staticmethod
    def of(
        condition: ValueLike,
        true_dest: Block,
        true_operands: Sequence[Value],
        false_dest: Block,
        false_operands: Sequence[Value],
        loc: Location = UNKNOWN,
    ) -> CondBr:
        """The branch, with what each target gets."""
        sizes = (1, len(true_operands), len(false_operands))
        return CondBr.create(
            [as_value(condition), *true_operands, *false_operands],
            properties={"operandSegmentSizes": DenseArrayAttr(i32, sizes)},
            successors=[true_dest, false_dest],
            loc=loc,
        )


class Switch(Op, name="llvm.switch", traits=(Terminator,)):
    """Jump to the block of the case that equals the value, or to the default."""

    value: Operand = operand(IntegerLike)
    defaultOperands: Sequence[Value] = operands(LLVMType)
    caseOperands: Sequence[Value] = operands(LLVMType)
    case_values: Attribute | None = attribute(ANY, optional=True)
    case_operand_segments: tuple[int, ...] = attribute(I32_ARRAY)
    branch_weights: tuple[int, ...] | None = attribute(I32_ARRAY, optional=True)
    defaultDestination: Block = successor()
    caseDestinations: Sequence[Block] = successor(variadic=True)

    format = (
        "$value `:` type($value) `,` "
        "custom<Successor>($defaultDestination, $defaultOperands, type($defaultOperands)) "
        "custom<LLVMSwitchCases>($value, $case_values, $caseDestinations, $caseOperands, "
        "type($caseOperands), $case_operand_segments) attr-dict"
    )
    example = """llvm.func @f(%v: i32, %x: i64) {
  llvm.switch %v : i32, ^bb1(%x : i64) [
    1: ^bb1(%x : i64),
    -2: ^bb2
  ]
^bb1(%y: i64):
  llvm.br ^bb2
^bb2:
  llvm.return
}"""

    @staticmethod
    def of(
        value: ValueLike,
        default: tuple[Block, Sequence[Value]],
        cases: Sequence[tuple[int, Block, Sequence[Value]]],
        loc: Location = UNKNOWN,
    ) -> Switch:
        """The switch from (block, its arguments) and (case, block, its arguments)."""
        value = as_value(value)
        block, default_operands = default
        case_operands = [v for _, _, values in cases for v in values]
        sizes = (1, len(default_operands), len(case_operands))
        properties: dict[str, Attribute] = {
            "case_operand_segments": DenseArrayAttr(i32, tuple(len(v) for _, _, v in cases)),
            "operandSegmentSizes": DenseArrayAttr(i32, sizes),
        }
        if cases:
            type = VectorType((len(cases),), value.type)
            properties["case_values"] = DenseElements.from_list([c for c, _, _ in cases], type)
        return Switch.create(
            [value, *default_operands, *case_operands],
            properties=properties,
            successors=[block, *(target for _, target, _ in cases)],
            loc=loc,
        )

    def cases(self) -> list[tuple[int, Block, tuple[Value, ...]]]:
        """(case, block, its arguments), in order."""
        given: Any = self.case_values
        values = given.to_numpy().reshape(-1) if given is not None else ()
        rest, at, out = self.caseOperands, 0, []
        for case, block, count in zip(
            values, self.caseDestinations, self.case_operand_segments, strict=True
        ):
            out.append((int(case), block, rest[at : at + count]))
            at += count
        return out


class Return(Op, name="llvm.return", traits=(Terminator,)):
    """Leave the function, with its result if it has one."""

    arg: Value | None = optional_operand(LLVMType)

    format = "attr-dict ($arg^ `:` type($arg))?"
    example = """llvm.func @f(%arg0: f32) -> f32 {
  llvm.return %arg0 : f32
}"""

    def verify_op(self) -> None:
        """The operand is the function's result."""
        parent = self.parent_op
        if parent is None or parent.name != "llvm.func":
            return
        results = parent.properties["function_type"].results  # type: ignore[attr-defined]
        if tuple(self.operand_types) != results:
            expected = ", ".join(map(str, results)) or "no value"
            found = ", ".join(map(str, self.operand_types)) or "no value"
            raise self.error(f"returns {found}, but the function's result is {expected}")


class Unreachable(Op, name="llvm.unreachable", traits=(Terminator,)):
    """Control never comes here."""

    format = "attr-dict"
    example = """llvm.func @f() {
  llvm.unreachable
}"""


class Call(Op, name="llvm.call"):
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
    res: OptionalResult = optional_result(LLVMType)

    format = (
        "custom<CallHead>($TailCallKind, $callee, $callee_operands, $var_callee_type) attr-dict "
        "`:` custom<CallType>($callee, $callee_operands, type($callee_operands), type($res))"
    )
    example = """llvm.func @expf(f32) -> f32
llvm.func @f(%arg0: f32, %arg1: !llvm.ptr) {
  %0 = llvm.call @expf(%arg0) : (f32) -> f32
  %1 = llvm.call %arg1(%0) : !llvm.ptr, (f32) -> f32
  llvm.return
}"""

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

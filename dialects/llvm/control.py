"""Control flow of the llvm dialect."""

# ruff: noqa: N815 - the names of properties are upstream's

from __future__ import annotations

from ..vocabulary import *
from .arithmetic import AnyPointer, IntegerLike, LLVMType
from .checks import check_weights
from .metadata import LoopAnnotation, attribute_of

_LOOP = attribute_of(LoopAnnotation)


class Br(Op, name="llvm.br", traits=(Terminator,)):
    """Jump to a block; the operands become its arguments."""

    destOperands: Sequence[Value] = operands(LLVMType)
    loop_annotation: Attribute | None = attribute(_LOOP, optional=True)
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
    loop_annotation: Attribute | None = attribute(_LOOP, optional=True)
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

    def verify_op(self) -> None:
        """Check that there are weights for both targets, if any."""
        check_weights(self, self.successors)

    @staticmethod
    def of(
        condition: ValueLike,
        true_dest: Block,
        true_operands: Sequence[Value],
        false_dest: Block,
        false_operands: Sequence[Value],
        loc: Location = UNKNOWN,
    ) -> CondBr:
        """A conditional branch, with the values passed to each target."""
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

    def verify_op(self) -> None:
        """Check that there are weights for all targets, if any."""
        check_weights(self, self.successors)

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
        """Check that the operand has the function's result type."""
        parent = self.parent_op
        if parent is None or parent.name != "llvm.func":
            return
        results = parent.properties["function_type"].results  # type: ignore[attr-defined]
        if len(self.operand_types) != len(results):
            raise self.error("expected 1 operand" if results else "expected no operands")
        if tuple(self.operand_types) != results:
            raise self.error("mismatching result types")


class Unreachable(Op, name="llvm.unreachable", traits=(Terminator,)):
    """Control never comes here."""

    format = "attr-dict"
    example = """llvm.func @f() {
  llvm.unreachable
}"""


class IndirectBr(Op, name="llvm.indirectbr", traits=(Terminator,)):
    """Jump to the block whose address the operand is, one of those listed."""

    addr: Operand = operand(AnyPointer)
    succOperands: Sequence[Value] = operands(LLVMType)
    indbr_operand_segments: tuple[int, ...] = attribute(I32_ARRAY)
    targets: Sequence[Block] = successor(variadic=True)

    format = (
        "$addr `:` type($addr) `,` custom<IndirectTargets>($targets, $succOperands, "
        "type($succOperands), $indbr_operand_segments) attr-dict"
    )
    example = """llvm.func @f(%x: i64) {
  %0 = llvm.blockaddress <function = @f, tag = <id = 1>> : !llvm.ptr
  llvm.indirectbr %0 : !llvm.ptr, [
  ^bb1(%x : i64),
  ^bb2
  ]
^bb1(%1: i64):
  llvm.blocktag <id = 1>
  llvm.br ^bb2
^bb2:
  llvm.return
}"""

    def cases(self) -> list[tuple[Block, tuple[Value, ...]]]:
        """Each block with its arguments."""
        rest, at, out = self.succOperands, 0, []
        for block, count in zip(self.targets, self.indbr_operand_segments, strict=True):
            out.append((block, tuple(rest[at : at + count])))
            at += count
        return out

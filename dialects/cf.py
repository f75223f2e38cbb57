"""The cf dialect: branches between the blocks of a region."""

from __future__ import annotations

from ..ir.constraints import AnyInteger
from ..ir.declare import SuccessorField
from ..ir.rewriting import constant_int
from ..ir.syntax.directive import Directive, directive, listed
from ..ir.syntax.parts import TARGET, read_targets, target_text
from .vocabulary import *

registry.dialect("cf").doc = __doc__ or ""


def verify_branch(op: Operation, number: int, target: Block, values: Sequence[Value]) -> None:
    """Check that the values passed to successor `number` fit the block's arguments."""
    if len(values) != len(target.args):
        raise VerifyError(
            f"branch has {len(values)} operands for successor #{number}, "
            f"but target block has {len(target.args)}",
            op.loc,
        )
    for i, (value, arg) in enumerate(zip(values, target.args, strict=True)):
        if value.type is not arg.type:
            raise VerifyError(f"type mismatch for bb argument #{i} of successor #{number}", op.loc)


class Assert(Op, name="cf.assert"):
    """Stops the program with a message if a condition is false.

    Source: upstream cf.assert.
    """

    arg: Operand = operand(I1)
    msg = attribute(STRING)

    format = "$arg `,` $msg attr-dict"
    example = 'cf.assert %c, "expected a positive size"'

    def interpret(self, operands, frame):
        if not operands[0]:
            raise NncError(f"assertion failed: {self.msg}", self.loc)


class Br(Op, name="cf.br", traits=(Pure, Terminator)):
    """A branch to a block, with values for its arguments.

    Source: upstream cf.br.
    """

    dest: SuccessorField = successor()
    args: Operands = operands()

    format = "$dest (`(` $args^ `:` type($args) `)`)? attr-dict"
    example = """
        func.func @f(%arg0: i32) -> i32 {
          cf.br ^bb1(%arg0 : i32)
        ^bb1(%0: i32):
          return %0 : i32
        }
    """

    def interpret(self, operands, frame):
        return frame.branch(self.dest, operands)

    def verify_op(self) -> None:
        verify_branch(self, 0, self.dest, self.args)


class CondBr(Op, name="cf.cond_br", traits=(Pure, Terminator)):
    """A branch to one of two blocks: the first if the condition is true, else the second.

    Source: upstream cf.cond_br.
    """

    condition: Operand = operand(I1)
    true_dest: SuccessorField = successor()
    true_args: Operands = operands()
    false_dest: SuccessorField = successor()
    false_args: Operands = operands()
    branch_weights = attribute(I32_ARRAY, optional=True)

    format = (
        "$condition (`weights` `` `(` `` $branch_weights^ `` `)`)? `,` "
        "$true_dest (`(` $true_args^ `:` type($true_args) `)`)? `,` "
        "$false_dest (`(` $false_args^ `:` type($false_args) `)`)? attr-dict"
    )
    example = """
        func.func @f(%arg0: i1, %arg1: i32) -> i32 {
          cf.cond_br %arg0, ^bb1(%arg1 : i32), ^bb2
        ^bb1(%0: i32):
          return %0 : i32
        ^bb2:
          return %arg1 : i32
        }
    """

    def interpret(self, operands, frame):
        split = 1 + len(self.true_args)
        if operands[0]:
            return frame.branch(self.true_dest, operands[1:split])
        return frame.branch(self.false_dest, operands[split:])

    def verify_op(self) -> None:
        verify_branch(self, 0, self.true_dest, self.true_args)
        verify_branch(self, 1, self.false_dest, self.false_args)
        weights = self.branch_weights
        if weights is None:
            return
        if len(weights) != 2:
            raise VerifyError(
                "expects number of branch weights to match number of successors: "
                f"{len(weights)} vs 2",
                self.loc,
            )
        if not any(weights):
            raise VerifyError("branch weights cannot all be zero", self.loc)


@directive("SwitchCases")
class SwitchCases(Directive):
    """`[ default: ^bb1(%a : i32), 42: ^bb2 ]`, a line for each case.

    Arguments: $flag, $default_dest, $default_args, $case_values, $case_operand_segments,
    $case_dests, $case_args.
    """

    fragment = '"[" "default" ":" branch_target switch_cases "]"'
    rules = {  # noqa: RUF012
        **TARGET,
        "switch_cases": '| switch_cases "," INTEGER ":" branch_target',
    }

    def read(self, child: Any, state: Any) -> None:
        flag, default, default_args, values, segments, dests, args = self.names
        target, rest = child
        cases = listed(rest, 2)
        read_targets(state, [target], default, default_args)
        read_targets(state, [to for _, to in cases], dests, args, segments)
        if cases:
            numbers = [int(number, 0) for (number, _), _ in cases]
            shape = VectorType((len(cases),), state.types[flag][0])
            state.properties[values] = DenseElements.from_list(numbers, shape)

    def write(self, op: Any, printer: Any) -> None:
        lines = [f"default: {target_text(printer, op.default_dest, op.default_args)}"]
        mask = (1 << op.flag.type.width) - 1
        for number, block, args in op.cases():
            lines.append(f"{number & mask}: {target_text(printer, block, args)}")
        inner = printer.indent + "  "
        body = ",".join(f"\n{inner}{line}" for line in lines)
        # Upstream closes the bracket on the line of a default that stands alone.
        end = f"\n{printer.indent}" if len(lines) > 1 else ""
        printer.out.append(f" [{body}{end}]")


class Switch(Op, name="cf.switch", traits=(Pure, Terminator)):
    """A branch to the block of the case equal to the flag, or to the default block if there is
    none.

    Source: upstream cf.switch.
    """

    flag: Operand = operand(AnyInteger)
    default_args: Operands = operands()
    case_args: Operands = operands()
    case_values = attribute(instance(DenseElements, "integer elements attribute"), optional=True)
    case_operand_segments = attribute(I32_ARRAY)
    default_dest: SuccessorField = successor()
    case_dests: Sequence[Block] = successor(variadic=True)

    format = (
        "$flag `:` type($flag) `,` custom<SwitchCases>($flag, $default_dest, $default_args, "
        "$case_values, $case_operand_segments, $case_dests, $case_args) attr-dict"
    )
    example = """
        func.func @f(%arg0: i32) -> i32 {
          cf.switch %arg0 : i32, [
            default: ^bb1(%arg0 : i32),
            42: ^bb2
          ]
        ^bb1(%0: i32):
          return %0 : i32
        ^bb2:
          return %arg0 : i32
        }
    """

    @staticmethod
    def of(
        flag: Value,
        default: tuple[Block, Sequence[Value]],
        cases: Sequence[tuple[int, Block, Sequence[Value]]],
    ) -> Switch:
        """A switch from (value, block, block arguments) cases."""
        shape = VectorType((len(cases),), flag.type)
        values = DenseElements.from_list([value for value, _, _ in cases], shape)
        return Switch(
            flag,
            default[1],
            [v for _, _, args in cases for v in args],
            values if cases else None,
            DenseArrayAttr(i32, tuple(len(args) for _, _, args in cases)),
            default[0],
            [block for _, block, _ in cases],
        )

    def cases(self) -> list[tuple[int, Block, tuple[Value, ...]]]:
        """(value, block, values passed) of every case."""
        dense = self.case_values
        if dense is None:
            return []
        numbers = dense.values() * (dense.type.num_elements if dense.is_splat else 1)
        rest = list(self.case_args)
        cases = []
        for number, block, count in zip(
            numbers, self.case_dests, self.case_operand_segments, strict=True
        ):
            cases.append((number, block, tuple(rest[:count])))
            rest = rest[count:]
        return cases

    def interpret(self, operands, frame):
        at = 1 + len(self.default_args)
        flag = self.flag.type.wrap(int(operands[0]))  # type: ignore[attr-defined]
        for number, block, values in self.cases():
            if number == flag:
                return frame.branch(block, operands[at : at + len(values)])
            at += len(values)
        return frame.branch(self.default_dest, operands[1 : 1 + len(self.default_args)])

    def verify_op(self) -> None:
        values = self.case_values
        count = len(self.case_dests)
        if values is None and count == 0:
            return self._verify_operands()
        found = values.type.num_elements if values is not None else 0
        if values is not None and values.type.element_type is not self.flag.type:
            raise self.error(
                f"'flag' type ('{self.flag.type}') should match case value type "
                f"('{values.type.element_type}')"
            )
        if found != count:
            raise self.error(
                f"number of case values ({found}) should match number of case destinations "
                f"({count})"
            )
        return self._verify_operands()

    def _verify_operands(self) -> None:
        segments = self.case_operand_segments
        if len(segments) != len(self.case_dests) or sum(segments) != len(self.case_args):
            raise self.error("'case_operand_segments' do not match the case operands")
        verify_branch(self, 0, self.default_dest, self.default_args)
        for i, (_, block, values) in enumerate(self.cases()):
            verify_branch(self, i + 1, block, values)


def taken_successor(op: Br | CondBr | Switch) -> tuple[Block, tuple[Value, ...]] | None:
    """The successor of a branch whose condition is known, and the values passed to
    it; else None.
    """
    match op:
        case Br():
            return op.dest, op.args
        case CondBr() if (known := constant_int(op.condition)) is not None:
            if known:
                return op.true_dest, op.true_args
            return op.false_dest, op.false_args
        case Switch() if (known := constant_int(op.flag)) is not None:
            for number, block, values in op.cases():
                if number == known:
                    return block, values
            return op.default_dest, op.default_args
    return None

"""Control flow of stablehlo: loops, branches, and the end of a region."""

from __future__ import annotations

from ..vocabulary import *
from .kinds import table
from .reductions import REGION, TRUTH_TENSOR, check_body, check_returned

RETURN = table(
    """
    return: The values of a region.
      values:any*
    = custom<ReturnValues>($values) attr-dict custom<ReturnTypes>($values)
    > %r:2 = "stablehlo.if"(%p) ({
    >   stablehlo.return %x, %y : tensor<4xf32>, tensor<i1>
    > }, {
    >   stablehlo.return %x, %p : tensor<4xf32>, tensor<i1>
    > }) : (tensor<i1>) -> (tensor<4xf32>, tensor<i1>)
    """,
    Pure,
    Terminator,
)


OPS = table(
    """
    if: What one of two regions returns.
      pred:tensor ^true_branch ^false_branch -> outs:any*
    > %r = "stablehlo.if"(%p) ({
    >   stablehlo.return %x : tensor<4xf32>
    > }, {
    >   stablehlo.return %y : tensor<4xf32>
    > }) : (tensor<i1>) -> tensor<4xf32>

    case: What the region of a number returns; of the last one for numbers out of range.
      index:tensor ^branches* -> outs:any*
    > %r = "stablehlo.case"(%n) ({
    >   stablehlo.return %x : tensor<4xf32>
    > }, {
    >   stablehlo.return %y : tensor<4xf32>
    > }) : (tensor<i32>) -> tensor<4xf32>
    """,
    *REGION,
)


class While(Op, name="stablehlo.while", traits=REGION):
    """A loop: `body` computes new values from the carried ones for as long as `cond` gives true."""

    inits: Operands = operands()
    cond: RegionField = region()
    body: RegionField = region()
    outs: Results = results()

    format = "custom<HloWhile>($inits, type($outs), $cond, $body, attr-dict)"
    example = """
        %r = stablehlo.while(%i = %x) : tensor<i32>
        cond {
          %0 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %0 : tensor<i1>
        } do {
          %0 = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %0 : tensor<i32>
        }
    """

    def block_argument_names(self, region: Region) -> list[str]:
        """`%iterArg`, as upstream; the two regions share their arguments' names in text."""
        return ["iterArg"] * len(region.blocks[0].args)

    def verify_op(self) -> None:
        count = len(self.inits)
        check_body(self, self.cond, count, 1, "cond")
        check_body(self, self.body, count, count, "body")
        if self.operand_types != self.result_types:
            raise self.error("requires the same types for operands and results")
        for one in self.regions:
            for arg, type in zip(one.blocks[0].args, self.operand_types, strict=True):
                if arg.type is not type:
                    raise self.error(f"region argument has type '{arg.type}', expected '{type}'")
        check_returned(self, self.cond, [TRUTH_TENSOR], "cond")
        check_returned(self, self.body, self.operand_types, "body")


@OPS.verifies("if")
def _check_if(op: Any) -> None:
    for one in op.regions:
        check_body(op, one, 0, len(op.outs))
        check_returned(op, one, op.result_types, "branch")


@OPS.verifies("case")
def _check_case(op: Any) -> None:
    if not op.regions:
        raise op.error("requires at least one branch")
    for one in op.regions:
        check_body(op, one, 0, len(op.outs))
        check_returned(op, one, op.result_types, "branch")

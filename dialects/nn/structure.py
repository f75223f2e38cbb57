"""Groups of ops that become one kernel."""

from __future__ import annotations

from ..vocabulary import *
from .host_types import AnyValue


class Kernel(Op, name="nn.kernel", traits=(Pure, IsolatedFromAbove, SingleBlock)):
    """Ops that are compiled together, so that intermediate results need not be stored in memory.

    The region's block has an argument for each operand, and ends in an `nn.yield` of the results.
    """

    inputs: Operands = operands(AnyRankedTensor)
    outs: Results = results(AnyRankedTensor)
    body: RegionField = region()

    format = "attr-dict-with-keyword custom<BoundRegion>($inputs, type($outs), $body)"
    example = """\
%c = nn.kernel (%x = %a, %y = %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  nn.yield %1 : tensor<4xf32>
}"""

    def interpret(self, operands, frame):
        return frame.run_region(self.body, operands)[1]

    def verify_op(self) -> None:
        """Check that arguments and yielded values have the types of operands and results."""
        if not self.body.blocks:
            raise self.error("needs a block")
        block = self.body.blocks[0]
        if [a.type for a in block.args] != self.operand_types:
            raise self.error("block arguments must have the operands' types")
        last = block.last
        if not isinstance(last, Yield) or [v.type for v in last.operands] != self.result_types:
            raise self.error("must end in 'nn.yield' of the results' types")


class Yield(
    Op,
    name="nn.yield",
    traits=(Pure, Terminator, HasParent("nn.if", "nn.kernel", "nn.while")),
):
    """Ends a region with its values: the results of a kernel, a branch or an iteration."""

    values: Operands = operands(AnyValue)

    format = "attr-dict ($values^ `:` type($values))?"
    example = "nn.yield %1 : tensor<4xf32>"

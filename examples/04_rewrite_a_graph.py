"""Write a custom rewrite and apply it to IR text."""

import nnc
from nnc.dialects import nn
from nnc.ir.rewriting import Rewriter, apply_greedily, rewrite


@rewrite(nn.Relu)
def merge_relus(op: nn.Relu, rewriter: Rewriter) -> None:
    """relu(relu(x)) -> relu(x)"""
    if op.operands[0].defined_by(nn.Relu):
        rewriter.replace(op, op.operands[0])


module = nnc.parse("""
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
""")
apply_greedily(module, [merge_relus])
print(module)
assert str(module).count("nn.relu") == 1

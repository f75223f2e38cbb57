"""Schedules that cannot be carried out, each with what is said of the faulty line."""

import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.pipelines import pipeline

KERNEL = """
func.func private @f(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {{nn.kernel}} {{
  linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}}
      ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {{
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }}
  return
}}
schedule.for @f {{
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  {lines}
}}
"""

LINES = [
    ("schedule.unroll %i\n  %o, %p = schedule.split %i by 2", "the loop is already unrolled"),
    ("schedule.unroll %i\n  schedule.vectorize %i", "the loop is already unrolled"),
    ("schedule.reorder %i, %i", "names a loop twice"),
    ("%o, %p = schedule.split %j by 4\n  schedule.vectorize %o", "cannot be vectorized"),
    ("schedule.unroll %i\n  %c = schedule.collapse %i, %j", "takes whole loops"),
    ("schedule.fuse %s at %i", "cannot fuse a stage into itself"),
    ("schedule.unroll %i {partial}", "only a reduction can have partial results"),
]


@pytest.mark.parametrize(("lines", "message"), LINES, ids=[message for _, message in LINES])
def test_message(lines: str, message: str) -> None:
    module = parse_module(KERNEL.format(lines=lines), "f.mlir")
    module.verify()
    with pytest.raises(NncError, match=message) as caught:
        PassManager(pipeline("builtin.module(apply-schedules)")).run(module)
    assert caught.value.location is not None

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
    ("schedule.prefetch 1 of %s ahead 16", "no input buffer 1 that it reads linearly"),
    ("schedule.prefetch 0 of %s ahead 16 over %j", "the operand depends on a loop"),
    ("schedule.unroll %i {partial}", "only a reduction can have partial results"),
]


@pytest.mark.parametrize(("lines", "message"), LINES, ids=[message for _, message in LINES])
def test_message(lines: str, message: str) -> None:
    module = parse_module(KERNEL.format(lines=lines), "f.mlir")
    module.verify()
    with pytest.raises(NncError, match=message) as caught:
        PassManager(pipeline("builtin.module(apply-schedules)")).run(module)
    assert caught.value.location is not None


# @f sums rows (two loops); @g negates what it gave (one loop); of any extents
KERNELS = """
#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
func.func private @f({args}) attributes {{nn.kernel}} {{
  {body}
  return
}}
schedule.for @f {{
^bb0({stages}):
  {lines}
}}
"""
SUM = """linalg.generic {{indexing_maps = [#rows, {out}], iterator_types = ["parallel", "reduction"]}}
      ins({x}) outs({y}) {{
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }}"""
COPY = """linalg.generic {{indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}}
      ins({x}) outs({y}) {{
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }}"""
NEG = COPY.replace("#rows, #rows", "#one, #one").replace('"parallel", "parallel"', '"parallel"')
X, Y = "%x: memref<6x20xf32>", "%y: memref<6xf32>"
FREE_X, FREE_Y = "%x: memref<?x20xf32>", "%y: memref<?xf32>"
BIG = "%x: memref<64x128xf32>", "%y: memref<64x128xf32>"
SQUARE = "%x: memref<6x6xf32>", "%y: memref<6x6xf32>", "%z: memref<6x6xf32>"
SUM_ROWS = SUM.format(x=X, y=Y, out="#row")
SUM_THEN_NEG = SUM_ROWS + "\n" + NEG.format(x=Y, y="%z: memref<6xf32>")
BOTH_WAYS = """linalg.generic {indexing_maps = [#rows, affine_map<(i, j) -> (j, i)>, #rows],
      iterator_types = ["parallel", "parallel"]}
      ins(%y, %y : memref<6x6xf32>, memref<6x6xf32>) outs(%z : memref<6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }"""
ONE = "%s: !schedule.stage"
TWO = "%s: !schedule.stage, %t: !schedule.stage"

WITH_REVERSE = """
linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
    ins(%y : memref<6xf32>) outs(%z : memref<6xf32>) {
^bb0(%a: f32, %acc: f32):
  %i = linalg.index 0 : index
  %last = arith.constant 5 : index
  %j = arith.subi %last, %i : index
  %b = memref.load %y[%j] : memref<6xf32>
  %v = arith.addf %a, %b : f32
  linalg.yield %v : f32
}
"""
PLANS = [
    (
        (X, Y),
        SUM_ROWS,
        ONE,
        "%i, %j = schedule.loops 2 of %s\n%o, %p = schedule.split %j by 4\n"
        "%k, %l = schedule.loops 2 of %s",
        "must come before the loops of the stage are scheduled",
    ),
    ((X, Y), SUM_ROWS, ONE, "%c = arith.constant 1 : i32", "is not a scheduling operation"),
    (
        BIG,
        COPY.format(x=BIG[0], y=BIG[1]),
        ONE,
        "%i, %j = schedule.loops 2 of %s\nschedule.parallel %i\nschedule.accumulate %i",
        "a parallel loop cannot accumulate",
    ),
    (
        (X, "%y: memref<3xf32>"),
        SUM.format(x=X, y="%y: memref<3xf32>", out="affine_map<(i, j) -> (i floordiv 2)>"),
        ONE,
        "%i, %j = schedule.loops 2 of %s\nschedule.accumulate %j",
        "cannot accumulate a result that is not indexed linearly",
    ),
    (
        BIG,
        COPY.format(x=BIG[0], y=BIG[1]),
        ONE,
        "%i, %j = schedule.loops 2 of %s\nschedule.unroll %i\nschedule.unroll %j",
        "unrolls into 8192 copies; at most",
    ),
    (
        BIG,
        COPY.format(x=BIG[0], y=BIG[1]),
        ONE,
        "%i, %j = schedule.loops 2 of %s\nschedule.reorder %j, %i\n%c = schedule.collapse %i, %j",
        "the loops are not adjacent in this order",
    ),
    (
        (FREE_X, FREE_Y),
        SUM.format(x=FREE_X, y=FREE_Y, out="#row"),
        ONE,
        "%i, %j = schedule.loops 2 of %s\nschedule.unroll %i",
        "the loop's extent is not known; split it first",
    ),
    ((X, Y), SUM_ROWS, ONE, '"schedule.reorder"() : () -> ()', "expects at least one loop"),
    (
        (X, Y, "%z: memref<6xf32>"),
        SUM_THEN_NEG,
        TWO,
        "%i, %j = schedule.loops 2 of %s\n%k = schedule.loops 1 of %t\nschedule.reorder %i, %k",
        "expects loops of one stage",
    ),
    (
        (X, Y, "%z: memref<6xf32>"),
        SUM_THEN_NEG,
        TWO,
        "%k = schedule.loops 1 of %t\nschedule.fuse %s at %k\nschedule.vectorize %k",
        "a loop shared with a fused stage can only be made parallel",
    ),
    (
        (X, Y, "%z: memref<6xf32>"),
        SUM_THEN_NEG,
        TWO,
        "%k = schedule.loops 1 of %t\nschedule.fuse %s at %k\nschedule.fuse %s at %k",
        "the stage is already fused",
    ),
    (
        (X, Y, "%z: memref<6xf32>"),
        SUM_THEN_NEG,
        TWO,
        "%i, %j = schedule.loops 2 of %s\n%k = schedule.loops 1 of %t\n"
        "schedule.fuse %s at %k\nschedule.fuse %t at %i",
        "another stage is already fused into this one",
    ),
    (
        SQUARE,
        COPY.format(x=SQUARE[0], y=SQUARE[1]) + "\n" + BOTH_WAYS,
        TWO,
        "%i, %j = schedule.loops 2 of %t\nschedule.fuse %s at %i",
        "stages 0 and 1 exchange values across iterations of shared loop 0",
    ),
    (
        (X, Y, "%z: memref<6xf32>"),
        SUM_ROWS + WITH_REVERSE,
        TWO,
        "%k = schedule.loops 1 of %t\nschedule.fuse %s at %k",
        "stages 0 and 1 exchange values across iterations of shared loop 0",
    ),
    (
        (X, Y, "%z: memref<6xf32>"),
        SUM_ROWS
        + '\n"t.use"(%y) : (memref<6xf32>) -> ()\n'
        + NEG.format(x=Y, y="%z: memref<6xf32>"),
        TWO,
        "%k = schedule.loops 1 of %t\nschedule.fuse %s at %k",
        "cannot carry the stage past 't.use', which uses its buffers",
    ),
]


@pytest.mark.parametrize("case", PLANS, ids=[case[-1] for case in PLANS])
def test_plan(case: tuple) -> None:
    args, body, stages, lines, message = case
    text = KERNELS.format(args=", ".join(args), body=body, stages=stages, lines=lines)
    module = parse_module(text, "f.mlir", allow_unregistered=True)
    with pytest.raises(NncError, match=message) as caught:
        PassManager(pipeline("builtin.module(apply-schedules)")).run(module)
    assert caught.value.location is not None

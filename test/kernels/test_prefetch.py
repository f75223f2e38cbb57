"""What tiles ask for ahead, recorded by the interpreter."""

from math import ceil

import nnc
import numpy as np
import pytest
from nnc.dialects import math, memref, scf
from nnc.driver.compile import mark_entry, run_stages
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.apply_schedules import ApplySchedules
from nnc.numerics.interpreter import Interpreter

KERNEL = """
func.func @k(%a: memref<{rows}x{steps}xf32>, %b: memref<6x{steps}x4xf32>, %c: memref<6x{rows}x4xf32>) attributes {{nn.kernel, {expects}}} {{
  linalg.generic {{indexing_maps = [affine_map<(no, m, ni, k) -> (m, k)>,
      affine_map<(no, m, ni, k) -> (no, k, ni)>, affine_map<(no, m, ni, k) -> (no, m, ni)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%a, %b : memref<{rows}x{steps}xf32>, memref<6x{steps}x4xf32>) outs(%c : memref<6x{rows}x4xf32>) {{
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }}
  return
}}
schedule.for @k {{
^bb0(%s: !schedule.stage):
  %n, %m, %n2, %k = schedule.loops 4 of %s
  %no, %ni = schedule.split %n by 2
  %mo, %mi = schedule.split %m by 3
  schedule.reorder %no, %mo, %k, %mi, %ni, %n2
  schedule.unroll %mi
  schedule.unroll %ni
  schedule.vectorize %n2
  schedule.accumulate %k
  schedule.prefetch 1 of %s ahead {panel} over %mo {passes}
}}
"""  # fmt: skip

LINE = 4
"""Elements of the vectors here."""


@pytest.mark.parametrize(
    ("rows", "steps", "expected", "passes"),
    [
        *((6, 5, 0, 0), (7, 5, 0, 0), (15, 8, 0, 0), (31, 16, 0, 0), (15, 8, 15, 0)),
        *((36, 8, 15, 0), (12, 8, 6, 0), (12, 8, 36, 2), (15, 8, 36, 3), (31, 16, 0, 2)),
    ],
)
def test_tiles_share_asking_for_the_next_panel(monkeypatch, rows, steps, expected, passes):
    """While a panel is read, each line of the next one is asked for, and little beyond it.

    So it is of open rows, where there are as many as `expected` (0: the number is fixed), and if
    there are fewer where it is done in so many `passes`.
    """
    panel, asked = 2 * steps * LINE, []

    def record(self, operands, frame):
        asked.append(int(operands[1]))
        return []

    monkeypatch.setattr(memref.Prefetch, "interpret", record)
    expects = f"nn.expected_extents = [array<i64: {expected}, 0>, array<i64: 0, 0, 0>, array<i64: 0, {expected}, 0>]"
    size = "?" if expected else rows
    module = parse_module(
        KERNEL.format(
            rows=size,
            steps=steps,
            panel=panel,
            expects=expects,
            passes=f"{{passes = {passes} : i64}}" if passes else "",
        )
    )
    ApplySchedules("avx512").run(module, PassContext())
    module.verify()
    a = np.ones((rows, steps), np.float32)
    b = np.arange(6 * steps * 4, dtype=np.float32).reshape(6, steps, 4)
    c = np.zeros((6, rows, 4), np.float32)
    Interpreter(module).call("k", [a, b, c])
    np.testing.assert_allclose(c, np.einsum("mk,nkl->nml", a, b))
    tiles = ceil(rows / 3)
    assert len(asked) == 3 * tiles * steps
    for one in range(3):
        found = asked[one * tiles * steps : (one + 1) * tiles * steps]
        start = (one + 1) * panel
        assert {at // LINE for at in found} >= set(range(start // LINE, (start + panel) // LINE))
        assert start <= min(found) and max(found) < start + panel * 1.5 + LINE


ROW = """
func.func @main(%x: tensor<1x{rows}xf32>, %w: tensor<{blocks}x{rows}x32xf32>) -> tensor<1x{blocks}x32xf32> {{
  %0 = nn.packed_matmul %x, %w
    : (tensor<1x{rows}xf32>, tensor<{blocks}x{rows}x32xf32>) -> tensor<1x{blocks}x32xf32>
  return %0 : tensor<1x{blocks}x32xf32>
}}
"""  # fmt: skip


def row_loop(rows: int, blocks: int, target: str) -> scf.For:
    """The loop over a matrix's rows in the product of one row with it."""
    module = nnc.parse(ROW.format(rows=rows, blocks=blocks))
    mark_entry(module)
    run_stages(module, target=target, last="vectors")
    (loop,) = {op.parent_op for op in module.walk() if isinstance(op, math.Fma)}
    return loop


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize(
    ("rows", "blocks"), [(256, 64), (255, 64), (255, 68), (256, 4), (1024, 512)]
)
def test_matrices_beyond_the_second_cache_are_read_in_streams(target, rows, blocks):
    """2 MB of 512 kB or 1 MB, in rows of 128 bytes: of four blocks side by side. Nearer ones are
    read block after block. 64 MB, which the third cache does not hold, are asked for by two lines
    of each block, where that pays.
    """
    loop = row_loop(rows, blocks, target)
    lanes = 16 if target.endswith("4") else 8
    products = sum(isinstance(op, math.Fma) for op in loop.walk())
    asked = sum(isinstance(op, memref.Prefetch) for op in loop.walk())
    together = products * lanes // 32
    if blocks > 4:
        assert together == 4
        assert len(loop.results) == products  # No two rows are added to the same sums in a step.
        assert asked == (8 if target.endswith("4") and blocks > 68 else 0)
    else:
        assert rows % together == 0
        assert asked == 0

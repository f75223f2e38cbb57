"""Steps that stand one after the other add to several partial results where a tile is small."""

import numpy as np
import pytest
from nnc.dialects import scf
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.apply_schedules import ApplySchedules
from nnc.numerics.interpreter import Interpreter

KERNEL = """
func.func @k(%x: memref<?x6x5xf32>, %w: memref<6x8xf32>, %y: memref<?x8xf32>) attributes {{nn.kernel}} {{
  linalg.generic {{indexing_maps = [affine_map<(m, n, k, j) -> (m, k, j)>,
      affine_map<(m, n, k, j) -> (k, n)>, affine_map<(m, n, k, j) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}}
      ins(%x, %w : memref<?x6x5xf32>, memref<6x8xf32>) outs(%y : memref<?x8xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %j = linalg.index 3 : index
    %i = arith.index_cast %j : index to i32
    %f = arith.sitofp %i : i32 to f32
    %s = arith.addf %b, %f : f32
    %p = arith.mulf %a, %s : f32
    %t = {combine} : f32
    linalg.yield %t : f32
  }}
  return
}}
schedule.for @k {{
^bb0(%product: !schedule.stage):
  %m, %n, %k, %j = schedule.loops 4 of %product
  %mo, %mi = schedule.split %m by 4
  schedule.unroll %j {{most = 10 : i64, sums = {sums} : i64}}
  schedule.reorder %mo, %k, %j, %mi, %n
  schedule.unroll %mi
  schedule.vectorize %n
  schedule.accumulate %k
}}
"""  # fmt: skip

ADD, MAX = "arith.addf %c, %p", "arith.maximumf %c, %p"


def applied(combine: str, sums: int):
    module = parse_module(KERNEL.format(combine=combine, sums=sums))
    ApplySchedules("avx512").run(module, PassContext())
    module.verify()
    return module


@pytest.mark.parametrize("combine", [ADD, MAX])
@pytest.mark.parametrize("sums", [1, 2, 3, 8])
@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_results_are_those_of_one_chain(combine: str, sums: int, rows: int):
    rng = np.random.default_rng(rows)
    x, w, y = (
        rng.integers(-9, 9, shape).astype(np.float32) for shape in ((rows, 6, 5), (6, 8), (rows, 8))
    )
    products = x[..., None] * (w[:, None] + np.arange(5, dtype=np.float32)[:, None])
    want = y + products.sum((1, 2)) if combine is ADD else np.maximum(y, products.max((1, 2)))
    Interpreter(applied(combine, sums)).call("k", [x, w, y])
    np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize(("sums", "chains"), [(1, [1, 1, 1]), (3, [1, 1, 3]), (8, [1, 4, 8])])
def test_there_are_as_many_as_fit(sums: int, chains: list[int]):
    """Of 4 rows, which stay a loop, of 2, and of 1."""
    loops = [op for op in applied(ADD, sums).walk() if isinstance(op, scf.For) and op.results]
    # Of the four rows, there is a loop over the steps, too.
    assert [len(op.results) for op in loops] == [1, *chains]


def test_results_that_depend_on_their_order_have_none():
    with pytest.raises(NncError, match="cannot be combined from partial ones"):
        applied("arith.subf %p, %c", 8)

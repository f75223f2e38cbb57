"""Partial sums of groups, added up by a second launch: the same results, and proven."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import gpu

from .scheduled_kernels import LAUNCHES, arrays, at_level, check, product, shape

SPLIT = """%sum = schedule.rfactor %ks
  schedule.bind %ks to groups<z>
  schedule.bind %mo to groups<y>
  schedule.bind %no to groups<x>
  %sm, %sn, %sp = schedule.loops 3 of %sum
  %smo, %smi = schedule.split %sm by 2
  %sno, %sni = schedule.split %sn by 8
  schedule.reorder %smo, %sno, %sp, %smi, %sni
  schedule.unroll %smi
  schedule.vectorize %sni
  schedule.accumulate %sp
  schedule.bind %smo to groups<y>
  schedule.bind %sno to groups<x>
  schedule.fuse %fill at %sno
"""
CACHED = """schedule.cache 0 of %mm in workgroup at %ko buffers 2
  schedule.cache 1 of %mm in workgroup at %ko buffers 2
"""


def split_product(m, n, k, parts, cached=False):
    """A product whose sum is split into parts of so many steps."""
    text = product(m, n, k, SPLIT + (CACHED if cached else ""))
    text = text.replace(
        "%ko, %ki = schedule.split %k by 4",
        f"%ks, %kr = schedule.split %k by {parts}\n  %ko, %ki = schedule.split %kr by 4",
    )
    return text.replace("schedule.reorder %mo, %no, %ko,", "schedule.reorder %ks, %mo, %no, %ko,")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cached", [False, True], ids=["direct", "cached"])
@pytest.mark.parametrize("extents", [(12, 16, 32), (7, 9, 21), (6, 8, 3), (5, 11, 37)], ids=str)
def test_products(extents, cached):
    """Parts of 8 steps; the last one has what is left."""
    m, n, k = extents
    x, w = arrays((m, k), (k, n))
    check(split_product(m, n, k, 8, cached), [x, w], x @ w, threads=4)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("k", [1, 8, 9, 20])
def test_open_extents(k):
    """As many parts as there are is known only when it runs."""
    x, w = arrays((7, k), (k, 9))
    check(split_product(0, 0, 0, 8), [x, w], x @ w, threads=4, prove=False)
    check(split_product(0, 9, 20, 8), [x, w], x @ w, prove=False) if k == 20 else None


def test_launches():
    """24 groups of 4 parts make the partial sums, and 4 add them up."""
    module = at_level(split_product(12, 16, 32, 8), LAUNCHES)
    text = str(module)
    assert sum(isinstance(op, gpu.LaunchFunc) for op in module.walk()) == 2
    assert "memref<4x12x16xf32>" in text
    assert "atomic" not in text


BODIES = {
    "arith.addf": np.add,
    "arith.mulf": np.multiply,
    "arith.maximumf": np.maximum,
    "arith.minnumf": np.minimum,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("op", BODIES)
@pytest.mark.parametrize("rows", [0, 5])
def test_reductions(op, rows):
    """Sums, products, largest and smallest of rows, into what is there already."""
    x = f"memref<{shape(rows, 21)}xf32>"
    y = f"memref<{shape(rows)}xf32>"
    text = f"""
func.func @main(%x: {x}) -> {y} attributes {{nn.kernel}} {{
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : {x}
  %y = memref.alloc({"" if rows else "%n"}) : {y}
  linalg.fill ins(%one : f32) outs(%y : {y})
  linalg.generic {{indexing_maps = [affine_map<(i, r) -> (i, r)>, affine_map<(i, r) -> (i)>],
      iterator_types = ["parallel", "reduction"]}} ins(%x : {x}) outs(%y : {y}) {{
  ^bb0(%a: f32, %old: f32):
    %s = {op} %a, %old : f32
    linalg.yield %s : f32
  }}
  return %y : {y}
}}
schedule.for @main {{
^bb0(%fill: !schedule.stage, %reduce: !schedule.stage):
  %i, %r = schedule.loops 2 of %reduce
  %rs, %ri = schedule.split %r by 8
  schedule.reorder %i, %rs, %ri
  schedule.vectorize %ri
  schedule.accumulate %ri
  %all = schedule.rfactor %rs
  schedule.bind %i to groups<x>
  schedule.bind %rs to groups<y>
  %ai, %ap = schedule.loops 2 of %all
  schedule.bind %ai to groups<x>
  schedule.accumulate %ap
  schedule.fuse %fill at %ai
}}
"""
    (given,) = arrays((5, 21))
    check(text, [given], BODIES[op].reduce(given, axis=1, initial=1.0), threads=4)

"""Groups that mask what is beyond: one launch for all tiles, whole or not, with operands cached."""

from __future__ import annotations

import pytest
from nnc.dialects import gpu

from .scheduled_kernels import arrays, check, product
from .test_order import BLOCKS
from .test_rfactor import split_product

CACHED = """schedule.bind %mo to groups<y>
  schedule.threads 16 of %mo
  schedule.bind %no to groups<x>
  schedule.fuse %fill at %no
  schedule.cache 0 of %mm in workgroup at %ko buffers {0}
  schedule.cache 1 of %mm in workgroup at %ko buffers {0}
"""
IN_BLOCKS = BLOCKS.format(*"zyx") + "  schedule.threads 16 of %mb\n"


def launches(module) -> int:
    return sum(isinstance(op, gpu.LaunchFunc) for op in module.walk())


@pytest.mark.sampled(8)
@pytest.mark.parametrize("buffers", [2, 1])
@pytest.mark.parametrize("extents", [(9, 13, 9), (6, 8, 4), (13, 19, 17), (1, 1, 1)], ids=str)
def test_products(extents, buffers):
    m, n, k = extents
    x, w = arrays((m, k), (k, n))
    text = CACHED.format(buffers)
    assert launches(check(product(m, n, k, text, (8, 8, 4)), [x, w], x @ w)) == 1
    assert launches(check(product(0, 0, k, text, (8, 8, 4)), [x, w], x @ w)) == 1


@pytest.mark.sampled(4)
@pytest.mark.parametrize("extents", [(7, 12, 5), (15, 20, 5), (3, 7, 4), (12, 16, 4)], ids=str)
def test_blocks(extents):
    """What is left of the last block is masked, whole groups too."""
    m, n, k = extents
    x, w = arrays((m, k), (k, n))
    assert launches(check(product(m, n, k, IN_BLOCKS, (2, 8, 4)), [x, w], x @ w)) == 1
    assert launches(check(product(0, 0, k, IN_BLOCKS, (2, 8, 4)), [x, w], x @ w)) == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("extents", [(7, 9, 21), (5, 11, 16)], ids=str)
def test_partial_sums(extents):
    m, n, k = extents
    x, w = arrays((m, k), (k, n))
    text = split_product(m, n, k, 8, cached=True).replace("split %m by 6", "split %m by 8")
    text = text.replace("to groups<z>", "to groups<z>\n  schedule.threads 16 of %ks", 1)
    check(text, [x, w], x @ w)

"""Groups in blocks: every tile once, neighbours in number near each other, and proven."""

from __future__ import annotations

import re

import pytest

from .scheduled_kernels import LAUNCHES, arrays, at_level, check, product

BLOCKS = """%mb, %mm1 = schedule.order %mo, %no in blocks of 3
  schedule.bind %mb to groups<{0}>
  schedule.bind %no to groups<{1}>
  schedule.bind %mm1 to groups<{2}>
  schedule.cache 0 of %mm in workgroup at %ko
  schedule.fuse %fill at %mm1
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("axes", ["zyx", "yyx", "xxx"])
@pytest.mark.parametrize("extents", [(9 * 2, 4 * 8, 4), (7 * 2 + 1, 20, 5), (3, 7, 4)], ids=str)
def test_products(extents, axes):
    """Whole blocks and a rest; several loops along one axis."""
    m, n, k = extents
    x, w = arrays((m, k), (k, n))
    check(product(m, n, k, BLOCKS.format(*axes), (2, 8, 4)), [x, w], x @ w, threads=4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("m", [1, 6, 15])
def test_open_extents(m):
    x, w = arrays((m, 4), (4, 16))
    text = product(0, 16, 4, BLOCKS.format(*"zyx"), (1, 8, 4))
    check(text, [x, w], x @ w, threads=4)


def test_grid():
    """6 x 4 tiles in blocks of 3 rows: 3 rows along x, 4 columns along y, 2 blocks along z."""
    text = str(at_level(product(12, 32, 4, BLOCKS.format(*"zyx"), (2, 8, 4)), LAUNCHES))
    assert re.findall(r"blocks in \((.*?)\)", text) == ["%c3, %c4, %c2"]
    text = str(at_level(product(12, 32, 4, BLOCKS.format(*"xxx"), (2, 8, 4)), LAUNCHES))
    assert re.findall(r"blocks in \((.*?)\)", text) == ["%c24, %c1, %c1"]

"""Windows of convolutions and pools on devices: borders, copies to the memory of groups."""

from __future__ import annotations

import numpy as np
import pytest

from .device_schedules import _devices, check, for_device, tiles_of  # noqa: F401
from .test_prove_kernels import prove

PADDED = """
      func.func @main(%x: tensor<1x{0}x{1}x{1}xf32>, %w: tensor<{2}x{0}x3x3xf32>)
          -> tensor<1x{2}x{1}x{1}xf32> {{
        %y = nn.conv %x, %w {{pads = array<i64: 1, 1, 1, 1>}}
          : (tensor<1x{0}x{1}x{1}xf32>, tensor<{2}x{0}x3x3xf32>) -> tensor<1x{2}x{1}x{1}xf32>
        return %y : tensor<1x{2}x{1}x{1}xf32>
      }}"""


def test_groups_pad_a_convolution():
    """The product of parts of channels alone: its groups copy parts of the image, with borders."""
    ((product,),) = tiles_of("t4", PADDED.format(64, 28, 64))
    assert product.staging is not None


def test_padded_convolutions():
    """The same results, with borders or without a padded image."""
    module, subject = for_device("t4", PADDED.format(8, 4, 8))
    rng = np.random.default_rng(2)
    inputs = [rng.standard_normal(s).astype(np.float32) for s in ((1, 8, 4, 4), (8, 8, 3, 3))]
    check(module, subject, inputs, threads=2)
    prove(module)


def test_depthwise_convolutions_make_their_padding_themselves():
    text = """
      func.func @main(%x: tensor<1x96x28x28xf32>, %w: tensor<96x1x3x3xf32>)
          -> tensor<1x96x28x28xf32> {
        %y = nn.conv %x, %w {groups = 96 : i64, pads = array<i64: 1, 1, 1, 1>}
          : (tensor<1x96x28x28xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x28x28xf32>
        return %y : tensor<1x96x28x28xf32>
      }"""
    found = tiles_of("t4", text)
    assert [len(tiles) for tiles in found] == [1]
    assert found[0][0].groups == 96


POOLS = {
    "max": "nn.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>}",
    "average": "nn.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>}",
}


def pool(name, channels, rows):
    x, y = (f"tensor<1x{channels}x{n}x{n}xf32>" for n in (rows, (rows - 3) // 2 + 1))
    return f"""
      func.func @main(%x: {x}) -> {y} {{
        %y = {POOLS[name]} : ({x}) -> {y}
        return %y : {y}
      }}"""


@pytest.mark.parametrize("name", POOLS)
def test_windows_of_pools_are_in_the_memory_of_groups(name):
    """Elements that lie two apart come from memory in whole lines; a processor's cache has them."""
    ((tile, *_),) = tiles_of("t4", pool(name, 64, 113))
    assert tile.staging is not None
    ((tile, *_),) = tiles_of("pocl", pool(name, 64, 113))
    assert tile.staging is None


@pytest.mark.parametrize("name", POOLS)
def test_pools(name):
    """The same results, also at the edges of tiles."""
    module, subject = for_device("t4", pool(name, 3, 15))
    x = np.random.default_rng(4).standard_normal((1, 3, 15, 15)).astype(np.float32)
    check(module, subject, [x], threads=2)
    prove(module)

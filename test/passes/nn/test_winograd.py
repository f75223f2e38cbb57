"""Winograd's algorithm for convolutions within groups and over three directions."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import nn
from nnc.ir.attributes import DenseElements
from nnc.passes.nn.choose_algorithms import ChooseAlgorithms
from nnc.passes.nn.choose_layouts import ChooseLayouts
from nnc.passes.nn.fold_constants import FoldConstants

from .graphs import graph, interpret, transform

CONVOLUTIONS = [nn.BlockedConv, nn.BlockedGroupedConv, nn.BlockedNarrowConv]


def check(rng, x_shape, w_shape, taken=True, **attributes):
    """The passes' result is the plain convolution's; its products at points, where `taken`."""
    x = rng.standard_normal(x_shape).astype(np.float32)
    w = rng.standard_normal(w_shape).astype(np.float32)

    def build(b, x):
        weight = b(nn.Constant(DenseElements.from_numpy(w))).result
        return b(nn.Conv(x, weight, **attributes)).result

    module = graph(build, x)
    (expected,) = interpret(module, x)
    transform(module, ChooseLayouts(), ChooseAlgorithms(target="x86-64-v4"), FoldConstants())
    module.verify()
    assert any(isinstance(op, nn.WinogradInput) for op in module.walk()) == taken
    (found,) = interpret(module, x)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())
    return [op for op in module.walk() if isinstance(op, tuple(CONVOLUTIONS))]


@pytest.mark.parametrize(
    "batch,groups,channels,results,size,attributes",
    [
        (1, 4, 32, 32, (16, 16), {"pads": (1, 1, 1, 1)}),
        (2, 2, 32, 48, (17, 22), {}),
        (1, 2, 128, 128, (29, 33), {"strides": (2, 2), "pads": (1, 1, 1, 1)}),
    ],
)
def test_groups(rng, batch, groups, channels, results, size, attributes):
    """Blocks inside of groups, several of them, tiles that are not whole, stride 2."""
    shape = (groups * results, channels, 3, 3)
    x = (batch, groups * channels, *size)
    assert not check(rng, x, shape, groups=groups, **attributes)


def test_groups_with_dilations_stay(rng):
    x, w = (1, 64, 16, 16), (64, 32, 3, 3)
    assert check(rng, x, w, False, groups=2, dilations=(2, 2))


@pytest.mark.parametrize(
    "batch,size,window,attributes",
    [
        (1, (6, 12, 16), 3, {"pads": (1,) * 6}),
        (2, (5, 11, 14), 3, {}),
        (1, (9, 12, 12), 2, {"strides": (2, 1, 1), "dilations": (3, 1, 1)}),
        (2, (4, 14, 14), 1, {}),
    ],
)
def test_depth(rng, batch, size, window, attributes):
    """Batches, windows, strides and dilations of the third direction; only it stays a sum."""
    products = check(rng, (batch, 32, *size), (48, 32, window, 3, 3), **attributes)
    assert [type(op) for op in products] == [nn.BlockedGroupedConv]


def test_depth_of_stride_2(rng):
    assert check(rng, (1, 128, 3, 25, 25), (128, 128, 3, 3, 3), strides=(1, 2, 2))


def test_sounds_and_groups_over_three_directions_stay(rng):
    """A window of 3 over 3 blocks of channels is no 3x3 window."""
    assert check(rng, (1, 48, 40), (32, 48, 3), False)
    assert check(rng, (1, 64, 4, 12, 12), (64, 32, 3, 3, 3), False, groups=2)


def test_few_channels_stay_direct(rng):
    """Transforms of all channels take longer than products of the few within a group."""
    assert check(rng, (1, 64, 16, 16), (64, 4, 3, 3), False, groups=16)

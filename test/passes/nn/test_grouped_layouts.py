"""Convolutions within groups on blocked layouts: the same result, and no layout change between."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import nn
from nnc.ir.attributes import DenseElements
from nnc.ir.types import TensorType, f32
from nnc.passes.canonicalize import Canonicalize
from nnc.passes.nn.choose_layouts import ChooseLayouts
from nnc.passes.nn.fold_constants import FoldConstants
from nnc.passes.nn.fuse import Fuse
from nnc.passes.nn.sink_views import SinkViews

from .graphs import graph, interpret, transform

BLOCK = 4


def constant(b, array):
    return b(nn.Constant(DenseElements.from_numpy(array.astype(np.float32)))).result


def bottleneck(rng, channels, groups, wide, **window):
    """A dense convolution, one within groups, and a dense one, with activations between."""

    def weight(*shape):
        return rng.standard_normal(shape)

    def build(b, x):
        first = constant(b, weight(channels, x.type.shape[1], 1, 1))
        y = b(nn.Conv(x, first, constant(b, weight(channels)))).result
        y = b(nn.Add(y, constant(b, weight(channels, 1, 1)))).result
        y = b(nn.Relu(y)).result
        middle = constant(b, weight(wide, channels // groups, 3, 3))
        bias = constant(b, weight(wide))
        y = b(nn.Conv(y, middle, bias, groups=groups, pads=(1, 1, 1, 1), **window)).result
        y = b(nn.Mul(y, constant(b, weight(1, wide, 1, 1)))).result
        y = b(nn.Sigmoid(y)).result
        return b(nn.Conv(y, constant(b, weight(8, wide, 1, 1)))).result

    return build


def tensor(*shape):
    return TensorType(shape, f32)


def ops_of(module, *kinds):
    return [op for op in module.walk() if isinstance(op, kinds)]


@pytest.mark.parametrize(
    "channels,groups,wide,kind",
    [
        (16, 4, 16, nn.BlockedGroupedConv),  # one block for each group
        (16, 2, 32, nn.BlockedGroupedConv),  # several
        (15, 3, 21, nn.BlockedGroupedConv),  # blocks of 5 and 7
        (16, 8, 16, nn.BlockedNarrowConv),  # two channels a group
        (8, 8, 24, nn.BlockedNarrowConv),  # one channel becomes three
        (24, 8, 8, nn.BlockedNarrowConv),
    ],
)
@pytest.mark.parametrize("window", [{}, {"strides": (2, 1)}, {"dilations": (1, 2)}])
def test_groups_are_blocked(rng, channels, groups, wide, kind, window):
    x = rng.standard_normal((2, 4, 7, 6)).astype(np.float32)
    module = graph(bottleneck(rng, channels, groups, wide, **window), x)
    expected = interpret(module, x)
    transform(module, ChooseLayouts(block=BLOCK), FoldConstants(), Canonicalize())
    assert len(ops_of(module, kind)) == 1 and not ops_of(module, nn.Conv)
    # The layout changes where the model begins and ends, and nowhere else.
    assert len(ops_of(module, nn.Transpose)) == 2
    np.testing.assert_allclose(interpret(module, x)[0], expected[0], rtol=1e-4, atol=1e-4)
    transform(module, SinkViews(), Canonicalize(), Fuse())
    assert len(ops_of(module, nn.Kernel)) == 4
    np.testing.assert_allclose(interpret(module, x)[0], expected[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("channels", [6, 3])
def test_what_is_concatenated_has_the_same_blocks(rng, channels):
    """Twice 6 channels are 12 in blocks of 6, which 12 alone would not be; so are twice 3."""
    x = rng.standard_normal((1, 4, 7, 6)).astype(np.float32)

    def build(b, x):
        def conv(x, results, depth, size):
            weight = constant(b, rng.standard_normal((results, depth, size, size)))
            groups = x.type.shape[1] // depth
            return b(nn.Conv(x, weight, groups=groups, pads=(size // 2,) * 4)).result

        first = conv(x, channels, 4, 1)
        both = b(nn.Concat([first, conv(b(nn.Relu(first)).result, channels, 1, 3)], 1)).result
        y = conv(both, 2 * channels, 1, 3)
        return conv(b(nn.Add(y, both)).result, 8, 2 * channels, 1)

    module = graph(build, x)
    expected = interpret(module, x)
    transform(module, ChooseLayouts(block=BLOCK), FoldConstants(), Canonicalize())
    assert not ops_of(module, nn.Conv)
    assert len(ops_of(module, nn.Transpose)) == 2  # Where the model begins and ends.
    np.testing.assert_allclose(interpret(module, x)[0], expected[0], rtol=1e-4, atol=1e-4)


def test_tokens_become_blocks_in_one_movement(rng):
    """A convolution of tokens [N, HW, C], as vision transformers have it between two products."""
    x = rng.standard_normal((2, 12, 8)).astype(np.float32)
    weight = rng.standard_normal((8, 1, 3, 3))

    def build(b, x):
        image = b(nn.Reshape(b(nn.Transpose(x, (0, 2, 1))).result, out=tensor(2, 8, 3, 4))).result
        y = b(nn.Conv(image, constant(b, weight), groups=8, pads=(1,) * 4)).result
        y = b(nn.Reshape(b(nn.Relu(y)).result, out=tensor(2, 8, 12))).result
        return b(nn.Exp(b(nn.Transpose(y, (0, 2, 1))).result)).result

    module = graph(build, x)
    expected = interpret(module, x)
    transform(module, ChooseLayouts(block=BLOCK), FoldConstants(), Canonicalize())
    assert len(ops_of(module, nn.BlockedDepthwiseConv)) == 1
    assert len(ops_of(module, nn.Transpose)) == 2
    np.testing.assert_allclose(interpret(module, x)[0], expected[0], rtol=1e-4, atol=1e-4)


def test_shuffled_where_neighbours_cannot_take_it(rng):
    """A sum that others read too keeps its order: the shuffle is an op of its own."""
    x = rng.standard_normal((1, 8, 5, 5)).astype(np.float32)
    weight = rng.standard_normal((8, 2, 3, 3))

    def build(b, x):
        y = b(nn.Relu(x)).result
        out = b(nn.Conv(y, constant(b, weight), groups=4, pads=(1, 1, 1, 1))).result
        return b(nn.Add(b(nn.Softmax(out, axis=1)).result, y)).result

    module = graph(build, x)
    expected = interpret(module, x)
    transform(module, ChooseLayouts(block=BLOCK), FoldConstants(), Canonicalize())
    assert len(ops_of(module, nn.BlockedNarrowConv)) == 1
    np.testing.assert_allclose(interpret(module, x)[0], expected[0], rtol=1e-4, atol=1e-4)


def test_groups_of_a_lane_stay(rng):
    """Groups much smaller than a block, but too few to be lanes, stay in the plain layout."""
    x = rng.standard_normal((1, 6, 5, 5)).astype(np.float32)
    weight = rng.standard_normal((6, 1, 3, 3))

    def build(b, x):
        return b(nn.Conv(x, constant(b, np.repeat(weight, 2, 1)), groups=3)).result

    module = graph(build, x)
    transform(module, ChooseLayouts(block=8))
    assert len(ops_of(module, nn.Conv)) == 1

"""Blocked layouts and Winograd's transforms against the plain convolution."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import nn
from nnc.dialects.builtin import ModuleOp
from nnc.dialects.func import FuncOp, Return
from nnc.dialects.nn.windows import runs
from nnc.ir.builder import Builder
from nnc.ir.passes import PassManager
from nnc.ir.types import TensorType, f32
from nnc.lowering.pipelines import pipeline
from nnc.numerics.interpreter import Interpreter

from .reference import close, run


def blocks(x: np.ndarray, size: int) -> np.ndarray:
    N, C, *rest = x.shape
    apart = x.reshape(N, C // size, size, *rest)
    return np.ascontiguousarray(np.moveaxis(apart, 2, -1))


def blocked_weight(w: np.ndarray, before: int, after: int) -> np.ndarray:
    M, C, *kernel = w.shape
    apart = w.reshape(M // after, after, C // before, before, *kernel)
    rest = range(4, 4 + len(kernel))
    return np.ascontiguousarray(apart.transpose(0, 2, *rest, 3, 1))


@pytest.mark.parametrize("strides,dilations", [((1, 1), (1, 1)), ((2, 1), (1, 2))])
def test_blocked_conv(rng, strides, dilations):
    x = rng.standard_normal((2, 6, 9, 8)).astype(np.float32)
    w = rng.standard_normal((8, 6, 3, 2)).astype(np.float32)
    window = {"strides": strides, "dilations": dilations}
    expected = run(lambda *v: nn.Conv(*v, **window), x, w)
    found = run(lambda *v: nn.BlockedConv(*v, **window), blocks(x, 3), blocked_weight(w, 3, 4))
    close(found, blocks(expected, 4))


def test_blocked_depthwise_conv(rng):
    x = rng.standard_normal((1, 6, 9, 8)).astype(np.float32)
    w = rng.standard_normal((6, 1, 3, 3)).astype(np.float32)
    expected = run(lambda *v: nn.Conv(*v, groups=6), x, w)
    weight = np.ascontiguousarray(w.reshape(2, 3, 3, 3).transpose(0, 2, 3, 1))
    close(run(nn.BlockedDepthwiseConv, blocks(x, 3), weight), blocks(expected, 3))


@pytest.mark.parametrize("strides,dilations", [((1, 1), (1, 1)), ((2, 1), (1, 2))])
def test_blocked_grouped_conv(rng, strides, dilations):
    """Two groups of 6 and 4 channels, in blocks of 3 and 2."""
    x = rng.standard_normal((2, 12, 9, 8)).astype(np.float32)
    w = rng.standard_normal((8, 6, 3, 2)).astype(np.float32)
    window = {"strides": strides, "dilations": dilations}
    expected = run(lambda *v: nn.Conv(*v, groups=2, **window), x, w)
    weight = np.stack([blocked_weight(part, 3, 2) for part in np.split(w, 2)])
    operand = blocks(x, 3).reshape(2, 2, 2, 9, 8, 3)
    found = run(lambda *v: nn.BlockedGroupedConv(*v, **window), operand, weight)
    close(found.reshape(2, 4, *found.shape[3:]), blocks(expected, 2))


def test_blocked_narrow_conv(rng):
    """Six groups of 2 and 3 channels; a block holds one channel of three groups."""
    x = rng.standard_normal((1, 12, 9, 8)).astype(np.float32)
    w = rng.standard_normal((18, 2, 3, 3)).astype(np.float32)
    expected = run(lambda *v: nn.Conv(*v, groups=6), x, w)
    operand = np.ascontiguousarray(x.reshape(1, 2, 3, 2, 9, 8).transpose(0, 1, 3, 4, 5, 2))
    weight = np.ascontiguousarray(w.reshape(2, 3, 3, 2, 3, 3).transpose(0, 2, 3, 4, 5, 1))
    found = run(nn.BlockedNarrowConv, operand, weight)
    close(found.transpose(0, 1, 5, 2, 3, 4).reshape(expected.shape), expected)


PADDED = [
    {"strides": (1, 1), "dilations": (5, 6), "pads": (5, 6, 5, 6)},
    {"strides": (2, 1), "dilations": (1, 9), "pads": (3, 9, 0, 9)},  # rows of padding alone
    {"dilations": (3, 1), "pads": (0, 2, 6, 2)},
]


@pytest.mark.parametrize("window", PADDED)
@pytest.mark.parametrize("is_lowered", [False, True])
def test_blocked_padded_conv(rng, window, is_lowered):
    x = rng.standard_normal((2, 6, 9, 8)).astype(np.float32)
    w = rng.standard_normal((8, 6, 3, 3)).astype(np.float32)
    expected = run(lambda *v: nn.Conv(*v, **window), x, w)
    # Weights of one place in the window lie together.
    weight = np.ascontiguousarray(blocked_weight(w, 3, 4).transpose(0, 2, 3, 1, 4, 5))
    operands = blocks(x, 3), weight
    apply = lowered if is_lowered else run
    close(apply(lambda *v: nn.BlockedPaddedConv(*v, **window), *operands), blocks(expected, 4))


def lowered(op, *arrays: np.ndarray) -> np.ndarray:
    """The result of one op as its lowering to linalg computes it."""
    expected = run(op, *arrays)
    types = [TensorType(a.shape, f32) for a in arrays], [TensorType(expected.shape, f32)]
    function = FuncOp.of("main", *types)
    b = Builder.at_end(function.body.blocks[0])
    b(Return([b(op(*function.args))]))
    module = ModuleOp.of([function])
    PassManager(pipeline("builtin.module(lower-to-linalg)")).run(module)
    out = np.full(expected.shape, np.nan, np.float32)
    Interpreter(module).call("main", [*arrays, out])
    return out


@pytest.mark.parametrize(
    "sizes", [(9, 3, 1, 5, 5, 9), (9, 3, 2, 1, 3, 5), (4, 3, 1, 9, 9, 4), (9, 2, 3, 1, 0, 3)]
)
def test_runs_hold_each_result_once(sizes):
    """Each result is in one run, whose taps are those that meet an element."""
    extent, kernel, stride, dilation, begin, out = sizes
    at = 0
    for found in runs(*sizes):
        assert found.start == at
        for result in range(at, at + found.count):
            places = [result * stride - begin + k * dilation for k in range(kernel)]
            inside = [k for k, place in enumerate(places) if 0 <= place < extent]
            assert inside == list(range(found.tap, found.tap + found.taps))
        if found.taps:
            assert found.first == at * stride - begin + found.tap * dilation
        at += found.count
    assert at == out


def test_packed_matmul(rng):
    x, w = rng.standard_normal((2, 5, 7)).astype("f4"), rng.standard_normal((7, 12)).astype("f4")
    packed = np.ascontiguousarray(w.reshape(7, 3, 4).transpose(1, 0, 2))
    close(run(nn.PackedMatmul, x, packed), (x @ w).reshape(2, 5, 3, 4))


def test_blocked_matmul(rng):
    x = rng.standard_normal((2, 5, 6)).astype("f4")
    w = rng.standard_normal((2, 6, 12)).astype("f4")
    lhs = np.ascontiguousarray(x.reshape(2, 5, 2, 3).transpose(0, 2, 1, 3))
    rhs = np.ascontiguousarray(w.reshape(2, 2, 3, 3, 4).transpose(0, 3, 1, 2, 4))
    out = (x @ w).reshape(2, 5, 3, 4).transpose(0, 2, 1, 3)
    close(run(nn.BlockedMatmul, lhs, rhs), out)


def winograd(x: np.ndarray, w: np.ndarray, tile: int, stride: int) -> np.ndarray:
    v = run(lambda *x: nn.WinogradInput(*x, tile=tile, stride=stride), x)
    u = run(lambda *w: nn.WinogradWeight(*w, tile=tile, stride=stride), w)
    products = np.einsum("pknstb,pmkba->pmnsta", v, u)
    return run(lambda *x: nn.WinogradOutput(*x, tile=tile, stride=stride), products)


@pytest.mark.parametrize("tile", [2, 4])
@pytest.mark.parametrize("stride,shape", [(1, (10, 14)), (2, (17, 25)), (2, (18, 26))])
def test_winograd(rng, tile, stride, shape):
    x = rng.standard_normal((2, 6, *shape)).astype(np.float32)
    w = rng.standard_normal((8, 6, 3, 3)).astype(np.float32)
    expected = run(lambda *v: nn.Conv(*v, strides=(stride, stride)), x, w)
    found = winograd(blocks(x, 3), blocked_weight(w, 3, 4), tile, stride)
    np.testing.assert_allclose(found, blocks(expected, 4), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "tile,stride,least", [(2, 1, 4e-7), (4, 1, 1.2e-6), (2, 2, 4e-7), (4, 2, 6e-7)]
)
def test_error_of_winograd(rng, tile, stride, least):
    """In the mean, against float64; points +-1 and +-2 would have 1.9e-6 for tiles of 4."""
    extent = 16 * stride + 3 - stride
    x = np.maximum(rng.standard_normal((1, 128, extent, extent)), 0).astype(np.float32)
    w = rng.standard_normal((16, 128, 3, 3)).astype(np.float32)
    found = winograd(blocks(x, 16), blocked_weight(w, 16, 16), tile, stride)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 3), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    expected = np.einsum("nchwij,mcij->nmhw", windows, w.astype(np.float64), optimize=True)
    error = found - blocks(expected, 16)
    assert np.sqrt((error**2).mean() / (expected**2).mean()) < least


@pytest.mark.parametrize(
    "kind,tile,stride,shape",
    [
        (nn.WinogradInput, 4, 1, (1, 2, 10, 14, 4)),
        (nn.WinogradOutput, 4, 1, (36, 2, 1, 2, 3, 4)),
        (nn.WinogradWeight, 4, 1, (2, 3, 3, 3, 4, 2)),
        (nn.WinogradInput, 2, 1, (1, 2, 10, 14, 4)),
        (nn.WinogradOutput, 2, 1, (16, 2, 1, 2, 3, 4)),
        (nn.WinogradWeight, 2, 1, (2, 3, 3, 3, 4, 2)),
        (nn.WinogradInput, 4, 2, (1, 2, 18, 25, 4)),
        (nn.WinogradOutput, 4, 2, (81, 2, 1, 2, 3, 4)),
        (nn.WinogradWeight, 4, 2, (2, 3, 3, 3, 4, 2)),
        (nn.WinogradInput, 2, 2, (1, 2, 9, 14, 4)),
        (nn.WinogradOutput, 2, 2, (25, 2, 1, 2, 3, 4)),
        (nn.WinogradWeight, 2, 2, (2, 3, 3, 3, 4, 2)),
    ],
)
def test_winograd_transforms_lowered(rng, kind, tile, stride, shape):
    """The few additions of the lowering are the matrices of the definition."""
    x = rng.standard_normal(shape).astype(np.float32)

    def op(value):
        return kind(value, tile=tile, stride=stride)

    np.testing.assert_allclose(lowered(op, x), run(op, x), rtol=1e-5, atol=1e-5)

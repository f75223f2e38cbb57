"""Dilated convolutions by Winograd's algorithm: every d-th row and column an image of its own."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import nn
from nnc.ir.attributes import DenseElements
from nnc.passes.nn.choose_algorithms import ChooseAlgorithms
from nnc.passes.nn.choose_layouts import ChooseLayouts
from nnc.passes.nn.dilations import undilate
from nnc.passes.nn.fold_constants import FoldConstants

from .graphs import graph, interpret, transform


def ops_of(module, *kinds):
    return [op for op in module.walk() if isinstance(op, kinds)]


@pytest.mark.parametrize("batch,size,dilations", [(1, (24, 16), (2, 2)), (2, (17, 22), (2, 3))])
def test_dilated_winograd(rng, batch, size, dilations):
    x = rng.standard_normal((batch, 32, *size)).astype(np.float32)
    w = rng.standard_normal((48, 32, 3, 3)).astype(np.float32)

    def build(b, x):
        weight = b(nn.Constant(DenseElements.from_numpy(w))).result
        return b(nn.Conv(x, weight, dilations=dilations, pads=(*dilations, *dilations))).result

    module = graph(build, x)
    (expected,) = interpret(module, x)
    transform(module, ChooseLayouts(), ChooseAlgorithms(), FoldConstants())
    assert ops_of(module, nn.WinogradInput) and not ops_of(module, nn.BlockedConv)
    (found,) = interpret(module, x)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


def test_dilated_stays_where_images_apart_are_small(rng):
    """Of a dilation of 9, images of 2 x 2 results are left, most of them of one that is there."""
    x = rng.standard_normal((1, 16, 28, 28)).astype(np.float32)
    w = rng.standard_normal((16, 16, 3, 3)).astype(np.float32)

    def build(b, x):
        weight = b(nn.Constant(DenseElements.from_numpy(w))).result
        return b(nn.Conv(x, weight, dilations=(9, 9))).result

    module = graph(build, x)
    transform(module, ChooseLayouts(), ChooseAlgorithms())
    assert ops_of(module, nn.BlockedConv)


@pytest.mark.parametrize("dilations", [(1, 2), (3, 2), (4, 5)])
def test_undilate(rng, dilations):
    """The dense convolution on images apart is the dilated one."""
    x = rng.standard_normal((2, 3, 13, 17, 4)).astype(np.float32)
    w = rng.standard_normal((2, 3, 3, 3, 4, 5)).astype(np.float32)
    module = graph(lambda b, x, w: b(nn.BlockedConv(x, w, dilations=dilations)).result, x, w)
    (expected,) = interpret(module, x, w)
    dense = undilate(ops_of(module, nn.BlockedConv)[0])
    assert dense.dilations is None
    module.verify()
    np.testing.assert_allclose(interpret(module, x, w)[0], expected, rtol=1e-5, atol=1e-5)

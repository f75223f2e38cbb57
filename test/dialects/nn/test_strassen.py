"""Strassen's transforms: seven products of halves are the product."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import nn
from nnc.ir.diagnostics import NncError
from nnc.ir.types import TensorType, f32

from .reference import run
from .test_blocked import blocked_weight, blocks, lowered


def test_rows(rng):
    """Every other row, and halves of columns that are two numbers of a dimension."""
    x = rng.standard_normal((3, 4, 10)).astype(np.float32)
    w = rng.standard_normal((10, 12)).astype(np.float32)
    v = run(lambda x: nn.StrassenInput(x, rows=1, columns=2), x.reshape(3, 4, 2, 5))
    packed = np.ascontiguousarray(w.reshape(2, 5, 4, 3).transpose(2, 0, 1, 3))
    u = run(lambda w: nn.StrassenWeight(w, rows=1, columns=0), packed)
    products = run(nn.PackedMatmul, v, u.reshape(7, 1, 1, 2, 5, 3))
    y = run(lambda m: nn.StrassenOutput(m, rows=1, columns=3), products)
    np.testing.assert_allclose(y.reshape(3, 4, 12), x @ w, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rows", [2, 3])
def test_images(rng, rows):
    """Every other block of channels; rows of images or pixels of these, several images."""
    x = rng.standard_normal((2, 12, 4, 6)).astype(np.float32)
    w = rng.standard_normal((8, 12, 1, 1)).astype(np.float32)
    v = run(lambda x: nn.StrassenInput(x, rows=rows, columns=1, products=1), blocks(x, 3))
    u = run(lambda w: nn.StrassenWeight(w, rows=1, columns=0), blocked_weight(w, 3, 4))
    products = run(nn.BlockedGroupedConv, v, u)
    y = run(lambda m: nn.StrassenOutput(m, rows=rows, columns=1, products=1), products)
    expected = np.einsum("nchw,mc->nmhw", x, w[:, :, 0, 0])
    np.testing.assert_allclose(y, blocks(expected, 4), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "kind,shape,axes",
    [
        (nn.StrassenInput, (3, 4, 2, 5), {"rows": 1, "columns": 2}),
        (nn.StrassenInput, (2, 4, 6, 3, 5), {"rows": 2, "columns": 1, "products": 1}),
        (nn.StrassenWeight, (4, 2, 5, 3), {"rows": 1, "columns": 0}),
        (nn.StrassenOutput, (7, 3, 4, 1, 2, 5), {"rows": 1, "columns": 3}),
        (nn.StrassenOutput, (2, 7, 3, 2, 5), {"rows": 2, "columns": 1, "products": 1}),
    ],
)
def test_lowered_steps_equal_the_interpreted(rng, kind, shape, axes):
    x = rng.standard_normal(shape).astype(np.float32)
    np.testing.assert_array_equal(
        lowered(lambda value: kind(value, **axes), x), run(lambda value: kind(value, **axes), x)
    )


@pytest.mark.parametrize(
    "kind,shape,axes,said",
    [
        (nn.StrassenInput, (3, 4), {"rows": 0, "columns": 1}, "even numbers"),
        (nn.StrassenInput, (None, 4), {"rows": 0, "columns": 1}, "even numbers"),
        (nn.StrassenInput, (4, 4), {"rows": 1, "columns": 1}, "two of 2 dimensions"),
        (nn.StrassenInput, (4, 4), {"rows": 0, "columns": 2}, "two of 2 dimensions"),
        (nn.StrassenInput, (4, 4), {"rows": 0, "columns": 1, "products": 3}, "one of 3"),
        (nn.StrassenOutput, (8, 2, 2), {"rows": 0, "columns": 1}, "must be 7 products"),
    ],
)
def test_what_cannot_be_halved(kind, shape, axes, said):
    defaults = {"products": 0, **axes}
    attributes = type("Attributes", (), defaults)
    with pytest.raises(NncError, match=said):
        kind.infer([TensorType(shape, f32)], attributes)

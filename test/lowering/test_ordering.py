"""Lowering of sorted rows, suppressed overlaps and determinants, against NumPy."""

import numpy as np
import pytest

from .nn_cases import one_op
from .running import compare

RNG = np.random.default_rng(11)


@pytest.mark.parametrize("rows", [1, 2, 3, 8, 13])
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("type", ["f32", "i64", "ui8", "i1", "bf16"])
def test_sort_rows(rows, columns, type):
    """Few different numbers, so that many rows are equal and stay in order."""
    x = RNG.integers(0, 2, (rows, columns))
    argument = f"tensor<{rows}x{columns}x{type}>"
    compare(one_op(f"nn.sort_rows %x : ({argument}) -> tensor<{rows}xi64>", f"%x: {argument}"), [x])


def test_sort_rows_of_unknown_number():
    argument = "tensor<?x?xf32>"
    text = one_op(f"nn.sort_rows %x : ({argument}) -> tensor<?xi64>", f"%x: {argument}")
    for shape in [(0, 2), (5, 0), (100, 2)]:
        compare(text, [RNG.integers(-2, 2, shape).astype(np.float32)])


def test_sort_rows_with_nan():
    x = np.array([[np.nan, 1], [2, np.nan], [2, 1], [np.nan, 0]], np.float32)
    argument = "tensor<4x2xf32>"
    compare(one_op(f"nn.sort_rows %x : ({argument}) -> tensor<4xi64>", f"%x: {argument}"), [x])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("extents", ["2x3x20", "?x3x?"])
def test_suppress(threshold, extents):
    corners = RNG.uniform(0, 1, (2, 3, 20, 2, 2)).astype(np.float32)
    corners.sort(axis=3)
    boxes = corners.reshape(2, 3, 20, 4)
    boxes[0, 0, 5, 2] = boxes[0, 0, 5, 0]  # no area
    eligible = RNG.integers(0, 4, (2, 3, 20)) > 0
    types = f"tensor<{extents}x4xf32>", f"tensor<{extents}xi1>", "tensor<i64>", "tensor<f32>"
    text = f"nn.suppress %a, %b, %c, %d : ({', '.join(types)}) -> {types[1]}"
    arguments = [f"%{name}: {type}" for name, type in zip("abcd", types, strict=True)]
    for limit in (0, 4, 100):
        compare(one_op(text, *arguments), [boxes, eligible, limit, threshold])


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("type", ["f32", "f64", "f16"])
def test_determinant(size, type):
    x = RNG.standard_normal((4, size, size))
    x[1, 0, 0] = 0  # needs an exchange of rows
    x[2, -1] = 2 * x[2, 0] if size > 1 else 0
    argument = f"tensor<4x{size}x{size}x{type}>"
    text = one_op(f"nn.determinant %x : ({argument}) -> tensor<4x{type}>", f"%x: {argument}")
    compare(text, [x], rtol=1e-2 if type == "f16" else 1e-4, atol=1e-2 if type == "f16" else 1e-5)

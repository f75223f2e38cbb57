"""Lowering of resampling to linalg, with known and unknown extents."""

import numpy as np
import pytest

from .nn_cases import f32, one_op
from .running import compare, compare_native

RESIZES = [
    'mode = "nearest"',
    'mode = "nearest", coordinate_transform = "asymmetric", nearest_mode = "floor"',
    'mode = "linear"',
    'mode = "linear", coordinate_transform = "align_corners"',
    'mode = "cubic"',
    'mode = "cubic", exclude_outside = true, coordinate_transform = "pytorch_half_pixel"',
    'mode = "linear", antialias = true',
]


@pytest.mark.parametrize("attributes", RESIZES)
@pytest.mark.parametrize("size", ["8x6", "3x2"])
@pytest.mark.parametrize("element", ["f32", "ui8"])
def test_resize(attributes, size, element):
    x = f"tensor<1x2x5x4x{element}>"
    text = f"nn.resize %x {{{attributes}}} : ({x}) -> tensor<1x2x{size}x{element}>"
    compare(one_op(text, f"%x: {x}"))


RUN_TIME_RESIZES = [
    *RESIZES,
    *(f'nearest_mode = "{mode}"' for mode in ("round_prefer_ceil", "floor", "ceil")),
    'mode = "linear", coordinate_transform = "half_pixel_symmetric"',
    'mode = "cubic", antialias = true, exclude_outside = true, cubic_coeff_a = -0.5 : f32',
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("attributes", RUN_TIME_RESIZES)
@pytest.mark.parametrize("size", [(8, 6), (3, 2), (1, 9)])
@pytest.mark.parametrize("element", ["f32", "f64", "ui8"])
def test_resize_dynamic(attributes, size, element):
    x = f"tensor<?x2x?x4x{element}>"
    text = (
        f"nn.resize_dynamic %x, %s, %n {{axes = array<i64: 3, 2>, {attributes}}} : "
        f"({x}, tensor<2xf32>, tensor<2xi64>) -> tensor<?x2x?x?x{element}>"
    )
    values = np.random.default_rng(2).uniform(0, 100, (2, 2, 5, 4))
    scales = [size[1] / 4, size[0] / 5]
    args = f"%x: {x}", "%s: tensor<2xf32>", "%n: tensor<2xi64>"
    compare(one_op(text, *args), [values, scales, size[::-1]])


@pytest.mark.parametrize("attributes", [RUN_TIME_RESIZES[i] for i in (0, 2, -1)])
def test_resize_dynamic_as_machine_code(attributes):
    x = "tensor<?x2x?x?xf32>"
    text = (
        f"nn.resize_dynamic %x, %s, %n {{axes = array<i64: 2, 3>, {attributes}}} : "
        f"({x}, tensor<2xf32>, tensor<2xi64>) -> {x}"
    )
    args = f"%x: {x}", "%s: tensor<2xf32>", "%n: tensor<2xi64>"
    compare_native(one_op(text, *args), [f32(2, 2, 5, 40), [1.8, 0.55], [9, 22]])


@pytest.mark.parametrize("attributes", RUN_TIME_RESIZES)
@pytest.mark.parametrize("scale", [0.5, 1.7])
def test_resize_of_unknown_extents(attributes, scale):
    x = "tensor<1x2x?x?xf32>"
    text = (
        f"nn.resize %x {{scales = array<f32: 1.0, 1.0, {scale}, 2.0>, {attributes}}} : ({x}) -> {x}"
    )
    compare(one_op(text, f"%x: {x}"), sizes=[5, 4])


def test_resize_dynamic_with_extrapolation():
    x = "tensor<1x1x?x4xf32>"
    text = (
        'nn.resize_dynamic %x, %s, %n, %b {axes = array<i64: 2, 3>, mode = "linear", '
        'coordinate_transform = "tf_crop_and_resize", extrapolation_value = 9.0 : f32} : '
        f"({x}, tensor<2xf32>, tensor<2xi64>, tensor<4xf32>) -> tensor<1x1x?x?xf32>"
    )
    args = f"%x: {x}", "%s: tensor<2xf32>", "%n: tensor<2xi64>", "%b: tensor<4xf32>"
    region = [-0.2, 0.1, 1.3, 0.8]
    compare(one_op(text, *args), [f32(1, 1, 4, 4), [1, 1], [5, 3], region])
    compare(one_op(text, *args), [f32(1, 1, 4, 4), [1, 1], [1, 3], region])


def test_resize_with_extrapolation():
    text = (
        'nn.resize %x {mode = "linear", coordinate_transform = "tf_crop_and_resize", '
        "roi = array<f32: 0.0, 0.0, -0.2, 0.1, 1.0, 1.0, 1.3, 0.8>, extrapolation_value = 9.0 : f32} : "
        "(tensor<1x1x4x4xf32>) -> tensor<1x1x5x3xf32>"
    )
    compare(one_op(text, "%x: tensor<1x1x4x4xf32>"))

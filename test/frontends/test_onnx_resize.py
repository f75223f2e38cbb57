"""Resampling against onnxruntime and ONNX's reference."""

import numpy as np
import pytest
from nnc.ir.diagnostics import NncError

from .models import run
from .onnx_operators import check, one, random

# -- sampling --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize(
    "transform", ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
)
@pytest.mark.parametrize("sizes", [(1, 2, 7, 9), (1, 2, 3, 3)])
def test_resize_to_sizes(mode, transform, sizes):
    x = random(1, 2, 4, 6)
    more = {"nearest_mode": "floor"} if mode == "nearest" else {}
    model = one(
        "Resize",
        [x],
        [None, None, np.array(sizes)],
        mode=mode,
        coordinate_transformation_mode=transform,
        **more,
    )
    check(model, x)


@pytest.mark.parametrize("scale", [0.4, 1.6, 2.0, 3.0])
def test_resize_as_tensorflow_did(scale):
    x = random(1, 1, 5, 7)
    model = one(
        "Resize",
        [x],
        [np.zeros(0, np.float32), np.array([1, 1, scale, scale], np.float32)],
        opset=11,
        mode="nearest",
        coordinate_transformation_mode="tf_half_pixel_for_nn",
        nearest_mode="floor",
    )
    check(model, x)


TO_SIZES = {
    "nearest": {"mode": "nearest", "nearest_mode": "round_prefer_floor"},
    "prefer_ceil": {"mode": "nearest", "nearest_mode": "round_prefer_ceil"},
    "floor": {"mode": "nearest", "nearest_mode": "floor"},
    "ceil": {"mode": "nearest", "nearest_mode": "ceil"},
    "linear": {"mode": "linear"},
    "cubic": {"mode": "cubic"},
    "outside": {"mode": "cubic", "exclude_outside": 1, "cubic_coeff_a": -0.5},
    "antialias": {"mode": "linear", "antialias": 1},
    "antialias_cubic": {"mode": "cubic", "antialias": 1},
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("how", TO_SIZES.values(), ids=TO_SIZES)
@pytest.mark.parametrize(
    "transform",
    ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"],
)
@pytest.mark.parametrize("sizes", [(2, 3, 7, 9), (2, 3, 3, 1)])
def test_resize_to_sizes_of_the_run(how, transform, sizes):
    """Of extents that only the run knows, by sizes and by scales that it computes."""
    x = random(2, 3, 4, 6)
    how = {**how, "coordinate_transformation_mode": transform}
    fixed = one("Resize", [x], [None, None, np.array(sizes)], **how)
    (expected,) = run(fixed, x)
    sizes = np.array(sizes)
    (found,) = run(one("Resize", [x, None, None, sizes], open=True, **how), x, sizes)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    scales = np.array(sizes / x.shape, np.float32)
    scaled = one("Resize", [x, None, scales], open=True, **how)
    (expected,) = run(one("Resize", [x], [None, scales], **how), x)
    (found,) = run(scaled, x, scales)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("transform", ["half_pixel", "asymmetric", "align_corners"])
@pytest.mark.parametrize("scale", [0.5, 1.5, 2.0])
def test_resize_of_open_extents_by_known_scales(mode, transform, scale):
    x = random(1, 2, 5, 7)
    more = {"nearest_mode": "floor"} if mode == "nearest" else {}
    scales = np.array([1, 1, scale, scale], np.float32)
    model = one(
        "Resize", [x], [None, scales], open=True, mode=mode,
        coordinate_transformation_mode=transform, **more,
    )  # fmt: skip
    check(model, x)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("sizes", [(1, 2, 7, 9), (1, 2, 3, 3)])
def test_resize_to_sizes_of_the_run_as_onnxruntime(mode, sizes):
    x, sizes = random(1, 2, 4, 6), np.array(sizes)
    check(one("Resize", [x, None, None, sizes], open=True, mode=mode), x, sizes)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_resize_keeping_the_aspect_of_the_run(policy):
    x, sizes = random(1, 2, 4, 6), np.array([7, 8])
    model = one(
        "Resize", [x, None, None, sizes], open=True, mode="linear", axes=[2, 3],
        keep_aspect_ratio_policy=policy,
    )  # fmt: skip
    check(model, x, sizes)


def test_resize_of_a_region_of_the_run():
    x, sizes = random(1, 1, 6, 6), np.array([1, 1, 4, 5])
    roi = np.array([0, 0, 0.2, 0.5, 1, 1, 0.8, 1.2], np.float32)
    model = one(
        "Resize", [x, roi, None, sizes], open=True, mode="linear", extrapolation_value=9.0,
        coordinate_transformation_mode="tf_crop_and_resize",
    )  # fmt: skip
    check(model, x, roi, sizes)


def test_resize_to_nothing_and_by_nothing():
    x = random(1, 1, 4, 4)
    model = one("Resize", [x, None, np.ones(4, np.float32)], open=True, mode="linear")
    assert run(model, x, np.array([1, 1, 0.2, 1], np.float32))[0].shape == (1, 1, 0, 4)
    sized = one("Resize", [x, None, None, np.ones(4, np.int64)], open=True, mode="linear")
    with pytest.raises(NncError, match="there is no element to sample"):
        run(sized, x[:, :, :0], np.array([1, 1, 2, 4]))
    with pytest.raises(NncError, match="is negative"):
        run(sized, x, np.array([1, 1, -2, 4]))


@pytest.mark.parametrize("opset", [7, 9])
def test_upsample(opset):
    x = random(1, 2, 3, 4)
    scales = np.array([1, 1, 2, 3], np.float32)
    if opset == 7:
        model = one("Upsample", [x], opset=7, scales=scales.tolist(), mode="nearest")
    else:
        model = one("Upsample", [x], [scales], opset=9, mode="linear")
    check(model, x)

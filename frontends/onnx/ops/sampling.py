"""Interpolation: Resize in all its versions, Upsample, and images sampled at given positions.

Source of the latter: ONNX GridSample-22, AffineGrid-20.
"""

from __future__ import annotations

from ...common import grids
from ...common.resize import POLICIES, check_count
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter

_MODES = ("nearest", "linear", "cubic", "bilinear")


@converter("Upsample")
def upsample(n: Node, x: Value, scales: Value | None = None) -> Value:
    if scales is None:
        numbers = n.floats("scales")
        if numbers is None:  # the first version, for images
            numbers = 1.0, 1.0, n.float("height_scale", 1.0), n.float("width_scale", 1.0)
        scales = n.constant(np.array(numbers, np.float32))
    return resize_10(n, x, scales)


@converter("Resize")
def resize_10(n: Node, x: Value, scales: Value) -> Value:
    """Resize before opset 11: the nearest element is rounded up when shrinking, else down."""
    mode, axes = n.string("mode", "nearest", _MODES), tuple(range(x.type.rank))
    how = {"mode": "linear" if mode == "bilinear" else mode, "coordinate_transform": "asymmetric"}
    check_count(n, scales, len(axes), "scales")
    if mode != "nearest":
        return _cut(n, resized_by_scales(n, _as_reals(n, x, mode), scales, axes, how), x)
    known = n.known(scales)
    if known is None:
        text = "scales below 1 that are known only at run time are not supported in mode nearest"
        least = reduced(n, n.cast(scales, f32), nn.ReduceMin, (0,))
        fits = n(nn.GreaterEqual(least, n.constant(1.0, f32)))
        scales = n(nn.Assume(scales, fits, text))
        return resized_by_scales(n, x, scales, axes, how | {"nearest_mode": "floor"})
    for rounding, fewer in (("ceil", True), ("floor", False)):
        some = tuple(axis for axis in axes if (known[axis] < 1) == fewer)
        part = n.constant(np.float32(known[list(some)]))
        if some:
            x = resized_by_scales(n, x, part, some, how | {"nearest_mode": rounding})
    return x


@converter("Resize", since=11)
def resize(
    n: Node,
    x: Value,
    roi: Value | None = None,
    scales: Value | None = None,
    sizes: Value | None = None,
) -> Value:
    rank = x.type.rank
    axes = n.ints("axes") if n.opset >= 18 else None
    axes = tuple(range(rank)) if axes is None else normalize_axes(n, axes, rank)
    transform = n.string("coordinate_transformation_mode", "half_pixel")
    nearest = n.string("nearest_mode", "round_prefer_floor")
    if transform == "tf_half_pixel_for_nn":
        # floor((i + 0.5) / scale) is half_pixel's position plus a half, rounded down.
        if n.string("mode") != "nearest" or nearest != "floor":
            raise n.error(f"{transform} is supported with mode nearest and nearest_mode floor only")
        transform, nearest = "half_pixel", "round_prefer_ceil"
    how = {
        "mode": n.string("mode", "nearest", _MODES[:3]),
        "coordinate_transform": transform,
        "nearest_mode": nearest,
        "cubic_coeff_a": n.float("cubic_coeff_a", -0.75),
        "exclude_outside": bool(n.int("exclude_outside")),
        "antialias": bool(n.int("antialias")),
        "extrapolation_value": n.float("extrapolation_value"),
    }
    region = None
    if transform == "tf_crop_and_resize":
        if roi is None:
            raise n.error("tf_crop_and_resize needs the input 'roi'")
        check_count(n, roi, 2 * len(axes), "bounds in roi")
        region = n.cast(roi, f32)
    wide = x if how["antialias"] else _as_reals(n, x, str(how["mode"]))
    # Exporters pass an empty tensor for the unused one.
    if sizes is not None and sizes.type.shape != (0,):
        return _cut(n, resized(n, wide, sizes, axes, how, region, _policy(n)), x)
    if scales is None:
        raise n.error("neither scales nor sizes are given")
    return _cut(n, resized_by_scales(n, wide, scales, axes, how, region), x)


def _as_reals(n: Node, x: Value, mode: str) -> Value:
    """Integers as f32, if the mode averages them."""
    means = mode != "nearest" and isinstance(x.type.element_type, IntegerType)
    return n.cast(x, f32) if means else x


def _cut(n: Node, means: Value, x: Value) -> Value:
    """Means truncated to integers, as ONNX's reference and ONNX Runtime do."""
    element = x.type.element_type
    if means.type.element_type is element:
        return means
    least, most = (n.scalar(number, means) for number in limits_of(element))
    return n.cast(n(nn.Clip(means, least, most)), element)


def _policy(n: Node) -> str:
    policy = n.string("keep_aspect_ratio_policy", "stretch") if n.opset >= 18 else "stretch"
    if policy not in POLICIES:
        raise n.error(f"attribute 'keep_aspect_ratio_policy' is '{policy}'")
    return policy


@converter("GridSample")
def grid_sample(n: Node, x: Value, grid: Value) -> Value:
    prefix = "" if n.opset >= 20 else "bi"
    choices = ("nearest", f"{prefix}linear", f"{prefix}cubic")
    mode = n.string("mode", choices[1], choices).removeprefix("bi")
    padding = n.string("padding_mode", "zeros", grids.PADDINGS)
    corners = bool(n.int("align_corners"))
    return grids.grid_sample(n, x, grid, mode=mode, padding=padding, corners=corners)


@converter("AffineGrid")
def affine_grid(n: Node, theta: Value, size: Value) -> Value:
    rank = _spatial_rank(n, theta, size)
    corners = bool(n.int("align_corners"))
    if corners and 1 in (n.extents(size) or ())[2:]:
        n.warn("the only element along a dimension is at -1, in ONNX Runtime at 1, in PyTorch at 0")
    return grids.affine_grid(n, theta, size, rank, corners)


def _spatial_rank(n: Node, theta: Value, size: Value) -> int:
    """2 or 3, from the types of the operands."""
    known, declared = theta.type.shape[1], n.declared_rank(0)
    if known is None and size.type.shape[0] is not None:
        known = size.type.shape[0] - 2
    if known is None and declared is not None:
        known = declared - 2
    if theta.type.rank != 3 or known not in (2, 3):
        raise n.error("the number of spatial dimensions must be known, and 2 or 3")
    return known

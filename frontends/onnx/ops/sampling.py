"""Interpolation: Resize in all its versions, and Upsample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects import nn
from ....dialects.nn.known_values import LIMIT, KnownValues
from ....ir.core import Value
from ....ir.types import Dim, TensorType, f32, f64, i64
from ...common.late_axes import source_of
from ...common.shapes import as_i64, normalize_axes, shape_of, shape_text
from ..node import Node
from ..registry import converter

_MODES = ("nearest", "linear", "cubic", "bilinear")


@converter("Upsample")
def upsample(n: Node, x: Value, scales: Value | None = None) -> Value:
    if scales is None:
        scales = n.constant(np.array(n.floats("scales") or (), np.float32))
    return resize_10(n, x, scales)


@converter("Resize")
def resize_10(n: Node, x: Value, scales: Value) -> Value:
    """The meaning before opset 11."""
    mode = n.string("mode", "nearest", _MODES)
    how = {
        "mode": "linear" if mode == "bilinear" else mode,
        "coordinate_transform": "asymmetric",
        "nearest_mode": "floor",
    }
    return _by_scales(n, x, scales, tuple(range(x.type.rank)), None, how)


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
        _check_count(n, roi, 2 * len(axes), "bounds in roi")
        region = n.cast(roi, f32)
    # Exporters give the one that is not meant as an empty tensor.
    if sizes is not None and sizes.type.shape != (0,):
        return _by_sizes(n, x, sizes, axes, region, how)
    if scales is None:
        raise n.error("neither scales nor sizes are given")
    return _by_scales(n, x, scales, axes, region, how)


def _by_scales(n: Node, x: Value, scales: Value, axes, roi: Value | None, how: dict) -> Value:
    _check_count(n, scales, len(axes), "scales")
    scales = n.cast(scales, f32)
    known, region = n.known(scales), _region(n, roi)
    if known is not None and (roi is None or region is not None):
        factors, shape = [1.0] * x.type.rank, list(x.type.shape)
        for axis, factor in zip(axes, known.reshape(-1).tolist(), strict=True):
            own = shape[axis]
            if not 0 < factor < 2**31:
                raise n.error(f"a scale is {factor:g}, expected a positive number")
            factors[axis], shape[axis] = factor, None if own is None else math.floor(own * factor)
        return _resize(n, x, shape, factors, axes, region, how)
    stays = [factor == 1 for factor in _elements(scales, len(axes))]
    own = n.cast(_extents(n, x, axes), f64)
    sizes = n.cast(n(nn.Floor(n(nn.Mul(own, n.cast(scales, f64))))), i64)
    return _resize_dynamic(n, x, (scales, sizes, roi), axes, stays, how)


def _by_sizes(n: Node, x: Value, sizes: Value, axes, roi: Value | None, how: dict) -> Value:
    _check_count(n, sizes, len(axes), "sizes")
    policy = n.string("keep_aspect_ratio_policy", "stretch") if n.opset >= 18 else "stretch"
    if policy not in _POLICIES:
        raise n.error(f"attribute 'keep_aspect_ratio_policy' is '{policy}'")
    choose = _POLICIES[policy]
    own, region = [x.type.shape[axis] for axis in axes], _region(n, roi)
    if n.known(sizes) is not None and None not in own and (roi is None or region is not None):
        wanted = n.known_ints(sizes, "sizes")
        factors, shape = [1.0] * x.type.rank, list(x.type.shape)
        ratios = [w / d if d else 1.0 for w, d in zip(wanted, own, strict=True)]
        for i, axis in enumerate(axes):
            factors[axis], shape[axis] = ratios[i], wanted[i]
            if choose is not None:
                factors[axis] = choose[0](ratios)
                shape[axis] = math.floor(factors[axis] * own[i] + 0.5)
        return _resize(n, x, shape, factors, axes, region, how)
    sizes = as_i64(n, sizes)
    stays = [_is_extent(sizes, i, x, axis) for i, axis in enumerate(axes)]
    own_extents = n.cast(_extents(n, x, axes), f64)
    scales = n(nn.Div(n.cast(sizes, f64), own_extents))
    if choose is not None:
        stays = [False] * len(axes)
        scale = n(choose[1](scales, axes=(0,), keep_dims=True))
        scales = n(nn.Mul(scale, n.constant(np.ones(len(axes)))))
        rounded = n(nn.Add(n(nn.Mul(scale, own_extents)), n.constant(0.5, f64)))
        sizes = n.cast(n(nn.Floor(rounded)), i64)
    return _resize_dynamic(n, x, (n.cast(scales, f32), sizes, roi), axes, stays, how)


_POLICIES: dict[str, Any] = {
    "stretch": None,
    "not_larger": (min, nn.ReduceMin),
    "not_smaller": (max, nn.ReduceMax),
}
"""How one scale is chosen among those that the sizes mean, at import and at run time."""


def _resize(
    n: Node, x: Value, shape: list[Dim], factors: list[float], axes, region, how: dict
) -> Value:
    """Everything but extents is known."""
    roi = None
    if region is not None:
        begin, end = [0.0] * len(shape), [1.0] * len(shape)
        for i, axis in enumerate(axes):
            begin[axis], end[axis] = region[i], region[i + len(axes)]
        roi = (*begin, *end)
    out = TensorType(tuple(shape), x.type.element_type)
    return n(nn.Resize(x, scales=tuple(factors), roi=roi, out=out, **how))


def _resize_dynamic(
    n: Node,
    x: Value,
    computed: tuple[Value, Value, Value | None],
    axes: Sequence[int],
    stays: Sequence[bool],
    how: dict,
) -> Value:
    """Scales, sizes and perhaps a region are computed; dimensions that stay are left out."""
    scales, sizes, roi = computed
    moving = [i for i, stay in enumerate(stays) if not stay or roi is not None]
    if not moving:
        return x
    if len(moving) < len(axes):
        which = n.constant(np.array(moving, np.int64))
        scales, sizes = n(nn.Gather(scales, which)), n(nn.Gather(sizes, which))
    along = tuple(axes[i] for i in moving)
    known, shape = n.extents(sizes), list(x.type.shape)
    for i, axis in enumerate(along):
        shape[axis] = known[i] if known is not None else None
    out = TensorType(tuple(shape), x.type.element_type)
    vectors = {"scales": scales, "sizes": sizes, "roi": roi}
    return n(nn.ResizeDynamic(x, axes=along, out=out, **vectors, **how))


def _extents(n: Node, x: Value, axes: Sequence[int]) -> Value:
    """The operand's extents along some axes, as a 1-D tensor of i64."""
    shape = shape_of(n, x)
    if list(axes) == list(range(x.type.rank)):
        return shape
    return n(nn.Gather(shape, n.constant(np.array(axes, np.int64))))


def _elements(vector: Value, count: int) -> list[float | None]:
    """The numbers of a 1-D tensor, None for one that is not known."""
    found = KnownValues(_is_vector).partial(vector)
    if found is None:
        return [None] * count
    pairs = zip(found.elements.tolist(), found.unknown.tolist(), strict=True)
    return [None if unknown else number for number, unknown in pairs]


def _is_vector(type: Any) -> bool:
    return type.rank <= 1 and type.has_static_shape and type.num_elements <= LIMIT


def _is_extent(vector: Value, at: int, x: Value, axis: int) -> bool:
    """Whether an element of a 1-D tensor is the operand's extent along an axis."""
    own = x.type.shape[axis]
    if own is not None:
        known = KnownValues().elements(vector)
        return known is not None and known[at] == own
    return source_of(vector, at) == (x, axis)


def _region(n: Node, roi: Value | None) -> tuple[float, ...] | None:
    found = n.known(roi)
    return None if found is None else tuple(float(v) for v in found.reshape(-1))


def _check_count(n: Node, values: Value, expected: int, what: str) -> None:
    if values.type.rank != 1:
        raise n.error(f"{what} must be a vector, but have shape {shape_text(values)}")
    if values.type.shape[0] not in (expected, None):
        raise n.error(f"{values.type.shape[0]} {what}, expected {expected}")

"""Interpolation: Resize in all its versions, and Upsample."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import Dim, TensorType
from ..node import Node
from ..registry import converter
from ..shapes import normalize_axes

_MODES = ("nearest", "linear", "cubic", "bilinear")


@converter("Upsample")
def upsample(n: Node, x: Value, scales: Value | None = None) -> Value:
    factors = n.floats("scales") if scales is None else _known(n, scales, "scales")
    return _resize_asymmetric(n, x, factors or ())


@converter("Resize")
def resize_10(n: Node, x: Value, scales: Value) -> Value:
    return _resize_asymmetric(n, x, _known(n, scales, "scales"))


def _resize_asymmetric(n: Node, x: Value, scales: Sequence[float]) -> Value:
    """The meaning before opset 11."""
    mode = n.string("mode", "nearest", _MODES)
    _check_count(n, x, scales, "scales")
    shape = tuple(_scaled(d, s) for d, s in zip(x.type.shape, scales, strict=True))
    return n(
        nn.Resize(
            x,
            mode="linear" if mode == "bilinear" else mode,
            coordinate_transform="asymmetric",
            nearest_mode="floor",
            scales=tuple(scales),
            out=TensorType(shape, x.type.element_type),
        )
    )


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
    factors = [1.0] * rank
    shape: list[Dim] = list(x.type.shape)
    if sizes is not None:
        _by_sizes(n, x, sizes, axes, shape, factors)
    elif scales is not None:
        given = _known(n, scales, "scales")
        _check_count(n, x, given, "scales", len(axes))
        for axis, factor in zip(axes, given, strict=True):
            factors[axis] = factor
            shape[axis] = _scaled(shape[axis], factor)
    else:
        raise n.error("neither scales nor sizes are given")
    transform = n.string("coordinate_transformation_mode", "half_pixel")
    nearest = n.string("nearest_mode", "round_prefer_floor")
    if transform == "tf_half_pixel_for_nn":
        # floor((i + 0.5) / scale) is half_pixel's position plus a half, rounded down.
        if n.string("mode") != "nearest" or nearest != "floor":
            raise n.error(f"{transform} is supported with mode nearest and nearest_mode floor only")
        transform, nearest = "half_pixel", "round_prefer_ceil"
    crop = transform == "tf_crop_and_resize"
    return n(
        nn.Resize(
            x,
            mode=n.string("mode", "nearest", _MODES[:3]),
            coordinate_transform=transform,
            nearest_mode=nearest,
            scales=tuple(factors),
            roi=_region(n, roi, axes, rank) if crop else None,
            cubic_coeff_a=n.float("cubic_coeff_a", -0.75),
            exclude_outside=bool(n.int("exclude_outside")),
            antialias=bool(n.int("antialias")),
            extrapolation_value=n.float("extrapolation_value"),
            out=TensorType(tuple(shape), x.type.element_type),
        )
    )


def _by_sizes(n: Node, x: Value, sizes: Value, axes, shape: list, factors: list) -> None:
    """The result's extents, and the scales that they mean."""
    wanted = n.known_ints(sizes, "sizes")
    _check_count(n, x, wanted, "sizes", len(axes))
    for axis, size in zip(axes, wanted, strict=True):
        own = x.type.shape[axis]
        if own is None:
            raise n.error(f"sizes are given, but the extent of axis {axis} is not known")
        factors[axis], shape[axis] = size / own if own else 1.0, size
    policy = n.string("keep_aspect_ratio_policy", "stretch") if n.opset >= 18 else "stretch"
    if policy == "stretch":
        return
    choose = {"not_larger": min, "not_smaller": max}.get(policy)
    if choose is None:
        raise n.error(f"attribute 'keep_aspect_ratio_policy' is '{policy}'")
    factor = choose(factors[axis] for axis in axes)
    for axis in axes:
        factors[axis] = factor
        shape[axis] = math.floor(factor * x.type.shape[axis] + 0.5)


def _region(n: Node, roi: Value | None, axes: Sequence[int], rank: int) -> tuple[float, ...]:
    if roi is None:
        raise n.error("tf_crop_and_resize needs the input 'roi'")
    given = _known(n, roi, "roi")
    if len(given) != 2 * len(axes):
        raise n.error(f"roi has {len(given)} elements, expected {2 * len(axes)}")
    begin, end = [0.0] * rank, [1.0] * rank
    for i, axis in enumerate(axes):
        begin[axis], end[axis] = given[i], given[i + len(axes)]
    return (*begin, *end)


def _known(n: Node, value: Value, what: str) -> tuple[float, ...]:
    found = n.known(value)
    if found is None:
        raise n.error(f"{what} must be known at import, but they are computed at run time")
    return tuple(float(v) for v in np.asarray(found, np.float64).reshape(-1))


def _check_count(n: Node, x: Value, values: Sequence, what: str, count: int | None = None) -> None:
    expected = x.type.rank if count is None else count
    if len(values) != expected:
        raise n.error(f"{len(values)} {what}, expected {expected}")


def _scaled(extent: Dim, factor: float) -> Dim:
    return None if extent is None else math.floor(extent * factor)

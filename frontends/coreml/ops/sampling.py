"""Images sampled anew."""

from __future__ import annotations

from typing import Any

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType
from ...common.shapes import shape_text
from ..layer import CoreMLLayer
from ..rows import ROWS

_SAMPLING = {
    "STRICT_ALIGN_CORNERS": "align_corners",
    "ALIGN_CORNERS": "align_corners",
    "UNALIGN_CORNERS": "half_pixel",
    "DEFAULT": "asymmetric",
}
_NEAREST: dict[str, Any] = {
    "mode": "nearest",
    "coordinate_transform": "asymmetric",
    "nearest_mode": "floor",
}


def resized(n: CoreMLLayer, x: Value, sizes: list, **how: Any) -> Value:
    """x with other extents in its last dimensions."""
    if None in sizes:
        raise n.error(f"input 'x' is {shape_text(x)}, expected known extents")
    shape = (*x.type.shape[: x.type.rank - len(sizes)], *sizes)
    return n(nn.Resize(x, out=TensorType(shape, x.type.element_type), **how))


def _scaled(n: CoreMLLayer, x: Value, **how: Any) -> Value:
    scales = [n.float("scale_factor_height", 1), n.float("scale_factor_width", 1)]
    sizes = [
        None if d is None else int(d * s) for d, s in zip(x.type.shape[-2:], scales, strict=True)
    ]
    if None in sizes:
        shape = (*x.type.shape[:-2], *sizes)
        whole = (*(1.0,) * (x.type.rank - 2), *scales)
        return n(nn.Resize(x, out=TensorType(shape, x.type.element_type), scales=whole, **how))
    return resized(n, x, sizes, **how)


@ROWS("upsample_nearest_neighbor")
def upsample_nearest(n: CoreMLLayer, x: Value) -> Value:
    return _scaled(n, x, **_NEAREST)


@ROWS("upsample_bilinear")
def upsample_bilinear(n: CoreMLLayer, x: Value) -> Value:
    corners = n.flag("align_corners", True)
    half = n.flag("half_pixel_centers", not corners)
    kind = "align_corners" if corners else "half_pixel" if half else "asymmetric"
    return _scaled(n, x, mode="linear", coordinate_transform=kind)


def _target(n: CoreMLLayer) -> list:
    return [n.int("target_size_height", 1), n.int("target_size_width", 1)]


@ROWS("resize_nearest_neighbor")
def resize_nearest(n: CoreMLLayer, x: Value) -> Value:
    return resized(n, x, _target(n), **_NEAREST)


@ROWS("resize_bilinear")
def resize_bilinear(n: CoreMLLayer, x: Value) -> Value:
    how = n.text("sampling_mode", "DEFAULT", *_SAMPLING)
    return resized(n, x, _target(n), mode="linear", coordinate_transform=_SAMPLING[how])


@ROWS("resize")
def resize(n: CoreMLLayer, x: Value) -> Value:
    shape, count = n.ints("shape"), n.int("resized_dims")
    sizes = [
        x.type.shape[i - count] if d == 0 else d for i, d in enumerate(shape[len(shape) - count :])
    ]
    if n.text("interpolation_mode", "LINEAR", "LINEAR", "NEAREST_NEIGHBOR") != "LINEAR":
        return resized(n, x, sizes, **_NEAREST)
    how = n.text("sampling_mode", "DEFAULT", *_SAMPLING)
    return resized(n, x, sizes, mode="linear", coordinate_transform=_SAMPLING[how])


@ROWS("crop")
def crop(n: CoreMLLayer, x: Value) -> Value:
    (top, bottom), (left, right) = n.ints("crop_height"), n.ints("crop_width")
    *lead, height, width = x.type.shape
    if None in (height, width):
        raise n.error(f"input 'x' is {shape_text(x)}, expected known extents")
    out = TensorType((*lead, height - top - bottom, width - left - right), x.type.element_type)
    return n(nn.Slice(x, starts=(*(0,) * len(lead), top, left), out=out))

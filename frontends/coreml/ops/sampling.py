"""Images sampled anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import Dim, TensorType
from ...common.resize import resized_by_scales
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


def _resized(n: CoreMLLayer, x: Value, sizes: Sequence[Dim], how: Mapping[str, Any]) -> Value:
    """x with other extents in its last dimensions, from which the coordinates follow."""
    if None in sizes:
        raise n.error(f"input 'x' is {shape_text(x)}, expected known extents")
    out = TensorType((*x.type.shape[: -len(sizes)], *sizes), x.type.element_type)
    return n(nn.Resize(x, out=out, **how))


def _scaled(n: CoreMLLayer, x: Value, **how: Any) -> Value:
    scales = [n.float(f"scale_factor_{side}", 1) for side in ("height", "width")]
    height, width = x.type.shape[-2:]
    if height is None or width is None:
        axes = range(x.type.rank - 2, x.type.rank)
        return resized_by_scales(n, x, n.constant(np.array(scales)), axes, how)
    return _resized(n, x, [int(height * scales[0]), int(width * scales[1])], how)


@ROWS("upsample_nearest_neighbor")
def upsample_nearest(n: CoreMLLayer, x: Value) -> Value:
    return _scaled(n, x, **_NEAREST)


@ROWS("upsample_bilinear")
def upsample_bilinear(n: CoreMLLayer, x: Value) -> Value:
    corners = n.flag("align_corners", True)
    half = n.flag("half_pixel_centers", not corners)
    kind = "align_corners" if corners else "half_pixel" if half else "asymmetric"
    return _scaled(n, x, mode="linear", coordinate_transform=kind)


def _how(n: CoreMLLayer, nearest: bool) -> Mapping[str, Any]:
    if nearest:
        return _NEAREST
    mode = n.text("sampling_mode", "DEFAULT", *_SAMPLING)
    return {"mode": "linear", "coordinate_transform": _SAMPLING[mode]}


@ROWS("resize_nearest_neighbor", "resize_bilinear")
def resize_to(n: CoreMLLayer, x: Value) -> Value:
    sizes = [n.int(f"target_size_{side}", 1) for side in ("height", "width")]
    return _resized(n, x, sizes, _how(n, n.kind != "resize_bilinear"))


@ROWS("resize")
def resize(n: CoreMLLayer, x: Value) -> Value:
    count = n.int("resized_dims")
    wanted = n.ints("shape")[-count:]
    sizes = [size or x.type.shape[i - count] for i, size in enumerate(wanted)]
    mode = n.text("interpolation_mode", "LINEAR", "LINEAR", "NEAREST_NEIGHBOR")
    return _resized(n, x, sizes, _how(n, mode != "LINEAR"))


@ROWS("crop")
def crop(n: CoreMLLayer, x: Value) -> Value:
    (top, bottom), (left, right) = n.ints("crop_height"), n.ints("crop_width")
    *lead, height, width = x.type.shape
    if height is None or width is None:
        raise n.error(f"input 'x' is {shape_text(x)}, expected known extents")
    out = TensorType((*lead, height - top - bottom, width - left - right), x.type.element_type)
    return n(nn.Slice(x, starts=(*(0,) * len(lead), top, left), out=out))

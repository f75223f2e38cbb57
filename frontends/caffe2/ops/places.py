"""Operators on extents, indices and image regions."""

from __future__ import annotations

from ...common import regions
from ...common.vocabulary import *
from ..layer import Caffe2Layer, rows


@rows("Shape")
def shape(n: Caffe2Layer, x: Value) -> Value:
    axes = normalize_axes(n, n.ints("axes", range(x.type.rank)), x.type.rank)
    return shape_vector(n, [(x, axis) for axis in axes])


@rows("Tile")
def tile(n: Caffe2Layer, x: Value) -> Value:
    axis, count = normalize_axis(n, n.int("axis"), x.type.rank), n.int("tiles", 1)
    repeats = [count if i == axis else 1 for i in range(x.type.rank)]
    return tiled(n, x, n.constant(np.array(repeats, np.int64)))


@rows("TopK")
def top_k(n: Caffe2Layer, x: Value) -> list[Value]:
    axis = normalize_axis(n, n.int("axis", -1), x.type.rank)
    if len(n.node.outputs) > 2:
        raise n.error("positions in the whole tensor, its third output, are not supported")
    return list(largest(n, x, n.constant(n.int("k"), i64), axis))


@rows("ArgMin")
def argmin(n: Caffe2Layer, x: Value) -> Value:
    axis = normalize_axis(n, n.int("axis", -1), x.type.rank)
    return extreme_at(n, x, nn.Argmin, axis, keep=bool(n.int("keepdims", 1)))


@rows("BatchGather")
def batch_gather(n: Caffe2Layer, x: Value, indices: Value) -> Value:
    return gathered(n, x, indices, 1)


rows.formulas({"NCHW2NHWC": channels_last, "NHWC2NCHW": channels_first})


# -- images ----------------------------------------------------------------------------------------


def _image(n: Caffe2Layer, x: Value) -> Value:
    if n.text("order", "NCHW") != "NCHW" or x.type.rank != 4:
        raise n.error(f"order {n.text('order', 'NCHW')} of {shape_text(x)}, expected NCHW images")
    return x


@rows("UpsampleNearest")
def upsample_nearest(n: Caffe2Layer, x: Value) -> Value:
    """Each element repeated `scale` times in both dimensions."""
    scales = n.constant(np.full(2, n.int("scale", 2), np.float32))
    how = {"coordinate_transform": "asymmetric", "nearest_mode": "floor"}
    return resized_by_scales(n, _image(n, x), scales, (2, 3), how)


@rows("UpsampleBilinear")
def upsample_bilinear(n: Caffe2Layer, x: Value, scales: Value | None = None) -> Value:
    """Bilinear upsampling with aligned corners."""
    if scales is None:
        given = [n.float("height_scale", 1), n.float("width_scale", 1)]
        scales = n.constant(np.array(given, np.float32))
    how = {"mode": "linear", "coordinate_transform": "align_corners"}
    return resized_by_scales(n, _image(n, x), scales, (2, 3), how)


@rows("RoIAlign")
def roi_align(n: Caffe2Layer, x: Value, rois: Value) -> Value:
    """RoiAlign; rois are rows of corners, preceded by the image's index if there are several."""
    width = rois.type.shape[1] if rois.type.rank == 2 else None
    if width not in (4, 5):
        raise n.error(f"regions {shape_text(rois)}, expected rows of 4 or 5 numbers")
    table = Term(n, rois)
    image = table.column(0) if width == 5 else table.column(0) * 0.0
    return regions.roi_align(
        n,
        _image(n, x),
        table.part(1, width - 4, width).value,
        image.value,
        bins=(n.int("pooled_h", 1), n.int("pooled_w", 1)),
        scale=n.float("spatial_scale", 1),
        samples=max(0, n.int("sampling_ratio", -1)),
        half=bool(n.int("aligned")),
    )

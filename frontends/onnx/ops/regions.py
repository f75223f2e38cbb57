"""Regions of feature maps, mostly interpolated, and suppression of overlapping boxes.

Source: ONNX RoiAlign-22, MaxRoiPool-22, DeformConv-22, NonMaxSuppression-11.
"""

from __future__ import annotations

from ...common import regions
from ...common.boxes import with_one
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from ..windows import spatial_ints
from .convolution import kernel_of


@converter("RoiAlign")
def roi_align(n: Node, x: Value, rois: Value, batch: Value) -> Value:
    if x.type.rank != 4 or rois.type.rank != 2 or rois.type.shape[1] not in (4, None):
        raise n.error(f"inputs '{x.type}' and '{rois.type}', expected images and rows of 4 numbers")
    if n.int("sampling_ratio") < 0:
        raise n.error(
            f"attribute 'sampling_ratio' is {n.int('sampling_ratio')}, expected 0 or more"
        )
    return regions.roi_align(
        n,
        x,
        rois,
        batch,
        bins=(n.int("output_height", 1), n.int("output_width", 1)),
        scale=n.float("spatial_scale", 1.0),
        samples=n.int("sampling_ratio"),
        half=n.opset >= 16 and n.string("coordinate_transformation_mode") == "half_pixel",
        largest=n.string("mode", "avg", ("avg", "max")) == "max",
    )


@converter("MaxRoiPool")
def max_roi_pool(n: Node, x: Value, rois: Value) -> Value:
    shape = n.ints("pooled_shape") or ()
    if len(shape) != 2 or min(shape) < 1:
        raise n.error(f"attribute 'pooled_shape' is {list(shape)}, expected two numbers from 1 on")
    scale = n.float("spatial_scale", 1.0)
    return regions.max_roi_pool(n, x, rois, bins=shape, scale=scale)


@converter("DeformConv")
def deform_conv(
    n: Node,
    x: Value,
    weight: Value,
    offset: Value,
    bias: Value | None = None,
    mask: Value | None = None,
) -> Value:
    kernel = kernel_of(n, x, weight)
    dims = len(kernel)
    windows = regions.DeformableWindows(
        kernel,
        spatial_ints(n, "strides", dims, 1),
        spatial_ints(n, "dilations", dims, 1),
        spatial_ints(n, "pads", 2 * dims, 0),
        n.int("group", 1),
        n.int("offset_group", 1),
    )
    return regions.deformable_convolution(n, x, weight, offset, bias, mask, windows)


@converter("NonMaxSuppression")
def non_max_suppression(
    n: Node,
    boxes: Value,
    scores: Value,
    most: Value | None = None,
    iou_threshold: Value | None = None,
    score_threshold: Value | None = None,
) -> Value:
    """The boxes that are kept, as rows of (image, class, box).

    boxes [B, N, 4], scores [B, C, N] -> order, kept [B, C, K] -> [?, 3]
    """
    for name, value in (("boxes", boxes), ("scores", scores)):
        if value.type.rank != 3:
            raise n.error(f"input '{name}' is '{value.type}', expected rank 3")
    limits = most, iou_threshold, score_threshold
    order, kept = suppressed(n, boxes, scores, *limits, bool(n.int("center_point_box")))
    places = true_places(n, kept)
    box = gathered_nd(n, order, places)
    lead = portion(n, places, (0, 0), (None, 2))
    return n(nn.Concat([lead, with_one(n, box)], axis=1))

"""Images read at positions, and the operators of torchvision: boxes and regions."""

from __future__ import annotations

from typing import Any

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import f32
from ...common import grids, regions
from ...common.boxes import suppressed
from ...common.terms import Term
from ..layer import AtenLayer
from ..rows import ROWS


@ROWS("aten.grid_sampler", "aten.grid_sampler_2d", "aten.grid_sampler_3d")
def grid_sampler(
    n: AtenLayer,
    input: Value,
    grid: Value,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Value:
    mode, padding = grids.MODES[interpolation_mode], grids.PADDINGS[padding_mode]
    return grids.grid_sample(n, input, grid, mode=mode, padding=padding, corners=align_corners)


@ROWS("aten.affine_grid_generator")
def affine_grid(n: AtenLayer, theta: Value, size: Any, align_corners: bool) -> Value:
    return grids.affine_grid(n, theta, n.vector(size), len(size) - 2, align_corners)


@ROWS("torchvision.nms")
def nms(n: AtenLayer, dets: Value, scores: Value, iou_threshold: float) -> Value:
    """The boxes that no better one overlaps, the best first: boxes [N, 4], scores [N] -> [K]."""
    boxes, marks = Term(n, dets).spread(1, 0), Term(n, scores).spread(2, 0)
    limit = n.constant(iou_threshold, f32)
    most = n.as_value(n.size(dets, 0))
    order, kept = suppressed(n, boxes.value, marks.value, most, limit)
    places = Term(n, n(nn.NonZero(Term(n, kept).flat().value))).column(0, 0)
    return Term(n, order).flat().gather(places).value


@ROWS("torchvision.roi_align")
def roi_align(
    n: AtenLayer,
    input: Value,
    rois: Value,
    spatial_scale: float,
    pooled_height: Any,
    pooled_width: Any,
    sampling_ratio: int,
    aligned: bool,
) -> Value:
    """rois [R, 5]: the number of the image, and corners x, y, x, y."""
    given = Term(n, rois)
    return regions.roi_align(
        n,
        input,
        given.part(1, 1, 5).value,
        given.column(0, 1).value,
        bins=(n.int(pooled_height), n.int(pooled_width)),
        scale=spatial_scale,
        samples=max(sampling_ratio, 0),
        half=aligned,
    )


@ROWS("torchvision.roi_pool")
def roi_pool(
    n: AtenLayer,
    input: Value,
    rois: Value,
    spatial_scale: float,
    pooled_height: Any,
    pooled_width: Any,
) -> list:
    bins = n.int(pooled_height), n.int(pooled_width)
    return [regions.max_roi_pool(n, input, rois, bins=bins, scale=spatial_scale), None]

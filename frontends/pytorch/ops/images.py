"""Images sampled at positions, and torchvision's operators: boxes and regions."""

from __future__ import annotations

from ...common import grids, regions
from ...common.vocabulary import *
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
    return grids.affine_grid(n, theta, n.vector(size), len(size) - 2, align_corners, lone=0.0)


@ROWS("torchvision.nms")
def nms(n: AtenLayer, dets: Value, scores: Value, iou_threshold: float) -> Value:
    """The indices of boxes kept by non-maximum suppression: boxes [N, 4], scores [N] -> [K]."""
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
    """RoiAlign with rois [R, 5]: the index of the image, and corners x, y, x, y."""
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


@ROWS("torchvision.ps_roi_align")
def ps_roi_align(
    n: AtenLayer,
    input: Value,
    rois: Value,
    spatial_scale: float,
    pooled_height: Any,
    pooled_width: Any,
    sampling_ratio: int,
) -> list:
    """RoiAlign whose bins read channels of their own: [B, C * PH * PW, H, W] -> [R, C, PH, PW]"""
    bins = n.int(pooled_height), n.int(pooled_width)
    found = roi_align(n, input, rois, spatial_scale, *bins, sampling_ratio, True)
    count = bins[0] * bins[1]
    # [R, C, bin of the channel, bin]
    whole = Term(n, found).reshape((found, 0), n.int(n.size(input, 1)) // count, count, count)
    own = constant(n, np.eye(count), f32) * whole
    kept = own.sum(3)
    return [kept.reshape((found, 0), (kept.value, 1), *bins).value, None]


@ROWS("torchvision.ps_roi_pool")
def ps_roi_pool(
    n: AtenLayer,
    input: Value,
    rois: Value,
    spatial_scale: float,
    pooled_height: Any,
    pooled_width: Any,
) -> list:
    bins = n.int(pooled_height), n.int(pooled_width)
    found = regions.average_of_own_channels(
        n, input, rois, bins=bins, scale=spatial_scale, scaled_first=True
    )
    return [found, None]


@ROWS("torchvision.deform_conv2d")
def deform_conv2d(
    n: AtenLayer,
    input: Value,
    weight: Value,
    offset: Value,
    mask: Value,
    bias: Value,
    groups: Any,
    offset_groups: Any,
    use_mask: bool,
    **window: Any,
) -> Value:
    def both(name: str) -> list[int]:
        return [n.int(window[f"{name}_{side}"]) for side in ("h", "w")]

    windows = regions.DeformableWindows(
        [n.int(d) for d in n.shape(weight)[2:]],
        both("stride"),
        both("dilation"),
        both("pad") * 2,
        n.int(groups),
        n.int(offset_groups),
    )
    return regions.deformable_convolution(
        n, input, weight, offset, bias, mask if use_mask else None, windows
    )

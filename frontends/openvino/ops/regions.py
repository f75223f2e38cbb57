"""Parts of images: pooled regions, moved kernels, sampled grids, and YOLO's layers."""

from __future__ import annotations

from ...common import grids, regions
from ...common.blocks import reorganized
from ...common.vocabulary import *
from ...common.windows import padded
from ..layer import OpenvinoLayer, rows
from .windows import padding_of


def _bins(n: OpenvinoLayer, suffixes: str = "hw") -> tuple[int, int]:
    height, width = (n.int(f"pooled_{name}") for name in suffixes)
    return height, width


@rows("ROIAlign")
def roi_align(n: OpenvinoLayer, x: Value, rois: Value, batch: Value) -> Value:
    mode, scale = n.text("aligned_mode", "asymmetric"), n.float("spatial_scale")
    if mode not in ("asymmetric", "half_pixel_for_nn", "half_pixel"):
        raise n.error(f"aligned_mode '{mode}' is not supported")
    if mode == "half_pixel":
        rois = (Term(n, rois) + 0.5).value
    return regions.roi_align(
        n,
        x,
        rois,
        batch,
        bins=_bins(n),
        scale=scale,
        samples=n.int("sampling_ratio"),
        half=mode != "asymmetric",
        largest=n.text("mode") == "max",
        of_samples=True,
    )


@rows("ROIPooling")
def roi_pooling(n: OpenvinoLayer, x: Value, rois: Value) -> Value:
    if n.text("method", "max") != "max":
        raise n.error("interpolated regions are not supported")
    scale = n.float("spatial_scale")
    # Files have the same size under one or more of these names, by the version that wrote them.
    sizes = n.ints("output_roi"), n.ints("output_size"), [*n.ints("pooled_h"), *n.ints("pooled_w")]
    height, width = next((size for size in sizes if len(size) == 2), None) or _bins(n)
    return regions.max_roi_pool(n, x, rois, bins=(height, width), scale=scale)


@rows("PSROIPooling")
def of_own_channels(n: OpenvinoLayer, x: Value, rois: Value) -> Value:
    count, size = n.int("output_dim"), n.int("group_size")
    if n.text("mode", "average") != "average":
        raise n.error("interpolated regions are not supported")
    if x.type.shape[1] != count * size * size:
        raise n.error(f"{x.type.shape[1]} channels, expected {count} of {size} x {size} bins")
    scale = n.float("spatial_scale")
    return regions.average_of_own_channels(n, x, rois, bins=(size, size), scale=scale)


@rows("DeformableConvolution")
def deformable(
    n: OpenvinoLayer, x: Value, offset: Value, weight: Value, mask: Value | None = None
) -> Value:
    kernel: Any = weight.type.shape[2:]
    strides, dilations = n.ints("strides", [1, 1]), n.ints("dilations", [1, 1])
    whole = padded(n, x, kernel, strides, dilations, padding_of(n, 2))
    if whole.by is not None:
        raise n.error("padding that depends on unknown extents is not supported")
    windows = regions.DeformableWindows(
        kernel,
        strides,
        dilations,
        whole.pads,
        n.int("group", 1),
        n.int("deformable_group", 1),
        reaches=n.flag("bilinear_interpolation_pad"),
    )
    return regions.deformable_convolution(n, x, weight, offset, None, mask, windows)


@rows("GridSample")
def grid_sample(n: OpenvinoLayer, x: Value, grid: Value) -> Value:
    mode, padding = n.text("mode", "bilinear"), n.text("padding_mode", "zeros")
    modes = {"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}
    if mode not in modes or padding not in ("zeros", "border", "reflection"):
        raise n.error(f"sampling '{mode}' with padding '{padding}' is not supported")
    corners = n.flag("align_corners")
    return grids.grid_sample(n, x, grid, mode=modes[mode], padding=padding, corners=corners)


@rows("RegionYolo")
def region_yolo(n: OpenvinoLayer, x: Value) -> Value:
    """The numbers of YOLO's boxes, with sigmoids of centers, objectness and classes.

    x [B, boxes * (coords + 1 + classes), H, W]; with `do_softmax`, classes are softmaxes, and
    dimensions from `axis` to `end_axis` become one.
    """
    coords, classes, is_softmax = n.int("coords"), n.int("classes"), n.flag("do_softmax", True)
    count = n.int("num") if is_softmax else len(n.ints("mask"))
    if x.type.rank != 4 or x.type.shape[1] != count * (coords + 1 + classes):
        raise n.error(f"'{x.type}' of {count} boxes, each of {coords + 1 + classes} numbers")
    apart = Term(n, x).reshape((x, 0), count, coords + 1 + classes, (x, 2), (x, 3))
    centers = apart.part(2, 0, 2).function(nn.Sigmoid)
    sizes, rest = apart.part(2, 2, coords), apart.part(2, coords, coords + 1 + classes)
    if is_softmax:
        kinds = rest.part(2, 1, 1 + classes)
        shares = kinds.made(nn.Softmax(kinds.value, axis=2))
        rest = joined([rest.part(2, 0, 1).function(nn.Sigmoid), shares], 2)
    else:
        rest = rest.function(nn.Sigmoid)
    found = joined([centers, sizes, rest], 2).reshape(*((x, i) for i in range(4))).value
    first, last = n.int("axis", 1), n.int("end_axis", 3)
    if not is_softmax:
        return found
    first, last = (normalize_axis(n, axis, 4) for axis in (first, last))
    groups = [(i, i + 1) for i in range(first)] + [(first, last + 1)]
    return merge(n, found, groups + [(i, i + 1) for i in range(last + 1, 4)])


@rows("ReorgYolo")
def reorg(n: OpenvinoLayer, x: Value) -> Value:
    return reorganized(n, x, n.int("stride"))

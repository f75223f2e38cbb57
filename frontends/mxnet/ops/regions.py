"""Region proposals, region pooling, and deformable convolution.

Source: MXNet's src/operator/contrib, src/operator/bilinear_sampler-inl.h and grid_generator-inl.h
"""

from __future__ import annotations

from ...common import regions
from ...common.detections import best_first, decoded, rows_at
from ...common.grids import affine_grid, grid_sample
from ...common.proposals import Proposing, anchors, cut, placed, ranked
from ...common.regions import DeformableWindows
from ...common.vocabulary import *
from ..layer import MxnetLayer, rows


def _bins(n: MxnetLayer) -> tuple[int, ...]:
    bins = n.ints("pooled_size", (), 2)
    if len(bins) != 2 or not 0 < min(bins) <= max(bins) < 1 << 15:
        raise n.error(f"attribute 'pooled_size' is {bins}, expected two numbers above 0")
    return bins


@rows("_contrib_ROIAlign")
def roi_align(n: MxnetLayer, x: Value, rois: Value) -> Value:
    if n.flag("position_sensitive"):
        raise n.error("attribute 'position_sensitive' is not supported")
    n.check_rank(x, 4)
    n.check_rank(rois, 2)
    table = n.term(rois)
    return regions.roi_align(
        n,
        x,
        table.part(1, 1, 5).value,
        table.column(0).value,
        bins=_bins(n),
        scale=n.float("spatial_scale"),
        samples=n.int("sample_ratio", -1),
        half=n.flag("aligned"),
    )


@rows("ROIPooling", "_npx_roi_pooling")
def roi_pooling(n: MxnetLayer, x: Value, rois: Value) -> Value:
    n.check_rank(x, 4)
    n.check_rank(rois, 2)
    bins = _bins(n)
    return regions.max_roi_pool(n, x, rois, bins=bins, scale=n.float("spatial_scale"))


@rows("_contrib_PSROIPooling")
def average_of_own_channels(n: MxnetLayer, x: Value, rois: Value) -> Value:
    size, made = n.size("pooled_size"), n.size("output_dim")
    if n.int("group_size", 0) not in (0, size) or n.extent(x, 1) != made * size * size:
        raise n.error(
            f"'{x.type}' has {n.extent(x, 1)} channels, expected {made * size * size}: "
            f"{made} for each of {size} x {size} bins"
        )
    bins, scale = (size, size), n.float("spatial_scale")
    return regions.average_of_own_channels(n, x, rois, bins=bins, scale=scale)


@rows("_contrib_Proposal", "_contrib_MultiProposal")
def proposal(n: MxnetLayer, scores: Value, moves: Value, image: Value) -> list[Value]:
    """The best regions [B * post, 5] and their scores [B * post, 1], repeated if too few are kept.

    scores [B, 2 A, H, W], moves [B, 4 A, H, W], image [B, 3]: its height, width and scale
    """
    if n.flag("iou_loss"):
        raise n.error("attribute 'iou_loss' is not supported")
    stride, least = n.size("feature_stride", 16), float(n.int("rpn_min_size", 16))
    scales, ratios = n.floats("scales", (4.0, 8, 16, 32)), n.floats("ratios", (0.5, 1.0, 2))
    shape = anchors(stride, ratios, scales, whole=True)
    count, (batch, height, width) = len(shape), (n.extent(scores, i) for i in (0, 2, 3))
    if n.extent(scores, 1) != 2 * count or n.extent(moves, 1) != 4 * count:
        raise n.error(f"'{scores.type}' are scores of {count} boxes, expected {2 * count} channels")
    grid = placed(shape, height, width, stride)
    total = height * width * count
    moved = n.term(moves).reshape(batch, count, 4, height, width).transpose(0, 3, 4, 1, 2)
    boxes = decoded(constant(n, grid.reshape(1, -1, 4)), moved.reshape(batch, total, 4), 1.0)
    given = n.term(image)
    boxes = cut(boxes, given.gather(constant(n, np.array([1, 0])), 1) - 1.0)
    sure = n.term(scores).part(1, count, 2 * count).transpose(0, 2, 3, 1).reshape(batch, total)
    # What lies outside of the image, or is too small, is the worst; the latter also grows.
    cells = np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), -1)
    cells = cells[:, :, None].repeat(count, 2).reshape(1, total, 2)
    inner = (given.part(1, 0, 2) / float(stride)).function(nn.Floor).reshape(batch, 1, 2)
    outside = constant(n, cells).cast(inner.element) >= inner
    least_side = (given.part(1, 2, 3) * least).reshape(batch, 1, 1)
    sides = boxes.part(2, 2, 4) - boxes.part(2, 0, 2) + 1.0
    small = sides < least_side
    small = small.column(0) | small.column(1)
    half = small.spread(0, 1).choose(least_side * 0.5, 0.0)
    boxes = joined([boxes.part(2, 0, 2) - half, boxes.part(2, 2, 4) + half], 2)
    sure = (outside.column(0) | outside.column(1) | small).choose(-1.0, sure)
    before, after = n.int("rpn_pre_nms_top_n", 6000), n.size("rpn_post_nms_top_n", 300)
    how = Proposing(before if before > 0 else None, after, n.float("threshold", 0.7))
    chosen, found, kept = ranked(boxes, sure, how)
    place = -np.arange(found.shape[1] or 0)
    first = kept.choose(constant(n, place).cast(found.element), -np.inf)
    turn = best_first(first)[1]
    number = kept.cast(i64).sum(1, keep=True)
    turn = rows_at(turn, constant(n, np.arange(after)).reshape(1, after) % number)
    images = np.arange(batch).repeat(after).reshape(-1, 1)
    corners = rows_at(chosen, turn).reshape(batch * after, 4)
    table = joined([constant(n, images).cast(corners.element), corners], 1)
    return [table.value, rows_at(found, turn).reshape(batch * after, 1).value]


@rows("_contrib_DeformableConvolution", "_contrib_ModulatedDeformableConvolution")
def deformable(n: MxnetLayer, x: Value, offset: Value, *more: Value) -> Value:
    """Deformable convolution. The older version has no mask, and reads 0 wherever a position lies
    outside of the image.
    """
    modulated = "Modulated" in n.kind
    mask, (weight, *rest) = (more[0], more[1:]) if modulated else (None, more)
    pads = n.ints("pad", (0, 0), 2)
    windows = DeformableWindows(
        n.ints("kernel", (), 2),
        n.ints("stride", (1, 1), 2),
        n.ints("dilate", (1, 1), 2),
        pads * 2,
        n.size("num_group", 1),
        n.size("num_deformable_group", 1),
        reaches=modulated,
    )
    bias = rest[0] if rest and not n.flag("no_bias") else None
    return regions.deformable_convolution(n, x, weight, offset, bias, mask, windows)


# -- positions and windows -------------------------------------------------------------------------


@rows("BilinearSampler")
def sampled(n: MxnetLayer, x: Value, grid: Value) -> Value:
    """x sampled at a grid [B, 2, H, W] of (x, y) positions in -1..1."""
    return grid_sample(n, x, n.transposed(grid, 0, 2, 3, 1), corners=True)


@rows("GridGenerator")
def grid_of(n: MxnetLayer, x: Value) -> Value:
    if n.text("transform_type", "", "affine", "warp") == "affine":
        return _affine(n, x, n.ints("target_shape", (0, 0), 2))
    height, width = n.extent(x, 2), n.extent(x, 3)
    rows_, columns = np.indices((height, width))
    half = np.array([max(width - 1, 1), max(height - 1, 1)]).reshape(1, 2, 1, 1) / 2
    whole = n.term(x) + n.term(n.scalar(np.stack([columns, rows_])[None], x))
    return (whole / n.term(n.scalar(half, x)) - 1.0).value


def _affine(n: MxnetLayer, theta: Value, shape: tuple[int, ...]) -> Value:
    """A grid [B, 2, H, W] of positions, from the six numbers of an affine map per image."""
    matrices = n.term(theta).reshape((theta, 0), 2, 3).value
    size = n.constant(np.array([n.extent(theta, 0), 1, *shape]))
    return n.transposed(affine_grid(n, matrices, size, 2, True), 0, 3, 1, 2)


@rows("SpatialTransformer")
def transformed(n: MxnetLayer, x: Value, theta: Value) -> Value:
    return sampled(n, x, _affine(n, theta, n.ints("target_shape", (0, 0), 2)))


def _windows(n: MxnetLayer) -> tuple[tuple[int, ...], ...]:
    """Kernel, strides, dilations, and pads of all begins, then of all ends."""
    pads = n.ints("pad", (0, 0), 2)
    strides, dilations = n.ints("stride", (1, 1), 2), n.ints("dilate", (1, 1), 2)
    return n.ints("kernel", (), 2), strides, dilations, (*pads, *pads)


@rows("im2col")
def columns_of(n: MxnetLayer, x: Value) -> Value:
    return unfolded(n, x, *_windows(n))


@rows("col2im")
def image_of(n: MxnetLayer, x: Value) -> Value:
    return folded(n, x, n.ints("output_size", (), 2), *_windows(n))

"""Boxes of detectors: SSD's priors and detections, regions of Faster R-CNN.

Source: weiliu89/caffe (ssd), rbgirshick/py-faster-rcnn
"""

from __future__ import annotations

import re

from ...common import regions
from ...common.detections import (
    Choice,
    best_of_classes,
    decoded,
    priors,
    ratios_of_priors,
    sizes_of_priors,
)
from ...common.proposals import Proposing, anchors, placed, proposed
from ...common.vocabulary import *
from ..layer import CaffeLayer, rows


@rows("PriorBox")
def prior_box(n: CaffeLayer, x: Value, image: Value) -> Value:
    """The boxes at each position, as corners relative to the image, then variances: [1, 2, P]."""
    p = n.p("prior_box")
    if None in (*x.type.shape[2:], *image.type.shape[2:]):
        raise n.error(f"bottoms {shape_text(x)} and {shape_text(image)}, expected known extents")
    rows, columns = x.type.shape[2:]
    height = p.img_h or p.img_size or image.type.shape[2]
    width = p.img_w or p.img_size or image.type.shape[3]
    step_x = p.step_w or p.step or width / columns
    step_y = p.step_h or p.step or height / rows
    least, most = p.min_size.tolist(), p.max_size.tolist()
    if most and len(most) != len(least):
        raise n.error(f"{len(most)} max_size for {len(least)} min_size")
    ratios = ratios_of_priors(p.aspect_ratio.tolist(), p.flip)
    sizes = sizes_of_priors(least, most, ratios, squares_first=True)
    places = (rows, columns), (step_y, step_x), (p.offset, p.offset)
    boxes = priors(*places, sizes, (width, height)).astype(np.float32).reshape(-1)
    if p.clip:
        boxes = boxes.clip(0, 1)
    variance = p.variance if len(p.variance) else np.array([0.1], np.float32)
    variances = np.resize(np.asarray(variance, np.float32), boxes.shape)
    return n.constant(np.stack([boxes, variances])[None])


@rows("DetectionOutput")
def detections(n: CaffeLayer, places: Value, scores: Value, anchors: Value) -> Value:
    """Rows of image, class, score and box, by class, the best first: [1, 1, ?, 7].

    Without detections there are no rows.
    """
    p = n.p("detection_output")
    classes = p.num_classes
    boxes = _decoded(n, p, Term(n, places), Term(n, anchors))
    count = boxes.shape[2] or 0
    confidence = Term(n, scores).reshape((scores, 0), count, classes).transpose(0, 2, 1)
    nms = p.part("nms_param")
    choice = Choice(
        threshold=p.confidence_threshold,
        overlap=nms.nms_threshold,
        top=nms.top_k if nms.top_k > 0 else None,
        keep=p.keep_top_k if p.keep_top_k > 0 else None,
        background=p.background_label_id,
    )
    if p.share_location:
        boxes = boxes.reshape((boxes.value, 0), count, 4)
    found = best_of_classes(boxes, confidence, choice).by_class()
    rows = joined([found.places, found.scores, found.boxes], axis=1)
    return rows.reshape(1, 1, (rows.value, 0), 7).value


def _decoded(n: CaffeLayer, p, places: Term, anchors: Term) -> Term:
    """The predicted boxes [B, C, P, 4], decoded from offsets to the priors."""
    count = (anchors.shape[2] or 0) // 4
    kinds = 1 if p.share_location else p.num_classes
    if not count or anchors.shape[1] not in (1, 2):
        raise n.error(f"priors {shape_text(anchors.value)}, expected [1, 2, 4 * count]")
    given = places.reshape((places.value, 0), count, kinds, 4).transpose(0, 2, 1, 3)
    first = anchors.part(1, 0, 1).reshape(1, 1, count, 4)
    if not p.variance_encoded_in_target and anchors.shape[1] == 2:
        given = given * anchors.part(1, 1, 2).reshape(1, 1, count, 4)
    if p.code_type == "CORNER":
        return first + given
    if p.code_type == "CORNER_SIZE":
        size = first.part(3, 2, 4) - first.part(3, 0, 2)
        return first + given * joined([size, size], axis=3)
    return decoded(first, given)


@rows("Proposal")
def proposal(n: CaffeLayer, scores: Value, moves: Value, image: Value) -> list[Value]:
    p = n.p("proposal")
    ratios, scales = list(p.ratio) or [0.5, 1, 2], list(p.scale) or [8, 16, 32]
    shape = anchors(p.base_size, ratios, scales)
    how = Proposing(p.pre_nms_topn, p.post_nms_topn, p.nms_thresh)
    return _proposed(n, (scores, moves, image), shape, p.feat_stride, p.min_size, how)


@rows("Python")
def python(n: CaffeLayer, *inputs: Value) -> list[Value]:
    """A Python layer; Faster R-CNN's has its options in a text like `'scales': [8]`."""
    p = n.p("python")
    if p.layer != "ProposalLayer" or len(inputs) != 3:
        raise n.error(f"the layer is code of Python, {p.module}.{p.layer}, which is not executed")
    given = {
        name: [float(v) for v in re.findall(r"[\d.]+", numbers) if v.strip(".")]
        for name, numbers in re.findall(r"'?(\w+)'?\s*:\s*(\[[^]]*\]|[\d.]+)", p.param_str)
    }
    shape = anchors(16, given.get("ratios", [0.5, 1, 2]), given.get("scales", [8, 16, 32]))
    stride = given.get("feat_stride", [16])[0]
    return _proposed(n, inputs, shape, stride, 16, Proposing(6000, 300, 0.7))


def _proposed(
    n: CaffeLayer,
    inputs: Sequence[Value],
    shape: np.ndarray,
    stride: float,
    least: float,
    how: Proposing,
) -> list[Value]:
    """Regions [R, 5] and their scores [R, 1] of maps [1, 2 A, H, W] and [1, 4 A, H, W].

    The third input is the image's height, width and scale.
    """
    if not np.isfinite(shape).all() or stride <= 0:
        raise n.error(f"boxes {shape.tolist()} every {stride} elements")
    scores, moves, image = (Term(n, x) for x in inputs)
    count, (batch, channels, height, width) = len(shape), scores.shape
    if height is None or width is None or (batch, channels) != (1, 2 * count) or image.rank != 2:
        raise n.error(f"scores are {shape_text(scores.value)}, expected [1, {2 * count}, H, W]")
    shape[:, 2:] += 1  # boxes that are moved do not end at their last element
    grid = placed(shape, height, width, stride).reshape(1, -1, 4)
    moved = moves.reshape(1, count, 4, height, width).transpose(0, 3, 4, 1, 2)
    boxes = decoded(constant(n, grid), moved.reshape(1, grid.shape[1], 4))
    sure = scores.part(1, count, 2 * count).transpose(0, 2, 3, 1).flattened(1)
    last = image.gather(constant(n, np.array([1, 0])), 1) - 1.0
    found = proposed(boxes, sure, last, image.part(1, 2, 3) * float(least), how)
    rows = joined([found.boxes.part(1, 0, 1) * 0.0, found.boxes], 1)
    return [rows.value, found.scores.value][: len(n.node.outputs)]


@rows("ROIPooling")
def roi_pooling(n: CaffeLayer, x: Value, rois: Value) -> Value:
    """The largest element of each bin of a region with rounded bounds; 0 for empty bins.

    x [B, C, H, W], regions [R, 5] -> [R, C, PH, PW]
    """
    p = n.p("roi_pooling")
    bins = (p.pooled_h, p.pooled_w)
    return regions.max_roi_pool(n, x, _table(n, x, rois), bins=bins, scale=p.spatial_scale)


@rows("ROIAlign")
def roi_aligned(n: CaffeLayer, x: Value, rois: Value) -> Value:
    p, table = n.p("roi_align"), Term(n, _table(n, x, rois))
    how = {"bins": (p.pooled_h, p.pooled_w), "scale": p.spatial_scale, "samples": p.sample_ratio}
    return regions.roi_align(n, x, table.part(1, 1, 5).value, table.column(0).value, **how)


@rows("PSROIPooling")
def average_of_own_channels(n: CaffeLayer, x: Value, rois: Value) -> Value:
    """R-FCN's pooling: the mean of each bin of a region, each bin reading its own channels."""
    p = n.p("psroi_pooling")
    bins = (p.group_size, p.group_size)
    if p.group_size < 1 or x.type.shape[1] != p.output_dim * p.group_size**2:
        raise n.error(
            f"the input is {shape_text(x)}, expected {p.output_dim * p.group_size**2} channels: "
            f"{p.output_dim} for each of {bins} bins"
        )
    table = _table(n, x, rois)
    return regions.average_of_own_channels(n, x, table, bins=bins, scale=p.spatial_scale)


def _table(n: CaffeLayer, x: Value, rois: Value) -> Value:
    """The regions [R, 5] of the first bottom."""
    if x.type.rank != 4 or None in x.type.shape[1:]:
        raise n.error(f"the bottom is {shape_text(x)}, expected known extents")
    return Term(n, rois).reshape((rois, 0), 5).value

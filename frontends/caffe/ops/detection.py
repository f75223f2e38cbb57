"""Boxes of detectors: SSD's priors and detections, regions of Faster R-CNN.

Source: weiliu89/caffe (ssd), rbgirshick/py-faster-rcnn
"""

from __future__ import annotations

import numpy as np

from ....ir.core import Value
from ...common import regions
from ...common.detections import (
    Choice,
    best_of_classes,
    decoded,
    priors,
    ratios_of_priors,
    sizes_of_priors,
)
from ...common.shapes import shape_text
from ...common.terms import Term, joined
from ..layer import CaffeLayer
from ..rows import ROWS


@ROWS("PriorBox")
def prior_box(n: CaffeLayer, x: Value, image: Value) -> Value:
    """For each place its boxes, corners relative to the image, then their variances: [1, 2, P]."""
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


@ROWS("DetectionOutput")
def detections(n: CaffeLayer, places: Value, scores: Value, anchors: Value) -> Value:
    """Rows of image, class, score and box, class by class the best first: [1, 1, ?, 7].

    Of no detection there is no row.
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
    """The boxes that a net says [B, C, P, 4] of the priors, which it gives offsets to."""
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


@ROWS("ROIPooling")
def roi_pooling(n: CaffeLayer, x: Value, rois: Value) -> Value:
    """The largest element of each bin of a region, whose bounds are rounded; 0 of none.

    x [B, C, H, W], regions [R, 5] -> [R, C, PH, PW]
    """
    p = n.p("roi_pooling")
    bins = (p.pooled_h, p.pooled_w)
    return regions.max_roi_pool(n, x, _table(n, x, rois), bins=bins, scale=p.spatial_scale)


@ROWS("PSROIPooling")
def average_of_own_channels(n: CaffeLayer, x: Value, rois: Value) -> Value:
    """R-FCN's: the mean of each bin of a region, each bin in channels of its own."""
    p = n.p("psroi_pooling")
    bins = (p.group_size, p.group_size)
    if p.group_size < 1 or x.type.shape[1] != p.output_dim * p.group_size**2:
        raise n.error(f"{shape_text(x)} has not {p.output_dim} channels for each of {bins} bins")
    table = _table(n, x, rois)
    return regions.average_of_own_channels(n, x, table, bins=bins, scale=p.spatial_scale)


def _table(n: CaffeLayer, x: Value, rois: Value) -> Value:
    """The regions [R, 5] of the first bottom."""
    if x.type.rank != 4 or None in x.type.shape[1:]:
        raise n.error(f"the bottom is {shape_text(x)}, expected known extents")
    return Term(n, rois).reshape((rois, 0), 5).value

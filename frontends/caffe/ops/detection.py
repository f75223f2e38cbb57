"""Boxes of detectors: SSD's priors and detections, regions of Faster R-CNN.

Source: weiliu89/caffe (ssd), rbgirshick/py-faster-rcnn
"""

from __future__ import annotations

import math

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType, i1, i64
from ...common.shapes import shape_text
from ...common.terms import Term, arange, constant, joined
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
    ratios = [1.0]
    for ratio in p.aspect_ratio.tolist():
        if all(abs(ratio - other) >= 1e-6 for other in ratios):
            ratios += [ratio, 1 / ratio] if p.flip else [ratio]
    sizes = []
    for i, least in enumerate(p.min_size.tolist()):
        sizes.append((least, least))
        if len(p.max_size):
            if len(p.max_size) != len(p.min_size):
                raise n.error(f"{len(p.max_size)} max_size for {len(p.min_size)} min_size")
            sizes.append((math.sqrt(least * float(p.max_size[i])),) * 2)
        sizes += [(least * math.sqrt(r), least / math.sqrt(r)) for r in ratios[1:]]
    half = np.array(sizes, np.float32).reshape(-1, 2) / 2
    centers = np.stack(
        np.meshgrid(
            (np.arange(columns) + p.offset) * step_x, (np.arange(rows) + p.offset) * step_y
        ),
        axis=-1,
    )[:, :, None]
    boxes = np.concatenate([centers - half, centers + half], axis=-1)
    boxes = (boxes / [width, height, width, height]).astype(np.float32).reshape(-1)
    if p.clip:
        boxes = boxes.clip(0, 1)
    variance = p.variance if len(p.variance) else np.array([0.1], np.float32)
    variances = np.resize(np.asarray(variance, np.float32), boxes.shape)
    return n.constant(np.stack([boxes, variances])[None])


@ROWS("DetectionOutput")
def detections(n: CaffeLayer, places: Value, scores: Value, priors: Value) -> Value:
    """Rows of image, class, score and box, class by class the best first: [1, 1, ?, 7].

    Of no detection there is no row.
    """
    p = n.p("detection_output")
    classes = p.num_classes
    boxes = _decoded(n, p, Term(n, places), Term(n, priors))
    count = boxes.shape[2]
    confidence = Term(n, scores).reshape((scores, 0), count, classes).transpose(0, 2, 1)
    top = min(p.part("nms_param").top_k, count) if p.part("nms_param").top_k > 0 else count
    shape = (*confidence.shape[:2], top)
    best, order = n(
        nn.TopK(
            confidence.value,
            n.constant(top, i64),
            axis=2,
            out=TensorType(shape, confidence.element),
            indices=TensorType(shape, i64),
        )
    )
    best, order = Term(n, best), Term(n, order)
    wanted = np.arange(classes).reshape(1, classes, 1) != p.background_label_id
    eligible = (best > p.confidence_threshold) & constant(n, wanted, i1)
    if p.share_location:
        flat = boxes.reshape((boxes.value, 0), count, 4)
        chosen = _gathered(flat, order)
    else:
        index = order.reshape((order.value, 0), classes, top, 1)
        chosen = boxes.made(nn.GatherNd(boxes.value, index.value, batch_dims=2))
    corners = chosen.gather(constant(n, np.array([1, 0, 3, 2], np.int64)), axis=3)
    kept = eligible.made(
        nn.Suppress(
            corners.value,
            eligible.value,
            n.constant(top, i64),
            n.scalar(p.part("nms_param").nms_threshold, corners.value),
        )
    )
    if 0 < p.keep_top_k < classes * top:
        kept = _best_of_all(kept, best, p.keep_top_k)
    found = Term(n, n(nn.Transpose(n(nn.NonZero(kept.value)), permutation=(1, 0))))
    lead = found.made(nn.Slice(found.value, starts=(0, 0), out=TensorType((None, 2), i64))).cast(
        best.element
    )
    own = best.made(nn.GatherNd(best.value, found.value)).reshape((found.value, 0), 1)
    box = chosen.made(nn.GatherNd(chosen.value, found.value))
    rows = joined([lead, own, box], axis=1)
    return rows.reshape(1, 1, (rows.value, 0), 7).value


def _gathered(boxes: Term, order: Term) -> Term:
    """Boxes [B, N, 4] in orders [B, C, K]."""
    index = order.reshape(*((order.value, i) for i in range(3)), 1)
    return boxes.made(nn.GatherNd(boxes.value, index.value, batch_dims=1))


def _best_of_all(kept: Term, scores: Term, most: int) -> Term:
    """Of what was kept of an image the best, over all classes."""
    n = kept.n
    flat = kept.choose(scores, -math.inf).flattened(1)
    shape = (flat.shape[0], most)
    types = {"out": TensorType(shape, flat.element), "indices": TensorType(shape, i64)}
    least = Term(n, n(nn.TopK(flat.value, n.constant(most, i64), axis=1, **types))[0]).part(
        1, most - 1, most
    )
    return kept & (scores >= least.reshape((least.value, 0), 1, 1))


def _decoded(n: CaffeLayer, p, places: Term, priors: Term) -> Term:
    """The boxes that a net says [B, C, P, 4] of the priors, which it gives offsets to."""
    count = (priors.shape[2] or 0) // 4
    kinds = 1 if p.share_location else p.num_classes
    if not count or priors.shape[1] not in (1, 2):
        raise n.error(f"priors {shape_text(priors.value)}, expected [1, 2, 4 * count]")
    given = places.reshape((places.value, 0), count, kinds, 4).transpose(0, 2, 1, 3)
    first = priors.part(1, 0, 1).reshape(1, 1, count, 4)
    if not p.variance_encoded_in_target and priors.shape[1] == 2:
        given = given * priors.part(1, 1, 2).reshape(1, 1, count, 4)
    low, high = first.part(3, 0, 2), first.part(3, 2, 4)
    if p.code_type == "CORNER":
        return first + given
    size = high - low
    if p.code_type == "CORNER_SIZE":
        return first + given * joined([size, size], axis=3)
    center = (low + high) * 0.5 + given.part(3, 0, 2) * size
    half = given.part(3, 2, 4).function(nn.Exp) * size * 0.5
    return joined([center - half, center + half], axis=3)


@ROWS("ROIPooling")
def roi_pooling(n: CaffeLayer, x: Value, regions: Value) -> Value:
    """The largest element of each bin of a region, whose bounds are rounded; 0 of none.

    x [B, C, H, W], regions [R, 5] -> [R, C, PH, PW]
    """
    p = n.p("roi_pooling")
    if x.type.rank != 4 or None in x.type.shape[1:]:
        raise n.error(f"the bottom is {shape_text(x)}, expected known extents")
    given = Term(n, regions).reshape((regions, 0), 5)
    corners = (given.part(1, 1, 5) * p.spatial_scale + 0.5).function(nn.Floor)
    image = Term(n, x).gather(given.column(0).cast(i64))
    for axis, bins in ((1, p.pooled_w), (0, p.pooled_h)):
        begin, end = corners.column(axis), corners.column(axis + 2)
        size = ((end - begin + 1.0).max(1.0) / float(bins)).spread(0, 1)
        number = constant(n, arange(bins)).cast(size.element)
        low = (number * size).function(nn.Floor) + begin.spread(0, 1)
        high = ((number + 1.0) * size).function(nn.Ceil) + begin.spread(0, 1)
        extent = x.type.shape[3 if axis else 2] if axis else x.type.shape[2]
        place = constant(n, arange(extent)).cast(size.element)
        inside = (place >= low.spread(0, 1)) & (place < high.spread(0, 1))
        own = [(inside.value, i) for i in range(3)]
        at = 3 if axis else 2
        lead = [(image.value, i) for i in range(4)]
        wide = image.reshape(*lead[:at], 1, *lead[at:])
        tail = own[1:] if axis else [own[1], own[2], 1]
        mask = inside.reshape(own[0], 1, *([1] if axis else []), *tail)
        image = mask.choose(wide, -math.inf).largest(at + 1)
    return image.equals(-math.inf).choose(0.0, image).value

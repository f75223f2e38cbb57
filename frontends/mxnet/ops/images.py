"""Images made larger or smaller, and detectors' boxes.

Source: MXNet's src/operator/contrib.
"""

from __future__ import annotations

import math

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType, i1, i64
from ...common import regions
from ...common.shapes import reshape
from ...common.terms import Term, constant, joined
from ..layer import MxnetLayer, rows

# -- sampling ----------------------------------------------------------------------------------


@rows("UpSampling")
def up_sampling(n: MxnetLayer, x: Value, *others: Value) -> Value:
    """Each element several times; other inputs are brought to the same extents."""
    scale = n.int("scale")
    if n.text("sample_type", "nearest", "nearest", "bilinear") == "bilinear":
        pad = math.ceil((scale - 1) / 2)
        strides, pads = (scale,) * 2, (pad,) * 4
        groups = n.extent(x, 1)
        return n(nn.ConvTranspose(x, others[0], None, strides=strides, pads=pads, groups=groups))
    size = [n.extent(x, 2) * scale, n.extent(x, 3) * scale]
    parts = []
    for one in (x, *others):
        factors = [wanted // n.extent(one, 2 + i) for i, wanted in enumerate(size)]
        parts.append(_resized(n, one, size, "nearest", "asymmetric", factors))
    if n.text("multi_input_mode", "concat", "concat", "sum") == "concat":
        return parts[0] if len(parts) == 1 else n(nn.Concat(parts, axis=1))
    for part in parts[1:]:
        parts[0] = n(nn.Add(parts[0], part))
    return parts[0]


def _resized(n: MxnetLayer, x: Value, size, mode: str, transform: str, factors) -> Value:
    out = TensorType((*x.type.shape[:2], *size), x.type.element_type)
    scales = (1.0, 1.0, *map(float, factors))
    return n(
        nn.Resize(
            x,
            scales=scales,
            mode=mode,
            coordinate_transform=transform,
            nearest_mode="floor",
            out=out,
        )
    )


@rows("_contrib_BilinearResize2D")
def bilinear_resize(n: MxnetLayer, x: Value, like: Value | None = None) -> Value:
    mode = n.text("mode", "size", "size", "like", "odd_scale", "to_even_down", "to_even_up",
                  "to_odd_down", "to_odd_up")  # fmt: skip
    scales = n.get("scale_height"), n.get("scale_width")
    size = []
    for i, name in enumerate(("height", "width")):
        own, scale = n.extent(x, 2 + i), scales[i]
        match mode:
            case "like" if like is not None:
                size.append(n.extent(like, 2 + i))
            case "size":
                size.append(n.int(name, 1) if scale is None else int(own * scale))
            case "odd_scale":
                scale = n.float(f"scale_{name}")
                size.append(int(own * scale) if own % 2 == 0 else int((own - 1) * scale) + 1)
            case "to_even_down" | "to_even_up":
                size.append(own + own % 2 * (1 if mode == "to_even_up" else -1))
            case _:
                size.append(own + (1 - own % 2) * (1 if mode == "to_odd_up" else -1))
    factors = [wanted / n.extent(x, 2 + i) for i, wanted in enumerate(size)]
    aligned = n.flag("align_corners", True)
    return _resized(n, x, size, "linear", "align_corners" if aligned else "half_pixel", factors)


# -- boxes -------------------------------------------------------------------------------------


@rows("_contrib_MultiBoxPrior", "_npx_multibox_prior")
def box_priors(n: MxnetLayer, x: Value) -> Value:
    """Boxes of several sizes and shapes around each position: [1, positions, 4]."""
    height, width = n.extent(x, 2), n.extent(x, 3)
    sizes, ratios = n.floats("sizes", (1.0,)), n.floats("ratios", (1.0,))
    steps, offsets = n.floats("steps", (-1.0, -1.0)), n.floats("offsets", (0.5, 0.5))
    step = [s if s > 0 else 1 / d for s, d in zip(steps, (height, width), strict=True)]
    rows_ = (np.arange(height) + offsets[0]) * step[0]
    columns = (np.arange(width) + offsets[1]) * step[1]
    first = math.sqrt(ratios[0])
    kinds = [(size, first) for size in sizes]
    kinds += [(sizes[0], math.sqrt(ratio)) for ratio in ratios[1:]]
    half = np.array([(s * height / width * r / 2, s / r / 2) for s, r in kinds])
    center = np.stack(np.meshgrid(columns, rows_), -1)[:, :, None]
    boxes = np.concatenate([center - half, center + half], -1).reshape(1, -1, 4)
    boxes = boxes.clip(0, 1) if n.flag("clip") else boxes
    return n.constant(boxes, x.type.element_type)


@rows("_contrib_MultiBoxDetection", "_npx_multibox_detection")
def box_detection(n: MxnetLayer, scores: Value, offsets: Value, anchors: Value) -> Value:
    """Rows of class, score and corners, the best first; -1 for what is no object.

    scores [B, C, N], offsets [B, N * 4], anchors [1, N, 4] -> [B, N, 6]
    """
    variances = n.floats("variances", (0.1, 0.1, 0.2, 0.2))
    moves = n.term(offsets).reshape((offsets, 0), n.extent(anchors, 1), 4)
    boxes = _decoded(n.term(anchors), moves, variances)
    if n.flag("clip", True):
        boxes = boxes.max(0.0).min(1.0)
    background, classes = n.int("background_id", 0), n.extent(scores, 1)
    if background != 0:
        raise n.error(f"attribute 'background_id' is {background}, expected 0")
    objects = n.term(scores).part(1, 1, classes)
    best = objects.largest(1)
    kind = Term(n, n(nn.Argmax(objects.value, axis=1)))
    valid = ~(best < n.float("threshold", 0.01))
    order, value = _best_first(n, valid.choose(best, -math.inf))
    at = order.spread(0, 1).value
    kind, valid = (Term(n, n(nn.GatherNd(t.value, at, batch_dims=1))) for t in (kind, valid))
    boxes = Term(n, n(nn.GatherNd(boxes.value, at, batch_dims=1)))
    most = n.int("nms_topk", -1)
    alike = n.flag("force_suppress")
    kept = _not_suppressed(
        n, boxes, kind, valid, most, n.float("nms_threshold", 0.5), None if alike else classes - 1
    )
    real = kind.cast(boxes.element)
    label = kept.choose(real, -1.0).spread(0, 1)
    rest = joined([value.spread(0, 1), boxes], 2)
    return joined([label, valid.spread(0, 1).choose(rest, -1.0)], 2).value


def _decoded(anchors: Term, moves: Term, variances: tuple[float, ...]) -> Term:
    """Corners of anchors moved by parts of their size."""
    low, high = anchors.part(2, 0, 2), anchors.part(2, 2, 4)
    size, center = high - low, (low + high) * 0.5
    n = anchors.n
    scales = [constant(n, np.array(v), anchors.element) for v in (variances[:2], variances[2:])]
    center = moves.part(2, 0, 2) * scales[0] * size + center
    half = (moves.part(2, 2, 4) * scales[1]).function(nn.Exp) * size * 0.5
    return joined([center - half, center + half], 2)


def _best_first(n: MxnetLayer, scores: Term) -> tuple[Term, Term]:
    """The order of the last dimension by falling score, and the scores in it."""
    axis = scores.rank - 1
    count = n.constant(np.array([n.extent(scores.value, axis)], np.int64))
    types = (scores.value.type, TensorType(scores.shape, i64))
    values, order = n(nn.TopK(scores.value, count, axis=axis, out=types[0], indices=types[1]))
    return Term(n, order), Term(n, values)


def _not_suppressed(
    n: MxnetLayer,
    boxes: Term,
    kind: Term,
    valid: Term,
    most: int,
    threshold: float,
    classes: int | None,
) -> Term:
    """Which of the boxes [B, N, 4], in order, no better one of their class overlaps.

    Without a number of classes, a box suppresses those of any.
    """
    count = n.extent(boxes.value, 1)
    if 0 < most < count:
        valid = valid & constant(n, np.arange(count) < most)
    level = n.constant(threshold, boxes.element)
    corners = boxes.gather(constant(n, np.array([1, 0, 3, 2])), 2)
    limit = n.constant(count, i64)
    if classes is None:
        return Term(n, n(nn.Suppress(corners.value, valid.value, limit, level)))
    own = kind.reshape((kind.value, 0), 1, count).equals(
        n.term(n.constant(np.arange(classes, dtype=np.int64)[:, None]))
    )
    eligible = own & valid.reshape((valid.value, 0), 1, count)
    wide = TensorType((boxes.shape[0], classes, count, 4), boxes.element)
    apart = corners.reshape((boxes.value, 0), 1, count, 4)
    every = n(nn.BroadcastTo(apart.value, out=wide))
    kept = Term(n, n(nn.Suppress(every, eligible.value, limit, level)))
    return kept.cast(i64).largest(1).cast(i1)


@rows("_contrib_box_nms", "_contrib_box_non_maximum_suppression")
def box_nms(n: MxnetLayer, data: Value) -> list[Value]:
    """The rows that are kept, the best first, then rows of -1."""
    own = [(data, i) for i in range(data.type.rank)]
    rows_, width = n.extent(data, -2), n.extent(data, -1)
    lead = math.prod(n.extent(data, i) for i in range(data.type.rank - 2))
    x = n.term(data).reshape(lead, rows_, width)
    first, label = n.int("coord_start", 2), n.int("id_index", -1)
    score = x.column(n.int("score_index", 1), 2)
    valid = score > n.float("valid_thresh", 0.0)
    background = n.int("background_id", -1)
    if label >= 0 and background >= 0:
        valid = valid & ~x.column(label, 2).equals(float(background))
    order, _ = _best_first(n, valid.choose(score, -math.inf))
    at = order.spread(0, 1).value
    x, valid = (Term(n, n(nn.GatherNd(t.value, at, batch_dims=1))) for t in (x, valid))
    boxes = _corners(x.part(2, first, first + 4), n.text("in_format", "corner", "corner", "center"))
    threshold, most = n.float("overlap_thresh", 0.5), n.int("topk", -1)
    if label >= 0 and not n.flag("force_suppress"):
        boxes_apart = _apart_by_class(boxes, x.column(label, 2))
    else:
        boxes_apart = boxes
    kind = order  # the boxes of other classes lie elsewhere
    kept = _not_suppressed(n, boxes_apart, kind, valid, most, threshold, None)
    if n.attributes.get("out_format", "corner") != n.attributes.get("in_format", "corner"):
        new = boxes if n.attributes.get("out_format", "corner") == "corner" else _centers(boxes)
        x = joined([x.part(2, 0, first), new, x.part(2, first + 4, width)], 2)
    # Those that are kept move to the front.
    place = constant(n, np.arange(rows_))
    turn, _ = _best_first(n, kept.choose((-place).cast(boxes.element), -float(rows_ * 2)))
    at = turn.spread(0, 1).value
    x, kept = (Term(n, n(nn.GatherNd(t.value, at, batch_dims=1))) for t in (x, kept))
    return [reshape(n, kept.spread(0, 1).choose(x, -1.0).value, own)]


def _apart_by_class(boxes: Term, label: Term) -> Term:
    """Boxes moved so far by their class that those of two do not meet."""
    far = boxes.function(nn.Abs).largest(1, 2, keep=True) * 2.0 + 1.0
    return boxes + label.spread(0, 1) * far


def _corners(boxes: Term, form: str) -> Term:
    first, second = boxes.part(2, 0, 2), boxes.part(2, 2, 4)
    if form == "corner":
        return boxes
    return joined([first - second * 0.5, first + second * 0.5], 2)


def _centers(boxes: Term) -> Term:
    low, high = boxes.part(2, 0, 2), boxes.part(2, 2, 4)
    return joined([(low + high) * 0.5, high - low], 2)


@rows("_contrib_box_iou")
def box_iou(n: MxnetLayer, a: Value, b: Value) -> Value:
    """The overlap of all pairs of boxes."""
    form = n.text("format", "corner", "corner", "center")
    terms = []
    for one in (a, b):
        count = math.prod(n.extent(one, i) for i in range(one.type.rank - 1))
        terms.append(_corners(n.term(one).reshape(1, count, 4), form))
    left = terms[0].reshape(terms[0].shape[1], 1, 4)  # type: ignore[arg-type]
    low = left.part(2, 0, 2).max(terms[1].part(2, 0, 2))
    high = left.part(2, 2, 4).min(terms[1].part(2, 2, 4))
    size = (high - low).max(0.0)
    area = size.column(0, 2) * size.column(1, 2)
    areas = [(t.part(2, 2, 4) - t.part(2, 0, 2)).max(0.0) for t in (left, terms[1])]
    whole = [t.column(0, 2) * t.column(1, 2) for t in areas]
    union = whole[0] + whole[1] - area
    found = (union > 0.0).choose(area / union, 0.0)
    leads = [[(v, i) for i in range(v.type.rank - 1)] for v in (a, b)]
    return found.reshape(*leads[0], *leads[1]).value


@rows("_contrib_box_decode")
def box_decode(n: MxnetLayer, moves: Value, anchors: Value) -> Value:
    deviations = [n.float(f"std{i}", 1.0) for i in range(4)]
    corners = _corners(n.term(anchors), n.text("format", "center", "center", "corner"))
    low, high = corners.part(2, 0, 2), corners.part(2, 2, 4)
    size, center = high - low, (low + high) * 0.5
    scales = [constant(n, np.array(v), low.element) for v in (deviations[:2], deviations[2:])]
    given = n.term(moves)
    center = given.part(2, 0, 2) * scales[0] * size + center
    growth = given.part(2, 2, 4) * scales[1]
    if (most := n.float("clip", -1.0)) > 0:
        growth = growth.min(most)
    half = growth.function(nn.Exp) * size * 0.5
    return joined([center - half, center + half], 2).value


# -- regions -----------------------------------------------------------------------------------


@rows("_contrib_ROIAlign")
def roi_align(n: MxnetLayer, x: Value, rois: Value) -> Value:
    if n.flag("position_sensitive"):
        raise n.error("attribute 'position_sensitive' is not supported")
    table = n.term(rois)
    return regions.roi_align(
        n,
        x,
        table.part(1, 1, 5).value,
        table.column(0).value,
        bins=n.ints("pooled_size", (), 2),
        scale=n.float("spatial_scale"),
        samples=n.int("sample_ratio", -1),
        half=n.flag("aligned"),
    )


@rows("ROIPooling", "_npx_roi_pooling")
def roi_pooling(n: MxnetLayer, x: Value, rois: Value) -> Value:
    bins = n.ints("pooled_size", (), 2)
    return regions.max_roi_pool(n, x, rois, bins=bins, scale=n.float("spatial_scale"))

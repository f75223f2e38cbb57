"""Image resampling, and the boxes of object detectors.

Source: MXNet's src/operator/contrib.
"""

from __future__ import annotations

from ...common.detections import (
    best_first,
    corners,
    decoded,
    not_suppressed,
    overlaps,
    priors,
    rows_at,
)
from ...common.vocabulary import *
from ..layer import MxnetLayer, rows

# -- sampling ----------------------------------------------------------------------------------


@rows("UpSampling")
def up_sampling(n: MxnetLayer, x: Value, *others: Value) -> Value:
    """Upsampling by a factor; further inputs are scaled to the same extents."""
    scale = n.size("scale")
    if n.text("sample_type", "nearest", "nearest", "bilinear") == "bilinear":
        pad = math.ceil((scale - 1) / 2)
        how = {"strides": (scale,) * 2, "padding": (pad,) * 4, "groups": n.extent(x, 1)}
        return transposed_convolution(n, x, others[0], **how)
    size = [n.extent(x, 2 + i) * scale for i in range(2)]
    how = {"mode": "nearest", "coordinate_transform": "asymmetric", "nearest_mode": "floor"}
    parts = [_resized(n, one, size, how) for one in (x, *others)]
    if n.text("multi_input_mode", "concat", "concat", "sum") == "concat":
        return concat(n, parts, 1)
    return combined(n, nn.Add, parts)


def _resized(n: MxnetLayer, x: Value, size: Sequence[int], how: dict[str, str]) -> Value:
    return resized(n, x, n.constant(np.array(size, np.int64)), (2, 3), how)


@rows("_contrib_BilinearResize2D")
def bilinear_resize(n: MxnetLayer, x: Value, like: Value | None = None) -> Value:
    mode = n.text("mode", "size", "size", "like", "odd_scale", "to_even_down", "to_even_up",
                  "to_odd_down", "to_odd_up")  # fmt: skip
    scales = n.get("scale_height"), n.get("scale_width")
    size = []
    for i, name in enumerate(("height", "width")):
        own, scale = n.extent(x, 2 + i), scales[i]
        match mode.split("_"):
            case ["like"] if like is not None:
                size.append(n.extent(like, 2 + i))
            case ["size"]:
                size.append(n.size(name, 1) if scale is None else int(own * scale))
            case ["odd", _]:
                scale = n.float(f"scale_{name}")
                size.append(int(own * scale) if own % 2 == 0 else int((own - 1) * scale) + 1)
            case ["to", parity, way]:
                step = 1 if way == "up" else -1
                size.append(own if own % 2 == (parity == "odd") else own + step)
            case _:
                raise n.error("its second input is missing")
    transform = "align_corners" if n.flag("align_corners", True) else "half_pixel"
    return _resized(n, x, size, {"mode": "linear", "coordinate_transform": transform})


# -- boxes -------------------------------------------------------------------------------------


@rows("_contrib_MultiBoxPrior", "_npx_multibox_prior")
def box_priors(n: MxnetLayer, x: Value) -> Value:
    """Prior boxes of several sizes and aspect ratios around each position: [1, P, 4]."""
    height, width = n.extent(x, 2), n.extent(x, 3)
    if not height or not width:
        raise n.error(f"input is '{x.type}', expected positions")
    sizes, ratios = n.floats("sizes", (1.0,)), n.floats("ratios", (1.0,))
    steps, offsets = n.floats("steps", (-1.0, -1.0), 2), n.floats("offsets", (0.5, 0.5), 2)
    if min(ratios) <= 0:
        raise n.error(f"attribute 'ratios' is {ratios}, expected numbers above 0")
    step = [s if s > 0 else 1 / d for s, d in zip(steps, (height, width), strict=True)]
    first = math.sqrt(ratios[0])
    kinds = [(size, first) for size in sizes]
    kinds += [(sizes[0], math.sqrt(ratio)) for ratio in ratios[1:]]
    boxes_of = np.array([(s * height / width * r, s / r) for s, r in kinds])
    boxes = priors((height, width), step, offsets, boxes_of).reshape(1, -1, 4)
    boxes = boxes.clip(0, 1) if n.flag("clip") else boxes
    return n.constant(boxes, x.type.element_type)


@rows("_contrib_MultiBoxDetection", "_npx_multibox_detection")
def box_detection(n: MxnetLayer, scores: Value, offsets: Value, anchors: Value) -> Value:
    """Detections as rows of (class, score, corners), the best first; class -1 for background.

    scores [B, C, N], offsets [B, N * 4], anchors [1, N, 4] -> [B, N, 6]
    """
    variances = n.floats("variances", (0.1, 0.1, 0.2, 0.2))
    moves = n.term(offsets).reshape((offsets, 0), n.extent(anchors, 1), 4)
    boxes = decoded(n.term(anchors), moves * constant(n, np.array(variances), moves.element))
    if n.flag("clip", True):
        boxes = boxes.max(0.0).min(1.0)
    background, classes = n.int("background_id", 0), n.extent(scores, 1)
    if background != 0:
        raise n.error(f"attribute 'background_id' is {background}, expected 0")
    objects = n.term(scores).part(1, 1, classes)
    best = objects.largest(1)
    kind = objects.argmax(1)
    valid = ~(best < n.float("threshold", 0.01))
    value, order = best_first(valid.choose(best, -math.inf))
    kind, valid, boxes = (rows_at(t, order) for t in (kind, valid, boxes))
    each = None if n.flag("force_suppress") else classes - 1
    valid = _first_valid(valid, n.int("nms_topk", -1))
    kept = _not_suppressed(boxes, kind, valid, n.float("nms_threshold", 0.5), each)
    label = kept.choose(kind.cast(boxes.element), -1.0).spread(0, 1)
    rest = joined([value.spread(0, 1), boxes], 2)
    return joined([label, valid.spread(0, 1).choose(rest, -1.0)], 2).value


def _first_valid(valid: Term, most: int) -> Term:
    """`valid` [B, N] with only the first `most` true elements of each row kept."""
    count = valid.shape[1] or 0
    return valid & constant(valid.n, np.arange(count) < most) if 0 < most < count else valid


def _not_suppressed(
    boxes: Term, kind: Term, valid: Term, overlap: float, classes: int | None
) -> Term:
    """Which of the sorted boxes [B, N, 4] no better one of the same class overlaps.

    If `classes` is None, boxes of all classes suppress each other.
    """
    if classes is None:
        return not_suppressed(boxes, valid, overlap)
    n, count = boxes.n, boxes.shape[1]
    assert count is not None
    each = constant(n, np.arange(classes, dtype=np.int64)[:, None])
    own = kind.reshape((kind.value, 0), 1, count).equals(each)
    eligible = own & valid.reshape((valid.value, 0), 1, count)
    wide = TensorType((boxes.shape[0], classes, count, 4), boxes.element)
    apart = boxes.reshape((boxes.value, 0), 1, count, 4)
    kept = not_suppressed(apart.made(nn.BroadcastTo(apart.value, out=wide)), eligible, overlap)
    return kept.cast(i64).largest(1).cast(i1)


@rows("_contrib_box_nms", "_contrib_box_non_maximum_suppression")
def box_nms(n: MxnetLayer, data: Value) -> list[Value]:
    """The rows that non-maximum suppression keeps, the best first, then rows of -1."""
    rows_, width = n.extent(data, -2), n.extent(data, -1)
    lead = math.prod(n.extent(data, i) for i in range(data.type.rank - 2))
    x = n.term(data).reshape(lead, rows_, width)
    first, label = n.int("coord_start", 2), n.int("id_index", -1)
    score = x.column(n.int("score_index", 1), 2)
    valid = score > n.float("valid_thresh", 0.0)
    background = n.int("background_id", -1)
    if label >= 0 and background >= 0:
        valid = valid & ~x.column(label, 2).equals(float(background))
    order = best_first(valid.choose(score, -math.inf))[1]
    x, valid = rows_at(x, order), _first_valid(rows_at(valid, order), n.int("topk", -1))
    boxes = _corners(x.part(2, first, first + 4), n.text("in_format", "corner", "corner", "center"))
    apart = boxes  # the boxes of other classes lie elsewhere
    if label >= 0 and not n.flag("force_suppress"):
        apart = _apart_by_class(boxes, x.column(label, 2))
    kept = not_suppressed(apart, valid, n.float("overlap_thresh", 0.5))
    if n.attributes.get("out_format", "corner") != n.attributes.get("in_format", "corner"):
        new = boxes if n.attributes.get("out_format", "corner") == "corner" else _centers(boxes)
        x = joined([x.part(2, 0, first), new, x.part(2, first + 4, width)], 2)
    # Those that are kept move to the front.
    place = constant(n, np.arange(rows_))
    turn = best_first(kept.choose((-place).cast(boxes.element), -float(rows_ * 2)))[1]
    x, kept = rows_at(x, turn), rows_at(kept, turn)
    return [reshape(n, kept.spread(0, 1).choose(x, -1.0).value, dims(data))]


def _apart_by_class(boxes: Term, label: Term) -> Term:
    """Boxes shifted by an offset per class, so that boxes of different classes do not overlap."""
    far = boxes.function(nn.Abs).largest(1, 2, keep=True) * 2.0 + 1.0
    return boxes + label.spread(0, 1) * far


def _corners(boxes: Term, form: str) -> Term:
    return boxes if form == "corner" else corners(boxes)


def _centers(boxes: Term) -> Term:
    low, high = boxes.part(2, 0, 2), boxes.part(2, 2, 4)
    return joined([(low + high) * 0.5, high - low], 2)


@rows("_contrib_box_iou")
def box_iou(n: MxnetLayer, a: Value, b: Value) -> Value:
    """The intersection over union of all pairs of boxes."""
    form = n.text("format", "corner", "corner", "center")
    terms = []
    for one in (a, b):
        count = math.prod(n.extent(one, i) for i in range(one.type.rank - 1))
        terms.append(_corners(n.term(one).reshape(1, count, 4), form))
    found = overlaps(*terms)
    leads = [dims(v)[:-1] for v in (a, b)]
    return found.reshape(*leads[0], *leads[1]).value


@rows("_contrib_box_decode")
def box_decode(n: MxnetLayer, moves: Value, anchors: Value) -> Value:
    deviations = [n.float(f"std{i}", 1.0) for i in range(4)]
    boxes = _corners(n.term(anchors), n.text("format", "center", "center", "corner"))
    most = n.float("clip", -1.0)
    given = n.term(moves) * constant(n, np.array(deviations), boxes.element)
    return decoded(boxes, given, most=most if most > 0 else None).value

"""Non-maximum suppression of detectors' boxes."""

from __future__ import annotations

from ...common.boxes import kept_boxes, padded_boxes, softly_suppressed
from ...common.vocabulary import *
from ..layer import TfliteLayer
from ..rows import ROWS
from .convolution import ranked

MOST = 1 << 20
"""The most detections; more mean a damaged file."""


def _kept(
    boxes: Term, scores: Term, limit: Value, overlap: Value, above: Term
) -> tuple[Term, Term, Term]:
    """Scores by class [C, N] in falling order, their boxes [N, 4], and which of them are kept."""
    n = boxes.n
    count = n.constant(_extent(n, scores), i64)
    ordered, order = largest(n, scores.value, count, 1)
    eligible = Term(n, gathered_elements(n, above.cast(i32).value, order, 1)).equals(1)
    corners = Term(n, gathered(n, boxes.value, order))
    kept = n(nn.Suppress(corners.value, eligible.value, limit, overlap))
    return Term(n, ordered), Term(n, order), Term(n, kept)


def _extent(n: TfliteLayer | Any, x: Term) -> int:
    count = x.shape[-1]
    if count is None:
        raise n.error("the number of boxes must be known")
    return count


def _first(kept: Term, count: int) -> tuple[Term, Term]:
    """The indices [count] of the first kept elements of [N], and which of these exist."""
    n, size = kept.n, _extent(kept.n, kept)
    places = kept.choose(counting(n, constant(n, size)), size)
    shown = min(count, size)
    found, _ = largest(n, places.value, n.constant(shown, i64), 0, greatest=False)
    inside = Term(n, found)
    if shown < count:
        rest = constant(n, np.full(count - shown, size, np.int64))
        inside = joined([inside, rest], 0)
    there = inside < size
    return there.choose(inside, 0), there


@ROWS("NON_MAX_SUPPRESSION_V4")
def suppress_4(
    n: TfliteLayer, boxes: Value, scores: Value, most: Value, overlap: Value, least: Value
) -> list[Value]:
    found = kept_boxes(n, boxes, scores, most, overlap, least)
    return list(padded_boxes(n, [found], most))


@ROWS("NON_MAX_SUPPRESSION_V5")
def suppress_5(
    n: TfliteLayer,
    boxes: Value,
    scores: Value,
    most: Value,
    overlap: Value,
    least: Value,
    sigma: Value,
) -> list[Value]:
    known = n.known(sigma)
    if known is None:
        raise n.error("sigma must be known at import")
    if known.any():
        found = [*softly_suppressed(n, boxes, scores, most, sigma, least, overlap)]
    else:
        kept = kept_boxes(n, boxes, scores, most, overlap, least)
        found = [kept, gathered(n, scores, kept)]
    return list(padded_boxes(n, found, most))


@ROWS("TFLite_Detection_PostProcess")
def post_process(n: TfliteLayer, encoded: Value, predicted: Value, anchors: Value) -> list[Value]:
    """The best boxes [1, N, 4], their classes and scores [1, N], and their number [1].

    Non-maximum suppression is by class, or of all boxes, each with its best classes.
    """
    encoded, predicted, anchors = (
        n.real(i, x) for i, x in enumerate((encoded, predicted, anchors))
    )
    for x, what in ((encoded, "the boxes"), (predicted, "the scores")):
        ranked(n, x, 3, what)
        if x.type.shape[0] != 1:
            raise n.error(f"{what} have shape {shape_text(x)}, expected one image")
    ranked(n, anchors, 2, "the anchors")
    classes = int(n.option("num_classes"))
    width = predicted.type.shape[2] or 0
    if not 0 < classes <= width:
        raise n.error(f"{classes} classes of {width} scores")
    boxes = _decoded(n, encoded, anchors)
    scores = Term(n, predicted).column(0, 0).part(1, width - classes, width)
    most = int(n.option("max_detections"))
    if not 0 < most <= MOST:
        raise n.error(f"{most} detections are asked for")
    overlap = n.constant(n.option("nms_iou_threshold"), f32)
    threshold = n.option("nms_score_threshold")
    if n.option("use_regular_nms", 0):
        limit = n.constant(int(n.option("detections_per_class", 100)), i64)
        chosen = _by_class(boxes, scores, limit, overlap, threshold, most)
    else:
        several = min(int(n.option("max_classes_per_detection")), classes)
        chosen = _by_box(boxes, scores, overlap, threshold, most, several)
    places, labels, values, there = chosen
    shown = there.spread(0, 1).choose(boxes.gather(places), 0.0)
    found = [shown, there.choose(labels, 0).cast(f32), there.choose(values, 0.0)]
    count = there.cast(i32).sum(0, keep=True).cast(f32)
    return [*(t.spread(1, 0).value for t in found), count.value]


def _decoded(n: TfliteLayer, encoded: Value, anchors: Value) -> Term:
    """Corners y, x, y, x [N, 4]."""
    parts = Term(n, encoded).column(0, 0)
    sizes = Term(n, anchors)
    scale = [n.option(f"{c}_scale") for c in "yxhw"]
    if 0 in scale:
        raise n.error("a scale is 0")
    center = [parts.column(i) / scale[i] * sizes.column(i + 2) + sizes.column(i) for i in (0, 1)]
    half = [
        (parts.column(i + 2) / scale[i + 2]).function(nn.Exp) * sizes.column(i + 2) * 0.5
        for i in (0, 1)
    ]
    low = [c - h for c, h in zip(center, half, strict=True)]
    high = [c + h for c, h in zip(center, half, strict=True)]
    return joined([t.spread(0, 1) for t in (*low, *high)], 1)


Chosen = tuple[Term, Term, Term, Term]
"""(indices of boxes, indices of classes, scores, which of these are valid)."""


def _by_box(
    boxes: Term, scores: Term, overlap: Value, threshold: float, most: int, several: int
) -> Chosen:
    n = boxes.n
    best = scores.largest(1).spread(1, 0)
    limit = n.constant(most, i64)
    _, order, kept = _kept(boxes, best, limit, overlap, best >= threshold)
    places, there = _first(kept.column(0, 0), most)
    index = order.column(0, 0).gather(places)
    values, labels = largest(n, scores.gather(index).value, n.constant(several, i64), 1)
    if several == 1:
        return index, Term(n, labels).column(0), Term(n, values).column(0), there
    repeat = constant(n, np.repeat(np.arange(most), several))
    there = there.cast(i32).gather(repeat).cast(i1)
    return index.gather(repeat), Term(n, labels).flat(), Term(n, values).flat(), there


def _by_class(
    boxes: Term, scores: Term, limit: Value, overlap: Value, threshold: float, most: int
) -> Chosen:
    n = boxes.n
    rows = scores.transpose(1, 0)
    ordered, order, kept = _kept(boxes, rows, limit, overlap, rows >= threshold)
    classes, count = rows.shape
    assert classes is not None and count is not None
    labels = constant(n, np.repeat(np.arange(classes), count))
    flat = kept.flat().choose(ordered.flat(), float(np.finfo(np.float32).min))
    shown = min(most, classes * count)
    values, places = (Term(n, v) for v in largest(n, flat.value, n.constant(shown, i64), 0))
    there = kept.flat().cast(i32).gather(places).cast(i1)
    found = [order.flat().gather(places), labels.gather(places), values, there]
    if shown < most:
        found = [joined([t, _nothing(n, most - shown, t)], 0) for t in found]
    return found[0], found[1], found[2], found[3]


def _nothing(n: Any, count: int, like: Term) -> Term:
    return Term(n, n(nn.Fill(n.scalar(0, like.value), out=TensorType((count,), like.element))))

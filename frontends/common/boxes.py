"""Non-maximum suppression: of a detector's boxes, those that overlap a better one are dropped."""

from __future__ import annotations

from .loops import Iteration, while_loop
from .windows import pad_by_vector
from .words import *


def suppressed(
    n: Layer,
    boxes: Value,
    scores: Value,
    most: Value | None = None,
    iou_threshold: Value | None = None,
    score_threshold: Value | None = None,
    centered: bool = False,
) -> tuple[Value, Value]:
    """The indices of each class's boxes, the best first, and which of these boxes are kept.

    boxes [B, N, 4] are corners y, x, y, x or, if `centered`, the center x, y, width and height;
    scores [B, C, N] -> order, kept [B, C, K], where K is the largest number of boxes that a class
    has above the threshold.
    """
    above, order = _ranked(n, scores, score_threshold)
    eligible = n(nn.GatherElements(above, order, axis=2))
    corners = _corners(n, boxes, centered)
    chosen = n(nn.GatherNd(corners, with_one(n, order), batch_dims=1))
    limit = n.constant(0, i64) if most is None else as_scalar(n, as_i64(n, most))
    threshold = n.constant(0.0, f32) if iou_threshold is None else as_scalar(n, iou_threshold)
    return order, n(nn.Suppress(chosen, eligible, limit, threshold))


def kept_boxes(
    n: Layer, boxes: Value, scores: Value, most: Value, iou: Value, least: Value | None
) -> Value:
    """The indices of the boxes [N, 4] that are kept, the best first, at most `most`.

    `iou` and `least` are the thresholds of overlap and of scores [N].
    """
    lists = [
        reshape(n, boxes, [1, (boxes, 0), (boxes, 1)]),
        reshape(n, scores, [1, 1, (scores, 0)]),
    ]
    least = None if least is None else bounded(n, least)
    order, kept = suppressed(n, lists[0], lists[1], most, iou, least)
    flat = [reshape(n, v, [(v, 2)]) for v in (order, kept)]
    places = n(nn.NonZero(flat[1]))
    return n(nn.Gather(flat[0], n(nn.Reshape(places, out=TensorType((None,), i64)))))


def bounded(n: Layer, least: Value) -> Value | None:
    """The score threshold `least`, or None if it is known to be -inf, which excludes no box."""
    known = n.known(least)
    return None if known is not None and np.isneginf(known).all() else least


def padded_boxes(n: Layer, found: Sequence[Value], most: Value) -> list[Value]:
    """The vectors `found`, padded with zeros to `most` elements, followed by their former length.

    The first vector holds the boxes' indices, which become i32.
    """
    count, limit = extent(n, (found[0], 0)), as_scalar(n, as_i64(n, most))
    by = joined([constant(n, np.zeros(1, np.int64)), (Term(n, limit) - count).reshape(1)], 0)
    wide = [pad_by_vector(n, v, by.value, n.scalar(0, v)) for v in found]
    known = n.known(limit)
    if known is not None:
        shape = (int(known),)
        wide = [n(nn.Reshape(v, out=TensorType(shape, v.type.element_type))) for v in wide]
    return [n.cast(wide[0], i32), *wide[1:], count.cast(i32).value]


def softly_suppressed(
    n: Layer,
    boxes: Value,
    scores: Value,
    most: Value,
    sigma: Value,
    least: Value,
    iou_threshold: Value | None = None,
) -> tuple[Value, Value]:
    """The indices [K] of the boxes that are kept, by falling score, and their scores [K].

    Each selected box multiplies the scores of the others by exp(-iou^2 / (2 sigma)), and removes
    those whose IoU with it is at least `iou_threshold`.

    Source: Bodla and others, "Soft-NMS" (2017).
    """
    corners = Term(n, _corners(n, boxes)).reshape((boxes, 0), 4)
    low, high = corners.part(1, 0, 2), corners.part(1, 2, 4)
    area = _area(high - low)
    fall = -0.5 / Term(n, as_scalar(n, sigma))
    gone = n.scalar(-np.inf, scores)

    def step(number: Value, flag: Value, states: list[Value]) -> Iteration:
        left = Term(n, states[0])
        best = left.made(nn.Argmax(left.value, axis=0, keep_dims=False))
        common = high.min(high.gather(best)) - low.max(low.gather(best))
        shared = _area(common.max(0.0))
        iou = shared / (area + area.gather(best) - shared).max(1e-30)
        fewer = left * (iou * iou * fall).function(nn.Exp)
        if iou_threshold is not None:
            fewer = (iou >= Term(n, as_scalar(n, iou_threshold))).choose(Term(n, gone), fewer)
        places = counting(n, extent(n, (scores, 0)))
        fewer = places.equals(best).choose(Term(n, gone), fewer)
        return Iteration([fewer.value], [best.value, left.gather(best).value])

    count = extent(n, (scores, 0)).min(Term(n, as_scalar(n, as_i64(n, most))))
    shown = Term(n, scores) > Term(n, as_scalar(n, least))
    states = [shown.choose(Term(n, scores), Term(n, gone)).value]
    _, (order, found) = while_loop(n, step, states, count.value)
    there = n(nn.NonZero((Term(n, found) > Term(n, as_scalar(n, least))).value))
    kept = n(nn.Reshape(there, out=TensorType((None,), i64)))
    return n(nn.Gather(order, kept)), n(nn.Gather(found, kept))


def _area(sides: Term) -> Term:
    return sides.column(0) * sides.column(1)


def _ranked(n: Layer, scores: Value, threshold: Value | None) -> tuple[Value, Value]:
    """Whether each box is above the threshold [B, C, N]; indices by falling score [B, C, K]."""
    batch, classes, boxes = scores.type.shape
    if threshold is None:
        count = shape_vector(n, [(scores, 2)])
        above = broadcast(n, n.constant(True, i1), [(scores, i) for i in range(3)])
    else:
        boxes = None
        above = n(nn.Greater(scores, as_scalar(n, threshold)))
        counts = n(nn.ReduceSum(n.cast(above, i64), axes=(2,)))
        count = n(nn.ReduceMax(counts, axes=(0, 1)))
        scores = n(nn.Where(above, scores, n.scalar(-np.inf, scores)))
    shape = (batch, classes, boxes)
    types = [TensorType(shape, element) for element in (scores.type.element_type, i64)]
    return above, n(nn.TopK(scores, count, axis=2, out=types[0], indices=types[1]))[1]


def _corners(n: Layer, boxes: Value, centered: bool = False) -> Value:
    """Boxes as y0, x0, y1, x1 with y0 <= y1 and x0 <= x1."""
    whole = Term(n, boxes)
    first, second = whole.part(-1, 0, 2), whole.part(-1, 2, 4)
    if centered:
        swap = constant(n, np.array([1, 0], np.int64))
        center, half = first.gather(swap, whole.rank - 1), second.gather(swap, whole.rank - 1) * 0.5
        first, second = center - half, center + half
    return joined([first.min(second), first.max(second)], -1).value


def with_one(n: Layer, x: Value) -> Value:
    """x with a new last dimension of one element."""
    return reshape(n, x, [*dims(x), 1])

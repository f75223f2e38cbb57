"""Boxes: those that overlap a better one, and parts of images in boxes."""

from __future__ import annotations

from ...common.boxes import bounded, kept_boxes, padded_boxes, softly_suppressed
from ...common.vocabulary import *
from ..layer import TfLayer, rows


@rows("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def non_max_suppression(
    n: TfLayer,
    boxes: Value,
    scores: Value,
    most: Value,
    iou: Value | None = None,
    least: Value | None = None,
) -> Value:
    if iou is None:
        iou = n.constant(n.float("iou_threshold", 0.5), f32)
    return n.cast(kept_boxes(n, boxes, scores, most, iou, least), i32)


@rows("NonMaxSuppressionV4")
def non_max_suppression_padded(
    n: TfLayer, boxes: Value, scores: Value, most: Value, iou: Value, least: Value
) -> list[Value]:
    found = kept_boxes(n, boxes, scores, most, iou, least)
    return _padded(n, [found], most)


@rows("NonMaxSuppressionV5")
def non_max_suppression_scored(
    n: TfLayer,
    boxes: Value,
    scores: Value,
    most: Value,
    iou: Value,
    least: Value,
    sigma: Value | None = None,
) -> list[Value]:
    known = None if sigma is None else n.known(sigma)
    if sigma is not None and (known is None or known.any()):
        if known is None:
            raise n.error("sigma must be known at import")
        return _padded(n, [*softly_suppressed(n, boxes, scores, most, sigma, least)], most)
    found = kept_boxes(n, boxes, scores, most, iou, least)
    return _padded(n, [found, n(nn.Gather(scores, found))], most)


@rows("CombinedNonMaxSuppression")
def combined_non_max_suppression(
    n: TfLayer,
    boxes: Value,
    scores: Value,
    per_class: Value,
    total: Value,
    iou: Value,
    least: Value,
) -> list[Value]:
    """The best boxes of all classes, each of which suppresses its own.

    boxes [B, N, 1 or C, 4], scores [B, N, C] -> boxes [B, T, 4], scores and classes [B, T], and
    how many there are [B]
    """
    _, count, classes = scores.type.shape
    if None in (count, classes) or boxes.type.rank != 4:
        raise n.error("the numbers of boxes and classes must be known")
    most = n.known_int(total, "the number of boxes")
    if n.flag("pad_per_class"):
        most = min(most, n.known_int(per_class, "the number of boxes of a class") * classes)
    own = boxes.type.shape[2] != 1
    apart = n(nn.Transpose(boxes, permutation=(0, 2, 1, 3)))
    rated = n(nn.Transpose(scores, permutation=(0, 2, 1)))
    lists = merge(n, apart, ((0, 2), (2, 3), (3, 4)))
    if own:
        rated = Term(n, merge(n, rated, ((0, 2), (2, 3)))).reshape((lists, 0), 1, count).value
    order, kept = suppressed(n, lists, rated, per_class, iou, bounded(n, least))
    found = Term(n, n(nn.GatherElements(rated, order, axis=2)))
    found = Term(n, kept).choose(found, -np.inf)
    flat = []
    for term, fill in ((found, -np.inf), (Term(n, order), 0)):
        whole = term.reshape((scores, 0), classes, (order, 2)).flattened(1)
        more = broadcast(n, n.constant(fill, term.element), [(scores, 0), most])
        flat.append(joined([whole, Term(n, more)], 1))
    values, places = (Term(n, v) for v in largest(n, flat[0].value, n.constant(most, i64), 1))
    there = values > -np.inf
    label = there.choose(places / extent(n, (order, 2)).max(1), 0)
    index = Term(n, n(nn.GatherElements(flat[1].value, places.value, axis=1)))
    at = (label * count + index if own else index).spread(0, 1)
    chosen = Term(
        n, n(nn.GatherNd(merge(n, apart, ((0, 1), (1, 3), (3, 4))), at.value, batch_dims=1))
    )
    if n.flag("clip_boxes", True):
        chosen = chosen.max(0.0).min(1.0)
    shown = [there.spread(0, 1).choose(chosen, 0.0), there.choose(values, 0.0), label.cast(f32)]
    return [*(t.value for t in shown), there.cast(i32).sum(1).value]


def _padded(n: TfLayer, found: list[Value], most: Value) -> list[Value]:
    """The boxes, and how many they are; with zeros behind them where that is asked for."""
    if n.flag("pad_to_max_output_size"):
        return padded_boxes(n, found, most)
    count = extent(n, (found[0], 0)).cast(i32).value
    return [n.cast(found[0], i32), *found[1:], count]


# -- parts of images -------------------------------------------------------------------------------


@rows("CropAndResize")
def crop_and_resize(n: TfLayer, image: Value, boxes: Value, batch: Value, size: Value) -> Value:
    """The images in boxes, sampled at so many places; elsewhere a number.

    image [N, H, W, C], boxes [B, 4] of y, x, y, x from 0 to 1 -> [B, h, w, C]
    """
    height, width = n.known_ints(size, "the size of the crops")
    method = n.text("method", "bilinear", ("bilinear", "nearest"))
    image = n.cast(image, f32)
    ys, xs = (_samples(n, image, boxes, i, count) for i, count in ((0, height), (1, width)))
    inside = _inside(n, image, ys, 0).spread(0, 1) & _inside(n, image, xs, 1).reshape(
        (boxes, 0), 1, width
    )
    number = Term(n, as_i64(n, batch)).spread(0, 2)

    def at(y: Term, x: Term) -> Term:
        """The pixels at rows [B, h] and columns [B, w]."""
        parts = [number, y.spread(0, 1), x.reshape((boxes, 0), 1, width)]
        zero = (parts[1] + parts[2]) * 0
        places = n(nn.Concat([(p + zero).spread(0, 1).value for p in parts], axis=3))
        return Term(n, n(nn.GatherNd(image, places)))

    if method == "nearest":
        found = at(*(_index(n, image, v + 0.5, i) for i, v in enumerate((ys, xs))))
    else:
        low = [v.function(nn.Floor) for v in (ys, xs)]
        corner = [[_index(n, image, v, i), _index(n, image, v + 1, i)] for i, v in enumerate(low)]
        ry = (ys - low[0]).spread(0, 2)
        rx = (xs - low[1]).reshape((boxes, 0), 1, width, 1)
        rows_ = []
        for y in corner[0]:
            left, right = at(y, corner[1][0]), at(y, corner[1][1])
            rows_.append(left + (right - left) * rx)
        found = rows_[0] + (rows_[1] - rows_[0]) * ry
    fill: Any = n.float("extrapolation_value", 0.0)
    return inside.spread(0, 1).choose(found, fill).value


def _samples(n: TfLayer, image: Value, boxes: Value, axis: int, count: int) -> Term:
    """Where along an axis of the image the samples of each box lie: [B, count]."""
    last = (extent(n, (image, 1 + axis)) - 1).cast(f32)
    first, second = (Term(n, boxes).column(i).spread(0, 1) for i in (axis, axis + 2))
    if count == 1:
        return (first + second) * 0.5 * last
    places = constant(n, np.arange(count, dtype=np.float32))
    return first * last + places * ((second - first) * last / float(count - 1))


def _inside(n: TfLayer, image: Value, places: Term, axis: int) -> Term:
    last = (extent(n, (image, 1 + axis)) - 1).cast(f32)
    return (places >= 0.0) & (places <= last)


def _index(n: TfLayer, image: Value, places: Term, axis: int) -> Term:
    """Positions in the image, those outside moved to its border."""
    last = extent(n, (image, 1 + axis)) - 1
    return places.function(nn.Floor).cast(i64).max(0).min(last)

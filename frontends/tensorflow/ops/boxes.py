"""Boxes: non-maximum suppression, and crops of images."""

from __future__ import annotations

from ...common.boxes import bounded, kept_boxes, padded_boxes, softly_suppressed
from ...common.crops import cropped
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
    return _padded(n, [found, gathered(n, scores, found)], most)


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
    """The best boxes over all classes, with suppression within each class.

    boxes [B, N, 1 or C, 4], scores [B, N, C] -> boxes [B, T, 4], scores and classes [B, T], and the
    number of boxes [B]
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
    found = Term(n, gathered_elements(n, rated, order, 2))
    found = Term(n, kept).choose(found, -np.inf)
    flat = []
    for term, fill in ((found, -np.inf), (Term(n, order), 0)):
        whole = term.reshape((scores, 0), classes, (order, 2)).flattened(1)
        more = broadcast(n, n.constant(fill, term.element), [(scores, 0), most])
        flat.append(joined([whole, Term(n, more)], 1))
    values, places = (Term(n, v) for v in largest(n, flat[0].value, n.constant(most, i64), 1))
    there = values > -np.inf
    label = there.choose(places / extent(n, (order, 2)).max(1), 0)
    index = flat[1].gather_elements(places, 1)
    at = (label * count + index if own else index).spread(0, 1)
    chosen = Term(n, gathered_nd(n, merge(n, apart, ((0, 1), (1, 3), (3, 4))), at.value, 1))
    if n.flag("clip_boxes", True):
        chosen = chosen.max(0.0).min(1.0)
    shown = [there.spread(0, 1).choose(chosen, 0.0), there.choose(values, 0.0), label.cast(f32)]
    return [*(t.value for t in shown), there.cast(i32).sum(1).value]


def _padded(n: TfLayer, found: list[Value], most: Value) -> list[Value]:
    """The boxes and their number; zero-padded if requested."""
    if n.flag("pad_to_max_output_size"):
        return padded_boxes(n, found, most)
    count = extent(n, (found[0], 0)).cast(i32).value
    return [n.cast(found[0], i32), *found[1:], count]


# -- parts of images -------------------------------------------------------------------------------


@rows("CropAndResize")
def crop_and_resize(n: TfLayer, image: Value, boxes: Value, batch: Value, size: Value) -> Value:
    method = n.text("method", "bilinear", ("bilinear", "nearest"))
    fill = n.float("extrapolation_value", 0.0)
    return cropped(n, n.cast(image, f32), boxes, batch, size, method, fill)

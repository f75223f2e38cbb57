"""Non-maximum suppression: the boxes of detectors that are kept."""

from __future__ import annotations

from dataclasses import replace

from ...common.detections import (
    Choice,
    Found,
    Ranked,
    best_of_classes,
    decay_by_overlap,
    overlaps,
    places_of,
    ranked_by_class,
)
from ...common.vocabulary import *
from ..layer import OpenvinoLayer, rows


@rows("NonMaxSuppression")
def non_max_suppression(
    n: OpenvinoLayer,
    boxes: Value,
    scores: Value,
    most: Value | None = None,
    iou: Value | None = None,
    least: Value | None = None,
    sigma: Value | None = None,
) -> list[Value]:
    """Rows (image, class, box) of the boxes that are kept, rows (image, class, score), and their
    number.

    boxes [B, N, 4], scores [B, C, N]
    """
    if n.opset < 5:
        raise n.error("of an opset before 5, which is not supported; convert the model anew")
    if (sigma is not None and (known := n.known(sigma)) is None) or (sigma and known.any()):
        raise n.error("scores that fall with the overlap (soft_nms_sigma) are not supported")
    is_centered = n.text("box_encoding", "corner") == "center"
    order, kept = suppressed(n, boxes, scores, most, iou, least, is_centered)
    numbers = Term(n, order)
    found = places_of(Term(n, kept))
    index = numbers.gather_nd(found)
    sure = Term(n, scores).gather_elements(numbers, 2).gather_nd(found).cast(f32)
    lead = found.part(1, 0, 2)
    if n.flag("sort_result_descending", True):
        sure, places = (Term(n, v) for v in ordered(n, sure.value, 0, descending=True))
        lead, index = lead.gather(places), index.gather(places)
    return [
        joined([lead, index.spread(0, 1)], 1).value,
        joined([lead.cast(f32), sure.spread(0, 1)], 1).value,
        extent(n, (index.value, 0)).reshape(1).value,
    ]


def _choice(n: OpenvinoLayer, overlap: float) -> Choice:
    top, keep = n.int("nms_top_k", -1), n.int("keep_top_k", -1)
    if n.float("nms_eta", 1.0) != 1:
        raise n.error("a threshold that falls (nms_eta) is not supported")
    return Choice(
        threshold=n.float("score_threshold", 0.0),
        overlap=overlap,
        top=top if top > -1 else None,
        keep=keep if keep > -1 else None,
        background=n.int("background_class", -1),
        unit=0.0 if n.flag("normalized", True) else 1.0,
    )


@rows("MulticlassNms")
def multiclass(n: OpenvinoLayer, boxes: Value, scores: Value, *counts: Value) -> list[Value]:
    """Rows of (class, score, corners); their indices among all boxes; the number of rows per image.

    boxes [B, N, 4], scores [B, C, N]
    """
    if counts:
        raise n.error("boxes of their own for each class are not supported")
    found = best_of_classes(Term(n, boxes), Term(n, scores), _choice(n, n.float("iou_threshold")))
    return _chosen(n, boxes, found, None, n.text("sort_result_type", "none"))


@rows("MatrixNms")
def matrix(n: OpenvinoLayer, boxes: Value, scores: Value) -> list[Value]:
    """Like `MulticlassNms`, but scores decay with the overlap by better boxes."""
    choice = _choice(n, 0.0)
    found = ranked_by_class(Term(n, boxes), Term(n, scores), choice)
    if choice.unit:
        raise n.error("boxes that end at their last element are not supported")
    sigma = n.float("gaussian_sigma", 2.0)
    is_linear = n.text("decay_function", "linear") == "linear"
    shares = overlaps(found.boxes, found.boxes)
    fallen = found.scores * decay_by_overlap(shares, None if is_linear else sigma)
    kept = found.kept & (fallen > n.float("post_threshold", 0.0))
    order = n.text("sort_result_type", "none")
    if not n.flag("sort_result_across_batch"):
        order = "score"  # whatever is asked for
    return _chosen(n, boxes, replace(found, scores=fallen, kept=kept), choice.keep, order)


def _chosen(
    n: OpenvinoLayer, boxes: Value, ranked: Ranked, keep: int | None, order: str
) -> list[Value]:
    """The rows of boxes in the order that the operation asks for."""
    found, across = ranked.by_score(keep), n.flag("sort_result_across_batch")
    if order == "none" and ranked.classes > 1:
        n.warn("the order of its boxes is left open; they are sorted by score")
    if order == "classid":
        found = _sorted(n, found, found.places.column(1), False)
        if not across:
            found = _sorted(n, found, found.places.column(0), False)
    elif across and order == "score":
        found = _sorted(n, found, found.scores.column(0), True)
    images, classes = (found.places.part(1, i, i + 1) for i in range(2))
    numbers = images.cast(i64) * extent(n, (boxes, 1)) + found.numbers
    each = counting(n, extent(n, (boxes, 0))).cast(images.element)
    return [
        joined([classes, found.scores, found.boxes], 1).value,
        numbers.value,
        images.equals(each).cast(i64).sum(0).value,
    ]


def _sorted(n: OpenvinoLayer, found: Found, key: Term, descending: bool) -> Found:
    """The boxes sorted by a key; equal ones keep their order."""
    _, order = ordered(n, key.value, 0, descending=descending)
    at = Term(n, order)
    parts = found.places, found.scores, found.boxes, found.numbers
    return Found(*(part.gather(at) for part in parts))

"""Layers that output boxes: [positions * anchors, 4 + 1 + classes].

A row has the box's center and size relative to the image, its objectness, and for each class the
product of that and the class score, if it is above the threshold.
"""

from __future__ import annotations

from itertools import pairwise

from ...common.vocabulary import *
from ..layer import DarknetLayer, rows


def _chosen(n: DarknetLayer) -> np.ndarray:
    """The anchors selected by the mask, [A, 2]."""
    given = n.numbers("anchors")
    mask = [int(v) for v in n.numbers("mask")] or list(range(len(given) // 2))
    if not mask or min(mask) < 0 or max(mask) >= len(given) // 2:
        raise n.error(f"mask {mask} of {len(given) // 2} anchors")
    return np.array(given[: len(given) // 2 * 2]).reshape(-1, 2)[mask]


@rows("yolo")
def yolo(n: DarknetLayer, x: Value, image: Value) -> Value:
    anchors = _chosen(n)
    extents = image.type.shape[3], image.type.shape[2]
    raw = bool(n.int("new_coords"))
    cells = _cells(n, x, len(anchors), 5 + n.int("classes", 20))
    sure = cells.part(4, 4, 5)
    scores = cells.part(4, 5, cells.shape[4] or 0)
    if not raw:
        sure, scores = sure.function(nn.Sigmoid), scores.function(nn.Sigmoid)
    boxes = _boxes(n, cells, anchors, extents, n.float("scale_x_y", 1.0), raw)
    return _rows(n, boxes, sure, scores, n.float("thresh", 0.2), n.float("nms_threshold"))


_POINTS = {"center": 0.0, "left_top": 0.5, "right_bottom": -0.5}
"""By the kind of point that a network predicts, the way from it to the box's center, in sizes."""


@rows("Gaussian_yolo")
def gaussian_yolo(n: DarknetLayer, x: Value, image: Value) -> Value:
    """YOLO boxes whose coordinates are each followed by an uncertainty, which is not scaled."""
    anchors, width = _chosen(n), 9 + n.int("classes", 20)
    cells = _cells(n, x, len(anchors), width)
    numbers = cells.gather(constant(n, np.array([0, 2, 4, 6])), 4)
    doubts = cells.gather(constant(n, np.array([1, 3, 5, 7])), 4).function(nn.Sigmoid)
    scale, extents = n.float("scale_x_y", 1.0), (image.type.shape[3], image.type.shape[2])
    boxes = _boxes(n, numbers, anchors, extents, scale, False)
    move, size = _POINTS.get(n.text("yolo_point", "center")), boxes.part(4, 2, 4)
    if move is None:
        raise n.error(f"boxes at their '{n.text('yolo_point')}'")
    boxes = joined([boxes.part(4, 0, 2) + size * move, size], 4) if move else boxes
    sure = cells.part(4, 8, 9).function(nn.Sigmoid)
    scores = cells.part(4, 9, width).function(nn.Sigmoid)
    scores = scores * (1.0 - doubts.sum(4, keep=True) * 0.25)
    return _rows(n, boxes, sure, scores, n.float("thresh", 0.2), n.float("nms_threshold"))


@rows("detection")
def detection(n: DarknetLayer, x: Value, image: Value) -> Value:
    """The boxes in a vector: the classes of all cells, the objectness of boxes, and boxes."""
    side, count, classes = n.int("side", 7), n.int("num", 1), n.int("classes", 1)
    flat, cells = Term(n, x).flattened(1), side * side
    if flat.shape[1] != cells * (classes + 5 * count) or n.int("coords", 1) != 4:
        raise n.error(f"{flat.shape[1]} numbers for {side} x {side} cells, {count} boxes in each")
    at = [cells * v for v in (0, classes, classes + count, classes + 5 * count)]
    scores, sure, boxes = (flat.part(1, *ends) for ends in pairwise(at))
    scores = scores.reshape((x, 0), side, side, 1, classes)
    if n.int("softmax"):
        scores = scores.made(nn.Softmax(scores.value, axis=4))
    boxes = boxes.reshape((x, 0), side, side, count, 4)
    size = boxes.part(4, 2, 4)
    size = size * size if n.int("sqrt") else size
    boxes = joined([(boxes.part(4, 0, 2) + _grid(n, side, side)) / float(side), size], 4)
    return _rows(n, boxes, sure.reshape((x, 0), side, side, count, 1), scores,
                 n.float("thresh", 0.2), n.float("nms_threshold"))  # fmt: skip


def _grid(n: DarknetLayer, height: int, width: int) -> Term:
    """The column and row index of each cell: [1, height, width, 1, 2]."""
    columns, lines = np.meshgrid(np.arange(width), np.arange(height))
    return constant(n, np.stack([columns, lines], -1)[None, :, :, None].astype(np.float32))


@rows("region")
def region(n: DarknetLayer, x: Value, image: Value) -> Value:
    given, count = n.numbers("anchors"), n.int("num", 1)
    if len(given) != 2 * count or n.int("coords", 4) != 4 or n.text("tree"):
        raise n.error(f"{len(given)} numbers for {count} anchors, other coordinates, or a tree")
    cells = _cells(n, x, count, 5 + n.int("classes", 20))
    scores = cells.part(4, 5, cells.shape[4] or 0)
    softmax = bool(n.int("softmax"))
    scores = (
        scores.made(nn.Softmax(scores.value, axis=4)) if softmax else (scores.function(nn.Sigmoid))
    )
    sure = cells.part(4, 4, 5).function(nn.Sigmoid)
    extents = cells.shape[2], cells.shape[1]
    boxes = _boxes(n, cells, np.array(given).reshape(-1, 2), extents, 1.0, False)
    return _rows(n, boxes, sure, scores, n.float("thresh", 0.001), 0.4)


def _cells(n: DarknetLayer, x: Value, anchors: int, width: int) -> Term:
    """x as [batch, height, width, anchors, numbers of a box]."""
    if x.type.rank != 4 or None in x.type.shape or x.type.shape[1] != anchors * width:
        raise n.error(f"it needs {anchors} * {width} channels and known extents, found '{x.type}'")
    batch, _, height, across = x.type.shape
    split = Term(n, x).reshape(batch, anchors, width, height, across)
    return split.transpose(0, 3, 4, 1, 2)


def _boxes(
    n: DarknetLayer, cells: Term, anchors: np.ndarray, extents: tuple, scale: float, raw: bool
) -> Term:
    """Centers in cells plus offsets; sizes relative to the anchors'."""
    shape: Any = cells.shape
    _, height, width, _, _ = shape
    if None in extents:
        raise n.error("it needs images of known extents")
    place, size = cells.part(4, 0, 2), cells.part(4, 2, 4)
    place = place if raw else place.function(nn.Sigmoid)
    if scale != 1:
        place = place * scale - (scale - 1) / 2
    count = np.array([width, height], np.float32)
    center = (place + _grid(n, height, width)) / constant(n, count)
    relative = (anchors / np.array(extents)).astype(np.float32)
    grown = (size * 2.0) * (size * 2.0) if raw else size.function(nn.Exp)
    return joined([center, grown * constant(n, relative)], 4)


def _rows(
    n: DarknetLayer, boxes: Term, sure: Term, scores: Term, threshold: float, overlap: float
) -> Value:
    likely = sure * scores
    likely = (likely > threshold).choose(likely, 0.0)
    shape: Any = likely.shape
    batch, height, width, anchors, classes = shape
    count = height * width * anchors
    flat = [t.reshape(batch, count, t.shape[4] or 0) for t in (boxes, sure, likely)]
    if overlap > 0:
        flat[2] = _best(n, flat[0], flat[2], overlap)
    whole = joined(flat, 2)
    return whole.value if batch != 1 else whole.reshape(count, 5 + classes).value


def _best(n: DarknetLayer, boxes: Term, scores: Term, overlap: float) -> Term:
    """The scores, set to 0 for boxes that overlap a better one of their class too much."""
    shape: Any = scores.shape
    batch, count, classes = shape
    by_class = scores.transpose(0, 2, 1)
    most = n.constant(count, i64)
    limit = n.constant(np.float32(overlap))
    order, kept = suppressed(n, boxes.value, by_class.value, most, limit, None, True)
    sorted_ = Term(n, gathered_elements(n, by_class.value, order, 2))
    chosen = Term(n, kept).choose(sorted_, 0.0).value
    zeros = broadcast(n, n.constant(0.0, f32), [batch, classes, count])
    back = n(nn.ScatterElements(zeros, order, chosen, axis=2))
    return Term(n, back).transpose(0, 2, 1)

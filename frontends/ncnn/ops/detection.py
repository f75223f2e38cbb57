"""Regions of feature maps, and boxes of detectors.

Source: Tencent/ncnn, src/layer: roipooling.cpp, roialign.cpp, psroipooling.cpp, proposal.cpp,
priorbox.cpp, detectionoutput.cpp, yolodetectionoutput.cpp and yolov3detectionoutput.cpp
"""

from __future__ import annotations

from ...common.detections import (
    Choice,
    best_of_classes,
    decoded,
    priors,
    sizes_of_priors,
)
from ...common.proposals import Proposing, anchors, placed, proposed
from ...common.regions import average_of_own_channels, max_roi_pool, roi_align
from ...common.vocabulary import *
from ..layer import NcnnLayer, rows

_NO_LIMIT = np.iinfo(np.int32).max


def _region(n: NcnnLayer, roi: Value) -> Value:
    """The region [1, 5] with the corners in a blob [4], of image 0."""
    corners = Term(n, roi).reshape(1, 4)
    return joined([corners.part(1, 0, 1) * 0.0, corners], 1).value


@rows("ROIPooling")
def roi_pooling(n: NcnnLayer, x: Value, roi: Value) -> Value:
    bins, scale = (n.int(1), n.int(0)), n.float(2, 1.0)
    n.warn("bins of whole elements: builds of ncnn that divide inexactly begin them one earlier")
    return max_roi_pool(n, n.image(x, 2), _region(n, roi), bins=bins, scale=scale)


@rows("PSROIPooling")
def average_of_channels(n: NcnnLayer, x: Value, roi: Value) -> Value:
    x, bins, scale = n.image(x, 2), (n.int(1, 7), n.int(0, 7)), n.float(2, 0.0625)
    if x.type.shape[1] != n.int(3) * bins[0] * bins[1]:
        raise n.error(f"{x.type.shape[1]} channels, expected {n.int(3)} for each of {bins} bins")
    return average_of_own_channels(n, x, _region(n, roi), bins=bins, scale=scale)


@rows("ROIAlign")
def roi_aligned(n: NcnnLayer, x: Value, roi: Value) -> Value:
    if n.int(5) != 1:
        raise n.error("bins that are cut off at the image's border (version 0) are not supported")
    corners = Term(n, roi).reshape(1, 4).value
    how = {"scale": n.float(2, 1.0), "samples": n.int(3), "half": bool(n.int(4))}
    first = n.constant(np.zeros(1, np.int64))
    return roi_align(n, n.image(x, 2), corners, first, bins=(n.int(1), n.int(0)), **how)


@rows("Proposal")
def proposal(n: NcnnLayer, scores: Value, moves: Value, image: Value) -> list[Value]:
    """Proposed boxes [R, 1, 4] and their scores [R, 1, 1], from maps [2 A, H, W] and [4
    A, H, W].
    """
    stride, base = n.int(0, 16), n.int(1, 16)
    shape = anchors(base, (0.5, 1, 2), (8, 16, 32), 0.0)
    count, (_, channels, height, width) = len(shape), scores.type.shape
    if None in (height, width) or channels != 2 * count or moves.type.shape[1] != 4 * count:
        raise n.error(f"{channels} channels of scores, expected {2 * count} and known extents")
    grid = placed(shape, height, width, stride).transpose(2, 0, 1, 3).reshape(1, -1, 4)
    moved = Term(n, moves).reshape(1, count, 4, height, width).transpose(0, 1, 3, 4, 2)
    boxes = decoded(constant(n, grid), moved.reshape(1, grid.shape[1], 4))
    sure = Term(n, scores).part(1, count, 2 * count).flattened(1)
    given = Term(n, image)  # height, width, scale
    last = given.gather(constant(n, np.array([1, 0])), 1) - 1.0
    how = Proposing(n.int(2, 6000), n.int(3, 300), n.float(4, 0.7), unit=0.0)
    found = proposed(boxes, sure, last, given.part(1, 2, 3) * float(n.int(5, 16)), how)
    parts = [(found.boxes, 4), (found.scores, 1)][: len(n.node.outputs)]
    return [part.reshape(1, (part.value, 0), 1, size).value for part, size in parts]


@rows("PriorBox")
def prior_box(n: NcnnLayer, x: Value, image: Value | None = None) -> Value:
    """Prior boxes relative to the image, then their variances: [2, P]; in MXNet's mode boxes only:
    [P].
    """
    places, none = x.type.shape[2:], -233
    if x.type.rank != 4 or None in places:
        raise n.error("it needs a map of known extents")
    least, most, ratios = n.floats(0), n.floats(1), n.floats(2)
    steps = [n.float(12, none), n.float(11, none)]
    if image is None and n.int(9) == none and n.int(10) == none and not most:
        return _mxnet_priors(n, places, steps, least, ratios)
    extents = [n.int(10), n.int(9)]  # height, then width
    if image is not None:
        own = image.type.shape[2:]
        extents = [d if e == none else e for d, e in zip(own, extents, strict=True)]
    if None in extents or min(extents) < 1 or (most and len(most) != len(least)):
        raise n.error(f"images of {extents}, {len(most)} largest for {len(least)} smallest sizes")
    round_ = np.ceil if n.int(14) else float
    steps = [
        s if s != none else round_(e / d) for s, e, d in zip(steps, extents, places, strict=True)
    ]
    ratios = [1.0, *(v for r in ratios for v in ((r, 1 / r) if n.int(7, 1) else (r,)))]
    offset = n.float(13)
    begins = [offset * (s - 1) / s for s in steps] if n.int(15) else [offset] * 2
    sizes = sizes_of_priors(least, most, ratios, squares_first=True)
    boxes = priors(places, steps, begins, sizes, extents[::-1]).astype(np.float32).reshape(-1)
    boxes = boxes.clip(0, 1) if n.int(8) else boxes
    own = np.array([n.float(3 + i, d) for i, d in enumerate(_VARIANCES)], np.float32)
    return n.constant(np.stack([boxes, np.resize(own, boxes.shape)])[None])


_VARIANCES = (0.1, 0.1, 0.2, 0.2)


def _mxnet_priors(n: NcnnLayer, places, steps: list[float], least, ratios: list[float]) -> Value:
    """Prior boxes in MXNet's mode: one of each size, then one of the first size per
    further ratio.
    """
    if not least or not ratios:
        raise n.error("it needs sizes and ratios")
    steps = [1 / d if s == -233 else s for s, d in zip(steps, places, strict=True)]
    narrow, offset = places[0] / places[1], n.float(13)
    sizes = [(s * narrow, s) for s in least]
    sizes += [(least[0] * narrow * r**0.5, least[0] / r**0.5) for r in ratios[1:]]
    boxes = priors(places, steps, (offset, offset), np.array(sizes)).astype(np.float32)
    return n.constant((boxes.clip(0, 1) if n.int(8) else boxes).reshape(1, -1))


@rows("DetectionOutput")
def detections(n: NcnnLayer, *inputs: Value) -> Value:
    """Rows of (class, score, corners), the best first: [?, 6].

    The inputs are offsets, scores and priors with variances. In MXNet's mode, where the number of
    classes is 0, scores are [C, P] and priors [P, 4].
    """
    if len(inputs) != 3:
        raise n.error(f"{len(inputs)} inputs, expected 3")
    ours = n.int(0) != -233
    places, scores, anchors_ = (Term(n, v) for v in inputs)
    count = (anchors_.shape[-1] or 0) // 4 if ours else anchors_.shape[1] or 0
    if not count or anchors_.rank != 3 or (not ours and scores.rank != 3):
        raise n.error("it needs priors of known extents")
    if ours:
        boxes, own = (anchors_.part(1, i, i + 1).reshape(1, count, 4) for i in range(2))
        sure = scores.reshape(1, count, n.int(0)).transpose(0, 2, 1)
    else:
        own = constant(n, [n.float(5 + i, v) for i, v in enumerate(_VARIANCES)], f32)
        boxes, sure = anchors_, scores
    found = best_of_classes(
        decoded(boxes, places.reshape(1, count, 4) * own),
        sure,
        Choice(
            threshold=n.float(4, 0.5),
            overlap=n.float(1, 0.05),
            top=n.int(2, 300),
            background=0,
        ),
    )
    best = found.by_score(n.int(3, 100))
    return joined([best.places.part(1, 1, 2), best.scores, best.boxes], 1).spread(1, 0).value


@rows("Yolov3DetectionOutput")
def yolo(n: NcnnLayer, *inputs: Value) -> Value:
    """Rows of (class counted from 1, score, corners), the best first: [?, 6]."""
    classes, count = n.int(0, 20), n.int(1, 5)
    biases, mask, scales = n.floats(4), n.ints(5), n.floats(6)
    if min(scales, default=1) <= 0 or not inputs:
        raise n.error(f"{len(inputs)} inputs, with scales of anchors {scales}")
    if len(mask) < count * len(inputs) or len(scales) < len(inputs):
        raise n.error("it lacks masks or scales of anchors")
    if any(not 0 <= v < len(biases) // 2 for v in mask):
        raise n.error(
            f"a mask names an anchor outside of 0 to {len(biases) // 2 - 1}: {list(mask)}"
        )
    anchors = np.array(biases[: len(biases) // 2 * 2], np.float32).reshape(-1, 2)
    parts = [
        _detections_of_map(n, x, classes, anchors[mask[i * count : (i + 1) * count]], scales[i])
        for i, x in enumerate(inputs)
    ]
    return _kept_detections(n, parts)


@rows("YoloDetectionOutput")
def yolo_of_regions(n: NcnnLayer, *inputs: Value) -> Value:
    """Like `yolo`, but class scores are a softmax, and anchors are in units of cells."""
    classes, count, biases = n.int(0, 20), n.int(1, 5), n.floats(4)
    if len(biases) < 2 * count or not inputs:
        raise n.error(f"{len(biases)} numbers for {count} anchors")
    sizes = np.array(biases[: 2 * count], np.float32).reshape(-1, 2)
    parts = [_detections_of_map(n, x, classes, sizes, 1.0, softmax=True) for x in inputs]
    return _kept_detections(n, parts)


def _kept_detections(n: NcnnLayer, maps: list[tuple[Term, Term, Term]]) -> Value:
    """The detections above the score threshold that non-maximum suppression keeps, as rows."""
    parts = [joined(list(one), 1) for one in zip(*maps, strict=True)]
    ranked = parts[1].transpose(0, 2, 1).value
    overlap, least = (n.constant(v, f32) for v in (n.float(3, 0.45), n.float(2, 0.01)))
    order, kept = suppressed(n, parts[2].value, ranked, n.constant(_NO_LIMIT, i64), overlap, least)
    there = Term(n, n(nn.NonZero(Term(n, kept).flat().value))).flat()
    chosen = Term(n, order).flat().gather(there)
    return joined(parts, 2).gather(chosen, 1).value


def _detections_of_map(
    n: NcnnLayer, x: Value, classes: int, anchors: np.ndarray, scale: float, softmax: bool = False
) -> tuple[Term, Term, Term]:
    """Labels and scores [1, N, 1], and corners [1, N, 4], of a map [1, A * (5 + C), H, W]."""
    count, (_, channels, height, width) = len(anchors), n.image(x, 2).type.shape
    if None in (height, width) or channels != count * (5 + classes):
        raise n.error(f"{channels} channels, expected {count * (5 + classes)} and known extents")
    cells = (
        Term(n, n.image(x, 2))
        .reshape(1, count, 5 + classes, height, width)
        .transpose(0, 1, 3, 4, 2)
    )
    cells = cells.reshape(1, count * height * width, 5 + classes)
    columns, rows_ = np.meshgrid(np.arange(width), np.arange(height))
    grid = np.stack([columns, rows_], -1)[None].repeat(count, 0).reshape(1, -1, 2)
    extents = np.array([width, height], np.float32)
    wide = (anchors / (scale * extents)).repeat(height * width, 0)[None]
    center = cells.part(2, 0, 2).function(nn.Sigmoid) + constant(n, grid, f32)
    center = center / constant(n, extents, f32)
    half = cells.part(2, 2, 4).function(nn.Exp) * constant(n, wide / 2, f32)
    chances, sure = cells.part(2, 5, 5 + classes), cells.part(2, 4, 5)
    if softmax:
        chances = chances.made(nn.Softmax(chances.value, axis=2))
    best = chances.largest(2, keep=True)
    label = chances.argmax(2, keep=True).cast(f32) + 1.0
    if softmax:
        score = sure.function(nn.Sigmoid) * best
    else:  # as ncnn has its brackets: 1 / (1 + exp(-object) * (1 + exp(-class)))
        doubt = (-sure).function(nn.Exp) * ((-best).function(nn.Exp) + 1.0)
        score = 1.0 / (doubt + 1.0)
    return label, score, joined([center - half, center + half], 2)

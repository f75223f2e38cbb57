"""Regions of feature maps, and boxes of detectors.

Source: Tencent/ncnn, src/layer/roipooling.cpp, roialign.cpp and yolov3detectionoutput.cpp
"""

from __future__ import annotations

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import f32, i64
from ...common.boxes import suppressed
from ...common.regions import max_roi_pool, roi_align
from ...common.terms import Term, constant, joined
from .. import rows
from ..layer import NcnnLayer

_NO_LIMIT = np.iinfo(np.int32).max


@rows("ROIPooling")
def roi_pooling(n: NcnnLayer, x: Value, roi: Value) -> Value:
    """One region, corners [4] behind the batch."""
    corners = Term(n, roi).reshape(1, 4)
    region = joined([corners.part(1, 0, 1) * 0.0, corners], 1)
    bins = (n.int(1), n.int(0))
    return max_roi_pool(n, n.image(x, 2), region.value, bins=bins, scale=n.float(2, 0.0625))


@rows("ROIAlign")
def roi_aligned(n: NcnnLayer, x: Value, roi: Value) -> Value:
    if n.int(5) != 1:
        raise n.error("bins that are cut off at the image's border (version 0) are not supported")
    corners = Term(n, roi).reshape(1, 4).value
    how = {"scale": n.float(2, 0.0625), "samples": n.int(3), "half": bool(n.int(4))}
    first = n.constant(np.zeros(1, np.int64))
    return roi_align(n, n.image(x, 2), corners, first, bins=(n.int(1), n.int(0)), **how)


@rows("Yolov3DetectionOutput")
def yolo(n: NcnnLayer, *inputs: Value) -> Value:
    """Rows of class, counted from 1 on, score and corners, the best first: [?, 6]."""
    classes, count = n.int(0, 20), n.int(1, 5)
    biases, mask, scales = n.floats(4), n.ints(5), n.floats(6)
    if len(mask) < count * len(inputs) or len(scales) < len(inputs):
        raise n.error("it lacks masks or scales of anchors")
    if any(not 0 <= v < len(biases) // 2 for v in mask):
        raise n.error("a mask names an anchor that is not there")
    anchors = np.array(biases[: len(biases) // 2 * 2], np.float32).reshape(-1, 2)
    parts = [
        _cells(n, x, classes, anchors[mask[i * count : (i + 1) * count]], scales[i])
        for i, x in enumerate(inputs)
    ]
    labels, scores, boxes = (joined(list(one), 1) for one in zip(*parts, strict=True))
    overlap, least = (n.constant(v, f32) for v in (n.float(3, 0.45), n.float(2, 0.01)))
    ranked = scores.transpose(0, 2, 1).value
    most = n.constant(_NO_LIMIT, i64)
    order, kept = suppressed(n, boxes.value, ranked, most, overlap, least)
    there = Term(n, n(nn.NonZero(Term(n, kept).flat().value))).flat()
    chosen = Term(n, order).flat().gather(there)
    found = joined([labels, scores, boxes], 2).gather(chosen, 1)
    return found.value


def _cells(
    n: NcnnLayer, x: Value, classes: int, anchors: np.ndarray, scale: float
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
    chances = cells.part(2, 5, 5 + classes)
    best = chances.largest(2, keep=True)
    label = chances.made(nn.Argmax(chances.value, axis=2, keep_dims=True)).cast(f32) + 1.0
    # As ncnn has its brackets: 1 / (1 + exp(-object) * (1 + exp(-class)))
    doubt = (-cells.part(2, 4, 5)).function(nn.Exp) * ((-best).function(nn.Exp) + 1.0)
    score = 1.0 / (doubt + 1.0)
    return label, score, joined([center - half, center + half], 2)

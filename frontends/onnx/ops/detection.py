"""Boxes of detectors that overlap.

Source: ONNX NonMaxSuppression-11.
"""

from __future__ import annotations

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType, f32, i1, i64
from ...common.shapes import as_i64, as_scalar, broadcast, reshape, shape_vector
from ..node import Node
from ..registry import converter


@converter("NonMaxSuppression")
def non_max_suppression(
    n: Node,
    boxes: Value,
    scores: Value,
    most: Value | None = None,
    iou_threshold: Value | None = None,
    score_threshold: Value | None = None,
) -> Value:
    """For each class its boxes, the best first, as many as any class has above the threshold.

    boxes [B, N, 4], scores [B, C, N] -> order, kept [B, C, K] -> [?, 3]
    """
    for name, value in (("boxes", boxes), ("scores", scores)):
        if value.type.rank != 3:
            raise n.error(f"input '{name}' is '{value.type}', expected rank 3")
    above, order = _ranked(n, scores, score_threshold)
    eligible = n(nn.GatherElements(above, order, axis=2))
    chosen = n(nn.GatherNd(_corners(n, boxes), _with_one(n, order), batch_dims=1))
    limit = n.constant(0, i64) if most is None else as_scalar(n, as_i64(n, most))
    threshold = n.constant(0.0, f32) if iou_threshold is None else as_scalar(n, iou_threshold)
    kept = n(nn.Suppress(chosen, eligible, limit, threshold))
    places = n(nn.Transpose(n(nn.NonZero(kept)), permutation=(1, 0)))
    box = n(nn.GatherNd(order, places))
    lead = n(nn.Slice(places, starts=(0, 0), out=TensorType((None, 2), i64)))
    return n(nn.Concat([lead, _with_one(n, box)], axis=1))


def _ranked(n: Node, scores: Value, threshold: Value | None) -> tuple[Value, Value]:
    """Which boxes are above the threshold; the boxes of each class by falling score."""
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


def _corners(n: Node, boxes: Value) -> Value:
    """Boxes as y0, x0, y1, x1 with y0 <= y1 and x0 <= x1."""
    half = TensorType((*boxes.type.shape[:2], 2), boxes.type.element_type)
    first, second = n(nn.Split(boxes, axis=2, outs=[half, half]))
    if n.int("center_point_box"):
        swap = n.constant(np.array([1, 0], np.int64))
        center, size = (n(nn.Gather(part, swap, axis=2)) for part in (first, second))
        extent = n(nn.Mul(size, n.scalar(0.5, size)))
        first, second = n(nn.Sub(center, extent)), n(nn.Add(center, extent))
    return n(nn.Concat([n(nn.Min(first, second)), n(nn.Max(first, second))], axis=2))


def _with_one(n: Node, x: Value) -> Value:
    """x with a last dimension of one element."""
    return reshape(n, x, [*((x, i) for i in range(x.type.rank)), 1])

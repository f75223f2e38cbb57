"""Boxes of detectors that overlap.

Source: ONNX NonMaxSuppression-11.
"""

from __future__ import annotations

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType, i64
from ...common.boxes import suppressed, with_one
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
    """boxes [B, N, 4], scores [B, C, N] -> order, kept [B, C, K] -> [?, 3]"""
    for name, value in (("boxes", boxes), ("scores", scores)):
        if value.type.rank != 3:
            raise n.error(f"input '{name}' is '{value.type}', expected rank 3")
    limits = most, iou_threshold, score_threshold
    order, kept = suppressed(n, boxes, scores, *limits, bool(n.int("center_point_box")))
    places = n(nn.Transpose(n(nn.NonZero(kept)), permutation=(1, 0)))
    box = n(nn.GatherNd(order, places))
    lead = n(nn.Slice(places, starts=(0, 0), out=TensorType((None, 2), i64)))
    return n(nn.Concat([lead, with_one(n, box)], axis=1))

"""Sorting the rows of a matrix, and suppression of boxes that overlap."""

from __future__ import annotations

from ..vocabulary import *
from .base import NnOp, is_float, tensor


class SortRows(NnOp, name="nn.sort_rows"):
    """The permutation that sorts a matrix's rows by their first elements, then by the second, ..

    Equal rows stay in order; NaN comes last. Shapes: x [N, M] -> out [N].
    """

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    example = "%i = nn.sort_rows %x : (tensor<4x2xf32>) -> tensor<4xi64>"

    @classmethod
    def infer(cls, types, attrs):
        (x,) = types
        if x.rank != 2:
            raise NncError(f"x must be a matrix, but got '{x}'")
        return [tensor(x.shape[:1], i64)]

    def evaluate(self, x):
        if x.shape[1] == 0:
            return np.arange(x.shape[0], dtype=np.int64)
        return np.lexsort(x.T[::-1]).astype(np.int64)


class Suppress(NnOp, name="nn.suppress"):
    """Which boxes to keep, so that no two of them overlap much (non-maximum suppression).

    Boxes come in order, the best first. One is kept if it is eligible and its intersection with
    each box kept before is at most `threshold` of their union, until `limit` boxes of a list are
    kept. A box is two opposite corners y0, x0, y1, x1 with y0 <= y1 and x0 <= x1.

    Shapes: boxes [B.., N, 4], eligible [B.., N], limit [], threshold [] -> out [B.., N].
    Source: ONNX NonMaxSuppression-11.
    """

    boxes: Operand = operand(AnyRankedTensor)
    eligible: Operand = operand(AnyRankedTensor)
    limit: Operand = operand(AnyRankedTensor)
    threshold: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    example = (
        "%k = nn.suppress %b, %e, %n, %t : (tensor<2x8x4xf32>, tensor<2x8xi1>, tensor<i64>, "
        "tensor<f32>) -> tensor<2x8xi1>"
    )

    @classmethod
    def infer(cls, types, attrs):
        boxes, eligible, limit, threshold = types
        if boxes.rank < 2 or boxes.shape[-1] not in (4, None) or not is_float(boxes.element_type):
            raise NncError(f"boxes must be floats in rows of 4, but got '{boxes}'")
        if eligible.element_type is not i1 or eligible.rank != boxes.rank - 1:
            raise NncError(f"eligible must be an i1 for each box, but got '{eligible}'")
        for a, b in zip(eligible.shape, boxes.shape, strict=False):
            if None not in (a, b) and a != b:
                raise NncError(f"eligible must be an i1 for each box, but got '{eligible}'")
        if limit.rank or limit.element_type is not i64:
            raise NncError(f"limit must be a 0-d tensor of i64, but got '{limit}'")
        if threshold.rank or threshold.element_type is not boxes.element_type:
            raise NncError(f"threshold must be 0-d and of the boxes' type, but got '{threshold}'")
        return [eligible]

    def evaluate(self, boxes, eligible, limit, threshold):
        out = np.zeros(eligible.shape, np.bool_)
        for at in np.ndindex(eligible.shape[:-1]):
            kept: list = []
            for i, box in enumerate(boxes[at]):
                if len(kept) >= int(limit.reshape(())):
                    break
                if eligible[(*at, i)] and not any(
                    overlap(box, other) > threshold.reshape(()) for other in kept
                ):
                    kept.append(box)
                    out[(*at, i)] = True
        return out


def overlap(a, b):
    """The intersection of two boxes divided by their union; 0 where one has no area."""
    high, low = np.minimum(a[2:], b[2:]), np.maximum(a[:2], b[:2])
    common = np.prod(np.maximum(high - low, 0))
    areas = [np.prod(box[2:] - box[:2]) for box in (a, b)]
    if common <= 0 or min(areas) <= 0:
        return common.dtype.type(0)
    return common / (areas[0] + areas[1] - common)

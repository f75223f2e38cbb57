"""Crops of images to boxes, resized."""

from __future__ import annotations

from .words import *


def cropped(
    n: Layer, image: Value, boxes: Value, batch: Value, size: Value, method: str, fill: float
) -> Value:
    """The part of an image in each box, resized to `size`; `fill` where a box leaves the image.

    image [N, H, W, C], boxes [B, 4] of y, x, y, x from 0 to 1, batch [B], the number of each box's
    image, size [2] -> [B, h, w, C]. `method` is "nearest", or else bilinear.
    """
    counts = [Term(n, as_i64(n, size)).column(i) for i in range(2)]
    ys, xs = (_samples(n, image, boxes, i, count) for i, count in enumerate(counts))
    inside = _inside(n, image, ys, 0).spread(0, 1) & _across(_inside(n, image, xs, 1))
    number = Term(n, as_i64(n, batch)).spread(0, 2)

    def at(y: Term, x: Term) -> Term:
        """The pixels at rows [B, h] and columns [B, w]."""
        parts = [number, y.spread(0, 1), _across(x)]
        zero = (parts[1] + parts[2]) * 0
        places = n(nn.Concat([(p + zero).spread(0, 1).value for p in parts], axis=3))
        return Term(n, n(nn.GatherNd(image, places)))

    if method == "nearest":
        found = at(*(_index(n, image, v + 0.5, i) for i, v in enumerate((ys, xs))))
    else:
        low = [v.function(nn.Floor) for v in (ys, xs)]
        corner = [[_index(n, image, v, i), _index(n, image, v + 1, i)] for i, v in enumerate(low)]
        ry, rx = (ys - low[0]).spread(0, 2), _across(xs - low[1]).spread(0, 1)
        rows = []
        for y in corner[0]:
            left, right = at(y, corner[1][0]), at(y, corner[1][1])
            rows.append(left + (right - left) * rx)
        found = rows[0] + (rows[1] - rows[0]) * ry
    return inside.spread(0, 1).choose(found, fill).value


def _across(x: Term) -> Term:
    """[B, w] as [B, 1, w]."""
    return x.reshape((x.value, 0), 1, (x.value, 1))


def _samples(n: Layer, image: Value, boxes: Value, axis: int, count: Term) -> Term:
    """Positions of the samples of each box along an axis of the image: [B, count].

    A single sample lies in the middle.
    """
    last = (extent(n, (image, 1 + axis)) - 1).cast(f32)
    first, second = (Term(n, boxes).column(i).spread(0, 1) for i in (axis, axis + 2))
    single = count.equals(1)
    begin = single.choose((first + second) * 0.5, first) * last
    step = (second - first) * last / (count - 1).max(1).cast(f32)
    return begin + counting(n, count).cast(f32) * step


def _inside(n: Layer, image: Value, places: Term, axis: int) -> Term:
    last = (extent(n, (image, 1 + axis)) - 1).cast(f32)
    return (places >= 0.0) & (places <= last)


def _index(n: Layer, image: Value, places: Term, axis: int) -> Term:
    """Positions rounded down to indices, clamped to the image."""
    last = extent(n, (image, 1 + axis)) - 1
    return places.function(nn.Floor).cast(i64).max(0).min(last)

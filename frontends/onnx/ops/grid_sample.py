"""GridSample: an image read at positions that another tensor gives.

Every position reads a few neighbours in each dimension (one, two, or four for cubic); a
neighbour is gathered from the image with its channels last, and weighted.

Source: ONNX GridSample-22.
"""

from __future__ import annotations

from itertools import product as combinations

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import f32, i64
from ..node import Node
from ..registry import converter
from ..shapes import reshape

_MODES = {"nearest": "nearest", "linear": "linear", "cubic": "cubic"}
_OLD_MODES = {"nearest": "nearest", "bilinear": "linear", "bicubic": "cubic"}


@converter("GridSample")
def grid_sample(n: Node, x: Value, grid: Value) -> Value:
    names = _MODES if n.opset >= 20 else _OLD_MODES
    mode = names[n.string("mode", choices=tuple(names))]
    padding = n.string("padding_mode", "zeros", ("zeros", "border", "reflection"))
    rank = x.type.rank - 2
    if rank < 1 or grid.type.rank != rank + 2 or None in x.type.shape[2:]:
        raise n.error("the image's extents must be known, and the grid be of the same rank")
    taps = [_taps(n, _position(n, grid, rank, d, x.type.shape[2 + d]), mode) for d in range(rank)]
    channels_last = n(nn.Transpose(x, permutation=(0, *range(2, rank + 2), 1)))
    total = None
    for chosen in combinations(*taps):
        part = _read(n, channels_last, [place for place, _ in chosen], padding)
        for _, weight in chosen:
            if weight is not None:
                column = reshape(n, weight, [*((weight, i) for i in range(rank + 1)), 1])
                part = n(nn.Mul(part, n.cast(column, x.type.element_type)))
        total = part if total is None else n(nn.Add(total, part))
    assert total is not None
    return n(nn.Transpose(total, permutation=(0, rank + 1, *range(1, rank + 1))))


def _position(n: Node, grid: Value, rank: int, d: int, extent: int) -> Value:
    """Where the positions lie in spatial dimension d, in elements, as f32."""
    # The grid's last dimension counts from the innermost spatial dimension outwards.
    index = n.constant(rank - 1 - d, i64)
    at = n.cast(n(nn.Gather(grid, index, axis=rank + 1)), f32)
    one, half = n.scalar(1, at), n.scalar(0.5, at)
    shifted = n(nn.Add(at, one))
    if n.int("align_corners"):
        return n(nn.Mul(n(nn.Mul(shifted, half)), n.scalar(extent - 1, at)))
    return n(nn.Mul(n(nn.Sub(n(nn.Mul(shifted, n.scalar(extent, at))), one)), half))


def _taps(n: Node, at: Value, mode: str) -> list[tuple[Value, Value | None]]:
    """Neighbours of the positions as i64, and their weights."""
    if mode == "nearest":
        return [(n.cast(n(nn.Round(at)), i64), None)]
    low = n(nn.Floor(at))
    rest = n(nn.Sub(at, low))
    first = n.cast(low, i64)
    one = n.scalar(1, at)
    if mode == "linear":
        weights = [n(nn.Sub(one, rest)), rest]
        begin = 0
    else:
        weights = _cubic_weights(n, rest)
        begin = -1
    return [
        (n(nn.Add(first, n.constant(begin + i, i64))), weight) for i, weight in enumerate(weights)
    ]


def _cubic_weights(n: Node, t: Value) -> list[Value]:
    """Keys' kernel with a = -0.75 at distances 1 + t, t, 1 - t and 2 - t."""
    a = -0.75

    def polynomial(d: Value, *coefficients: float) -> Value:
        out = n.scalar(coefficients[0], t)
        for c in coefficients[1:]:
            out = n(nn.Add(n(nn.Mul(out, d)), n.scalar(c, t)))
        return out

    far, near = (a, -5 * a, 8 * a, -4 * a), (a + 2, -(a + 3), 0.0, 1.0)
    one, two = n.scalar(1, t), n.scalar(2, t)
    opposite = n(nn.Sub(one, t))
    return [
        polynomial(n(nn.Add(t, one)), *far),
        polynomial(t, *near),
        polynomial(opposite, *near),
        polynomial(n(nn.Sub(two, t)), *far),
    ]


def _read(n: Node, image: Value, places: list[Value], padding: str) -> Value:
    """image[n, places.., :] for [N, P..] places, by the rule for those outside."""
    columns, inside = [], None
    for d, place in enumerate(places):
        extent = image.type.shape[1 + d]
        zero, last = n.constant(0, i64), n.constant(extent - 1, i64)
        if padding == "zeros":
            fits = n(nn.And(n(nn.GreaterEqual(place, zero)), n(nn.LessEqual(place, last))))
            inside = fits if inside is None else n(nn.And(inside, fits))
        elif padding == "reflection":
            place = _reflected(n, place, extent)
        place = n(nn.Clip(place, zero, last))
        columns.append(reshape(n, place, [*((place, i) for i in range(place.type.rank)), 1]))
    rank = columns[0].type.rank
    index = columns[0] if len(columns) == 1 else n(nn.Concat(columns, axis=rank - 1))
    found = n(nn.GatherNd(image, index, batch_dims=1))
    if inside is None:
        return found
    mask = reshape(n, inside, [*((inside, i) for i in range(rank - 1)), 1])
    return n(nn.Where(mask, found, n.scalar(0, found)))


def _reflected(n: Node, place: Value, extent: int) -> Value:
    """The place mirrored at the borders until it is inside."""
    aligned = bool(n.int("align_corners"))
    period = 2 * (extent - 1) if aligned else 2 * extent
    if period == 0:
        return n(nn.Mul(place, n.constant(0, i64)))
    wrapped = n(nn.Mod(place, n.constant(period, i64)))
    mirrored = n(nn.Sub(n.constant(period if aligned else period - 1, i64), wrapped))
    return n(nn.Min(wrapped, mirrored))

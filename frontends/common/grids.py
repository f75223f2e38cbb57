"""Images read at positions that a tensor gives, and such tensors.

Every position reads a few neighbours in each dimension (one, two, or four for cubic); a
neighbour is gathered from the image with its channels last, and weighted.

Source: ONNX GridSample-22, AffineGrid-20.
"""

from __future__ import annotations

from itertools import product as combinations

import numpy as np

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import f32, i64
from .layer import Layer
from .shapes import as_i64, broadcast_by, part_of_vector, reshape
from .terms import Term, constant, counting, extent, joined

MODES = ("linear", "nearest", "cubic")
PADDINGS = ("zeros", "border", "reflection")


def grid_sample(
    n: Layer,
    x: Value,
    grid: Value,
    *,
    mode: str = "linear",
    padding: str = "zeros",
    corners: bool = False,
) -> Value:
    """x [N, C, D..], grid [N, P.., R] in [-1, 1], the innermost dimension first -> [N, C, P..]

    `mode` is nearest, linear or cubic, `padding` zeros, border or reflection; -1 and 1 are the
    outermost elements' centers with `corners`, else their edges.
    """
    rank = x.type.rank - 2
    if rank < 1 or grid.type.rank != rank + 2:
        raise n.error(f"the grid has rank {grid.type.rank}, expected {x.type.rank} as the image")
    sizes = [extent(n, (x, 2 + d)) for d in range(rank)]
    taps = [_taps(n, _position(n, grid, rank, d, sizes[d], corners), mode) for d in range(rank)]
    channels_last = n(nn.Transpose(x, permutation=(0, *range(2, rank + 2), 1)))
    total = None
    for chosen in combinations(*taps):
        part = _read(n, channels_last, [place for place, _ in chosen], sizes, padding, corners)
        for _, weight in chosen:
            if weight is not None:
                column = reshape(n, weight, [*((weight, i) for i in range(rank + 1)), 1])
                part = n(nn.Mul(part, n.cast(column, x.type.element_type)))
        total = part if total is None else n(nn.Add(total, part))
    assert total is not None
    return n(nn.Transpose(total, permutation=(0, rank + 1, *range(1, rank + 1))))


def _position(n: Layer, grid: Value, rank: int, d: int, size: Term, corners: bool) -> Value:
    """Where the positions lie in spatial dimension d, in elements, as f32."""
    # The grid's last dimension counts from the innermost spatial dimension outwards.
    index = n.constant(rank - 1 - d, i64)
    at = n.cast(n(nn.Gather(grid, index, axis=rank + 1)), f32)
    one, half = n.scalar(1, at), n.scalar(0.5, at)
    shifted = n(nn.Add(at, one))
    if corners:
        return n(nn.Mul(n(nn.Mul(shifted, half)), (size - 1).cast(f32).value))
    return n(nn.Mul(n(nn.Sub(n(nn.Mul(shifted, size.cast(f32).value)), one)), half))


def _taps(n: Layer, at: Value, mode: str) -> list[tuple[Value, Value | None]]:
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


def _cubic_weights(n: Layer, t: Value) -> list[Value]:
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


def _read(
    n: Layer, image: Value, places: list[Value], sizes: list[Term], padding: str, corners: bool
) -> Value:
    """image[n, places.., :] for [N, P..] places, by the rule for those outside."""
    columns, inside = [], None
    for d, place in enumerate(places):
        zero, last = n.constant(0, i64), (sizes[d] - 1).value
        if padding == "zeros":
            fits = n(nn.And(n(nn.GreaterEqual(place, zero)), n(nn.LessEqual(place, last))))
            inside = fits if inside is None else n(nn.And(inside, fits))
        elif padding == "reflection":
            place = _reflected(Term(n, place), sizes[d], corners)
        place = n(nn.Clip(place, zero, last))
        columns.append(reshape(n, place, [*((place, i) for i in range(place.type.rank)), 1]))
    rank = columns[0].type.rank
    index = columns[0] if len(columns) == 1 else n(nn.Concat(columns, axis=rank - 1))
    found = n(nn.GatherNd(image, index, batch_dims=1))
    if inside is None:
        return found
    mask = reshape(n, inside, [*((inside, i) for i in range(rank - 1)), 1])
    return n(nn.Where(mask, found, n.scalar(0, found)))


def _reflected(place: Term, size: Term, corners: bool) -> Value:
    """The place mirrored at the borders until it is inside."""
    # An image of one element has the period 0, and only one place.
    period = ((size - 1) * 2).max(1) if corners else size * 2
    wrapped = place % period
    mirrored = (period if corners else period - 1) - wrapped
    return wrapped.min(mirrored).value


def affine_grid(n: Layer, theta: Value, size: Value, rank: int, corners: bool) -> Value:
    """Positions in [-1, 1] of an image's elements, and 1, times an affine matrix.

    theta [N, R, R + 1] -> grid [N, D.., R] for a size of [N, C, D..]
    """
    extents, matrix = Term(n, as_i64(n, size)), Term(n, theta)
    # The last dimension of the image is the first of a position.
    lines = [_line(n, extents.column(2 + d, 0), matrix, corners) for d in range(rank)]
    wide = Term(n, part_of_vector(n, extents.value, 2, 2 + rank))
    columns = []
    for d in reversed(range(rank)):
        line = lines[d].spread(0, rank - 1 - d)
        columns.append(Term(n, broadcast_by(n, line.value, wide.value)).spread(0, 1))
    one = constant(n, 1.0, matrix.element)
    columns.append(Term(n, broadcast_by(n, one.value, wide.value)).spread(0, 1))
    places = joined(columns, -1).flattened(rank)
    found = places @ matrix.transpose(0, 2, 1)
    batch = constant(n, np.zeros(1, np.int64)) + extents.part(0, 0, 1)
    shape = joined([batch, wide, constant(n, np.array([rank]))], 0)
    return found.shaped(shape).value


def _line(n: Layer, count: Term, like: Term, corners: bool) -> Term:
    """Positions of so many elements, of their centers or, with aligned corners, from -1 to 1."""
    places, length = counting(n, count).cast(like.element), count.cast(like.element)
    if corners:
        step = count.equals(1).choose(0.0, 2.0 / (length - 1.0))
        return places * step - 1.0
    step = 2.0 / length
    return places * step + (step / 2.0 - 1.0)

"""Images sampled at the positions that a tensor gives, and affine grids of such positions.

Each sample reads a few neighbours in each dimension (one for nearest, two for linear, four for
cubic), gathered from the image with its channels last, and weights them.

Source: ONNX GridSample-22, AffineGrid-20.
"""

from __future__ import annotations

from functools import reduce
from itertools import product as combinations
from operator import add, and_

from .formulas import polyval
from .words import *

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
    pixels: bool = False,
) -> Value:
    """x [N, C, D..], grid [N, P.., R] in [-1, 1], the innermost dimension first -> [N, C, P..]

    `mode` is nearest, linear or cubic, `padding` zeros, border or reflection. With `corners`, -1
    and 1 are the centers of the outermost elements, else their outer edges. With `pixels`, the grid
    counts elements from 0. Padding "reflection" mirrors at the positions of -1 and 1, "reflect"
    always at the outermost centers, and "symmetric" always at the edges.
    """
    if padding == "reflection":
        padding = "reflect" if corners else "symmetric"
    rank = x.type.rank - 2
    if rank < 1 or grid.type.rank != rank + 2:
        raise n.error(f"the grid has rank {grid.type.rank}, expected {x.type.rank} as the image")
    sizes = [extent(n, (x, 2 + d)) for d in range(rank)]
    # The grid's last dimension counts from the innermost spatial dimension outwards.
    real = f64 if grid.type.element_type is f64 else f32
    places = [Term(n, grid).column(rank - 1 - d).cast(real) for d in range(rank)]
    if not pixels:
        places = [_position(at, size, corners) for at, size in zip(places, sizes, strict=True)]
    if mode != "cubic":
        places = [_bounded(at, padding) for at in places]
    taps = [_taps(at, mode) for at in places]
    image, parts = Term(n, x).transpose(0, *range(2, rank + 2), 1), []
    for chosen in combinations(*taps):
        part = _read(image, [place for place, _ in chosen], sizes, padding)
        for _, weight in chosen:
            if weight is not None:
                part = part * weight.spread(0, 1).cast(part.element)
        parts.append(part)
    return reduce(add, parts).transpose(0, rank + 1, *range(1, rank + 1)).value


def _position(at: Term, size: Term, corners: bool) -> Term:
    """Positions in [-1, 1] as positions in elements."""
    if corners:
        return (at + 1.0) * 0.5 * (size - 1).cast(at.element)
    return ((at + 1.0) * size.cast(at.element) - 1.0) * 0.5


def _bounded(at: Term, padding: str) -> Term:
    """Positions that can be converted to integers: infinities and NaN become 0, as in PyTorch."""
    if padding == "zeros":
        return at
    if padding == "border":
        at = at.max(-(2.0**30)).min(2.0**30)
    return (at - at).equals(0.0).choose(at, 0.0)


def _taps(at: Term, mode: str) -> list[tuple[Term, Term | None]]:
    """The neighbours of each position as (i64 index, weight); a weight of None is 1."""
    if mode == "nearest":
        return [(at.function(nn.Round).cast(i64), None)]
    low = at.function(nn.Floor)
    rest, first = at - low, low.cast(i64)
    if mode == "linear":
        return [(first, 1.0 - rest), (first + 1, rest)]
    return [(first + (i - 1), weight) for i, weight in enumerate(_cubic_weights(rest))]


def _cubic_weights(t: Term) -> list[Term]:
    """Keys' kernel with a = -0.75 at distances 1 + t, t, 1 - t and 2 - t."""
    a = -0.75
    far, near = (a, -5 * a, 8 * a, -4 * a), (a + 2, -(a + 3), 0.0, 1.0)
    distances = ((t + 1.0, far), (t, near), (1.0 - t, near), (2.0 - t, far))
    return [polyval(coefficients, d) for d, coefficients in distances]


def _read(image: Term, places: list[Term], sizes: list[Term], padding: str) -> Term:
    """image[n, places.., :] for places [N, P..]; `padding` rules those outside of the image."""
    columns, inside = [], []
    for place, size in zip(places, sizes, strict=True):
        last = size - 1
        if padding == "zeros":
            inside.append((place >= 0) & (place <= last))
        elif padding != "border":
            place = _reflected(place, size, padding == "reflect")
        columns.append(place.max(0).min(last).spread(0, 1))
    found = image.made(nn.GatherNd(image.value, joined(columns, -1).value, batch_dims=1))
    return reduce(and_, inside).spread(0, 1).choose(found, 0) if inside else found


def _reflected(place: Term, size: Term, corners: bool) -> Term:
    """The index `place` mirrored at the borders until it is inside of the image."""
    # An image of one element has the period 0, and only one place.
    period = ((size - 1) * 2).max(1) if corners else size * 2
    wrapped = place % period
    mirrored = (period if corners else period - 1) - wrapped
    return wrapped.min(mirrored)


def affine_grid(
    n: Layer, theta: Value, size: Value, rank: int, corners: bool, lone: float = -1.0
) -> Value:
    """The positions in [-1, 1] of an image's elements, mapped by an affine matrix.

    theta [N, R, R + 1] -> grid [N, D.., R] for a size of [N, C, D..]. With `corners`, `lone` is the
    position of the element of a dimension of extent 1, which differs between formats.
    """
    extents, matrix = Term(n, as_i64(n, size)), Term(n, theta)
    # The last dimension of the image is the first of a position.
    lines = [_line(n, extents.column(2 + d, 0), matrix, corners, lone) for d in range(rank)]
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


def _line(n: Layer, count: Term, like: Term, corners: bool, lone: float) -> Term:
    """Positions of `count` elements in [-1, 1]: their centers or, if `corners`, from -1 to 1."""
    places, length = counting(n, count).cast(like.element), count.cast(like.element)
    if corners:
        single, zero = count.equals(1), constant(n, 0.0, like.element)
        return places * single.choose(0.0, 2.0 / (length - 1.0)) + single.choose(zero + lone, -1.0)
    step = 2.0 / length
    return places * step + (step / 2.0 - 1.0)

"""Images with channels last: conversions of colors, and projective transforms."""

from __future__ import annotations

from .convolution import channels_first, channels_last
from .formulas import round_half_away
from .grids import grid_sample
from .words import *


def hsv_of(x: Term) -> tuple[Term, Term, Term]:
    """The hue in turns, the saturation and the value of RGB colors [.., 3]."""
    r, g, b = (x.column(i) for i in range(3))
    value = r.max(g).max(b)
    span = value - r.min(g).min(b)
    none = span.equals(0.0)
    size = none.choose(1.0, span)
    hue = value.equals(r).choose(
        (g - b) / size, value.equals(g).choose((b - r) / size + 2.0, (r - g) / size + 4.0)
    )
    hue = none.choose(0.0, hue / 6.0)
    hue = (hue < 0.0).choose(hue + 1.0, hue)
    saturation = (value > 0.0).choose(span / (value > 0.0).choose(value, 1.0), 0.0)
    return hue, saturation, value


def rgb_of(hue: Term, saturation: Term, value: Term) -> Term:
    """RGB colors [.., 3] of a hue in turns, a saturation and a value."""
    parts = []
    for turn in (5.0, 3.0, 1.0):
        place = (hue * 6.0 + turn) % 6.0
        ramp = place.min(4.0 - place).max(0.0).min(1.0)
        parts.append((value - value * saturation * ramp).spread(0, 1))
    return joined(parts, -1)


def projected(
    n: Layer,
    x: Value,
    transforms: Term,
    size: tuple[int, int],
    mode: str,
    padding: str = "zeros",
    inside: Callable[[Term, Term], Term] | None = None,
) -> Value:
    """Images of `size`, whose pixel (x, y) reads (a x + b y + c, d x + e y + f) / (g x + h y + 1).

    x is [N, H, W, C] and `transforms` [N, 8] from a to h, or [1, 8] for all images; `mode` and
    `padding` are those of `grid_sample`. `inside` maps (the places that are read along an axis, its
    extent) to places within the image.
    """
    height, width = size
    t = transforms.spread(0, 2)
    a, b, c, d, e, f, g, h = (t.column(i, 1) for i in range(8))
    column = constant(n, np.arange(width, dtype=np.float32)[None, None])
    row = constant(n, np.arange(height, dtype=np.float32)[None, :, None])
    scale = g * column + h * row + 1.0
    places = [(a * column + b * row + c) / scale, (d * column + e * row + f) / scale]
    if inside is not None:
        extents = (extent(n, (x, axis)).cast(f32) for axis in (2, 1))
        places = [inside(p, count) for p, count in zip(places, extents, strict=True)]
    if mode == "nearest":
        places = [round_half_away(p) for p in places]
    grid = joined([p.spread(0, 1) for p in places], -1)
    all_alike = broadcast(n, grid.value, [(x, 0), height, width, 2])
    element = x.type.element_type
    image = n.cast(channels_first(n, x), element if isinstance(element, FloatType) else f32)
    found = grid_sample(n, image, all_alike, mode=mode, padding=padding, pixels=True)
    return n.cast(channels_last(n, found), element)

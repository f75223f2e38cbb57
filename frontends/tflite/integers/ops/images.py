"""Resizing of images, and concatenation of tensors with different scales."""

from __future__ import annotations

from ....common.fixed_point import divided_by_power, nearest
from ....common.vocabulary import *
from ...layer import TfliteLayer
from ..rows import INTEGERS
from ..steps import limited, of_input, of_output

FINE = 10
"""The fractional bits of a position between two elements."""


def _places(n: TfliteLayer, inner: Term, outer: Term) -> tuple[Term, Term, Term]:
    """The two neighbouring indices of each result element, and the fraction between, as i32."""
    corners = bool(n.options.align_corners)
    ratio = ((inner << FINE) + outer / 2) / outer
    if corners:
        less = (outer - 1).max(1)
        between = (((inner - 1) << FINE) + less / 2) / less
        ratio = (outer > 1).choose(between, ratio)
    place = counting(n, outer.cast(i64)).cast(i32) * ratio
    if n.options.half_pixel:
        place = place + (ratio / 2 - (1 << (FINE - 1)))
    low = (place / (1 << FINE)).max(0)
    high = ((place + ((1 << FINE) - 1)) / (1 << FINE)).min(inner - 1)
    return low, high, place - (low << FINE)


def _real_places(n: TfliteLayer, inner: Term, outer: Term) -> tuple[Term, Term, Term]:
    """The two neighbouring indices of each result element, and the fraction between in f32."""
    ratio = inner.cast(f32) / outer.cast(f32)
    if n.options.align_corners:
        between = (inner - 1).cast(f32) / (outer - 1).max(1).cast(f32)
        ratio = (outer > 1).choose(between, ratio)
    number = counting(n, outer.cast(i64)).cast(f32)
    place = (number + 0.5) * ratio - 0.5 if n.options.half_pixel else number * ratio
    low = place.function(nn.Floor).cast(i32).max(0)
    high = place.function(nn.Ceil).cast(i32).min(inner - 1)
    return low, high, place - low.cast(f32)


@INTEGERS("RESIZE_BILINEAR")
def resize_bilinear(n: TfliteLayer, x: Value, size: Value) -> Value:
    """Bilinear resizing with weights of ten bits; unsigned integers in f32, as in their kernel."""
    if x.type.rank != 4:
        raise n.error(f"the input has shape {shape_text(x)}, expected rank 4")
    if n.options.align_corners and n.options.half_pixel:
        raise n.error("align_corners and half_pixel_centers exclude each other")
    wanted = Term(n, size).cast(i32)
    is_real = of_input(n, 0).element.signedness == "u"
    sides = [
        (_real_places if is_real else _places)(
            n, extent(n, (x, axis)).cast(i32), wanted.column(axis - 1)
        )
        for axis in (1, 2)
    ]
    return (_in_floats if is_real else _in_integers)(n, Term(n, x), sides)


def _in_integers(n: TfliteLayer, x: Term, sides: Sequence[tuple[Term, Term, Term]]) -> Value:
    wide = i64 if of_input(n, 0).element.width == 16 else i32
    data = x.cast(i32)
    for axis, (low, high, way) in zip((1, 2), sides, strict=True):
        data = data.cast(wide if axis == 2 else i32)
        weight = way.spread(0, 3 - axis).cast(data.element)
        near, far = data.gather(low, axis), data.gather(high, axis)
        data = near * ((1 << FINE) - weight) + far * weight
    if wide is i64:
        half = (data > 0).choose(1 << 19, constant(n, -(1 << 19), i64))
        return limited(n, ((data + half) / (1 << 20)).cast(i32))
    return limited(n, divided_by_power(data, 2 * FINE))


def _in_floats(n: TfliteLayer, x: Term, sides: Sequence[tuple[Term, Term, Term]]) -> Value:
    """Bilinear interpolation in floats, with the four products added in LiteRT's order."""
    (top, bottom, down), (left, right, across) = sides
    down, data = down.spread(0, 2), x.cast(f32)
    across = across.spread(0, 1)
    total: Term | None = None
    for row, column, weights in (
        (top, left, (1 - down, 1 - across)),
        (bottom, left, (down, 1 - across)),
        (top, right, (1 - down, across)),
        (bottom, right, (down, across)),
    ):
        part = data.gather(row, 1).gather(column, 2) * weights[0] * weights[1]
        total = part if total is None else total + part
    assert total is not None
    return limited(n, (total + 0.5).cast(i32))


@INTEGERS("CONCATENATION")
def concatenation(n: TfliteLayer, *inputs: Value) -> Value:
    """A concatenation whose unsigned parts are requantized in f32 to the result's scale."""
    from ...ops.movement import joined_inputs

    out = of_output(n)
    if out.element.signedness != "u":
        return joined_inputs(n, *inputs)
    parts = []
    for i, x in enumerate(inputs):
        about = of_input(n, i)
        if about.scale == out.scale and about.zero == out.zero:
            parts.append(x)
            continue
        scale = about.scale * (np.float32(1) / out.scale)
        bias = np.float32(-about.zero) * scale
        steps = nearest(Term(n, x).cast(f32) * float(scale) + float(bias))
        parts.append(limited(n, steps + out.zero))
    return joined_inputs(n, *parts)

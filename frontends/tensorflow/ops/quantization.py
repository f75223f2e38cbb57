"""Integers that stand for floats of a range. Source: quantize_op.cc and dequantize_op.cc."""

from __future__ import annotations

from ...common.formulas import round_half_away
from ...common.vocabulary import *
from ..layer import TfLayer, rows

WIDEST = 16
"""The bits of the widest integers whose steps f32 tells apart."""
FAR = 3e38
"""Stands for a scale that is no limit, as it is larger than all others."""


def _bounds(n: TfLayer, x: Value, low: Value, high: Value) -> tuple[Term, Term]:
    """The range's ends, which broadcast with x: numbers, or one for each place of an axis."""
    axis = n.int("axis", -1)
    if axis == -1:
        return Term(n, as_scalar(n, low)), Term(n, as_scalar(n, high))
    after = x.type.rank - 1 - axis
    return Term(n, low).spread(0, after), Term(n, high).spread(0, after)


def _limits(n: TfLayer, element: Any) -> tuple[float, float]:
    if element.width > WIDEST:
        raise n.error(f"integers of {element.width} bits are not supported")
    least, most = limits_of(element)
    return float(least), float(most)


@rows("QuantizeV2")
def quantize(n: TfLayer, x: Value, low: Value, high: Value) -> list[Value]:
    """x quantized, and the two ends of the range that the integers represent."""
    element, mode = n.element("T"), n.text("mode", "MIN_COMBINED")
    least, most = _limits(n, element)
    given, (a, b) = Term(n, x), _bounds(n, x, low, high)
    narrow, rounding = n.flag("narrow_range"), n.text("round_mode", "HALF_AWAY_FROM_ZERO")
    gap = a.function(nn.Abs).max(b.function(nn.Abs)).max(1.0)
    a = a.min(0.0)
    b = b.max(a + gap * n.float("ensure_minimum_range", 0.01)).max(0.0)
    if mode == "SCALED":
        least += narrow
        by_low = (a < 0.0).choose(least / (a < 0.0).choose(a, -1.0), FAR)
        scale = most / b if least >= 0 else by_low.min(most / b)
        a, b = least / scale, most / scale
        steps = given.max(a).min(b) * scale
        is_even = rounding == "HALF_TO_EVEN"
        steps = steps.function(nn.Round) if is_even else round_half_away(steps)
    elif mode == "MIN_FIRST":
        scale = (most - least) / (b - a)
        steps = round_half_away(given * scale) - (round_half_away(a * scale) - least)
    else:
        half = (most - least + 1) / 2 if least < 0 else 0.0
        steps = round_half_away((given.min(b).max(a) - a) * ((most - least) / (b - a)) - half)
    whole = steps.max(least).min(most).cast(element)
    extents = [(low, i) for i in range(low.type.rank)]
    return [whole.value, *(end.reshape(*extents).value for end in (a, b))]


@rows("Dequantize")
def dequantize(n: TfLayer, x: Value, low: Value, high: Value) -> Value:
    mode, result = n.text("mode", "MIN_COMBINED"), n.element("dtype", f32)
    least, most = _limits(n, x.type.element_type)
    narrow = n.flag("narrow_range")
    given, (a, b) = Term(n, x).cast(f32), _bounds(n, x, low, high)
    if mode == "SCALED":
        scale = b / most
        if least < 0:
            scale = scale.max(a / (least + narrow))
        return (given * scale).cast(result).value
    scale = (b - a) / (most - least)
    if mode == "MIN_FIRST":
        a = b.equals(a).choose(a, round_half_away(a / scale) * scale)
    return ((given - least) * scale + a).cast(result).value

"""Quantized graphs of PT2E: integers that stand for real numbers.

q = saturate(round(x / scale) + zero_point)
"""

from __future__ import annotations

from typing import Any

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import Type, f32
from ...common.terms import Term
from ..layer import AtenLayer
from ..rows import ROWS


def _along(n: AtenLayer, given: Any, x: Value, axis: int | None) -> Term:
    """A scale or zero point as f32, in a shape that broadcasts against x."""
    value = Term(n, n.cast(n.as_value(given), f32))
    if value.rank == 0 or axis is None:
        return value.reshape() if value.rank else value
    return value.spread(0, x.type.rank - 1 - n.axis(axis, x.type.rank))


def _numbers(names: tuple[str, str], given: dict[str, Any]) -> list[Any]:
    return [given.get(name) for name in names]


@ROWS(*(f"quantized_decomposed.quantize_per_{kind}" for kind in ("tensor", "channel")))
def quantize(
    n: AtenLayer, input: Value, quant_min: Any, quant_max: Any, dtype: Type, axis=None, **given: Any
) -> Value:
    scale, zero = _parameters(n, input, axis, given)
    steps = (Term(n, n.cast(input, f32)) / scale).function(nn.Round) + zero
    limited = steps.max(float(n.int(quant_min))).min(float(n.int(quant_max)))
    return limited.cast(dtype).value


@ROWS(*(f"quantized_decomposed.dequantize_per_{kind}" for kind in ("tensor", "channel")))
def dequantize(n: AtenLayer, input: Value, axis=None, out_dtype=None, **given: Any) -> Value:
    for name in ("quant_min", "quant_max", "dtype"):
        given.pop(name, None)
    scale, zero = _parameters(n, input, axis, given)
    return ((Term(n, n.cast(input, f32)) - zero) * scale).cast(out_dtype or f32).value


def _parameters(n: AtenLayer, x: Value, axis: int | None, given: dict[str, Any]) -> list[Term]:
    """Scale and zero point; the latter may be left out for channels."""
    names = ("scale", "scales"), ("zero_point", "zero_points")
    found = [_numbers(pair, given) for pair in names]
    values = [next((v for v in pair if v is not None), 0) for pair in found]
    return [_along(n, value, x, axis) for value in values]

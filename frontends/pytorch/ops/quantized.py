"""Quantized graphs of PT2E: integers that stand for real numbers.

q = saturate(round(x / scale) + zero_point)
"""

from __future__ import annotations

from typing import Any

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import Type, f32, f64, i64
from ...common.terms import Term
from ..layer import AtenLayer
from ..rows import ROWS


def _along(n: AtenLayer, given: Any, x: Value, axis: int | None, element: Type) -> Term:
    """A scale or zero point in a shape that broadcasts against x."""
    value = Term(n, n.as_value(given, element))
    if axis is None:
        return value.reshape() if value.rank else value
    return value.spread(0, x.type.rank - 1 - n.axis(axis, x.type.rank))


def _parameters(n: AtenLayer, x: Value, axis: int | None, given: Any) -> tuple[Term, Term]:
    """Scale and zero point as f32; the latter may be left out for channels."""
    scale = given["scale"] if "scale" in given else given["scales"]
    zero = given.get("zero_point", given.get("zero_points"))
    found = (_along(n, v, x, axis, f32) for v in (scale, 0 if zero is None else zero))
    return next(found), next(found) if zero is not None else Term(n, n.constant(0.0, f32))


@ROWS(*(f"quantized_decomposed.quantize_per_{kind}" for kind in ("tensor", "channel")))
def quantize(
    n: AtenLayer, input: Value, quant_min: Any, quant_max: Any, dtype: Type, axis=None, **given: Any
) -> Value:
    scale, zero = _parameters(n, input, axis, given)
    steps = (Term(n, n.cast(input, f32)) * (1.0 / scale)).function(nn.Round) + zero
    limited = steps.max(float(n.int(quant_min))).min(float(n.int(quant_max)))
    return limited.cast(dtype).value


@ROWS(*(f"quantized_decomposed.dequantize_per_{kind}" for kind in ("tensor", "channel")))
def dequantize(n: AtenLayer, input: Value, axis=None, out_dtype=None, **given: Any) -> Value:
    scale, zero = _parameters(n, input, axis, given)
    return ((Term(n, n.cast(input, f32)) - zero) * scale).cast(out_dtype or f32).value


@ROWS("quantized_decomposed.choose_qparams")
def choose_parameters(
    n: AtenLayer, input: Value, quant_min: int, quant_max: int, eps: float, dtype: Type
) -> list[Value]:
    """The scale and zero point by which a tensor's range fits: one element each."""
    x = Term(n, n.cast(input, f32))
    axes = tuple(range(x.rank))
    least = Term(n, n(nn.ReduceMin(x.value, axes=axes))).min(0.0)
    most = x.largest(*axes).max(0.0)
    scale = ((most - least) / float(quant_max - quant_min)).max(eps)
    zero = (float(quant_min) - (least / scale).function(nn.Round)).max(float(quant_min))
    zero = zero.min(float(quant_max))
    return [scale.cast(f64).reshape(1).value, zero.cast(i64).reshape(1).value]

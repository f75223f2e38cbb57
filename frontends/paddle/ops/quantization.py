"""Quantization by a scale: the real number that the largest integer represents."""

from __future__ import annotations

from ...common.quantization import along_axis
from ...common.vocabulary import *
from ..layer import PaddleLayer, rows


def _largest(n: PaddleLayer) -> float:
    bits = n.int("bit_length", 8)
    if not 1 < bits < 25:
        raise n.error(f"integers of {bits} bits")
    return float(2 ** (bits - 1) - 1)


def _scale(n: PaddleLayer, x: Value, scale: Value) -> Term:
    """A scale, scalar or along an axis, shaped to broadcast."""
    axis = n.int("quant_axis", -1)
    if scale.type.shape == (1,) or scale.type.rank == 0 or axis < 0:
        return Term(n, along_axis(n, x, scale, 0)).reshape()
    return Term(n, along_axis(n, x, scale, n.axis(x, axis)))


def _steps(n: PaddleLayer, x: Value, scale: Term) -> Term:
    most = _largest(n)
    whole = (Term(n, x).cast(f32) * most / scale).function(nn.Round)
    return whole.max(-most - 1).min(most)


@rows("quantize_linear", "quantize_linear_")
def quantize(n: PaddleLayer, x: Value, scale: Value, *rest: Any) -> list:
    return [_steps(n, x, _scale(n, x, scale)).cast(x.type.element_type).value]


@rows("dequantize_linear")
def dequantize(n: PaddleLayer, x: Value, scale: Value, *rest: Any) -> list:
    return [(Term(n, x).cast(f32) * _scale(n, x, scale) / _largest(n)).value]


@rows("fake_quantize_dequantize_moving_average_abs_max")
def rounded(n: PaddleLayer, x: Value, scale: Value, *rest: Any) -> list:
    """x quantized and dequantized by a scale."""
    factor = _scale(n, x, scale)
    return [(_steps(n, x, factor) * factor / _largest(n)).value, scale]


@rows("fake_quantize_dequantize_abs_max", "fake_channel_wise_quantize_dequantize_abs_max")
def rounded_weights(n: PaddleLayer, x: Value) -> list:
    """x quantized and dequantized by its largest magnitude, over all elements or per channel."""
    axis = n.int("quant_axis", 0) if "channel" in n.kind else None
    axes = [i for i in range(x.type.rank) if i != axis]
    factor = Term(n, x).function(nn.Abs).largest(*axes, keep=True)
    scale = factor.flat().value
    return [(_steps(n, x, factor) * factor / _largest(n)).value, scale]

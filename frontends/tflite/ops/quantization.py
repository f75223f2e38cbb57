"""Between real numbers and steps; sparse weights, which are dense since they were read."""

from __future__ import annotations

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import f32
from ..layer import TfliteLayer, real
from ..rows import ROWS


@ROWS("DEQUANTIZE")
def dequantize(n: TfliteLayer, x: Value) -> Value:
    """Of 16-bit floats, which many weights are, the same in 32 bits."""
    return n.cast(n.real(0, x), f32)


@ROWS("QUANTIZE")
@real
def quantize(n: TfliteLayer, x: Value) -> Value:
    return x


@ROWS("DENSIFY")
def densify(n: TfliteLayer, x: Value) -> list[Value]:
    return [x]


@ROWS("FAKE_QUANT")
def fake_quant(n: TfliteLayer, x: Value) -> Value:
    """The nearest of the numbers that a range of so many bits has, zero among them."""
    o = n.options
    least, most = int(o.narrow), (1 << o.bits) - 1
    if o.high <= o.low or not 1 < o.bits <= 16:
        raise n.error(f"{o.bits} bits from {o.low} to {o.high}")
    scale = (o.high - o.low) / (most - least)
    zero = min(max(round(least - o.low / scale), least), most)
    low, high = (least - zero) * scale, (most - zero) * scale
    inside = n(nn.Clip(x, n.scalar(low, x), n.scalar(high, x)))
    steps = n(
        nn.Floor(
            n(
                nn.Add(
                    n(nn.Mul(n(nn.Sub(inside, n.scalar(low, x))), n.scalar(1 / scale, x))),
                    n.scalar(0.5, x),
                )
            )
        )
    )
    return n(nn.Add(n(nn.Mul(steps, n.scalar(scale, x))), n.scalar(low, x)))

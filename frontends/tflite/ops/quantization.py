"""Quantization and dequantization; sparse weights are made dense when they are read."""

from __future__ import annotations

from ...common import tensorflow as tf
from ...common.vocabulary import *
from ..layer import TfliteLayer, real
from ..rows import ROWS


@ROWS("DEQUANTIZE")
def dequantize(n: TfliteLayer, x: Value) -> Value:
    """x as f32: dequantized, or converted from f16, the type of many weights."""
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
    o = n.options
    if o.high <= o.low or not 1 < o.bits <= 16:
        raise n.error(f"{o.bits} bits from {o.low} to {o.high}")
    low, high = (n.constant(v, f32) for v in (o.low, o.high))
    return tf.fake_quant(n, x, low, high, o.bits, bool(o.narrow))

"""Floats that Python's struct does not know: bf16, tf32 and those of 8, 6 and 4 bits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .types import FloatType


def encode(value: float, type: FloatType) -> int:
    """The bit pattern of the nearest value, ties to even; overflow as the kind prescribes."""
    from .types import FLOAT_KINDS

    width, exponent_bits, mantissa_bits, bias, kind = FLOAT_KINDS[type.kind]
    if kind == "unsigned":
        return _encode_power_of_two(value)
    sign = math.copysign(1.0, value) < 0
    sign_bit = int(sign) << (width - 1)
    top = (1 << exponent_bits) - 1
    mantissa_mask = (1 << mantissa_bits) - 1
    nan = {
        "ieee": (top << mantissa_bits) | (1 << max(mantissa_bits - 1, 0)),
        "fn": (top << mantissa_bits) | mantissa_mask,
        "fnuz": 1 << (width - 1),
        "finite": (top << mantissa_bits) | mantissa_mask,
    }[kind]
    largest = {
        "ieee": ((top - 1) << mantissa_bits) | mantissa_mask,
        "fn": ((top << mantissa_bits) | mantissa_mask) - 1,
        "fnuz": (top << mantissa_bits) | mantissa_mask,
        "finite": (top << mantissa_bits) | mantissa_mask,
    }[kind]
    overflow = {"ieee": top << mantissa_bits, "fn": nan, "fnuz": nan, "finite": largest}[kind]
    if math.isnan(value):
        return nan if kind == "fnuz" else sign_bit | nan
    if math.isinf(value):
        return overflow if kind == "fnuz" else sign_bit | overflow
    magnitude = abs(value)
    if magnitude == 0:
        return 0 if kind == "fnuz" else sign_bit
    _, exponent = math.frexp(magnitude)
    exponent = max(exponent - 1, 1 - bias)
    scaled = round(math.ldexp(magnitude, mantissa_bits - exponent))  # ties to even
    if scaled >> (mantissa_bits + 1):
        scaled >>= 1
        exponent += 1
    normal = scaled >> mantissa_bits
    bits = ((exponent + bias) << mantissa_bits) + (scaled & mantissa_mask) if normal else scaled
    if bits > largest:
        return overflow if kind == "fnuz" else sign_bit | overflow
    if bits == 0 and kind == "fnuz":
        return 0
    return sign_bit | bits


def decode(bits: int, type: FloatType) -> float:
    """The value of a bit pattern."""
    from .types import FLOAT_KINDS

    width, exponent_bits, mantissa_bits, bias, kind = FLOAT_KINDS[type.kind]
    if kind == "unsigned":
        return math.nan if bits == 255 else math.ldexp(1.0, bits - 127)
    sign = -1.0 if bits >> (width - 1) else 1.0
    top = (1 << exponent_bits) - 1
    exponent = (bits >> mantissa_bits) & top
    mantissa = bits & ((1 << mantissa_bits) - 1)
    if kind == "fnuz" and bits == 1 << (width - 1):
        return math.nan
    if kind == "ieee" and exponent == top:
        return math.copysign(math.nan if mantissa else math.inf, sign)
    if kind == "fn" and exponent == top and mantissa == (1 << mantissa_bits) - 1:
        return math.copysign(math.nan, sign)
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp(mantissa | (1 << mantissa_bits), exponent - bias - mantissa_bits)


def _encode_power_of_two(value: float) -> int:
    if math.isnan(value) or math.isinf(value) or value < 0:
        return 255
    if value == 0:
        return 0
    mantissa, exponent = math.frexp(value)
    return max(0, min(255, exponent - 1 + 127 + (mantissa >= 0.75)))

"""The kinds of floats, and the bits of those that Python's struct does not know: bf16, tf32 and
those of 8, 6 and 4 bits.
"""

from __future__ import annotations

import math
from typing import Any

# width, exponent bits, mantissa bits (without the hidden one), bias, and what the top
# exponent means: "ieee" (inf and NaN), "fn" (no inf; all ones is NaN), "fnuz" (NaN is -0),
# "finite" (neither). Source: LLVM's APFloat semantics.
FLOAT_KINDS: dict[str, tuple[int, int, int, int, str]] = {
    "f16": (16, 5, 10, 15, "ieee"),
    "bf16": (16, 8, 7, 127, "ieee"),
    "tf32": (19, 8, 10, 127, "ieee"),
    "f32": (32, 8, 23, 127, "ieee"),
    "f64": (64, 11, 52, 1023, "ieee"),
    "f80": (80, 15, 64, 16383, "ieee"),
    "f128": (128, 15, 112, 16383, "ieee"),
    "f8E5M2": (8, 5, 2, 15, "ieee"),
    "f8E4M3": (8, 4, 3, 7, "ieee"),
    "f8E3M4": (8, 3, 4, 3, "ieee"),
    "f8E4M3FN": (8, 4, 3, 7, "fn"),
    "f8E5M2FNUZ": (8, 5, 2, 16, "fnuz"),
    "f8E4M3FNUZ": (8, 4, 3, 8, "fnuz"),
    "f8E4M3B11FNUZ": (8, 4, 3, 11, "fnuz"),
    "f8E8M0FNU": (8, 8, 0, 127, "unsigned"),
    "f6E3M2FN": (6, 3, 2, 3, "finite"),
    "f6E2M3FN": (6, 2, 3, 1, "finite"),
    "f4E2M1FN": (4, 2, 1, 1, "finite"),
}


def encode(value: float, type: Any) -> int:
    """The bit pattern of the nearest value, ties to even; overflow as the kind prescribes."""
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


def decode(bits: int, type: Any) -> float:
    """The value of a bit pattern."""
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

"""Numbers as upstream writes them: floats that read back exactly, hexadecimal where none do."""

from __future__ import annotations

import math
import struct
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any

from ..types import FLOAT_KINDS, ComplexType, FloatType, IntegerType


@lru_cache(4096)
def _float_text(bits: bytes, type: FloatType) -> str:
    value = struct.unpack("<d", bits)[0]
    if math.isfinite(value):
        short = f"{value:.5e}"
        mantissa, exponent = short.split("e")
        if type.to_bytes(float(short)) == type.to_bytes(value):
            return f"{mantissa}0e{exponent}"
        text = _default_text(value, type)
        if "." in text:
            return text
    return f"0x{int.from_bytes(type.to_bytes(value), 'little'):X}"


def float_text(value: float, type: FloatType) -> str:
    """`1.000000e+00`, or all digits that the type has, or the bits in hexadecimal.

    Source: upstream's printFloatValue.
    """
    return _float_text(struct.pack("<d", value), type)


def _default_text(value: float, type: FloatType) -> str:
    """LLVM's APFloat::toString with its default precision and padding."""
    precision = 2 + (FLOAT_KINDS[type.kind][2] + 1) * 59 // 196
    rounded = Context(prec=precision, rounding=ROUND_HALF_UP).plus(Decimal(value)).normalize()
    negative, digit_tuple, exponent = rounded.as_tuple()
    digits = "".join(map(str, digit_tuple))
    sign = "-" if negative else ""
    exponent = int(exponent)
    if exponent >= 0:
        scientific = exponent > 3 or len(digits) + exponent > precision
    else:
        most_significant = exponent + len(digits) - 1
        scientific = most_significant < 0 and -most_significant > 3
    if scientific:
        power = exponent + len(digits) - 1
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{'-' if power < 0 else '+'}{abs(power)}"
    if exponent >= 0:
        return sign + digits + "0" * exponent
    whole = len(digits) + exponent
    if whole > 0:
        return f"{sign}{digits[:whole]}.{digits[whole:]}"
    return f"{sign}0.{'0' * -whole}{digits}"


def number_text(value: Any, type: Any) -> str:
    """An element of a dense attribute or a scalar attribute, without its type."""
    if type.__class__ is FloatType:
        return float_text(value, type)
    if type.__class__ is IntegerType and type.width == 1 and not type.signedness:
        return "true" if value else "false"
    if type.__class__ is ComplexType:
        real, imaginary = (value.real, value.imag) if isinstance(value, complex) else value
        inner = type.element_type
        return f"({number_text(real, inner)},{number_text(imaginary, inner)})"
    return str(int(value))

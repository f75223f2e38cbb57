"""Numbers as upstream writes them: floats in decimal if that reads back exactly, else in hex."""

from __future__ import annotations

import math
import struct
from functools import lru_cache
from typing import Any

from ..float_bits import PRECISION, FloatBits, round_to_precision, wide_value
from ..types import FLOAT_KINDS, ComplexType, FloatType, IntegerType


@lru_cache(4096)
def _float_text(bits: bytes, type: FloatType) -> str:
    value = struct.unpack("<d", bits)[0]
    if math.isfinite(value):
        ratio = abs(value).as_integer_ratio()
        sign = "-" if math.copysign(1.0, value) < 0 else ""
        text = sign + _short_text(ratio)
        if type.to_bytes(float(text)) == type.to_bytes(value):
            return text
        text = sign + _default_text(ratio, 2 + (FLOAT_KINDS[type.kind][2] + 1) * 59 // 196)
        if "." in text:
            return text
    return f"0x{int.from_bytes(type.to_bytes(value), 'little'):X}"


@lru_cache(256)
def _exact_text(bits: int, type: FloatType) -> str:
    """The text of a float given by its bits, for values that a double may not represent."""
    from fractions import Fraction

    precision = PRECISION.get(type.kind)
    exact = wide_value(bits, type.kind) if precision else None
    if exact is not None and precision:
        ratio = exact.as_integer_ratio()
        sign = "-" if bits >> (type.width - 1) else ""
        text = _short_text(ratio)
        if round_to_precision(Fraction(text), precision) == exact:
            return sign + text
        text = _default_text(ratio, 2 + precision * 59 // 196)
        if "." in text:
            return sign + text
    return f"0x{bits:X}"


def _short_text(ratio: tuple[int, int]) -> str:
    digits, exponent = _digits(ratio, 6)
    power = exponent + len(digits) - 1 if ratio[0] else 0
    return f"{digits[0]}.{digits[1:]:0<6}e{'-' if power < 0 else '+'}{abs(power):02}"


def float_text(value: float, type: FloatType) -> str:
    """`1.000000e+00`, or all digits that the type has, or the bits in hexadecimal.

    Source: upstream's printFloatValue.
    """
    if value.__class__ is FloatBits or type.kind in PRECISION:
        return _exact_text(int.from_bytes(type.to_bytes(value), "little"), type)
    return _float_text(struct.pack("<d", value), type)


def _digits(ratio: tuple[int, int], precision: int) -> tuple[str, int]:
    """Decimal digits of a magnitude, given as a fraction, and the exponent of the last one.

    As LLVM's APFloat::toString has them: surplus digits are cut off where the binary size
    shows that there are too many, and what is left is rounded half up.
    """
    significand, denominator = ratio
    exponent = 1 - denominator.bit_length()
    significand *= 5**-exponent
    # 196/59 is slightly more than the binary digits of a decimal one.
    surplus = (significand.bit_length() - (precision * 196 + 58) // 59) * 59 // 196
    if surplus > 0:
        significand //= 10**surplus
        exponent += surplus
    digits = str(significand)
    if len(digits) > precision:
        cut = len(digits) - precision
        digits = str(int(digits[:precision]) + (digits[precision] >= "5"))
        exponent += cut
    stripped = digits.rstrip("0") or "0"
    return stripped, exponent + len(digits) - len(stripped)


def _default_text(ratio: tuple[int, int], precision: int) -> str:
    """The magnitude as LLVM's APFloat::toString writes it by default."""
    digits, exponent = _digits(ratio, precision)
    if exponent >= 0:
        scientific = exponent > 3 or len(digits) + exponent > precision
    else:
        most_significant = exponent + len(digits) - 1
        scientific = most_significant < 0 and -most_significant > 3
    if scientific:
        power = exponent + len(digits) - 1
        return f"{digits[0]}.{digits[1:] or '0'}E{'-' if power < 0 else '+'}{abs(power)}"
    if exponent >= 0:
        return digits + "0" * exponent
    whole = len(digits) + exponent
    if whole > 0:
        return f"{digits[:whole]}.{digits[whole:]}"
    return f"0.{'0' * -whole}{digits}"


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

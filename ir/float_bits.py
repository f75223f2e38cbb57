"""Floats that a Python float cannot represent: NaNs with a payload, and values of f80 and f128."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

# Bits of the significand, the leading one included; f80 stores that one, f128 does not.
PRECISION = {"f80": 64, "f128": 113}
_BIAS = 16383
_TOP = 0x7FFF


class FloatBits(float):
    """A value of float type `kind`, given by its bits; as a Python float, the nearest double."""

    __slots__ = ("bits", "kind")
    bits: int
    kind: str

    def __new__(cls, value: float, bits: int, kind: str) -> FloatBits:
        self = super().__new__(cls, value)
        self.bits = bits
        self.kind = kind
        return self

    def __reduce__(self):
        return FloatBits, (float(self), self.bits, self.kind)


def encode_wide(value: float, kind: str) -> int:
    """The bits of a double as f80 or f128, which hold every double."""
    precision = PRECISION[kind]
    stored = precision if kind == "f80" else precision - 1
    sign = int(math.copysign(1.0, value) < 0) << (stored + 15)
    leading = (1 << (precision - 1)) if kind == "f80" else 0
    if math.isnan(value):
        return sign | _TOP << stored | leading | 1 << (precision - 2)
    if math.isinf(value):
        return sign | _TOP << stored | leading
    if not value:
        return sign
    mantissa, exponent = math.frexp(abs(value))
    significand = int(math.ldexp(mantissa, 53)) << (precision - 53)
    return sign | (exponent - 1 + _BIAS) << stored | significand & ((1 << stored) - 1)


def wide_value(bits: int, kind: str) -> Fraction | None:
    """The exact magnitude of bits of f80 or f128; None for infinities and NaNs."""
    from fractions import Fraction

    precision = PRECISION[kind]
    stored = precision if kind == "f80" else precision - 1
    exponent = bits >> stored & _TOP
    significand = bits & ((1 << stored) - 1)
    if exponent == _TOP:
        return None
    if kind == "f128" and exponent:
        significand |= 1 << stored
    power = max(exponent, 1) - _BIAS - (precision - 1)
    return Fraction(significand << power) if power >= 0 else Fraction(significand, 1 << -power)


def decode_wide(bits: int, kind: str) -> float:
    """The value of bits of f80 or f128: a FloatBits where no double is the same."""
    precision = PRECISION[kind]
    stored = precision if kind == "f80" else precision - 1
    sign = -1.0 if bits >> (stored + 15) else 1.0
    exact = wide_value(bits, kind)
    if exact is None:
        fraction = bits & ((1 << (precision - 1)) - 1)
        near = math.copysign(math.nan if fraction else math.inf, sign)
    else:
        try:
            near = sign * (exact.numerator / exact.denominator)
        except OverflowError:
            near = sign * math.inf
    return near if encode_wide(near, kind) == bits else FloatBits(near, bits, kind)


def round_to_precision(value: Fraction, precision: int) -> Fraction:
    """The nearest number with a significand of `precision` bits, ties to even."""
    from fractions import Fraction

    if not value:
        return value
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (exponent - precision + 1)
    return round(value / unit) * unit

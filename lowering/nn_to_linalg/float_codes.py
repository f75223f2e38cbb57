"""Floats of 8 bits and less: integers ("codes") in memory, converted by arithmetic on bits.

    decode    Shifts exponent and mantissa to their places in f32, and adds the difference of the
              biases. A code below the least normal number is multiplied by the distance between
              subnormals.
    encode    Rounds the bits of f32 or f64 at the last bit that is kept. To a value below the least
              normal number it adds a float whose last bit is the distance between subnormals, so
              that the machine's addition rounds.

Neither makes a subnormal f32, which some machines take for zero.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from ...dialects import arith
from ...ir.conversions import Conversion
from ...ir.core import Value
from ...ir.types import FLOAT_KINDS, FloatType, IntegerType, Type, f32, f64, i8, i32, i64
from .emitter import Emitter

_CARRIERS: dict[Type, tuple[IntegerType, int, int]] = {f32: (i32, 23, 127), f64: (i64, 52, 1023)}
"""For each float type the integer type of its bits, its number of mantissa bits, and its bias."""


@dataclass(frozen=True)
class _Form:
    """The format of a small float type, and its special codes without the sign bit."""

    width: int
    mantissa: int
    bias: int
    kind: str
    largest: int
    """The code of the largest number."""
    overflow: int
    """The code that too large numbers get: infinity, or NaN in a format without infinity."""
    nan: int

    @staticmethod
    def of(type: Type) -> _Form:
        assert isinstance(type, FloatType)
        width, exponent, mantissa, bias, kind = FLOAT_KINDS[type.kind]
        ones = (1 << (exponent + mantissa)) - 1
        infinity = ((1 << exponent) - 1) << mantissa
        largest, overflow, nan = {
            "ieee": (infinity - 1, infinity, infinity | 1 << (mantissa - 1)),
            "fn": (ones - 1, ones, ones),
            "fnuz": (ones, 1 << (width - 1), 1 << (width - 1)),
            "finite": (ones, ones, 1 << (width - 1)),
        }[kind]
        return _Form(width, mantissa, bias, kind, largest, overflow, nan)

    @property
    def sign(self) -> int:
        return 1 << (self.width - 1)


class _Bits:
    """Emits arithmetic on integers of one type."""

    def __init__(self, e: Emitter, type: IntegerType) -> None:
        self.e, self.type = e, type

    def number(self, value: int | Value) -> Value:
        return value if isinstance(value, Value) else self.e.constant(value, self.type)

    def op(self, kind: type, a: Value, b: int | Value) -> Value:
        return self.e.insert(kind(a, self.number(b))).result

    def compare(self, relation: str, a: Value, b: int | Value) -> Value:
        return self.e.insert(arith.CmpI(relation, a, self.number(b))).result

    def select(self, condition: Value, yes: int | Value, no: int | Value) -> Value:
        return self.e.insert(arith.Select(condition, self.number(yes), self.number(no))).result

    def as_float(self, bits: Value, type: Type) -> Value:
        return self.e.insert(arith.Bitcast(bits, out=type)).result


def decode(e: Emitter, code: Value, type: Type) -> Value:
    """The f32 of a code, which is an i8; only the type's low bits of it count."""
    bits = _Bits(e, i32)
    wide = e.insert(arith.ExtUI(code, out=i32)).result
    if FLOAT_KINDS[type.kind][4] == "unsigned":  # type: ignore[attr-defined]
        return _power_of_two(bits, wide)
    form = _Form.of(type)
    if form.width < 8:
        wide = bits.op(arith.AndI, wide, (1 << form.width) - 1)
    size = bits.op(arith.AndI, wide, form.sign - 1)
    moved = bits.op(arith.ShLI, size, 23 - form.mantissa)
    normal = bits.op(arith.AddI, moved, (127 - form.bias) << 23)
    steps = e.insert(arith.SIToFP(size, out=f32)).result
    step = e.constant(2.0 ** (1 - form.bias - form.mantissa), f32)
    scaled = e.insert(arith.MulF(steps, step)).result
    below = e.insert(arith.Bitcast(scaled, out=i32)).result
    found = bits.select(bits.compare("ult", size, 1 << form.mantissa), below, normal)
    if form.kind == "ieee":
        is_infinite = bits.compare("eq", size, form.overflow)
        found = bits.select(is_infinite, _F32_INFINITY, found)
        found = bits.select(bits.compare("ugt", size, form.overflow), _F32_NAN, found)
    elif form.kind == "fn":
        found = bits.select(bits.compare("eq", size, form.nan), _F32_NAN, found)
    sign = bits.op(arith.AndI, wide, form.sign)
    found = bits.op(arith.OrI, found, bits.op(arith.ShLI, sign, 32 - form.width))
    if form.kind == "fnuz":
        found = bits.select(bits.compare("eq", wide, form.nan), _F32_NAN | 1 << 31, found)
    return bits.as_float(found, f32)


def _power_of_two(bits: _Bits, code: Value) -> Value:
    """2**(code - 127), which for code 0 is a subnormal f32; NaN for code 255."""
    moved = bits.op(arith.ShLI, code, 23)
    found = bits.select(bits.compare("eq", code, 0), 1 << 22, moved)
    found = bits.select(bits.compare("eq", code, 255), _F32_NAN, found)
    return bits.as_float(found, f32)


def encode(e: Emitter, value: Value, type: Type, rules: Conversion) -> Value:
    """The code, an i8, of an f32 or f64 value."""
    carrier, mantissa, bias = _CARRIERS[value.type]
    bits = _Bits(e, carrier)
    pattern = e.insert(arith.Bitcast(value, out=carrier)).result
    top = carrier.width - 1
    size = bits.op(arith.AndI, pattern, (1 << top) - 1)
    infinity = ((1 << (top - mantissa)) - 1) << mantissa
    is_nan = bits.compare("sgt", size, infinity)
    if FLOAT_KINDS[type.kind][4] == "unsigned":  # type: ignore[attr-defined]
        code = _exponent(bits, size, mantissa, bias, rules)
        code = bits.select(is_nan, 255, code)
        return e.insert(arith.TruncI(code, out=i8)).result
    form = _Form.of(type)
    code = _rounded(bits, size, value.type, form)
    most = form.largest if rules.saturate else form.overflow
    code = bits.select(bits.compare("sgt", code, form.largest), most, code)
    sign = bits.op(arith.ShRUI, pattern, top)
    sign = bits.op(arith.ShLI, sign, form.width - 1)
    if form.kind == "fnuz":  # zero and NaN have no sign
        sign = bits.select(bits.compare("eq", code, 0), 0, sign)
    code = bits.op(arith.OrI, code, sign)
    nan = bits.number(form.nan)
    if form.kind in ("ieee", "fn"):
        nan = bits.op(arith.OrI, sign, nan)
    code = bits.select(is_nan, nan, code)
    return e.insert(arith.TruncI(code, out=i8)).result


def _rounded(bits: _Bits, size: Value, source: Type, form: _Form) -> Value:
    """The code of a magnitude, rounded to nearest even; more than `form.largest` if it is too
    large.
    """
    e = bits.e
    _, mantissa, bias = _CARRIERS[source]
    spare = mantissa - form.mantissa
    last = bits.op(arith.AndI, bits.op(arith.ShRUI, size, spare), 1)
    half = bits.op(arith.AddI, last, (1 << (spare - 1)) - 1)
    # The sum overflows for no number; for NaN the caller chooses the code.
    normal = bits.op(arith.ShRUI, bits.op(arith.AddI, size, half), spare)
    normal = bits.op(arith.SubI, normal, (bias - form.bias) << form.mantissa)
    least = 1 - form.bias  # exponent of the least normal number
    magic = 2.0 ** (mantissa + least - form.mantissa)
    summed = e.insert(arith.AddF(bits.as_float(size, source), e.constant(magic, source))).result
    steps = e.insert(arith.Bitcast(summed, out=bits.type)).result
    steps = bits.op(arith.SubI, steps, _pattern(magic, source))
    is_below = bits.compare("slt", size, (least + bias) << mantissa)
    return bits.select(is_below, steps, normal)


def _exponent(bits: _Bits, size: Value, mantissa: int, bias: int, rules: Conversion) -> Value:
    """The code in f8E8M0FNU of a magnitude that is not NaN."""
    one = 1 << mantissa
    if bias == 127:
        # The fraction of subnormals, where 2**-127 and 2**-128 are to be told apart.
        code = bits.select(bits.compare("slt", size, one), _doubled(bits, size, 1, one), size)
        less = bits.compare("slt", size, one >> 1)
        code = bits.select(less, _doubled(bits, size, 2, 2 * one), code)
    else:
        code = bits.op(arith.SubI, size, (bias - 127) << mantissa)
    if rules.round_mode == "up":
        # All but zero round up to the least.
        some = bits.select(bits.compare("eq", size, 0), -one, 1 - one)
        code = bits.op(arith.MaxSI, code, some)
        code = bits.op(arith.AddI, code, one - 1)
    elif rules.round_mode == "nearest":
        code = bits.op(arith.AddI, code, one >> 1)
    code = bits.op(arith.ShRSI, code, mantissa)
    low, high = (0, 254) if rules.saturate else (255, 255)
    is_high = bits.compare("sgt", code, 254)
    code = bits.select(bits.compare("slt", code, 0), low, code)
    return bits.select(is_high, high, code)


def _doubled(bits: _Bits, size: Value, times: int, less: int) -> Value:
    return bits.op(arith.SubI, bits.op(arith.ShLI, size, times), less)


def _pattern(value: float, type: Type) -> int:
    """The bits of a float."""
    f, i = ("<f", "<i") if type is f32 else ("<d", "<q")
    return struct.unpack(i, struct.pack(f, value))[0]


_F32_INFINITY, _F32_NAN = _pattern(math.inf, f32), _pattern(math.nan, f32)

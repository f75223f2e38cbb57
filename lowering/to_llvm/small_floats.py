"""Conversions of f16 and bf16 to f32 and back by integer arithmetic, and from f64 with one
rounding.

Otherwise LLVM would call a library function for each element, which the process may not have, or
use an instruction that flushes denormals. Processors' instructions for f16 are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dialects import llvm
from ...ir.core import Operation, Value
from ...ir.types import Type, bf16, f16, f32, f64, i16, i32

if TYPE_CHECKING:
    from .conversion import FunctionLowering


def _binary(f: FunctionLowering, cls: type[Operation], a: Value, number: int) -> Value:
    return f.emit(cls, [a, f.integer(number, a.type)], a.type)


def is_computed(f: FunctionLowering, element: Type) -> bool:
    """Whether an element type's conversions are computed here, and its arithmetic
    is done in f32.
    """
    return element is bf16 or (element is f16 and not f.module.target.has_half)


def widened(f: FunctionLowering, value: Value, element: Type) -> Value:
    """The value as f32 if its type `is_computed`, else the value itself."""
    if not is_computed(f, element):
        return value
    return _from_bf16(f, value) if element is bf16 else _from_f16(f, value)


def narrowed(f: FunctionLowering, value: Value, element: Type) -> Value:
    """The f32 rounded to nearest even if the type `is_computed`, else the value itself."""
    if not is_computed(f, element):
        return value
    return _to_bf16(f, value) if element is bf16 else _to_f16(f, value)


def _from_bf16(f: FunctionLowering, value: Value) -> Value:
    """The f32 whose upper 16 bits are the value and whose lower bits are 0."""
    bits = f.cast(llvm.ZExt, value, i32)
    return f.cast(llvm.Bitcast, _binary(f, llvm.Shl, bits, 16), f32)


def _to_bf16(f: FunctionLowering, value: Value) -> Value:
    """The upper bits of an f32 rounded to nearest even; NaN stays NaN.

    Adding 0x7FFF plus the lowest bit that is kept carries into the kept bits exactly where rounding
    to nearest even goes away from zero.
    """
    bits = f.cast(llvm.Bitcast, value, i32)
    odd = _binary(f, llvm.And, _binary(f, llvm.LShr, bits, 16), 1)
    bias = _binary(f, llvm.Add, odd, 0x7FFF)
    rounded = f.emit(llvm.Add, [bits, bias], bits.type)
    quiet = _binary(f, llvm.Or, bits, 0x40 << 16)
    nan = f.fcmp("uno", value, value)
    chosen = f.emit(llvm.Select, [nan, quiet, rounded], bits.type)
    return f.cast(llvm.Trunc, _binary(f, llvm.LShr, chosen, 16), i16)


def _from_f16(f: FunctionLowering, value: Value) -> Value:
    """The f32 of the same value; its exponent has a bias that is larger by 112.

    A denormal is its bits times 2**-24. Infinities and NaN get the largest exponent. No operation
    takes a denormal f32, which some units flush.
    """
    bits = f.cast(llvm.ZExt, f.cast(llvm.Bitcast, value, i16), i32)
    size = _binary(f, llvm.And, bits, 0x7FFF)
    sign = _binary(f, llvm.Shl, _binary(f, llvm.And, bits, 0x8000), 16)
    normal = _binary(f, llvm.Add, _binary(f, llvm.Shl, size, 13), 112 << 23)
    special = f.icmp("ugt", size, f.integer(0x7BFF, size.type))
    beyond = _binary(f, llvm.Add, normal, 112 << 23)
    large = f.emit(llvm.Select, [special, beyond, normal], bits.type)
    count = f.cast(llvm.SIToFP, size, f32)
    small = f.emit(llvm.FMul, [count, f.number(2.0**-24, count.type)], count.type)
    denormal = f.icmp("ult", size, f.integer(0x400, size.type))
    small = f.cast(llvm.Bitcast, small, i32)
    chosen = f.emit(llvm.Select, [denormal, small, large], bits.type)
    return f.cast(llvm.Bitcast, f.emit(llvm.Or, [chosen, sign], bits.type), f32)


def _to_f16(f: FunctionLowering, value: Value) -> Value:
    """An f32 rounded to f16, to nearest even; NaN stays NaN.

    It rounds as `_to_bf16` does, and changes the bias of the exponent; from 2**16 on, the result is
    infinite. A denormal result is rounded by adding 0.5, whose last bit is 2**-24 as well.
    """
    bits = f.cast(llvm.Bitcast, value, i32)
    sign = _binary(f, llvm.And, _binary(f, llvm.LShr, bits, 16), 0x8000)
    size = _binary(f, llvm.And, bits, 0x7FFFFFFF)
    limit = f.integer(143 << 23, bits.type)
    finite = f.emit(llvm.Select, [f.icmp("ult", size, limit), size, limit], bits.type)
    odd = _binary(f, llvm.And, _binary(f, llvm.LShr, size, 13), 1)
    bias = _binary(f, llvm.Add, odd, 0xFFF - (112 << 23))
    normal = _binary(f, llvm.LShr, f.emit(llvm.Add, [finite, bias], bits.type), 13)
    magnitude = f.cast(llvm.Bitcast, size, f32)
    half = f.number(0.5, magnitude.type)
    total = f.emit(llvm.FAdd, [magnitude, half], magnitude.type)
    small = _binary(f, llvm.Sub, f.cast(llvm.Bitcast, total, i32), 126 << 23)
    denormal = f.icmp("ult", size, f.integer(113 << 23, bits.type))
    chosen = f.emit(llvm.Select, [denormal, small, normal], bits.type)
    quiet = f.integer(0x7E00, bits.type)
    chosen = f.emit(llvm.Select, [f.fcmp("uno", value, value), quiet, chosen], bits.type)
    signed = f.emit(llvm.Or, [chosen, sign], bits.type)
    return f.cast(llvm.Bitcast, f.cast(llvm.Trunc, signed, i16), f16)


def truncate_f64_to_half(f: FunctionLowering, value: Value) -> Value:
    """The f64 rounded to odd as f32, so that rounding that to f16 or bf16 is as rounding once.

    Rounding to odd goes toward zero and sets the last bit if the result is not exact. f32 has at
    least two more bits than f16 or bf16, which makes the second rounding right.
    Source: Boldo and Melquiond, "When double rounding is odd", 2005.
    """
    near = f.cast(llvm.FPTrunc, value, f32)
    back = f.cast(llvm.FPExt, near, f64)
    bits = f.cast(llvm.Bitcast, near, i32)
    inexact = f.fcmp("one", back, value)
    magnitude = f.emit(llvm.IntrFabs, [value], value.type)
    beyond = f.fcmp("ogt", f.emit(llvm.IntrFabs, [back], value.type), magnitude)
    toward_zero = f.emit(llvm.Sub, [bits, f.cast(llvm.ZExt, beyond, i32)], bits.type)
    odd = _binary(f, llvm.Or, toward_zero, 1)
    chosen = f.emit(llvm.Select, [inexact, odd, bits], bits.type)
    return f.cast(llvm.Bitcast, chosen, f32)

"""bf16 by integer arithmetic, and f64 to half precision with one rounding.

LLVM would call library functions for these, which a process need not have, or use an
instruction that flushes denormals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dialects import llvm
from ...ir.core import Operation, Value
from ...ir.types import bf16, f32, f64, i16, i32

if TYPE_CHECKING:
    from .conversion import FunctionLowering


def _binary(f: FunctionLowering, cls: type[Operation], a: Value, number: int) -> Value:
    return f.emit(cls, [a, f.integer(number, a.type)], a.type)


def from_bf16(f: FunctionLowering, value: Value) -> Value:
    """The f32 of the same value: its upper half."""
    bits = f.cast(llvm.ZExt, f.cast(llvm.Bitcast, value, i16), i32)
    return f.cast(llvm.Bitcast, _binary(f, llvm.Shl, bits, 16), f32)


def to_bf16(f: FunctionLowering, value: Value) -> Value:
    """An f32 rounded to nearest even; NaN stays NaN.

    Adding 0x7FFF and the lowest bit that stays carries into it exactly where nearest even
    rounds away from zero.
    """
    bits = f.cast(llvm.Bitcast, value, i32)
    upper = _binary(f, llvm.LShr, bits, 16)
    odd = _binary(f, llvm.And, upper, 1)
    bias = _binary(f, llvm.Add, odd, 0x7FFF)
    rounded = _binary(f, llvm.LShr, f.emit(llvm.Add, [bits, bias], bits.type), 16)
    quiet = _binary(f, llvm.Or, upper, 0x40)
    nan = f.fcmp("uno", value, value)
    chosen = f.emit(llvm.Select, [nan, quiet, rounded], bits.type)
    return f.cast(llvm.Bitcast, f.cast(llvm.Trunc, chosen, i16), bf16)


def truncate_f64_to_half(f: FunctionLowering, value: Value) -> Value:
    """The f64 as an f32 rounded to odd, which rounds once more to f16 or bf16 as if once.

    Round to odd: toward zero, and the last bit set where that was not exact. f32 has at
    least two more bits than either, which makes the second rounding right.
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

"""Quantized tensors, whose integers are q = saturate(round(x / scale) + zero_point).

Scales and zero points are values that broadcast against the tensor; see `along_axis`.
"""

from __future__ import annotations

from .words import *


def real_numbers(n: Layer, x: Value, scale: Value, zero: Value | None) -> Term:
    """The real numbers that a quantized tensor represents, in f32 whatever the scale's type."""
    found = Term(n, x).cast(f32)
    if zero is not None:
        found = found - Term(n, zero).cast(f32)
    return found * Term(n, scale).cast(f32)


def middle_of(element: IntegerType) -> int:
    """The unsigned integer that stands for 0: half of the range for a signed type, else 0."""
    return 0 if element.signedness == "u" else 1 << (element.width - 1)


def pack_bits(integers: np.ndarray, bits: int) -> np.ndarray:
    """Integers [.., N] packed into bytes [.., N * bits / 8], the first in the lowest bits.

    Signed integers are stored as their distance from the lowest one.
    """
    if integers.dtype.name.startswith("int"):
        integers = integers.astype(np.int8).view(np.uint8) + np.uint8(1 << (bits - 1))
    apart = integers.astype(np.uint8).reshape(*integers.shape[:-1], -1, 8 // bits)
    places = np.arange(0, 8, bits, dtype=np.uint8)
    return np.bitwise_or.reduce(apart << places, axis=-1)


def packed_numbers(
    n: Layer,
    data: Value,
    scale: Value,
    offset: Value | None,
    bits: int,
    middle: int | None = None,
    factor_bits: int = 0,
) -> Term:
    """The numbers of packed rows [.., bytes] or [.., groups, bytes], as [.., numbers] in f32.

    Integers of `bits` bits lie in bytes, the lowest bits first. Each group, or each row without
    groups, has a scale and an offset to add; without an offset, integers count from `middle`, by
    default half of the range. `factor_bits` are those of `nn.dequantize`.
    """
    centre = 0 if offset else 1 << (bits - 1) if middle is None else middle
    given = (data, scale, offset)
    found = n(nn.Dequantize(*given, bits=bits, middle=centre, factor_bits=factor_bits))
    kept = max(1, scale.type.rank - 1)
    rows = [(found, i) for i in range(kept)]
    return Term(n, found).reshape(*rows, math.prod(found.type.shape[kept:]))


def quantized(n: Layer, x: Value, scale: Value, zero: Value | None, element: Type) -> Value:
    """Real numbers quantized to an integer type."""
    steps = Term(n, x).cast(f32) / Term(n, scale).cast(f32)
    return saturated(n, steps.value, zero, element)


def saturated(n: Layer, steps: Value, zero: Value | None, element: Type) -> Value:
    """`steps` (x / scale in f32) rounded, plus the zero point, saturated to an integer type."""
    whole = n(nn.Round(steps))
    if zero is not None:
        whole = n(nn.Add(whole, n.cast(zero, whole.type.element_type)))
    least, most = limits_of(element)
    return n.cast(n(nn.Clip(whole, n.scalar(least, whole), n.scalar(most, whole))), element)


def along_axis(n: Layer, x: Value, parameter: Value, axis: int) -> Value:
    """A scale or zero point, a scalar or a vector along an axis, shaped to broadcast against x."""
    if parameter.type.rank == 0:
        return parameter
    if parameter.type.shape == (1,):
        return reshape(n, parameter, [])
    return reshape(n, parameter, [(parameter, 0) if i == axis else 1 for i in range(x.type.rank)])


def shifted(n: Layer, x: Value, zero: Value | None, axis: int | None = None) -> Value:
    """x - zero_point as i32; a 1-D zero point lies along the axis."""
    wide = n.cast(x, i32)
    if zero is None:
        return wide
    if zero.type.rank == 1 and (zero.type.shape == (1,) or axis is not None):
        zero = along_axis(n, x, zero, axis or 0)
    return n(nn.Sub(wide, n.cast(zero, i32)))

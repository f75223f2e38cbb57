"""Integers that stand for real numbers: q = saturate(round(x / scale) + zero_point)."""

from __future__ import annotations

from ....dialects import nn
from ....ir.comprehension import combiner_identity
from ....ir.conversions import is_small_float
from ....ir.core import Value
from ....ir.types import FloatType, IntegerType, Type, f32, i32
from ...common.shapes import normalize_axis, reshape, shape_text
from ...common.terms import counting, extent
from ..node import Node
from ..registry import converter
from ..tensors import element_type


def along_axis(n: Node, x: Value, parameter: Value) -> Value:
    """A scale or zero point in a shape that broadcasts against x: one for all, per axis, or
    per block of the axis.
    """
    if parameter.type.rank == 0:
        return parameter
    if parameter.type.shape == (1,):
        return reshape(n, parameter, [])
    axis = normalize_axis(n, n.int("axis", 1), x.type.rank)
    if parameter.type.rank == 1:
        return reshape(
            n, parameter, [(parameter, 0) if i == axis else 1 for i in range(x.type.rank)]
        )
    block = n.int("block_size")
    if parameter.type.rank != x.type.rank or block < 1:
        raise n.error(f"a scale of shape {shape_text(parameter)} does not fit {shape_text(x)}")
    index = counting(n, extent(n, (x, axis))) / block
    return n(nn.Gather(parameter, index.value, axis=axis))


@converter("DequantizeLinear")
def dequantize(n: Node, x: Value, scale: Value, zero: Value | None = None) -> Value:
    out = element_type(n.int("output_dtype")) if n.int("output_dtype") else scale.type.element_type
    working = f32 if scale.type.element_type is not f32 else scale.type.element_type
    real = n.cast(x, working)
    if zero is not None:
        real = n(nn.Sub(real, n.cast(along_axis(n, x, zero), working)))
    scaled = n(nn.Mul(real, n.cast(along_axis(n, x, scale), working)))
    return n.cast(scaled, out)


@converter("QuantizeLinear")
def quantize(n: Node, x: Value, scale: Value, zero: Value | None = None) -> Value:
    if zero is not None:
        out: Type = zero.type.element_type
    else:
        out = element_type(n.int("output_dtype")) if n.int("output_dtype") else IntegerType(8, "u")
    real = n.cast(x, f32)
    steps = n(nn.Div(real, n.cast(along_axis(n, x, scale), f32)))
    if isinstance(out, FloatType):
        return _as_small_float(n, x, steps, zero, out)
    return saturated(n, steps, None if zero is None else along_axis(n, x, zero), out)


def _as_small_float(n: Node, x: Value, steps: Value, zero: Value | None, out: FloatType) -> Value:
    """Steps of f32 as floats. A zero point of 8 bits is zero by ONNX's rules."""
    if not is_small_float(out):
        raise n.error(f"quantization to {out} is not supported, expected 8 bits or less")
    if zero is not None and out.width < 8:
        steps = n(nn.Add(steps, n.cast(along_axis(n, x, zero), f32)))
    return n.cast(steps, out, bool(n.int("saturate", 1)))


def saturated(n: Node, steps: Value, zero: Value | None, element: Type) -> Value:
    """Steps of f32 rounded, moved by the zero point, and limited to an integer type."""
    whole = n(nn.Round(steps))
    if zero is not None:
        whole = n(nn.Add(whole, n.cast(zero, whole.type.element_type)))
    least, most = limits_of(element)
    return n.cast(n(nn.Clip(whole, n.scalar(least, whole), n.scalar(most, whole))), element)


def limits_of(element: Type) -> tuple[int, int]:
    """The smallest and the largest number of an integer type."""
    assert isinstance(element, IntegerType)
    least, most = (combiner_identity(which, element) for which in ("max", "min"))
    return int(least), int(most)


def shifted(n: Node, x: Value, zero: Value | None, axis: int | None = None) -> Value:
    """x - zero_point as i32; a 1-D zero point goes along the axis."""
    wide = n.cast(x, i32)
    if zero is None:
        return wide
    if zero.type.rank == 1 and zero.type.shape != (1,) and axis is not None:
        zero = reshape(n, zero, [(zero, 0) if i == axis else 1 for i in range(x.type.rank)])
    elif zero.type.shape == (1,):
        zero = reshape(n, zero, [])
    return n(nn.Sub(wide, n.cast(zero, i32)))


@converter("MatMulInteger")
def matmul_integer(
    n: Node, a: Value, b: Value, a_zero: Value | None = None, b_zero: Value | None = None
) -> Value:
    lhs = shifted(n, a, a_zero, a.type.rank - 2)
    return n(nn.Matmul(lhs, shifted(n, b, b_zero, b.type.rank - 1)))


@converter("QLinearMatMul")
def qlinear_matmul(
    n: Node,
    a: Value,
    a_scale: Value,
    a_zero: Value,
    b: Value,
    b_scale: Value,
    b_zero: Value,
    y_scale: Value,
    y_zero: Value,
) -> Value:
    lhs = shifted(n, a, a_zero, a.type.rank - 2)
    exact = n.cast(n(nn.Matmul(lhs, shifted(n, b, b_zero, b.type.rank - 1))), f32)
    product = n(nn.Mul(_scale(n, a, a_scale, -2), _scale(n, b, b_scale, -1)))
    ratio = n(nn.Div(product, _scale(n, a, y_scale, -2)))
    zero = _scale(n, a, y_zero, -2, y_zero.type.element_type)
    return saturated(n, n(nn.Mul(exact, ratio)), zero, y_zero.type.element_type)


def _scale(n: Node, x: Value, scale: Value, axis: int, element: Type = f32) -> Value:
    """A scale for rows (axis -2) or columns (-1) of a product."""
    value = n.cast(scale, element)
    if value.type.rank == 1:
        if value.type.shape == (1,):
            return reshape(n, value, [])
        return reshape(n, value, [(value, 0), 1] if axis == -2 else [1, (value, 0)])
    return value


@converter("ConvInteger")
def conv_integer(
    n: Node, x: Value, w: Value, x_zero: Value | None = None, w_zero: Value | None = None
) -> Value:
    from .convolution import conv

    return conv(n, shifted(n, x, x_zero), shifted(n, w, w_zero, 0))


@converter("QLinearConv")
def qlinear_conv(
    n: Node,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    w: Value,
    w_scale: Value,
    w_zero: Value,
    y_scale: Value,
    y_zero: Value,
    bias: Value | None = None,
) -> Value:
    from .convolution import conv

    exact = n.cast(conv(n, shifted(n, x, x_zero), shifted(n, w, w_zero, 0), bias), f32)
    factor = n(nn.Div(n(nn.Mul(_flat(n, x_scale), w_scale)), _flat(n, y_scale)))
    if factor.type.rank == 1 and factor.type.shape != (1,):
        factor = reshape(n, factor, [1, (factor, 0), *[1] * (x.type.rank - 2)])
    steps = n(nn.Mul(exact, factor))
    return saturated(n, steps, _flat(n, y_zero), y_zero.type.element_type)


def _flat(n: Node, x: Value) -> Value:
    return reshape(n, x, []) if x.type.shape == (1,) else x

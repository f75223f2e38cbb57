"""Integers that stand for real numbers: q = saturate(round(x / scale) + zero_point)."""

from __future__ import annotations

from ....ir.conversions import is_small_float
from ...common.quantization import (
    along_axis,
    middle_of,
    pack_bits,
    packed_numbers,
    quantized,
    real_numbers,
    saturated,
    shifted,
)
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from ..tensors import element_type


def _along_axis(n: Node, x: Value, parameter: Value) -> Value:
    """A scale or zero point shaped to broadcast against x: a scalar, per axis, or per block of the
    axis.
    """
    if parameter.type.rank == 0 or parameter.type.shape == (1,):
        return along_axis(n, x, parameter, 0)
    axis = normalize_axis(n, n.int("axis", 1), x.type.rank)
    if parameter.type.rank == 1:
        return along_axis(n, x, parameter, axis)
    block = n.int("block_size")
    if parameter.type.rank != x.type.rank or block < 1:
        raise n.error(f"a scale of shape {shape_text(parameter)} does not fit {shape_text(x)}")
    index = counting(n, extent(n, (x, axis))) / block
    return gathered(n, parameter, index.value, axis)


def _packed_matrix(n: Node, x: Value, scale: Value, zero: Value | None) -> Term | None:
    """A constant matrix as rows of packed integers, in groups that share a scale; None if
    unsuitable.

    Groups are blocks of the axis; or, for less than 8 bits, all elements at one index of the axis.
    """
    element, block, data = x.type.element_type, n.int("block_size"), n.array(x)
    if data is None or data.ndim != 2 or not data.size:
        return None
    if not isinstance(element, IntegerType) or element.width not in (2, 4, 8):
        return None
    axis = normalize_axis(n, n.int("axis", 1), 2)
    if scale.type.rank == 1 and element.width < 8 and scale.type.shape == (data.shape[axis],):
        axis, block = 1 - axis, data.shape[1 - axis]
    elif scale.type.rank != 2 or block < 1:
        return None
    if data.shape[axis] % block or block * element.width % 8:
        return None
    order = (0, 1) if axis == 1 else (1, 0)
    rows = pack_bits(data.transpose(order), element.width)
    rows = rows.reshape(len(rows), -1, block * element.width // 8)

    def of_groups(parameter: Value) -> Term:
        term = Term(n, parameter)
        return term.spread(0, 1) if term.rank == 1 else term.transpose(*order)

    scales, middle, offset = of_groups(scale), middle_of(element), None
    if zero is not None:
        points = of_groups(zero).cast(f32) + float(middle)
        offset = (-(points * scales.cast(f32))).value
    real = packed_numbers(n, n.constant(rows), scales.value, offset, element.width, middle)
    return real.transpose(*order)


@converter("DequantizeLinear")
def dequantize(n: Node, x: Value, scale: Value, zero: Value | None = None) -> Value:
    out = element_type(n.int("output_dtype")) if n.int("output_dtype") else scale.type.element_type
    if (matrix := _packed_matrix(n, x, scale, zero)) is not None:
        return matrix.cast(out).value
    middle = None if zero is None else _along_axis(n, x, zero)
    return real_numbers(n, x, _along_axis(n, x, scale), middle).cast(out).value


@converter("QuantizeLinear")
def quantize(n: Node, x: Value, scale: Value, zero: Value | None = None) -> Value:
    asked = element_type(n.int("output_dtype")) if n.int("output_dtype") else None
    out: Type = (asked or IntegerType(8, "u")) if zero is None else zero.type.element_type
    if asked not in (None, out):
        raise n.error(f"attribute 'output_dtype' is {asked}, but the zero point's type {out}")
    size = _along_axis(n, x, scale)
    # ONNX requires the zero point of 8-bit floats to be 0.
    stays = isinstance(out, FloatType) and out.width == 8
    middle = None if zero is None or stays else _along_axis(n, x, zero)
    steps = Term(n, x).cast(f32) / Term(n, size).cast(f32)
    told = n.int("precision")
    divided = element_type(told) if told else scale.type.element_type
    if n.opset >= 23 and divided in (f16, bf16):  # before, the type of the division was unspecified
        steps = steps.cast(divided).cast(f32)
    if isinstance(out, FloatType):
        return _as_small_float(n, steps.value, middle, out)
    return saturated(n, steps.value, middle, out)


def _as_small_float(n: Node, steps: Value, zero: Value | None, out: FloatType) -> Value:
    """x / scale (`steps`) of f32, converted to small floats."""
    if not is_small_float(out):
        raise n.error(f"quantization to {out} is not supported, expected 8 bits or less")
    if zero is not None:
        steps = n(nn.Add(steps, n.cast(zero, f32)))
    return n.cast(steps, out, bool(n.int("saturate", 1)))


@converter("DynamicQuantizeLinear")
def dynamic_quantize(n: Node, x: Value) -> list:
    """Quantization to bytes by the range of x; if it is 0, with a scale of 1, as ONNX Runtime."""
    axes = tuple(range(x.type.rank))
    low, high = (Term(n, reduced(n, x, r, axes)) for r in (nn.ReduceMin, nn.ReduceMax))
    span = (high.max(0.0) - low.min(0.0)) / 255.0
    scale = span.equals(0.0).choose(1.0, span)
    byte = IntegerType(8, "u")
    zero = saturated(n, (-low.min(0.0) / scale).value, None, byte)
    return [quantized(n, x, scale.value, zero, byte), scale.value, zero]


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
    """A scale for rows (axis -2) or columns (-1) of a product, shaped to broadcast."""
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
    factor = n(nn.Div(n(nn.Mul(one_as_scalar(n, x_scale), w_scale)), one_as_scalar(n, y_scale)))
    if factor.type.rank == 1 and factor.type.shape != (1,):
        factor = reshape(n, factor, [1, (factor, 0), *[1] * (x.type.rank - 2)])
    steps = n(nn.Mul(exact, factor))
    return saturated(n, steps, one_as_scalar(n, y_zero), y_zero.type.element_type)


def one_as_scalar(n: Node, x: Value) -> Value:
    """A vector of one element as a scalar; a longer one is unchanged."""
    return reshape(n, x, []) if x.type.shape == (1,) else x

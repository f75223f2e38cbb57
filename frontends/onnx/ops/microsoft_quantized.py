"""Quantized operators of com.microsoft.

Source: onnxruntime's ContribOperators.md.
"""

from __future__ import annotations

from collections.abc import Callable

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import FloatType, IntegerType, f32
from ..node import Node
from ..registry import converter
from ..shapes import reshape
from ..terms import Term, joined
from .microsoft import DOMAIN
from .quantization import matmul_integer, saturated


def _real(n: Node, x: Value, scale: Value, zero: Value | None) -> Term:
    found = Term(n, x).cast(f32)
    if zero is not None:
        found = found - Term(n, _flat(n, zero)).cast(f32)
    return found * Term(n, _flat(n, scale)).cast(f32)


def _flat(n: Node, x: Value) -> Value:
    return reshape(n, x, []) if x.type.shape == (1,) else x


def _binary(op: Callable) -> Callable:
    """The quantized form of an operation on two tensors."""

    def convert(
        n: Node,
        a: Value,
        a_scale: Value,
        a_zero: Value | None,
        b: Value,
        b_scale: Value,
        b_zero: Value | None,
        y_scale: Value,
        y_zero: Value | None = None,
    ) -> Value:
        lhs, rhs = _real(n, a, a_scale, a_zero), _real(n, b, b_scale, b_zero)
        steps = lhs.made(op(lhs.value, rhs.value)) / Term(n, _flat(n, y_scale)).cast(f32)
        zero = None if y_zero is None else _flat(n, y_zero)
        return saturated(n, steps.value, zero, a.type.element_type)

    return convert


converter("QLinearAdd", domain=DOMAIN)(_binary(nn.Add))
converter("QLinearMul", domain=DOMAIN)(_binary(nn.Mul))


@converter("MatMulIntegerToFloat", domain=DOMAIN)
def matmul_integer_to_float(
    n: Node,
    a: Value,
    b: Value,
    a_scale: Value,
    b_scale: Value,
    a_zero: Value | None = None,
    b_zero: Value | None = None,
    bias: Value | None = None,
) -> Value:
    element = a_scale.type.element_type
    exact = Term(n, matmul_integer(n, a, b, a_zero, b_zero)).cast(element)
    scale = Term(n, _flat(n, a_scale)) * Term(n, _flat(n, b_scale))
    out = exact * scale
    return (out if bias is None else out + Term(n, bias)).value


@converter("DynamicQuantizeMatMul", domain=DOMAIN)
def dynamic_quantize_matmul(
    n: Node,
    a: Value,
    b: Value,
    b_scale: Value,
    b_zero: Value | None = None,
    bias: Value | None = None,
) -> Value:
    """a in 256 steps from its least to its largest element, or 0, times b."""
    x = Term(n, a)
    axes = tuple(range(x.rank))
    low = x.made(nn.ReduceMin(x.value, axes=axes)).min(0.0)
    high = x.largest(*axes).max(0.0)
    scale = (high - low) / 255.0
    scale = scale.equals(0.0).choose(1.0, scale)
    byte = IntegerType(8, "u")
    zero = Term(n, saturated(n, (-low / scale).value, None, byte))
    steps = saturated(n, (x / scale).value, zero.value, byte)
    return matmul_integer_to_float(n, steps, b, scale.value, b_scale, zero.value, b_zero, bias)


@converter("MatMulNBits", domain=DOMAIN)
def matmul_bits(
    n: Node,
    a: Value,
    b: Value,
    scales: Value,
    zeros: Value | None = None,
    groups: Value | None = None,
    bias: Value | None = None,
) -> Value:
    """a [.., K] times weights of few bits, [N, blocks, bytes], each block with its scale."""
    width, columns = n.int("K"), n.int("N")
    bits, block = n.int("bits", 4), n.int("block_size")
    if groups is not None or bits not in (2, 4, 8) or block < 1:
        raise n.error(f"{bits} bits in blocks of {block}, or g_idx, are not supported")
    count = -(-width // block)
    element = a.type.element_type
    steps = _unpacked(n, b, bits).reshape(columns, count, block).cast(element)
    if zeros is None:
        middle: Term | float = float(1 << (bits - 1))
    elif isinstance(zeros.type.element_type, FloatType):
        middle = Term(n, zeros).reshape(columns, count, 1)
    else:
        packed = -(-count * bits // 8)
        rows = _unpacked(n, reshape(n, zeros, [columns, packed]), bits)
        middle = rows.part(1, 0, count).reshape(columns, count, 1).cast(element)
    weights = (steps - middle) * Term(n, scales).reshape(columns, count, 1)
    matrix = weights.reshape(columns, count * block).part(1, 0, width).transpose(1, 0)
    out = Term(n, a) @ matrix
    return (out if bias is None else out + Term(n, bias)).value


def _unpacked(n: Node, x: Value, bits: int) -> Term:
    """The numbers in bytes [N, ..], the lowest bits first, as rows [N, numbers]."""
    data = Term(n, x)
    if bits < 8:
        parts = [((data >> shift) & ((1 << bits) - 1)).spread(0, 1) for shift in range(0, 8, bits)]
        data = joined(parts, -1)
    return data.flattened(1)

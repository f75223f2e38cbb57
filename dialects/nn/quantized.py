"""Matrices of small unsigned integers that stay packed, in groups with scales of their own.

An element is `part * scale + offset`: an integer of 2, 4 or 8 bits and the two numbers of its
group. Without offsets it is `(part - middle) * scale`. Integers lie side by side, the first in the
lowest bits.
See docs/decisions/0025-packed-weights.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.comprehension import Comprehension
from ...ir.constraints import AnyRankedTensor
from ...ir.declare import (
    I64,
    Operand,
    OptionalOperand,
    Result,
    attribute,
    operand,
    optional_operand,
    result,
)
from ...ir.diagnostics import NncError
from ...ir.lazy import np
from ...ir.packing import PARTS, unsigned_part
from ...ir.types import IntegerType, TensorType, f32, i32
from .base import NnOp
from .products import ProductOp

BYTE = IntegerType(8, "u")


def numbers_body(part: str, group: str, attrs: Any, has_offset: bool) -> str:
    """The text of an element: `part` reads its integer, `group` is the index of its group."""
    if f"part_u{attrs.bits}" not in PARTS:
        raise NncError(f"integers of {attrs.bits} bits are not packed, but those of 2, 4 and 8")
    # In this order, since a product that is added last becomes one multiply-add with the sum.
    offset = f"cast(offset[{group}])" if has_offset else f"cast(scale[{group}]) * {-attrs.middle}.0"
    return f"{offset} + cast(part_u{attrs.bits}({part})) * cast(scale[{group}])"


class Dequantize(NnOp, name="nn.dequantize"):
    """The numbers that packed integers represent; each row of bytes has one scale and one offset.

    Shapes: x [B.., I], scale and offset [B..] -> out [B.., I, 8 / bits].
    Numerics: in f32.
    """

    x: Operand = operand(AnyRankedTensor)
    scale: Operand = operand(AnyRankedTensor)
    offset: OptionalOperand = optional_operand(AnyRankedTensor)
    bits: int = attribute(I64, default=4)
    middle: int = attribute(I64, default=0)
    out: Result = result(AnyRankedTensor)

    growth = 16
    example = (
        "%y = nn.dequantize %x, %s {middle = 8 : i64} : "
        "(tensor<3x2x16xui8>, tensor<3x2xf32>) -> tensor<3x2x16x2xf32>"
    )

    @classmethod
    def comprehend(
        cls, types: Sequence[TensorType], attrs: Any, results: Sequence[TensorType] = ()
    ) -> Comprehension:
        x = types[0]
        if x.element_type is not BYTE:
            raise NncError(f"expected integers in bytes, but got '{x}'")
        numbers = numbers_body("x[b.., i], j", "b..", attrs, len(types) > 2)
        extents = {"j": 8 // attrs.bits}
        return cls.bind(f"out[b.., i, j] = {numbers}", types, {}, extents, f32)

    @classmethod
    def result_element(cls, types, attrs):
        return f32


class QuantizedMatmul(ProductOp, name="nn.quantized_matmul"):
    """Matrix product with a matrix of packed integers, whose columns are blocked.

    Shapes: lhs [B.., M, K / G, G / P, P], weight [N / A, K / G, G / P, A] with P = 32 / bits
    integers of a column in each word, scale and offset [N / A, K / G, A] -> out [B.., M, N / A, A].
    Numerics: in f32.
    """

    lhs: Operand = operand(AnyRankedTensor)
    weight: Operand = operand(AnyRankedTensor)
    scale: Operand = operand(AnyRankedTensor)
    offset: OptionalOperand = optional_operand(AnyRankedTensor)
    bits: int = attribute(I64, default=4)
    middle: int = attribute(I64, default=0)
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.quantized_matmul %x, %w, %s {middle = 8 : i64} : (tensor<3x2x4x8xf32>, "
        "tensor<2x2x4x16xi32>, tensor<2x2x16xf32>) -> tensor<3x2x16xf32>"
    )

    @classmethod
    def comprehend(
        cls, types: Sequence[TensorType], attrs: Any, results: Sequence[TensorType] = ()
    ) -> Comprehension:
        lhs, weight = types[:2]
        if lhs.element_type is not f32 or weight.element_type is not i32:
            raise NncError(f"expected numbers of f32 and words of i32, but got '{lhs}', '{weight}'")
        if lhs.rank < 4 or lhs.shape[-1] != 32 // max(1, attrs.bits):
            raise NncError(f"'{lhs}' does not hold the rows of a word side by side")
        numbers = numbers_body("weight[no, g, w, ni], j", "no, g, ni", attrs, len(types) > 3)
        body = f"out[b.., m, no, ni] += lhs[b.., m, g, w, j] * ({numbers})"
        return cls.bind(body, types, {}, None, f32)

    def evaluate(self, *operands: np.ndarray) -> np.ndarray:
        lhs, weight, scale, *rest = operands
        places = np.arange(32 // self.bits, dtype=np.int32)[:, None]
        parts = unsigned_part(self.bits)(weight[..., None, :].view(np.uint32), places)
        wide = scale[:, :, None, None].astype(np.float32)
        offset = rest[0][:, :, None, None].astype(np.float32) if rest else -self.middle * wide
        matrix = parts.astype(np.float32) * wide + offset
        return np.einsum("...gwj,ogwjn->...on", lhs, matrix, optimize=True).astype(np.float32)

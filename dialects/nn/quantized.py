"""Matrices of small unsigned integers that stay packed, in groups with a scale for each.

An element is `part * scale + offset`: an integer of 2, 4 or 8 bits, and two numbers of its group.
Without offsets it is `(part - middle) * scale`. Integers lie side by side, the first in the lowest
bits. See docs/decisions/0025-packed-weights.md.
"""

from __future__ import annotations

from ...ir.comprehension import Comprehension
from ...ir.packing import INTEGERS, PARTS, unsigned_part
from ...ir.types import f32
from ..vocabulary import *
from .base import NnOp
from .products import PACKING, ProductOp

BYTE = IntegerType(8, "u")


def numbers_body(part: str, group: str, attrs: Any, has_offset: bool) -> str:
    """The text, in a comprehension, of an element's value.

    `part` is the text that reads its integer, `group` the index of its group's scale and offset.
    """
    if f"part_u{attrs.bits}" not in PARTS:
        raise NncError(f"integers of {attrs.bits} bits are not packed, but those of 2, 4 and 8")
    # In this order, since a product that is added last becomes one multiply-add with the sum.
    offset = f"cast(offset[{group}])" if has_offset else f"cast(scale[{group}]) * {-attrs.middle}.0"
    return f"{offset} + cast(part_u{attrs.bits}({part})) * cast(scale[{group}])"


class _DequantizeOp(NnOp):
    """Base of the ops that give the values of packed integers."""

    x: Operand = operand(AnyRankedTensor)
    scale: Operand = operand(AnyRankedTensor)
    offset: OptionalOperand = optional_operand(AnyRankedTensor)
    bits: int = attribute(I64, default=4)
    middle: int = attribute(I64, default=0)
    growth = 16

    @classmethod
    def result_element(cls, types, attrs):
        return f32


class Dequantize(_DequantizeOp, name="nn.dequantize"):
    """The values of packed integers; each row of bytes has one scale and one offset.

    `factor_bits`, unless 0, allows a matrix product with these values to round its other operand to
    signed integers of so many bits, with a scale for each group.
    Shapes: x [B.., I], scale and offset [B..] -> out [B.., I, 8 / bits].
    Numerics: in f32.
    """

    factor_bits: int = attribute(I64, default=0)
    out: Result = result(AnyRankedTensor)

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


class DequantizeWords(_DequantizeOp, name="nn.dequantize_words"):
    """The values of a matrix of packed integers whose columns are in blocks of A.

    Shapes: x [N / A, K / G, G / P, A], where a word holds P = 32 / bits integers of one column,
    scale and offset [N / A, K / G, A] -> out [N / A, K / G, G / P, P, A].
    Numerics: in f32.
    """

    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.dequantize_words %x, %s {middle = 8 : i64} : "
        "(tensor<2x2x4x16xi32>, tensor<2x2x16xf32>) -> tensor<2x2x4x8x16xf32>"
    )

    @classmethod
    def comprehend(
        cls, types: Sequence[TensorType], attrs: Any, results: Sequence[TensorType] = ()
    ) -> Comprehension:
        if types[0].element_type is not i32:
            raise NncError(f"expected integers in words, but got '{types[0]}'")
        numbers = numbers_body("x[no, g, w, ni], j", "no, g, ni", attrs, len(types) > 2)
        extents = {"j": 32 // attrs.bits}
        return cls.bind(f"out[no, g, w, j, ni] = {numbers}", types, {}, extents, f32)


class QuantizedMatmul(ProductOp, name="nn.quantized_matmul"):
    """Matrix product with a matrix of packed integers whose columns are in blocks of A.

    Shapes: lhs [B.., M, K / G, G / P, P], weight [N / A, K / G, G / P, A], where a word holds P =
    32 / bits integers of one column, scale and offset [N / A, K / G, A] -> out [B.., M, N / A, A].
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


class UnpackedMatmul(ProductOp, name="nn.unpacked_matmul"):
    """`nn.quantized_matmul` of weights that `nn.dequantize_words` has unpacked.

    Shapes: lhs [B.., M, K / G, G / P, P], weight [N / A, K / G, G / P, P, A] -> [B.., M, N / A, A].
    """

    lhs: Operand = operand(AnyRankedTensor)
    weight: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    body = "out[b.., m, no, ni] += lhs[b.., m, g, w, j] * weight[no, g, w, j, ni]"
    example = (
        "%y = nn.unpacked_matmul %x, %w : "
        "(tensor<3x2x4x8xf32>, tensor<2x2x4x8x16xf32>) -> tensor<3x2x16xf32>"
    )


class QuantizedByteMatmul(ProductOp, name="nn.quantized_byte_matmul"):
    """Product of rows of signed bytes with a matrix of packed integers whose columns are in blocks.

    A group G has H steps of W words. Products are summed exactly, as integers, within a step; the
    sum begins with `start`. Then it is multiplied with the row's scale of the step and the column's
    scale of the group, and added in f32. A word of `weight` has four bytes of E integers each, and
    word e of `lhs` has the four bytes that meet the e-th integer of each. With `offset`, `start`
    must be the sum of the step's bytes: it is multiplied with the row's scale and the offset
    instead.
    Shapes: lhs [B.., M, G, H, W, E] with E = 8 / bits, start and lhs_scale [B.., M, G, H],
    weight [N / A, G, H, W, A], scale and offset [N / A, G, A] -> out [B.., M, N / A, A].
    Numerics: sums of steps in f32.
    """

    lhs: Operand = operand(AnyRankedTensor)
    weight: Operand = operand(AnyRankedTensor)
    start: Operand = operand(AnyRankedTensor)
    lhs_scale: Operand = operand(AnyRankedTensor)
    scale: Operand = operand(AnyRankedTensor)
    offset: OptionalOperand = optional_operand(AnyRankedTensor)
    bits: int = attribute(I64, default=4)
    packing: str = attribute(PACKING, default="u8s8")
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.quantized_byte_matmul %x, %w, %b, %r, %s : (tensor<3x2x1x4x2xi32>, "
        "tensor<2x2x1x4x16xi32>, tensor<3x2x1xi32>, tensor<3x2x1xf32>, tensor<2x2x16xf32>) "
        "-> tensor<3x2x16xf32>"
    )

    @classmethod
    def comprehend(
        cls, types: Sequence[TensorType], attrs: Any, results: Sequence[TensorType] = ()
    ) -> Comprehension:
        lhs, weight, start = types[:3]
        if any(t.element_type is not i32 for t in (lhs, weight, start)):
            raise NncError(f"expected integers of i32, but got '{lhs}', '{weight}' and '{start}'")
        if f"part_u{attrs.bits}" not in PARTS or attrs.packing not in INTEGERS:
            raise NncError(f"{attrs.bits} bits as '{attrs.packing}' are not multiplied")
        if lhs.rank < 5 or lhs.shape[-1] != 8 // attrs.bits:
            raise NncError(f"'{lhs}' does not hold the bytes for integers of {attrs.bits} bits")
        if weight.rank != 5 or lhs.shape[-2] is None or weight.shape[-2] != lhs.shape[-2]:
            raise NncError(f"'{weight}' has other words in a step (axis -2) than '{lhs}'")
        dots = [
            f"dot_{attrs.packing}({_bytes(f'weight[no, g, h, {w}, ni]', place, attrs.bits)},"
            f" lhs[b.., m, g, h, {w}, {place}])"
            for w in range(lhs.shape[-2])
            for place in range(lhs.shape[-1])
        ]
        steps, row, column = " + ".join(dots), "lhs_scale[b.., m, g, h]", "cast(scale[no, g, ni])"
        start = "start[b.., m, g, h]"
        value = f"cast({start} + {steps}) * {row} * {column}"
        if len(types) > 5:
            sums = f"cast({start}) * {row} * cast(offset[no, g, ni])"
            value = f"{sums} + cast({steps}) * {row} * {column}"
        return cls.bind(f"out[b.., m, no, ni] += {value}", types, {}, None, f32)

    @classmethod
    def result_element(cls, types, attrs):
        return f32


def _bytes(word: str, place: int, bits: int) -> str:
    """The text that takes the `place`-th integer of each of a word's four bytes, as a word."""
    if bits == 8:
        return word
    mask = ((1 << bits) - 1) * 0x01010101
    return f"and(shift_right({word}, {place * bits}), {mask})" if place else f"and({word}, {mask})"

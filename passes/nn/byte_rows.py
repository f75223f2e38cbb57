"""Products of packed integers with rows that may be rounded to bytes, as sums of integers.

    r = max |x| / 127, q = round(x / r)             for each step of up to 32 numbers of a row
    quantized_matmul(x, words)          ->    quantized_byte_matmul(words of q, words, r)

See docs/decisions/0077-rows-of-bytes.md.
"""

from __future__ import annotations

from math import gcd

from ...dialects import nn
from ...ir.builder import Builder
from ...ir.core import Value
from ...ir.types import f32, i8, i32
from ...targets.machine import Machine
from .building import cast, reshape, scalar, shape_of

_MOST = 127
_LEAST_SCALE = 1e-37
"""The smallest scale: a smaller one has no reciprocal in f32. Tiny numbers are rounded more
coarsely.
"""


def byte_packing(packed: nn.Dequantize, machine: Machine) -> str | None:
    """The packing in which rows of bytes are multiplied with these packed integers.

    None if floats multiply them: where the model wants that, or no instruction multiplies bytes.
    """
    if packed.factor_bits != i8.width:
        return None
    if machine.has_byte_products:
        return "u8s8"
    return "s8" if machine.has_signed_byte_products and packed.bits < i8.width else None


def multiply_bytes(
    b: Builder, x: Value, words: Value, numbers: list[Value], packed: nn.Dequantize, packing: str
) -> Value:
    """The product [.., M, N / A, A] of rows x [.., M, G, W, P] of f32 and words [N / A, G, W, A].

    `numbers` are the scale, and perhaps the offset, of each group of a column.
    """
    *lead, groups, width, parts = shape_of(x)
    blocks, _, _, block = shape_of(words)
    # Up to 32 numbers share a scale: their words and sums stay in registers.
    count = gcd(width, packed.bits)
    steps = (groups, width // count)
    x = reshape(b, x, (*lead, *steps, count * parts))
    axis = (len(lead) + 2,)
    most = b.insert(nn.ReduceMax(b.insert(nn.Abs(x)).result, axis, True)).result
    scale = b.insert(nn.Mul(most, scalar(b, 1 / _MOST, f32))).result
    safe = b.insert(nn.Max(scale, scalar(b, _LEAST_SCALE, f32))).result
    inverse = b.insert(nn.Reciprocal(safe)).result
    whole = b.insert(nn.Round(b.insert(nn.Mul(x, inverse)).result)).result
    start = cast(b, b.insert(nn.ReduceSum(whole, axis, False)).result, i32)
    if len(numbers) == 1:
        start = b.insert(nn.Mul(start, scalar(b, -packed.middle, i32))).result
    each = 8 // packed.bits
    whole = reshape(b, cast(b, whole, i8), (*lead, *steps, count, 4, each))
    order = (*range(len(lead) + 3), len(lead) + 4, len(lead) + 3)
    whole = b.insert(nn.Words(b.insert(nn.Transpose(whole, order)).result)).result
    rows = reshape(b, whole, (*lead, *steps, count, each))
    words = reshape(b, words, (blocks, *steps, count, block))
    scale = reshape(b, safe, (*lead, *steps))
    made = nn.QuantizedByteMatmul(
        rows, words, start, scale, *numbers, bits=packed.bits, packing=packing
    )
    return b.insert(made).result

"""Products of bf16 by constant matrices, on words that hold two of them.

x @ w  ->  bf16(packed(words(x), words(w)))    sums in f32
"""

from __future__ import annotations

from ...dialects import nn
from ...ir.builder import Builder
from ...ir.packing import HALVES
from ...ir.types import TensorType, bf16, f32
from ...targets.machine import Machine
from .building import cast, element_of, reshape, shape_of
from .integer_products import behind


def multiplies_halves(product: nn.Matmul, machine: Machine) -> bool:
    """Whether a product is of bf16 by a constant matrix, on a machine that multiplies halves."""
    lhs, rhs = shape_of(product.lhs), shape_of(product.rhs)
    if not machine.multiplies_halves or element_of(product.lhs) is not bf16:
        return False
    if len(lhs) < 2 or len(rhs) != 2 or 0 in rhs or None in (lhs[-1], *rhs):
        return False
    return product.rhs.defined_by(nn.Constant) is not None


def pack_half_matmul(product: nn.Matmul, block: int) -> None:
    """Replace a product by one of words, with the weights in blocks of columns."""
    b = Builder.before_op(product)
    K, N = shape_of(product.rhs)
    pairs, blocks = -(-K // 2), -(-N // block)
    weight = behind(b, product.rhs, (2 * pairs - K, blocks * block - N))
    apart = reshape(b, weight, (pairs, 2, blocks, block))
    words = b.insert(nn.Words(b.insert(nn.Transpose(apart, (2, 0, 3, 1))).result)).result
    rank = len(shape_of(product.lhs))
    x = behind(b, product.lhs, (*(0,) * (rank - 1), 2 * pairs - K))
    rows = b.insert(nn.Words(x)).result
    weights = reshape(b, words, (blocks, pairs, block))
    out = b.insert(nn.PackedMatmul(rows, weights, packing=HALVES)).result
    lead = shape_of(product.out)[:-1]
    out = reshape(b, out, (*lead, blocks * block))
    if blocks * block != N:
        out = b.insert(nn.Slice(out, (0,) * rank, out=TensorType((*lead, N), f32))).result
    product.replace_with(cast(b, out, bf16))

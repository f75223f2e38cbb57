"""Products with constant matrices by Strassen's algorithm: seven products of halves for eight.

rows      of a matrix on the left; the rows of a block share loops
images    of blocked channels, and their 1x1 convolutions

To an odd number of a matrix's rows, a row of zeros is added.
"""

from __future__ import annotations

from math import prod

from ...dialects import nn
from ...dialects.nn.strassen import PRODUCTS
from ...ir.builder import Builder
from ...ir.core import Value
from ...ir.types import FloatType, TensorType
from .building import element_of, is_arranged_constant, reshape, scalar, shape_of
from .work import ProductSizes

Product = nn.BlockedConv | nn.PackedMatmul
"""The ops to which Strassen's algorithm applies."""


def is_strassen(op: Product) -> bool:
    """Whether the algorithm applies: f32, a constant matrix, and even extents to be halved.

    Neighbouring rows are added to each other, so a NaN or a large error in one reaches the other.
    They must therefore belong to one sample: a left side [batch, K] is left alone. Convolutions
    must have 1x1 windows and stride 1.
    """
    x, weight = op.operands
    if not is_arranged_constant(weight) or element_of(x) is not FloatType("f32"):
        return False
    if None in shape_of(x) or 0 in (*shape_of(x), *shape_of(op.out)):
        return False
    if isinstance(op, nn.PackedMatmul):
        *rows, K = shape_of(x)
        No, *rest = shape_of(weight)
        halved = (No, K) if len(rest) == 2 and len(rows) > 1 else (1,)
    else:
        Mo, Co, *window, _, _ = shape_of(weight)
        _, _, *extents, _ = shape_of(x)
        is_plain = {*window, *(op.strides or (1,))} == {1}
        even = any(d % 2 == 0 for d in extents)
        halved = (Mo, Co) if is_plain and even else (1,)
    return all(d % 2 == 0 for d in halved)


def sizes_of(op: Product) -> ProductSizes:
    """The sizes of a product for which `is_strassen` is true."""
    shape = shape_of(op.x if isinstance(op, nn.BlockedConv) else op.lhs)
    out = shape_of(op.out)
    if isinstance(op, nn.PackedMatmul):
        *outer, M, K = shape
        lone = M % 2 * prod(outer)
        return ProductSizes(prod(outer) * M, K, prod(out[-2:]), K // 2, lone, in_rows=True)
    N, Co, *extents, B = shape
    return ProductSizes(N * prod(extents), Co * B, out[1] * out[-1], B)


def use_strassen(op: Product, most: int) -> None:
    """Replace a product for which `is_strassen` is true by the transforms and the seven products.

    The rows of a matrix are divided into blocks of at most `most` pairs; the loops over a block
    become register tiles.
    """
    b = Builder.before_op(op)
    out = _of_rows(b, op, most) if isinstance(op, nn.PackedMatmul) else _of_images(b, op)
    op.replace_with(out)


def _of_rows(b: Builder, op: nn.PackedMatmul, most: int) -> Value:
    """The result for a matrix on the left. Halves of columns are the two indices of an extra
    dimension.

    An odd number of rows is one block, which the transforms pad and cut as they read and write.
    """
    No, K, A = shape_of(op.rhs)
    *outer, block, _ = shape_of(op.lhs)
    M = prod(outer) * block
    if block % 2 == 0:
        block = 2 * max(d for d in range(1, most + 1) if M // 2 % d == 0)
    x = reshape(b, op.lhs, (M // block, block, 2, K // 2))
    if block % 2:
        x = b.insert(nn.Pad(x, scalar(b, 0, element_of(x)), pads=(0, 0, 0, 0, 0, 1, 0, 0))).result
    values = b.insert(nn.StrassenInput(x, rows=1, columns=2)).result
    weight = reshape(b, op.rhs, (No, 2, K // 2, A))
    weight = b.insert(nn.StrassenWeight(weight, rows=1, columns=0)).result
    weight = reshape(b, weight, (PRODUCTS, 1, 1, No // 2, K // 2, A))
    products = b.insert(nn.PackedMatmul(values, weight)).result
    out = b.insert(nn.StrassenOutput(products, rows=1, columns=3)).result
    if block % 2:
        type = TensorType((M // block, block, 1, No, A), element_of(out))
        out = b.insert(nn.Slice(out, (0,) * 5, out=type)).result
    return reshape(b, out, shape_of(op.out))


def _of_images(b: Builder, op: nn.BlockedConv) -> Value:
    """The result for images. Halves of rows are every other image row, or every other pixel of a
    row.

    The seven products are the groups of a grouped convolution.
    """
    extents = shape_of(op.x)[2:-1]
    rows = 2 + next(i for i, d in enumerate(extents) if d % 2 == 0)
    values = b.insert(nn.StrassenInput(op.x, rows=rows, columns=1, products=1)).result
    weight = b.insert(nn.StrassenWeight(op.weight, rows=1, columns=0)).result
    products = b.insert(nn.BlockedGroupedConv(values, weight)).result
    return b.insert(nn.StrassenOutput(products, rows=rows, columns=1, products=1)).result

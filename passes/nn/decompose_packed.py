"""Products of packed integers with many rows unpack each block of columns only once.

    quantized_matmul(x, words)    ->    unpacked_matmul(x, dequantize_words(words))

Both are in one kernel, where the numbers of a block of columns stay in the caches until all rows
have been multiplied. With few rows, each register tile unpacks what it needs, and stores nothing.
"""

from __future__ import annotations

from math import prod

from ...dialects import nn
from ...ir.rewriting import Rewriter, rewrite
from ...targets.attribute import target_of
from .building import finish, shape_of


@rewrite(nn.QuantizedMatmul)
def unpack_columns_once(op: nn.QuantizedMatmul, rewriter: Rewriter) -> None:
    """quantized_matmul(x, words) -> unpacked_matmul(x, dequantize_words(words)) for many rows"""
    rows = shape_of(op.lhs)[:-3]
    if None in rows or prod(rows) < target_of(op).machine.costs.layouts.unpacked_rows:
        return
    numbers = [v for v in (op.weight, op.scale, op.offset) if v is not None]
    made = rewriter(nn.DequantizeWords(*numbers, bits=op.bits, middle=op.middle))
    finish(rewriter, op, rewriter(nn.UnpackedMatmul(op.lhs, made)))


PATTERNS = (unpack_columns_once,)

"""Dilated convolutions as dense ones: every d-th row and column is an image of its own.

[N, C / B, H, W, B]  ->  [N * d * d, C / B, H / d, W / d, B]
"""

from __future__ import annotations

from ...dialects import nn
from ...ir.builder import Builder
from ...ir.core import Value
from ...ir.types import TensorType
from .building import element_of, reshape, scalar, shape_of


def dilations_of(conv: nn.BlockedConv) -> tuple[int, int]:
    """The dilations of a convolution over two dimensions."""
    return conv.dilations or (1, 1)  # type: ignore[return-value]


def undilate(conv: nn.BlockedConv) -> nn.BlockedConv:
    """Replace a dilated convolution of stride 1 by a dense one, and return that."""
    b = Builder.before_op(conv)
    d, e = dilations_of(conv)
    N, Co, H, W, B = shape_of(conv.x)
    _, Mo, P, Q, A = shape_of(conv.out)
    # Images of equal size, as the results need them.
    I, J = -(-P // d) + (H - P) // d, -(-Q // e) + (W - Q) // e
    x: Value = conv.x
    if (missing := (I * d - H, J * e - W)) != (0, 0):
        pads = (0,) * 7 + (*missing, 0)
        x = b.insert(nn.Pad(x, scalar(b, 0, element_of(x)), pads=pads)).result
    x = reshape(b, x, (N, Co, I, d, J, e, B))
    x = b.insert(nn.Transpose(x, (0, 3, 5, 1, 2, 4, 6))).result
    x = reshape(b, x, (N * d * e, Co, I, J, B))
    dense = b.insert(nn.BlockedConv(x, conv.weight))
    S, T = shape_of(dense.out)[2:4]
    out = reshape(b, dense.out, (N, d, e, Mo, S, T, A))
    out = b.insert(nn.Transpose(out, (0, 3, 4, 1, 5, 2, 6))).result
    out = reshape(b, out, (N, Mo, S * d, T * e, A))
    if (S * d, T * e) != (P, Q):
        type = TensorType((N, Mo, P, Q, A), element_of(out))
        out = b.insert(nn.Slice(out, (0,) * 5, out=type)).result
    conv.replace_with(out)
    return dense

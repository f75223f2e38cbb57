"""Convolutions by algorithms that take fewer operations."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...dialects import nn
from ...dialects.nn.winograd import POINTS, TILE
from ...ir.builder import Builder
from ...ir.core import Operation
from ...ir.passes import Pass, PassContext, option
from ...ir.types import FloatType, TensorType
from .building import element_of, reshape, scalar, shape_of

POINT_COUNT = POINTS * POINTS

MEMORY = 12.0
"""Multiplications in the time that an element takes from and to the outer caches.

Measured: 110 GFLOP/s beside some 20 GB/s of f32.
"""

EPILOGUE = 1.15
"""By how much the direct convolution must be worse to be given up."""


@dataclass(frozen=True)
class ChooseAlgorithms(
    Pass,
    name="choose-algorithms",
    anchor="func.func",
    statistics={"winograd-convolutions": "Number of convolutions by Winograd's algorithm"},
):
    """Make 3x3 convolutions of stride 1 Winograd's F(4x4, 3x3), where a cost model says so.

    %y = nn.blocked_conv %x, %w    ->    %v = nn.winograd_input (nn.pad %x)
                                         %m = nn.matmul %v, (nn.winograd_weight %w)
                                         %y = nn.slice (nn.winograd_output %m)

    Numerics: f32 only; the error grows to some 1e-5 of the largest result.
    """

    numerics = "approximate"

    winograd: bool = option(True, help="use Winograd's algorithm where it pays")

    def run(self, op: Operation, context: PassContext) -> None:
        """One look at each convolution; `fold-constants` then transforms the weights."""
        for conv in [c for c in op.walk() if isinstance(c, nn.BlockedConv)]:
            if self.winograd and is_winograd(conv) and winograd_cost(conv) < direct_cost(conv):
                use_winograd(conv)
                context.statistic("winograd-convolutions")


def is_winograd(conv: nn.BlockedConv) -> bool:
    """Whether the algorithm applies: 3x3, stride 1, dense, f32, everything static."""
    weight = conv.weight
    definer = weight.defining_op
    while isinstance(definer, nn.Reshape | nn.Transpose):
        definer = definer.x.defining_op
    return (
        isinstance(definer, nn.Constant)
        and element_of(conv.x) is FloatType("f32")
        and len(shape_of(weight)) == 6
        and shape_of(weight)[2:4] == (3, 3)
        and set(conv.strides or (1,)) == {1}
        and set(conv.dilations or (1,)) == {1}
        and None not in shape_of(conv.x)
        and 0 not in shape_of(conv.out)
    )


def _sizes(conv: nn.BlockedConv) -> tuple[int, int, int, int, int]:
    """N, C, P, Q, M."""
    N, Co, _, _, Ci = shape_of(conv.x)
    _, Mo, P, Q, Mi = shape_of(conv.out)
    return N, Co * Ci, P, Q, Mo * Mi  # type: ignore[operator, return-value]


def tiles_of(conv: nn.BlockedConv) -> tuple[int, int]:
    """Tiles in both directions."""
    _, _, P, Q, _ = _sizes(conv)
    return -(-P // TILE), -(-Q // TILE)


def direct_cost(conv: nn.BlockedConv) -> float:
    """In multiplications; the weights are read for every row of results from a cache."""
    N, C, P, Q, M = _sizes(conv)
    return 9.0 * N * P * Q * C * M + MEMORY * 9 * C * M


def winograd_cost(conv: nn.BlockedConv) -> float:
    """In multiplications: the products, the transforms, what they write and read again."""
    N, C, _, _, M = _sizes(conv)
    tiles = N * math.prod(tiles_of(conv))
    moved = POINT_COUNT * (2 * tiles * (C + M) + C * M)
    transforms = tiles * (C + M) * 160
    return EPILOGUE * (POINT_COUNT * tiles * C * M + transforms + MEMORY * moved)


def use_winograd(conv: nn.BlockedConv) -> None:
    """Replace a convolution by transforms and a batched product."""
    b = Builder.before_op(conv)
    N, C, P, Q, _ = _sizes(conv)
    S, T = tiles_of(conv)
    missing = (S * TILE - P, T * TILE - Q)
    x = conv.x
    if any(missing):
        pads = (0,) * 7 + (*missing, 0)
        x = b.insert(nn.Pad(x, scalar(b, 0, element_of(x)), pads=pads)).result
    points = b.insert(nn.WinogradInput(x))
    rows = reshape(b, points, (POINT_COUNT, N * S * T, C))
    products = b.insert(nn.Matmul(rows, b.insert(nn.WinogradWeight(conv.weight))))
    Mo, Mi = shape_of(conv.out)[1], shape_of(conv.out)[-1]
    tiles = reshape(b, products, (POINT_COUNT, N, S, T, Mo, Mi))
    out = b.insert(nn.WinogradOutput(tiles)).result
    if any(missing):
        type = TensorType((N, Mo, P, Q, Mi), element_of(out))
        out = b.insert(nn.Slice(out, (0,) * 5, out=type)).result
    out.name_hint = conv.out.name_hint
    conv.out.replace_all_uses_with(out)
    conv.erase()

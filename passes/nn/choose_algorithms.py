"""Convolutions by algorithms that take fewer operations."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...dialects import nn
from ...dialects.nn.winograd import TRANSFORMS, points_of
from ...dialects.strict_math import is_strict
from ...ir.builder import Builder
from ...ir.core import Operation
from ...ir.passes import Pass, PassContext, option
from ...ir.types import FloatType, TensorType
from .building import element_of, scalar, shape_of
from .dilations import dilations_of, undilate

MEMORY = 12.0
"""Multiplications in the time that an element takes from and to memory.

Measured: 110 GFLOP/s beside some 20 GB/s of f32.
"""

CACHED = 4.0
"""The same for the second-level cache and the one behind it."""

CACHED_ELEMENTS = 1 << 20
"""Elements on their way from one kernel to the next that stay in those caches."""

PER_WEIGHT = 1.25
"""Elements between transforms and products for each weight that make blocks of tiles pay."""

ADDITIONS = {(2, 1): 32, (4, 1): 160, (2, 2): 60, (4, 2): 300}
"""Of one tile's transforms at input or output, by size and stride, loads and stores included."""

EPILOGUE = 1.15
"""By how much the direct convolution must be worse to be given up."""


@dataclass(frozen=True)
class ChooseAlgorithms(
    Pass,
    name="choose-algorithms",
    anchor="func.func",
    statistics={"winograd-convolutions": "Number of convolutions by Winograd's algorithm"},
):
    """Make 3x3 convolutions of stride 1 or 2 Winograd's, where a cost model says so.

    %y = nn.blocked_conv %x, %w    ->    %v = nn.winograd_input (nn.pad %x)
                                         %m = nn.blocked_matmul %v, (nn.winograd_weight %w)
                                         %y = nn.slice (nn.winograd_output %m)

    Tiles are of 4x4 results, or of 2x2 where the weights of the larger ones are too many. With
    dilations, every d-th row and column is an image of its own.

    Numerics: f32 only; the error grows to some 1e-5 of the largest result.
    """

    numerics = "approximate"

    winograd: bool = option(True, help="use Winograd's algorithm where it pays")

    def run(self, op: Operation, context: PassContext) -> None:
        """One look at each convolution; `fold-constants` then transforms the weights.

        A module that wants its math as written keeps its convolutions.
        """
        if is_strict(op):
            return
        for conv in [c for c in op.walk() if isinstance(c, nn.BlockedConv)]:
            if not self.winograd or not is_winograd(conv):
                continue
            stride = stride_of(conv)
            tiles = [tile for tile, of in TRANSFORMS if of == stride]
            cost, tile = min((winograd_cost(conv, tile), tile) for tile in tiles)
            if cost < direct_cost(conv):
                if dilations_of(conv) != (1, 1):
                    conv = undilate(conv)
                use_winograd(conv, tile)
                context.statistic("winograd-convolutions")


def is_winograd(conv: nn.BlockedConv) -> bool:
    """Whether the algorithm applies: 3x3, stride 1, or 2 without dilations, f32, static."""
    weight = conv.weight
    definer = weight.defining_op
    while isinstance(definer, nn.Reshape | nn.Transpose):
        definer = definer.x.defining_op
    return (
        isinstance(definer, nn.Constant)
        and element_of(conv.x) is FloatType("f32")
        and len(shape_of(weight)) == 6
        and shape_of(weight)[2:4] == (3, 3)
        and (set(conv.strides or (1,)) == {1} or is_strided(conv))
        and None not in shape_of(conv.x)[1:]
        and (shape_of(conv.x)[0] is not None or dilations_of(conv) == (1, 1))
        and 0 not in shape_of(conv.out)
    )


def is_strided(conv: nn.BlockedConv) -> bool:
    """Whether the stride is 2 in both directions, without dilations."""
    return set(conv.strides or (1,)) == {2} and dilations_of(conv) == (1, 1)


def stride_of(conv: nn.BlockedConv) -> int:
    """The stride in both directions."""
    return conv.strides[0] if conv.strides else 1


def _sizes(conv: nn.BlockedConv) -> tuple[int, int, int, int, int]:
    """N, C, P, Q, M of the dense convolution, for which dilated images are taken apart.

    A batch of unknown size counts as one image.
    """
    N, Co, _, _, Ci = shape_of(conv.x)
    _, Mo, P, Q, Mi = shape_of(conv.out)
    d, e = dilations_of(conv)
    return (N or 1) * d * e, Co * Ci, -(-P // d), -(-Q // e), Mo * Mi  # type: ignore[operator, return-value]


def tiles_of(conv: nn.BlockedConv, tile: int) -> tuple[int, int]:
    """Tiles in both directions."""
    _, _, P, Q, _ = _sizes(conv)
    return -(-P // tile), -(-Q // tile)


def direct_cost(conv: nn.BlockedConv) -> float:
    """In multiplications; the weights come from memory, mostly beside the work."""
    _, C, _, _, M = _sizes(conv)
    N, _, P, Q, _ = shape_of(conv.out)
    return 9.0 * (N or 1) * P * Q * C * M + 0.25 * MEMORY * 9 * C * M


def winograd_cost(conv: nn.BlockedConv, tile: int) -> float:
    """In multiplications: the products, the transforms, what they write and read again.

    The weights come from memory beside the products: the longer of the two counts, and a
    quarter of the other.
    """
    N, C, P, Q, M = _sizes(conv)
    stride = stride_of(conv)
    tiles, points = N * math.prod(tiles_of(conv, tile)), points_of(tile, stride) ** 2
    between = points * tiles * (C + M)
    transforms = tiles * (C + M) * ADDITIONS[tile, stride]
    work, weights = points * tiles * C * M, MEMORY * points * C * M
    products = max(work, weights) + 0.25 * min(work, weights)
    is_cached = between <= CACHED_ELEMENTS or is_blocked(between, points * C * M)
    if dilations_of(conv) != (1, 1):
        between += N * P * Q * (C + M)
    moves = 2 * between * (CACHED if is_cached else MEMORY)
    return EPILOGUE * (products + transforms + moves)


def is_blocked(between: int, weights: int) -> bool:
    """Whether transforms and products are to be done on blocks of tiles, one after the other.

    Then what is between them never leaves the caches, but each block reads all weights.
    """
    return between > max(CACHED_ELEMENTS, PER_WEIGHT * weights)


def use_winograd(conv: nn.BlockedConv, tile: int) -> None:
    """Replace a convolution by transforms and a batched product."""
    b = Builder.before_op(conv)
    _, _, P, Q, _ = _sizes(conv)
    S, T = tiles_of(conv, tile)
    stride = stride_of(conv)
    missing = (S * tile - P, T * tile - Q)
    x = conv.x
    needed = (stride * (S * tile - 1) + 3, stride * (T * tile - 1) + 3)
    short = [max(0, n - d) for n, d in zip(needed, shape_of(x)[2:4], strict=True)]  # type: ignore[operator]
    if any(short):
        pads = (0,) * 7 + (*short, 0)
        x = b.insert(nn.Pad(x, scalar(b, 0, element_of(x)), pads=pads)).result
    values = b.insert(nn.WinogradInput(x, tile=tile, stride=stride))
    weight = b.insert(nn.WinogradWeight(conv.weight, tile=tile, stride=stride))
    products = b.insert(nn.BlockedMatmul(values, weight))
    out = b.insert(nn.WinogradOutput(products, tile=tile, stride=stride)).result
    if any(missing):
        type = TensorType(shape_of(conv.out), element_of(out))
        out = b.insert(nn.Slice(out, (0,) * 5, out=type)).result
    out.name_hint = conv.out.name_hint
    conv.out.replace_all_uses_with(out)
    conv.erase()

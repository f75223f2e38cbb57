"""Winograd's convolution F(4x4, 3x3): 36 products for 16 results in place of 144.

    U = G w G^T      V = B^T x B      Y = A^T (sum over channels of U * V) A

The three transforms are ops; the sum over channels is a batched matrix product between them.
Source: A. Lavin, S. Gray, Fast algorithms for convolutional neural networks, 2015, section 4.2.
"""

from __future__ import annotations

from ...ir.constraints import AnyRankedTensor
from ...ir.declare import Operand, Result, operand, result
from ...ir.diagnostics import NncError
from .base import NnOp, tensor

TILE = 4
"""Results of a tile in each direction."""

POINTS = TILE + 2
"""Elements of a tile that a 3x3 kernel reads, and points of the transform."""

INPUT = (
    (4, 0, -5, 0, 1, 0),
    (0, -4, -4, 1, 1, 0),
    (0, 4, -4, -1, 1, 0),
    (0, -2, -1, 2, 1, 0),
    (0, 2, -1, -2, 1, 0),
    (0, 4, 0, -5, 0, 1),
)
WEIGHT = (
    (1 / 4, 0, 0),
    (-1 / 6, -1 / 6, -1 / 6),
    (-1 / 6, 1 / 6, -1 / 6),
    (1 / 24, 1 / 12, 1 / 6),
    (1 / 24, -1 / 12, 1 / 6),
    (0, 0, 1),
)
OUTPUT = (
    (1, 1, 1, 1, 1, 0),
    (0, 1, -1, 2, -2, 0),
    (0, 1, 1, 4, 4, 0),
    (0, 1, -1, 8, -8, 1),
)


class WinogradOp(NnOp):
    """Base of the transforms."""

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)


class WinogradWeight(WinogradOp, name="nn.winograd_weight"):
    """A blocked 3x3 kernel at the 36 points.

    Shapes: x [M / A, C / B, 3, 3, B, A] -> out [36, C, M].
    """

    example = "%u = nn.winograd_weight %w : (tensor<4x2x3x3x16x8xf32>) -> tensor<36x32x32xf32>"

    @classmethod
    def infer(cls, types, attrs):
        x = types[0]
        if x.rank != 6 or x.shape[2:4] != (3, 3) or None in x.shape:
            raise NncError(f"x must be a blocked 3x3 kernel of static shape, but got '{x}'")
        Mo, Co, _, _, B, A = x.shape
        return [tensor((POINTS * POINTS, Co * B, Mo * A), x.element_type)]

    def evaluate(self, x):
        import numpy as np

        g = np.array(WEIGHT)
        Mo, Co, _, _, B, A = x.shape
        kernels = np.ascontiguousarray(x.transpose(2, 3, 1, 4, 0, 5)).reshape(3, 3, -1)
        rows = np.tensordot(g, kernels.astype(np.float64), axes=([1], [0]))  # [a, j, ..]
        out = np.empty((POINTS, POINTS, rows.shape[2]), x.dtype)
        for a in range(POINTS):
            out[a] = g @ rows[a]
        return out.reshape(POINTS * POINTS, Co * B, Mo * A)


class WinogradInput(WinogradOp, name="nn.winograd_input"):
    """Overlapping tiles of 6x6 elements at the 36 points.

    Shapes: x [N, C / B, 4 S + 2, 4 T + 2, B] -> out [36, N, S, T, C / B, B].
    """

    example = "%v = nn.winograd_input %x : (tensor<1x2x10x14x16xf32>) -> tensor<36x1x2x3x2x16xf32>"

    @classmethod
    def infer(cls, types, attrs):
        x = types[0]
        extents = x.shape[2:4]
        if x.rank != 5 or None in extents or any((d - 2) % TILE or d < 2 for d in extents):
            raise NncError(f"x must be blocked and made of tiles of 4 and a border, got '{x}'")
        tiles = [(d - 2) // TILE for d in extents]
        shape = (POINTS * POINTS, x.shape[0], *tiles, x.shape[1], x.shape[4])
        return [tensor(shape, x.element_type)]

    def evaluate(self, x):
        import numpy as np

        b = np.array(INPUT, x.dtype)
        tiles = np.lib.stride_tricks.sliding_window_view(x, (POINTS, POINTS), axis=(2, 3))
        tiles = tiles[:, :, ::TILE, ::TILE]  # [N, Co, S, T, Ci, 6, 6]
        out = np.einsum("ai,bj,nostcij->abnstoc", b, b, tiles, optimize=True)
        return np.ascontiguousarray(out.reshape(POINTS * POINTS, *out.shape[2:]).astype(x.dtype))


class WinogradOutput(WinogradOp, name="nn.winograd_output"):
    """Tiles of 4x4 results from the 36 points.

    Shapes: x [36, N, S, T, M / A, A] -> out [N, M / A, 4 S, 4 T, A].
    """

    example = "%y = nn.winograd_output %x : (tensor<36x1x2x3x2x16xf32>) -> tensor<1x2x8x12x16xf32>"

    @classmethod
    def infer(cls, types, attrs):
        x = types[0]
        if x.rank != 6 or x.shape[0] != POINTS * POINTS:
            raise NncError(f"x must be tiles at 36 points, but got '{x}'")
        _, N, S, T, Mo, A = x.shape
        shape = (N, Mo, None if S is None else S * TILE, None if T is None else T * TILE, A)
        return [tensor(shape, x.element_type)]

    def evaluate(self, x):
        import numpy as np

        a = np.array(OUTPUT, x.dtype)
        _, N, S, T, Mo, A = x.shape
        points = x.reshape(POINTS, POINTS, N, S, T, Mo, A)
        out = np.einsum("ia,jb,abnstoc->nositjc", a, a, points, optimize=True)
        return np.ascontiguousarray(out.reshape(N, Mo, S * TILE, T * TILE, A).astype(x.dtype))

"""Winograd's convolutions of 3x3 kernels: fewer products for a tile of results.

    U = G w G^T      V = B^T x B      Y = A^T (sum over channels of U * V) A

16 products make 2x2 results in place of 36, 36 make 4x4 in place of 144. With stride 2, every
second element meets the kernel's first and last number, and the others the one between: a
convolution of two numbers, made so, and plain products. 25 make 2x2 results, 81 make 4x4.
The three transforms are ops; the sum over channels is a batched matrix product between them.
Sources: A. Lavin, S. Gray, Fast algorithms for convolutional neural networks, 2015; for the
matrices, A. Toom's and S. Cook's construction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

from ..vocabulary import *
from .base import NnOp, numbers, tensor
from .blocked import BlockedMatmul
from .traits import Fusion, Total


@dataclass(frozen=True)
class Transforms:
    """The matrices B^T, G and A^T of a tile size, from the points where polynomials are evaluated.

    Points are 0 where the kernel has an odd number of elements, `pairs` with either sign, and
    infinity; all divisions are in G, and done last.
    """

    pairs: tuple[float, ...]
    kernel: int = 3

    @property
    def has_zero(self) -> bool:
        """Whether 0 is a point; the results of a tile are an even number either way."""
        return self.kernel % 2 == 1

    @property
    def points(self) -> tuple[float, ...]:
        """The finite points."""
        zero = (0.0,) if self.has_zero else ()
        return (*zero, *(sign * p for p in self.pairs for sign in (1, -1)))

    @cached_property
    def input(self) -> tuple[tuple[float, ...], ...]:
        """B^T: for each point, the polynomial that is zero at all the others."""
        rows = [_product(p for p in self.points if p != point) for point in self.points]
        last = _product(self.points)
        return (*((*row, 0.0) for row in rows), last)

    @cached_property
    def weight(self) -> tuple[tuple[float, ...], ...]:
        """The kernel at each point: G, but for the divisors of its rows."""
        rows = [tuple(point**k for k in range(self.kernel)) for point in self.points]
        return (*rows, (0.0,) * (self.kernel - 1) + (1.0,))

    @cached_property
    def divisors(self) -> tuple[float, ...]:
        """For each row of G, the value that the point's row of B^T has at the point."""
        values = [prod(point - p for p in self.points if p != point) for point in self.points]
        return (*values, 1.0)

    @cached_property
    def output(self) -> tuple[tuple[float, ...], ...]:
        """A^T: for each result, its power of each point."""
        size = len(self.points) + 2 - self.kernel
        return tuple((*(p**k for p in self.points), float(k == size - 1)) for k in range(size))


@dataclass(frozen=True)
class StridedTransforms:
    """The matrices for stride 2: `even` elements, transformed, then the others as they are."""

    even: Transforms

    @cached_property
    def input(self) -> tuple[tuple[float, ...], ...]:
        """B^T."""
        size = 2 * len(self.even.output) + 1
        even = [tuple(row[j // 2] * (j % 2 == 0) for j in range(size)) for row in self.even.input]
        odd = [tuple(float(j == k) for j in range(size)) for k in range(1, size, 2)]
        return (*even, *odd)

    @cached_property
    def weight(self) -> tuple[tuple[float, ...], ...]:
        """G, but for the divisors."""
        even = [(first, 0.0, last) for first, last in self.even.weight]
        return (*even, *((0.0, 1.0, 0.0) for _ in self.even.output))

    @cached_property
    def divisors(self) -> tuple[float, ...]:
        """The divisors of G's rows."""
        return (*self.even.divisors, *(1.0 for _ in self.even.output))

    @cached_property
    def output(self) -> tuple[tuple[float, ...], ...]:
        """A^T."""
        size = len(self.even.output)
        return tuple(
            (*row, *(float(j == k) for j in range(size))) for k, row in enumerate(self.even.output)
        )


def _product(roots: Iterable[float]) -> tuple[float, ...]:
    """The coefficients of a product of (t - root), the lowest power first."""
    coefficients = [1.0]
    for root in roots:
        raised = [0.0, *coefficients]
        for k, c in enumerate(coefficients):
            raised[k] -= root * c
        coefficients = raised
    return tuple(coefficients)


TRANSFORMS = {
    (2, 1): Transforms((1.0,)),
    (4, 1): Transforms((0.75, 1.5)),
    (2, 2): StridedTransforms(Transforms((1.0,), kernel=2)),
    (4, 2): StridedTransforms(Transforms((0.5, 1.5), kernel=2)),
}
"""The transforms by (results of a tile in each direction, stride). Points +-1 and +-2, as
published, need fewer multiplications on paper and as many instructions, and have 2 times the error
of +-3/4 and +-3/2 in the mean, 3.5 times in the largest result. The errors for stride 2 are a tenth
of that."""


def points_of(tile: int, stride: int = 1) -> int:
    """Elements in each direction that a tile of results needs, and points of the transform."""
    return stride * (tile - 1) + 3


def tiles_of(extent: int, tile: int, stride: int) -> int:
    """Whole tiles along a direction of an image; what is left over does not matter."""
    return (extent - points_of(tile, stride) + stride * tile) // (stride * tile)


class WinogradOp(NnOp):
    """Base of the transforms; `tile` is the number of results in each direction."""

    x: Operand = operand(AnyRankedTensor)
    tile: int = attribute(I64, default=4)
    stride: int = attribute(I64, default=1)
    out: Result = result(AnyRankedTensor)

    @staticmethod
    def check_tile(attrs) -> tuple[int, int]:
        """The tile and its points. Raises NncError for a size without matrices."""
        if attrs.stride not in (1, 2):
            raise NncError(f"there are strides of 1 and 2, not of {attrs.stride}")
        known = [tile for tile, stride in TRANSFORMS if stride == attrs.stride]
        if attrs.tile not in known:
            names = " and ".join(map(str, known))
            raise NncError(f"there are tiles of {names}, not of {attrs.tile}")
        return attrs.tile, points_of(attrs.tile, attrs.stride)

    @property
    def points(self) -> int:
        """Points in each direction."""
        return points_of(self.tile, self.stride)

    @property
    def transforms(self) -> Transforms | StridedTransforms:
        """The matrices."""
        return TRANSFORMS[self.tile, self.stride]


class WinogradWeight(WinogradOp, name="nn.winograd_weight", traits=(Total,)):
    """A blocked 3x3 kernel at all points of a tile, as `nn.blocked_matmul` takes it.

    Shapes: x [M / A, C / B, 3, 3, B, A] -> out [points, M / A, C / B, B, A].
    Numerics: in f64, where sums are exact but for kernels whose numbers differ by many orders of
    magnitude, as all points are fractions of 4; the division comes last, and rounding after it.
    """

    weight_operand = 0

    @property
    def scales(self) -> list[list[float]]:
        """The factor by which the values at each pair of points are multiplied at the end."""
        divisors = self.transforms.divisors
        return [[1 / (a * b) for b in divisors] for a in divisors]

    example = "%u = nn.winograd_weight %w : (tensor<2x1x3x3x8x4xf32>) -> tensor<36x2x1x8x4xf32>"

    @classmethod
    def infer(cls, types, attrs):
        _, points = cls.check_tile(attrs)
        x = types[0]
        if x.rank != 6 or x.shape[2:4] != (3, 3) or None in x.shape:
            raise NncError(f"x must be a blocked 3x3 kernel of static shape, but got '{x}'")
        Mo, Co, _, _, B, A = x.shape
        return [tensor((points * points, Mo, Co, B, A), x.element_type)]

    def evaluate(self, x):
        g, points = np.array(self.transforms.weight), self.points
        scales = self.scales
        Mo, Co, _, _, B, A = x.shape
        out = np.empty((points, points, Mo, Co * B, A), x.dtype)
        for block in range(Mo):  # one by one: float64 takes twice the memory of all
            kernels = x[block].transpose(1, 2, 0, 3, 4).reshape(3, 3, -1).astype(np.float64)
            rows = np.tensordot(g, kernels, axes=([1], [0]))  # [a, j, ..]
            for a in range(points):
                values = g @ rows[a]
                values *= np.array(scales[a])[:, None]
                out[a, :, block] = values.reshape(points, Co * B, A)
        return out.reshape(points * points, Mo, Co, B, A)


class WinogradInput(WinogradOp, name="nn.winograd_input"):
    """Overlapping tiles of elements at all points.

    Shapes: x [N, C / B, step S + border, step T + border, B] -> out [points, C / B, N, S, T, B],
    where step = stride * tile, and border = 3 - stride; less than a step more does not matter.
    """

    fusion = Fusion.REDUCTION
    prologue = (Fusion.PADDING,)
    example = "%v = nn.winograd_input %x : (tensor<1x2x6x10x8xf32>) -> tensor<36x2x1x1x2x8xf32>"

    @classmethod
    def infer(cls, types, attrs):
        tile, points = cls.check_tile(attrs)
        x = types[0]
        extents, stride = x.shape[2:4], attrs.stride
        if x.rank != 5 or any(d is not None and d < 3 - stride for d in extents):
            raise NncError(f"x must be blocked and made of tiles of {tile} and a border, got '{x}'")
        tiles = [None if d is None else tiles_of(d, tile, stride) for d in extents]
        shape = (points * points, x.shape[1], x.shape[0], *tiles, x.shape[4])
        return [tensor(shape, x.element_type)]

    def evaluate(self, x):
        step, points = self.stride * self.tile, self.points
        b = np.array(self.transforms.input, x.dtype)
        tiles = np.lib.stride_tricks.sliding_window_view(x, (points, points), axis=(2, 3))
        tiles = tiles[:, :, ::step, ::step]  # [N, Co, S, T, Ci, points, points]
        out = np.einsum("ai,bj,nostcij->abonstc", b, b, tiles, optimize=True)
        return np.ascontiguousarray(out.reshape(points * points, *out.shape[2:]).astype(x.dtype))


class WinogradOutput(WinogradOp, name="nn.winograd_output"):
    """Tiles of results from all points.

    With an image, results are as many as it has rows and columns and `more` (or less), over the
    stride, rounded down; the tiles cover them.
    Shapes: x [points, M / A, N, S, T, A] -> out [N, M / A, tile S, tile T, A], or
    image [N, .., H, W, ..] -> out [N, M / A, (H + more) / stride, (W + more) / stride, A].
    """

    image: OptionalOperand = optional_operand(AnyRankedTensor)
    more: tuple[int, ...] = attribute(INT_ARRAY, optional=True)

    fusion = Fusion.PRODUCT
    algorithm = (WinogradInput, BlockedMatmul)
    has_whole_tiles = True
    example = "%y = nn.winograd_output %x : (tensor<36x2x1x1x2x8xf32>) -> tensor<1x2x4x8x8xf32>"

    @classmethod
    def infer(cls, types, attrs):
        tile, points = cls.check_tile(attrs)
        x = types[0]
        if x.rank != 6 or x.shape[0] != points * points:
            raise NncError(f"x must be tiles at {points * points} points, but got '{x}'")
        _, Mo, N, S, T, A = x.shape
        extents = [None if d is None else d * tile for d in (S, T)]
        if len(types) > 1:
            more = numbers(attrs.more, 2, 0, "more")
            if types[1].rank < 4:
                raise NncError(f"image must have rows and columns, but got '{types[1]}'")
            given = types[1].shape[2:4]
            pairs = zip(given, more, strict=True)
            extents = [None if d is None else (d + m) // attrs.stride for d, m in pairs]
        return [tensor((N, Mo, *extents, A), x.element_type)]

    def evaluate(self, x, image=None):
        tile, points = self.tile, self.points
        a = np.array(self.transforms.output, x.dtype)
        _, Mo, N, S, T, A = x.shape
        values = x.reshape(points, points, Mo, N, S, T, A)
        out = np.einsum("ia,jb,abonstc->nositjc", a, a, values, optimize=True)
        out = out.reshape(N, Mo, S * tile, T * tile, A).astype(x.dtype)
        if image is not None:
            pairs = zip(image.shape[2:4], self.more or (0, 0), strict=True)
            rows, columns = ((d + m) // self.stride for d, m in pairs)
            out = out[:, :, :rows, :columns]
        return np.ascontiguousarray(out)

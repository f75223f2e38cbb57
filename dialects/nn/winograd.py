"""Winograd's algorithm for convolutions with 3x3 kernels: fewer products for a tile of results.

    U = G w G^T      V = B^T x B      Y = A^T (sum over channels of U * V) A

A tile of 2x2 results needs 16 products instead of 36, one of 4x4 needs 36 instead of 144. With
stride 2, elements of even index meet the kernel's first and last number, the others the middle
one. The former is a convolution with a kernel of two numbers, to which the algorithm is applied;
the latter is a plain product. So 2x2 results need 25 products, 4x4 need 81.
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
    """The matrices B^T, G and A^T for stride 1, made by evaluating polynomials at some points.

    The points are every number of `pairs` with both signs, infinity, and 0 if the kernel has an odd
    number of elements. All divisions are in G, and are done last.
    """

    pairs: tuple[float, ...]
    kernel: int = 3

    @property
    def has_zero(self) -> bool:
        """Whether 0 is a point. A tile then has an even number of results for any kernel."""
        return self.kernel % 2 == 1

    @property
    def points(self) -> tuple[float, ...]:
        """The finite points."""
        zero = (0.0,) if self.has_zero else ()
        return (*zero, *(sign * p for p in self.pairs for sign in (1, -1)))

    @cached_property
    def input(self) -> tuple[tuple[float, ...], ...]:
        """B^T: for each point, the coefficients of a polynomial whose roots are
        the other points.
        """
        rows = [_product(p for p in self.points if p != point) for point in self.points]
        last = _product(self.points)
        return (*((*row, 0.0) for row in rows), last)

    @cached_property
    def weight(self) -> tuple[tuple[float, ...], ...]:
        """G without the divisors of its rows: a row for each point, the powers of the point."""
        rows = [tuple(point**k for k in range(self.kernel)) for point in self.points]
        return (*rows, (0.0,) * (self.kernel - 1) + (1.0,))

    @cached_property
    def divisors(self) -> tuple[float, ...]:
        """The divisor of each row of G: the value, at the point, of the point's
        polynomial in B^T.
        """
        values = [prod(point - p for p in self.points if p != point) for point in self.points]
        return (*values, 1.0)

    @cached_property
    def output(self) -> tuple[tuple[float, ...], ...]:
        """A^T: row k, for result k of a tile, has the k-th power of each point."""
        size = len(self.points) + 2 - self.kernel
        return tuple((*(p**k for p in self.points), float(k == size - 1)) for k in range(size))


@dataclass(frozen=True)
class StridedTransforms:
    """The matrices for stride 2: first the rows for elements of even index, transformed by `even`,
    then the rows for those of odd index, which are copied.
    """

    even: Transforms

    @cached_property
    def input(self) -> tuple[tuple[float, ...], ...]:
        """B^T: for each product, the factors of the elements of an input tile's row."""
        size = 2 * len(self.even.output) + 1
        even = [tuple(row[j // 2] * (j % 2 == 0) for j in range(size)) for row in self.even.input]
        odd = [tuple(float(j == k) for j in range(size)) for k in range(1, size, 2)]
        return (*even, *odd)

    @cached_property
    def weight(self) -> tuple[tuple[float, ...], ...]:
        """G without the divisors of its rows."""
        even = [(first, 0.0, last) for first, last in self.even.weight]
        return (*even, *((0.0, 1.0, 0.0) for _ in self.even.output))

    @cached_property
    def divisors(self) -> tuple[float, ...]:
        """The divisors of G's rows."""
        return (*self.even.divisors, *(1.0 for _ in self.even.output))

    @cached_property
    def output(self) -> tuple[tuple[float, ...], ...]:
        """A^T, a row for each result of a tile in one direction."""
        size = len(self.even.output)
        return tuple(
            (*row, *(float(j == k) for j in range(size))) for k, row in enumerate(self.even.output)
        )


def _product(roots: Iterable[float]) -> tuple[float, ...]:
    """The coefficients of the product of all (t - root), the lowest power first."""
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
"""The transforms by (results of a tile in each direction, stride). The published points +-1 and +-2
need fewer multiplications on paper, but as many instructions, and have 2 times the mean error and
3.5 times the largest error of +-3/4 and +-3/2. The errors for stride 2 are a tenth of that.
"""


def points_of(tile: int, stride: int = 1) -> int:
    """How many elements in each direction a tile of results needs; the transforms have as many
    points.
    """
    return stride * (tile - 1) + 3


def tiles_of(extent: int, tile: int, stride: int) -> int:
    """How many whole tiles an image's extent has in one direction; what is left over is ignored."""
    return (extent - points_of(tile, stride) + stride * tile) // (stride * tile)


class WinogradOp(NnOp):
    """Base of the transforms; `tile` is the number of results of a tile in each direction."""

    x: Operand = operand(AnyRankedTensor)
    tile: int = attribute(I64, default=4)
    stride: int = attribute(I64, default=1)
    out: Result = result(AnyRankedTensor)

    @staticmethod
    def check_tile(attrs) -> tuple[int, int]:
        """The tile and its number of points in each direction.

        Raises NncError if there are no matrices for the tile and stride.
        """
        if attrs.stride not in (1, 2):
            raise NncError(f"there are strides of 1 and 2, not of {attrs.stride}")
        known = [tile for tile, stride in TRANSFORMS if stride == attrs.stride]
        if attrs.tile not in known:
            names = " and ".join(map(str, known))
            raise NncError(f"there are tiles of {names}, not of {attrs.tile}")
        return attrs.tile, points_of(attrs.tile, attrs.stride)

    @property
    def points(self) -> int:
        """The number of points in each direction."""
        return points_of(self.tile, self.stride)

    @property
    def transforms(self) -> Transforms | StridedTransforms:
        """The matrices for the tile and stride."""
        return TRANSFORMS[self.tile, self.stride]


class WinogradWeight(WinogradOp, name="nn.winograd_weight", traits=(Total,)):
    """U = G w G^T: a blocked 3x3 kernel transformed, as `nn.blocked_matmul` takes it as rhs.

    Shapes: x [M / A, C / B, 3, 3, B, A] -> out [points, M / A, C / B, B, A], with points in both
    directions.
    Numerics: in f64, divided and rounded at the end. Sums are exact, because all points are
    multiples of 1/4, unless a kernel's numbers differ by many orders of magnitude.
    """

    weight_operand = 0

    @property
    def scales(self) -> list[list[float]]:
        """By what to multiply the value at each pair of points at the end: 1 / (their divisors)."""
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
    """V = B^T x B: overlapping tiles of x transformed, as `nn.blocked_matmul` takes them as lhs.

    Shapes: x [N, C / B, step S + border, step T + border, B] -> out [points, C / B, N, S, T, B],
    where step = stride * tile, border = 3 - stride, and points are those in both directions. Rows
    and columns of x that do not make a whole step are ignored.
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
    """Y = A^T v A: tiles of results from their values at all points.

    Without an image, all results of the tiles are returned; with one, only as many as belong to it,
    (H + more[0]) / stride rows and (W + more[1]) / stride columns, rounded down; `more` may be
    negative.
    Shapes: x [points, M / A, N, S, T, A] -> out [N, M / A, tile S, tile T, A], or with image
    [N, .., H, W, ..] -> out [N, M / A, (H + more) / stride, (W + more) / stride, A].
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

"""One level of Strassen's algorithm: seven products of half-size matrices in place of eight.

    U = R (parts of w)      V = L (parts of x)      parts of y = O (U * V)

Each factor is divided into four parts, of which seven sums are made. The seven products of these
are summed to the four parts of the result. The transforms L, R and O are ops; a batched matrix
product stands between them.
Source: V. Strassen, Gaussian elimination is not optimal, 1969.
"""

from __future__ import annotations

from typing import ClassVar

from ..vocabulary import *
from .base import NnOp, tensor
from .products import ProductOp
from .traits import Fusion, Total

Matrix = tuple[tuple[int, ...], ...]

LEFT: Matrix = (
    (1, 0, 0, 1),
    (0, 0, 1, 1),
    (1, 0, 0, 0),
    (0, 0, 0, 1),
    (1, 1, 0, 0),
    (-1, 0, 1, 0),
    (0, 1, 0, -1),
)
"""For each of the seven products, the coefficients of the left matrix's parts 11, 12, 21, 22."""
RIGHT: Matrix = (
    (1, 0, 0, 1),
    (1, 0, 0, 0),
    (0, 1, 0, -1),
    (-1, 0, 1, 0),
    (0, 0, 0, 1),
    (1, 1, 0, 0),
    (0, 0, 1, 1),
)
RESULT: Matrix = (
    (1, 0, 0, 1, -1, 0, 1),
    (0, 0, 1, 0, 1, 0, 0),
    (0, 1, 0, 1, 0, 0, 0),
    (1, -1, 1, 0, 0, 1, 0),
)
"""For each part of the result, the coefficients of the seven products."""
PRODUCTS = len(LEFT)


class StrassenOp(NnOp):
    """Base of the three transforms.

    `rows` and `columns` are the matrix's dimensions in the tensor of whole matrices; `products` is
    the dimension of extent 7 in the tensor of sums or products. Part (a, b) of a matrix has every
    other row and column: rows 2 i + a and columns 2 j + b. For parts that are contiguous halves,
    the caller splits a dimension into [2, half] and names the 2.
    """

    x: Operand = operand(AnyRankedTensor)
    rows: int = attribute(I64)
    columns: int = attribute(I64)
    products: int = attribute(I64, default=0)
    out: Result = result(AnyRankedTensor)

    matrix: ClassVar[Matrix]

    @classmethod
    def check_axes(cls, attrs, rank: int) -> None:
        """Raise NncError unless the axes are different dimensions of a tensor of this rank."""
        axes = (attrs.rows, attrs.columns)
        if len({*axes}) != 2 or not all(0 <= axis < rank for axis in axes):
            raise NncError(f"rows and columns must be two of {rank} dimensions, not {axes}")
        if not 0 <= attrs.products <= rank:
            raise NncError(f"products must be one of {rank + 1} dimensions, not {attrs.products}")

    def parts(self, x) -> list:
        """The four parts of an array, as views."""
        found = []
        for a in range(2):
            for b in range(2):
                at = [slice(None)] * x.ndim
                at[self.rows], at[self.columns] = slice(a, None, 2), slice(b, None, 2)
                found.append(x[tuple(at)])
        return found


class SplitOp(StrassenOp):
    """Base of the transforms of both factors."""

    @classmethod
    def infer(cls, types, attrs):
        x = types[0]
        cls.check_axes(attrs, x.rank)
        shape = list(x.shape)
        for axis in (attrs.rows, attrs.columns):
            if shape[axis] is None or shape[axis] % 2:
                raise NncError(f"rows and columns must be even numbers, but got '{x}'")
            shape[axis] //= 2
        shape.insert(attrs.products, PRODUCTS)
        return [tensor(tuple(shape), x.element_type)]

    def evaluate(self, x):
        parts = self.parts(x)
        return np.stack([_sum(factors, parts) for factors in self.matrix], self.products)


class StrassenInput(SplitOp, name="nn.strassen_input"):
    """The seven sums of parts of the left matrix.

    Shapes: x [.., M, .., K, ..] -> out [7, .., M / 2, .., K / 2, ..]; `rows` is the dimension M,
    `columns` is K.
    """

    matrix = LEFT
    fusion = Fusion.REDUCTION
    prologue = (Fusion.PADDING,)
    example = (
        "%v = nn.strassen_input %x {columns = 1 : i64, rows = 0 : i64} : "
        "(tensor<6x2x16xf32>) -> tensor<7x3x1x16xf32>"
    )


class StrassenWeight(SplitOp, name="nn.strassen_weight", traits=(Total,)):
    """The seven sums of parts of the right matrix.

    Shapes: x [.., K, .., N, ..] -> out [7, .., K / 2, .., N / 2, ..].
    Numerics: rounded once.
    """

    matrix = RIGHT
    weight_operand = 0
    example = (
        "%u = nn.strassen_weight %w {columns = 0 : i64, rows = 1 : i64} : "
        "(tensor<2x2x16x16xf32>) -> tensor<7x1x1x16x16xf32>"
    )


class StrassenOutput(StrassenOp, name="nn.strassen_output"):
    """The product of the matrices, put together from the seven products of sums.

    Shapes: x [7, .., M / 2, .., N / 2, ..] -> out [.., M, .., N, ..].
    """

    matrix = RESULT
    fusion = Fusion.PRODUCT
    algorithm = (StrassenInput, ProductOp)
    has_whole_tiles = True
    example = (
        "%y = nn.strassen_output %x {columns = 1 : i64, rows = 0 : i64} : "
        "(tensor<7x3x1x16xf32>) -> tensor<6x2x16xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        x = types[0]
        cls.check_axes(attrs, x.rank - 1)
        shape = list(x.shape)
        if shape.pop(attrs.products) != PRODUCTS:
            raise NncError(f"x must be {PRODUCTS} products, but got '{x}'")
        for axis in (attrs.rows, attrs.columns):
            shape[axis] = None if shape[axis] is None else 2 * shape[axis]
        return [tensor(tuple(shape), x.element_type)]

    def evaluate(self, x):
        products = np.moveaxis(x, self.products, 0)
        shape = list(products.shape[1:])
        for axis in (self.rows, self.columns):
            shape[axis] *= 2
        out = np.empty(shape, x.dtype)
        for part, factors in zip(self.parts(out), self.matrix, strict=True):
            part[...] = _sum(factors, list(products))
        return out


def terms(factors: Sequence[int]) -> tuple[list[int], list[int]]:
    """The indices of the positive factors, and those of the negative ones.

    A sum adds the values at the former, of which there is at least one, and subtracts the others.
    """
    return [i for i, f in enumerate(factors) if f > 0], [i for i, f in enumerate(factors) if f < 0]


def _sum(factors: Sequence[int], values: Sequence):
    added, subtracted = terms(factors)
    total = values[added[0]]
    for i in added[1:]:
        total = total + values[i]
    for i in subtracted:
        total = total - values[i]
    return total

"""Winograd's transforms: for each tile and vector of channels, additions and shifts.

One structured op for all points: it reads the elements of a tile and writes the points, each to
its own part of the result, so that what the points share is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith, memref, nn
from ...dialects.nn.winograd import TRANSFORMS, points_of
from ...ir.affine import AffineConstant, AffineDim, AffineExpr, AffineMap
from ...ir.attributes import DenseElements
from ...ir.comprehension import bind
from ...ir.core import Value
from ...ir.types import TensorType
from .comprehensions import write
from .emitter import Emitter
from .table import lowers


class Arithmetic:
    """Sums and multiples of scalars of one type."""

    def __init__(self, e: Emitter, like: Value) -> None:
        self.e = e
        self.type = like.type

    def add(self, *values: Value) -> Value:
        total = values[0]
        for value in values[1:]:
            total = self.e.insert(arith.AddF(total, value)).result
        return total

    def sub(self, a: Value, b: Value) -> Value:
        return self.e.insert(arith.SubF(a, b)).result

    def times(self, factor: float, a: Value) -> Value:
        return self.e.insert(arith.MulF(a, self.e.constant(factor, self.type))).result

    def input_2(self, d: Sequence[Value]) -> list[Value]:
        """B^T d, four points from four elements."""
        return [
            self.sub(d[0], d[2]),
            self.add(d[1], d[2]),
            self.sub(d[2], d[1]),
            self.sub(d[1], d[3]),
        ]

    def output_2(self, m: Sequence[Value]) -> list[Value]:
        """A^T m, two results from four points."""
        return [self.add(m[0], m[1], m[2]), self.sub(self.sub(m[1], m[2]), m[3])]

    def input_4(self, d: Sequence[Value]) -> list[Value]:
        """B^T d, six points from six elements."""
        even, odd = self.sub(d[4], self.times(4, d[2])), self.sub(d[3], self.times(4, d[1]))
        near, far = self.sub(d[4], d[2]), self.times(2, self.sub(d[3], d[1]))
        return [
            self.add(self.sub(self.times(4, d[0]), self.times(5, d[2])), d[4]),
            self.add(even, odd),
            self.sub(even, odd),
            self.add(near, far),
            self.sub(near, far),
            self.add(self.sub(self.times(4, d[1]), self.times(5, d[3])), d[5]),
        ]

    def output_4(self, m: Sequence[Value]) -> list[Value]:
        """A^T m, four results from six points."""
        s, u = self.add(m[1], m[2]), self.sub(m[1], m[2])
        v, w = self.add(m[3], m[4]), self.sub(m[3], m[4])
        return [
            self.add(m[0], s, v),
            self.add(u, self.times(2, w)),
            self.add(s, self.times(4, v)),
            self.add(u, self.times(8, w), m[5]),
        ]


def _both_ways(transform, values: Sequence[Value], size: int) -> list[Value]:
    """A transform of the columns, then of the rows, of `size` rows and columns."""
    columns = [transform(values[b::size]) for b in range(size)]
    height = len(columns[0])
    rows = [transform([column[a] for column in columns]) for a in range(height)]
    return [value for row in rows for value in row]


def _points(tile: int, *dims: AffineExpr) -> list[AffineMap]:
    """For each point, its part of a buffer [points, ..]."""
    count = points_of(tile) ** 2
    return [AffineMap(RANK, 0, (AffineConstant(p), *dims)) for p in range(count)]


def _elements(
    tile: int, n: AffineExpr, c: AffineExpr, i: AffineExpr, count: int
) -> list[AffineMap]:
    """For each of `count` by `count` elements from a tile's place on, where it lies in an image."""
    s, t = AffineDim(1), AffineDim(2)
    return [
        AffineMap(RANK, 0, (n, c, s * tile + a, t * tile + b, i))
        for a in range(count)
        for b in range(count)
    ]


RANK = 5
"""Dimensions of both transforms: image, tile row, tile column, block, channel in the block."""


@lowers(nn.WinogradInput)
def lower_winograd_input(e: Emitter, op: nn.WinogradInput) -> None:
    """out[p, n, s, t, c, i] from x[n, c, tile s + a, tile t + b, i]"""
    n, s, t, c, i = (AffineDim(d) for d in range(RANK))
    reads = _elements(op.tile, n, c, i, points_of(op.tile))
    writes = _points(op.tile, n, s, t, c, i)
    _transform(e, op, reads, writes, "input")


@lowers(nn.WinogradOutput)
def lower_winograd_output(e: Emitter, op: nn.WinogradOutput) -> None:
    """out[n, c, tile s + a, tile t + b, i] from x[p, n, s, t, c, i]"""
    n, s, t, c, i = (AffineDim(d) for d in range(RANK))
    reads, writes = _points(op.tile, n, s, t, c, i), _elements(op.tile, n, c, i, op.tile)
    _transform(e, op, reads, writes, "output")


def _transform(
    e: Emitter,
    op: nn.WinogradInput | nn.WinogradOutput,
    reads: list[AffineMap],
    writes: list[AffineMap],
    name: str,
) -> None:
    source, target = e.buffer(op.x), e.destination(op.out)

    def body(e: Emitter, *elements: Value) -> list[Value]:
        transform = getattr(Arithmetic(e, elements[0]), f"{name}_{op.tile}")
        return _both_ways(transform, elements[: len(reads)], points_of(op.tile))

    e.generic(
        [source] * len(reads),
        [target] * len(writes),
        [*reads, *writes],
        ["parallel"] * RANK,
        body,
    )


@lowers(nn.WinogradWeight)
def lower_winograd_weight(e: Emitter, op: nn.WinogradWeight) -> None:
    """out[a, b, m, c, k, l] += G[a, i] * G[b, j] * x[m, c, i, j, k, l]

    Weights are mostly constants, and folded before; so this may take its time.
    """
    element = op.x.type.element_type
    Mo, Co, _, _, B, A = op.x.type.shape
    points = points_of(op.tile)
    table = TensorType((points, 3), element)
    values = [number for row in TRANSFORMS[op.tile].weight for number in row]
    factors = e.global_(DenseElements.from_list(values, table))
    groups = [[0, 1], [2], [3, 4], [5]]
    shape = [points, points, Mo, Co, B, A]
    out = e.insert(memref.ExpandShape.of(e.destination(op.out), groups, shape)).result
    text = "out[a, b, m, c, k, l] += rows[a, i] * columns[b, j] * x[m, c, i, j, k, l]"
    form = bind(text, ["rows", "columns", "x"], [table, table, op.x.type], {})
    write(e, form, [factors, factors, e.buffer(op.x)], out, element)

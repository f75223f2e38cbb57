"""Winograd's transforms: for each tile and vector of channels, additions and shifts.

One structured op for all points: it reads the 36 elements of a tile and writes the 36 points,
each to its own part of the result, so that what the points share is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith, memref, nn
from ...dialects.nn.winograd import POINTS, TILE, WEIGHT
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

    def input(self, d: Sequence[Value]) -> list[Value]:
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

    def output(self, m: Sequence[Value]) -> list[Value]:
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


def _points(*dims: AffineExpr) -> list[AffineMap]:
    """For each point, its part of a buffer [36, ..]."""
    return [AffineMap(RANK, 0, (AffineConstant(p), *dims)) for p in range(POINTS * POINTS)]


def _elements(n: AffineExpr, c: AffineExpr, i: AffineExpr, count: int) -> list[AffineMap]:
    """For each element of a tile of `count` by `count`, where it lies in an image."""
    s, t = AffineDim(1), AffineDim(2)
    return [
        AffineMap(RANK, 0, (n, c, s * TILE + a, t * TILE + b, i))
        for a in range(count)
        for b in range(count)
    ]


RANK = 5
"""Dimensions of both transforms: image, tile row, tile column, block, channel in the block."""


@lowers(nn.WinogradInput)
def lower_winograd_input(e: Emitter, op: nn.WinogradInput) -> None:
    """out[p, n, s, t, c, i] from x[n, c, 4 s + a, 4 t + b, i]"""
    n, s, t, c, i = (AffineDim(d) for d in range(RANK))
    reads, writes = _elements(n, c, i, POINTS), _points(n, s, t, c, i)
    _transform(e, e.buffer(op.x), reads, e.destination(op.out), writes, "input")


@lowers(nn.WinogradOutput)
def lower_winograd_output(e: Emitter, op: nn.WinogradOutput) -> None:
    """out[n, c, 4 s + a, 4 t + b, i] from x[p, n, s, t, c, i]"""
    n, s, t, c, i = (AffineDim(d) for d in range(RANK))
    reads, writes = _points(n, s, t, c, i), _elements(n, c, i, TILE)
    _transform(e, e.buffer(op.x), reads, e.destination(op.out), writes, "output")


def _transform(
    e: Emitter,
    source: Value,
    reads: list[AffineMap],
    target: Value,
    writes: list[AffineMap],
    name: str,
) -> None:
    def body(e: Emitter, *elements: Value) -> list[Value]:
        arithmetic = Arithmetic(e, elements[0])
        return _both_ways(getattr(arithmetic, name), elements[: len(reads)], POINTS)

    e.generic(
        [source] * len(reads),
        [target] * len(writes),
        [*reads, *writes],
        ["parallel"] * RANK,
        body,
    )


@lowers(nn.WinogradWeight)
def lower_winograd_weight(e: Emitter, op: nn.WinogradWeight) -> None:
    """out[a, b, c, k, m, l] += G[a, i] * G[b, j] * x[m, c, i, j, k, l]

    Weights are mostly constants, and folded before; so this may take its time.
    """
    element = op.x.type.element_type
    Mo, Co, _, _, B, A = op.x.type.shape
    table = TensorType((POINTS, 3), element)
    values = [number for row in WEIGHT for number in row]
    factors = e.global_(DenseElements.from_list(values, table))
    groups = [[0, 1], [2, 3], [4, 5]]
    shape = [POINTS, POINTS, Co, B, Mo, A]
    out = e.insert(memref.ExpandShape.of(e.destination(op.out), groups, shape)).result
    text = "out[a, b, c, k, m, l] += rows[a, i] * columns[b, j] * x[m, c, i, j, k, l]"
    form = bind(text, ["rows", "columns", "x"], [table, table, op.x.type], {})
    write(e, form, [factors, factors, e.buffer(op.x)], out, element)

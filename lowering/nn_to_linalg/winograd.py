"""Winograd's transforms: for each tile and vector of channels, weighted sums of elements.

One structured op computes all points: it reads a tile's elements and writes each point to its own
part of the result, so that what the points share is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...dialects import arith, nn
from ...dialects.nn.winograd import StridedTransforms, Transforms
from ...ir.affine import AffineConstant, AffineDim, AffineExpr, AffineMap
from ...ir.core import Value
from ...ir.types import f32, f64
from .emitter import Emitter
from .scalars import convert
from .table import lowers


class Arithmetic:
    """Emits products of a transform's matrices with vectors of scalars of one type.

    The rows (or columns) of two points p and -p differ only in signs; what they share is computed
    once.
    """

    def __init__(self, e: Emitter, like: Value) -> None:
        self.e = e
        self.type = like.type

    def add(self, a: Value | None, b: Value) -> Value:
        return b if a is None else self.e.insert(arith.AddF(a, b)).result

    def sub(self, a: Value, b: Value) -> Value:
        return self.e.insert(arith.SubF(a, b)).result

    def times(self, factor: float, a: Value) -> Value:
        if factor == 1:
            return a
        return self.e.insert(arith.MulF(a, self.e.constant(factor, self.type))).result

    def sum(self, factors: Sequence[float], values: Sequence[Value]) -> Value:
        """The sum of all factor * value, in this order."""
        total = None
        for factor, value in zip(factors, values, strict=True):
            if factor:
                total = self.add(total, self.times(factor, value))
        assert total is not None
        return total

    def combine(self, factors: Sequence[float], values: Sequence[Value]) -> Value:
        """The sum of all factor * value. The factors are first divided by the last one, with which
        the sum is multiplied at the end.
        """
        terms = [(f, v) for f, v in zip(factors, values, strict=True) if f]
        last, total = terms.pop()
        for factor, value in terms:
            total = self.add(total, self.times(factor / last, value))
        return self.times(last, total)

    def input(self, matrices: Transforms | StridedTransforms, d: Sequence[Value]) -> list[Value]:
        """B^T d: the values at the points, from elements d."""
        if isinstance(matrices, StridedTransforms):
            return [*self.input(matrices.even, d[::2]), *d[1::2]]
        rows, first = matrices.input, int(matrices.has_zero)
        out = [self.combine(row, d) for row in rows[:first]]
        for plus, minus in zip(rows[first:-1:2], rows[first + 1 : -1 : 2], strict=True):
            same = self.combine([(p + m) / 2 for p, m in zip(plus, minus, strict=True)], d)
            apart = self.combine([(p - m) / 2 for p, m in zip(plus, minus, strict=True)], d)
            out += [self.add(same, apart), self.sub(same, apart)]
        return [*out, self.combine(rows[-1], d)]

    def output(self, matrices: Transforms | StridedTransforms, m: Sequence[Value]) -> list[Value]:
        """A^T m: results, from the values m at the points."""
        if isinstance(matrices, StridedTransforms):
            count = len(matrices.even.input)
            even = self.output(matrices.even, m[:count])
            return [self.add(a, b) for a, b in zip(even, m[count:], strict=True)]
        first = int(matrices.has_zero)
        pairs = list(zip(m[first:-1:2], m[first + 1 : -1 : 2], strict=True))
        sums = [self.add(a, b) for a, b in pairs]
        differences = [self.sub(a, b) for a, b in pairs]
        out = []
        for k, row in enumerate(matrices.output):
            paired = differences if k % 2 else sums
            factors = (*row[:first], *row[first:-1:2], row[-1])
            out.append(self.combine(factors, (*m[:first], *paired, m[-1])))
        return out


def _both_ways(transform, values: Sequence[Value], size: int) -> list[Value]:
    """Transform the columns, then the rows, of a matrix of `size` by `size` values."""
    columns = [transform(values[b::size]) for b in range(size)]
    height = len(columns[0])
    rows = [transform([column[a] for column in columns]) for a in range(height)]
    return [value for row in rows for value in row]


def _points(count: int, *dims: AffineExpr) -> list[AffineMap]:
    """The maps to `count` by `count` points, each to its part of a buffer [points, ..]."""
    return [AffineMap(RANK, 0, (AffineConstant(p), *dims)) for p in range(count**2)]


def _elements(
    step: int, n: AffineExpr, c: AffineExpr, i: AffineExpr, count: int
) -> list[AffineMap]:
    """The maps to `count` by `count` elements of a tile, each to its place in an image."""
    s, t = AffineDim(2), AffineDim(3)
    return [
        AffineMap(RANK, 0, (n, c, s * step + a, t * step + b, i))
        for a in range(count)
        for b in range(count)
    ]


RANK = 5
"""The dimensions of both transforms: image, block, tile row, tile column, channel
within the block.
"""


@lowers(nn.WinogradInput)
def lower_winograd_input(e: Emitter, op: nn.WinogradInput) -> None:
    """out[p, c, n, s, t, i] from x[n, c, step s + a, step t + b, i]"""
    n, c, s, t, i = (AffineDim(d) for d in range(RANK))
    reads = _elements(op.stride * op.tile, n, c, i, op.points)
    writes = _points(op.points, c, n, s, t, i)
    source = e.buffer(op.x)
    images, blocks, *extents, block = e.sizes(source)
    step = op.stride * op.tile
    tiles = [e.floordiv(e.sub(d, 3 - op.stride), step) for d in extents]
    target = e.destination(op.out, [op.points**2, blocks, images, *tiles, block])
    _transform(e, op, source, target, reads, writes, "input")


@lowers(nn.WinogradOutput)
def lower_winograd_output(e: Emitter, op: nn.WinogradOutput) -> None:
    """out[n, c, tile s + a, tile t + b, i] from x[p, c, n, s, t, i]"""
    n, c, s, t, i = (AffineDim(d) for d in range(RANK))
    reads, writes = _points(op.points, c, n, s, t, i), _elements(op.tile, n, c, i, op.tile)
    source = e.buffer(op.x)
    _, blocks, images, *tiles, block = e.sizes(source)
    sizes = [images, blocks, *(e.mul(d, op.tile) for d in tiles), block]
    if op.image is None:
        target = e.destination(op.out, sizes)
        _transform(e, op, source, target, reads, writes, "output")
        return
    whole = e.alloc(sizes, source.type.element_type)
    _transform(e, op, source, whole, reads, writes, "output")
    image = e.buffer(op.image)
    given = zip((2, 3), op.more or (0, 0), strict=True)
    extents = [e.floordiv(e.add(e.size(image, d), m), op.stride) for d, m in given]
    for extent, covered in zip(extents, sizes[2:4], strict=True):
        e.require(e.compare("sle", extent, covered), "results of tiles are fewer than of the image")
    wanted = [images, blocks, *extents, block]
    e.copy(e.subview(whole, (0,) * 5, wanted, (1,) * 5), e.destination(op.out, wanted))


def _transform(
    e: Emitter,
    op: nn.WinogradInput | nn.WinogradOutput,
    source: Value,
    target: Value,
    reads: list[AffineMap],
    writes: list[AffineMap],
    name: str,
) -> None:
    def body(e: Emitter, *elements: Value) -> list[Value]:
        transform = partial(getattr(Arithmetic(e, elements[0]), name), op.transforms)
        return _both_ways(transform, elements[: len(reads)], op.points)

    e.generic(
        [source] * len(reads),
        [target] * len(writes),
        [*reads, *writes],
        ["parallel"] * RANK,
        body,
    )


@lowers(nn.WinogradWeight)
def lower_winograd_weight(e: Emitter, op: nn.WinogradWeight) -> None:
    """out[p, m, c, k, l] from x[m, c, i, j, k, l], in f64 if the target has it."""
    m, c, k, l = (AffineDim(d) for d in range(4))
    element = op.x.type.element_type
    wide = f64 if e.globals.machine.has_f64 else f32
    cells = [(AffineConstant(i), AffineConstant(j)) for i in range(3) for j in range(3)]
    reads = [AffineMap(4, 0, (m, c, i, j, k, l)) for i, j in cells]
    writes = [AffineMap(4, 0, (AffineConstant(p), m, c, k, l)) for p in range(op.points**2)]

    def body(e: Emitter, *elements: Value) -> list[Value]:
        given = [convert(e, v, element, wide) for v in elements[:9]]
        arithmetic = Arithmetic(e, given[0])

        def transform(values: Sequence[Value]) -> list[Value]:
            return [arithmetic.sum(row, values) for row in op.transforms.weight]

        made = _both_ways(transform, given, 3)
        scales = [scale for row in op.scales for scale in row]
        made = [arithmetic.times(scale, v) for scale, v in zip(scales, made, strict=True)]
        return [convert(e, v, wide, element) for v in made]

    source, target = e.buffer(op.x), e.destination(op.out)
    e.generic([source] * 9, [target] * len(writes), [*reads, *writes], ["parallel"] * 4, body)

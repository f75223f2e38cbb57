"""Products of parts of one tensor with the same matrix become one product.

A recurrent network that its exporter has unrolled multiplies the input of each step separately: a
few rows, for which all weights are read again. None of these products depends on another.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...dialects import nn
from ...ir.attributes import Attribute
from ...ir.builder import Builder
from ...ir.core import Block, Operation, OpResult, Value
from ...ir.location import fuse_locations
from ...ir.passes import Pass, PassContext
from ...ir.types import TensorType
from .building import element_of, reshape, shape_of


@dataclass(frozen=True)
class MergeProducts(
    Pass,
    name="merge-products",
    anchor="func.func",
    statistics={"products-merged": "Number of products that became part of another"},
):
    """Multiply a tensor before it is cut, if its parts are multiplied with the same matrix.

        %a = nn.slice %x [0, 0]                        %p = nn.matmul %x, %w
        %b = nn.slice %x [1, 0]                 ->     %0 = nn.slice %p [0, 0]
        %0 = nn.matmul %a, %w                          %1 = nn.slice %p [1, 0]
        %1 = nn.matmul %b, %w

    The weights must be most of what such a product reads and writes, and the parts must be
    adjacent, so that there are no more products than before.
    """

    numerics = "rounding"

    def run(self, op: Operation, context: PassContext) -> None:
        """Find the products of each tensor and matrix, then merge each run of adjacent parts."""
        for block in op.regions[0].blocks:
            for factors in _factors(block):
                for row in _rows(factors):
                    _merge(row)
                    context.statistic("products-merged", len(row) - 1)


@dataclass(frozen=True)
class Factor:
    """The left side of a product: `extent` elements of a tensor from `start` on, along an axis.

    With `squeezed`, extent is 1 and the axis has been dropped. `place` is the index of the product
    in its block.
    """

    product: nn.Matmul
    place: int
    tensor: Value
    axis: int
    start: int
    extent: int
    squeezed: bool

    @property
    def end(self) -> int:
        return self.start + self.extent


def _factors(block: Block) -> Iterable[list[Factor]]:
    """The factors of a block that share tensor, axis and weights, in the order of the block."""
    found: dict[tuple[Value, int, Value | Attribute], list[Factor]] = defaultdict(list)
    for place, op in enumerate(block):
        if isinstance(op, nn.Matmul) and (factor := _factor(op, place)) is not None:
            constant = op.rhs.defined_by(nn.Constant)
            weights = op.rhs if constant is None else constant.value
            found[factor.tensor, factor.axis, weights].append(factor)
    return list(found.values())


def _factor(product: nn.Matmul, place: int) -> Factor | None:
    part, squeezed = product.lhs, False
    if (view := part.defined_by(nn.Reshape)) is not None:
        part, squeezed = view.x, True
    where = _cut(part)
    if where is None or len(shape_of(product.rhs)) != 2:
        return None
    tensor, axis, start = where
    shape = shape_of(part)
    if squeezed and shape_of(product.lhs) != (*shape[:axis], *shape[axis + 1 :]):
        return None
    if axis == len(shape) - 1 or shape.count(None) > 1 or not _reads_mostly_weights(product):
        return None
    return Factor(product, place, tensor, axis, start, shape[axis], squeezed)


def _cut(part: Value) -> tuple[Value, int, int] | None:
    """The tensor of which a value is a part, the axis that is cut, and where the part starts."""
    op = part.defining_op
    if isinstance(op, nn.Split):
        assert isinstance(part, OpResult)
        return op.x, op.axis, sum(shape_of(out)[op.axis] for out in op.outs[: part.index])
    if not isinstance(op, nn.Slice) or set(op.steps or ()) - {1}:
        return None
    whole, shape = shape_of(op.x), shape_of(part)
    axes = [d for d in range(len(shape)) if op.starts[d] or shape[d] != whole[d]]
    if len(axes) != 1 or shape[axes[0]] is None:
        return None
    return op.x, axes[0], op.starts[axes[0]]


def _reads_mostly_weights(product: nn.Matmul) -> bool:
    """Whether the weights have more elements than the product's rows; an unknown extent counts as
    1.
    """
    terms, columns = shape_of(product.rhs)
    if terms is None or columns is None:
        return False
    rows = math.prod(extent or 1 for extent in shape_of(product.lhs)[:-1])
    return terms * columns > rows * (terms + columns)


def _rows(factors: list[Factor]) -> Iterator[list[Factor]]:
    """The runs of at least two adjacent factors."""
    row: list[Factor] = []
    for factor in sorted(factors, key=lambda factor: factor.start):
        if row and factor.start > max(other.end for other in row):
            if len(row) > 1:
                yield row
            row = []
        row.append(factor)
    if len(row) > 1:
        yield row


def _merge(row: list[Factor]) -> None:
    """Replace the products by one at the place of the first, and by slices of its result."""
    first = min(row, key=lambda factor: factor.place).product
    b = Builder.before_op(first)
    start, end = row[0].start, max(factor.end for factor in row)
    whole = _part(b, row[0].tensor, row[0].axis, start, end - start)
    columns = shape_of(first.rhs)[1]
    out = TensorType((*shape_of(whole)[:-1], columns), element_of(whole))
    merged = b.insert(nn.Matmul(whole, first.rhs, out=out)).out
    merged.defining_op.loc = fuse_locations([factor.product.loc for factor in row])
    for factor in row:
        b = Builder.before_op(factor.product)
        part = _part(b, merged, factor.axis, factor.start - start, factor.extent)
        if factor.squeezed:
            part = reshape(b, part, shape_of(factor.product.out))
        factor.product.replace_with(part)


def _part(b: Builder, x: Value, axis: int, start: int, extent: int) -> Value:
    """`extent` elements of x along an axis, from `start` on; x itself if these are all."""
    shape = shape_of(x)
    if shape[axis] == extent:
        return x
    taken = TensorType((*shape[:axis], extent, *shape[axis + 1 :]), element_of(x))
    starts = [start if d == axis else 0 for d in range(len(shape))]
    return b.insert(nn.Slice(x, starts, out=taken)).result

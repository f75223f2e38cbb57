"""The operands of a product of words, as tiles that can be loaded from memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....dialects import amx, arith, memref, vector
from ....dialects.memref.layouts import strided
from ....ir.affine import AffineDim, AffineMap
from ....ir.attributes import AffineMapAttr
from ....ir.builder import Builder
from ....ir.core import Block, Value
from ....ir.types import MemRefType, VectorType


@dataclass(frozen=True)
class Operand:
    """An operand of a product: a read of vectors in each step of the sum.

    `rows` and `columns` are the dimensions of the memory that are those of a tile. `along` is the
    dimension of the memory that is `dimension` of the sums; None if an operand is one vector.
    """

    read: vector.TransferRead
    rows: int
    columns: int
    along: int | None
    dimension: int | None

    @property
    def order(self) -> list[int]:
        """The memory's dimensions with the tile's last."""
        ends = (self.rows, self.columns)
        return [*(d for d in range(self.read.base.type.rank) if d not in ends), *ends]

    def view(self, b: Builder) -> Value:
        """The memory with its dimensions in that order."""
        return ordered(b, self.read.base, self.order)

    def load(
        self,
        b: Builder,
        view: Value,
        indices: Sequence[Value],
        at: Mapping[int | None, int],
        type: amx.TileType,
    ) -> Value:
        """Load a tile from the view. `indices` are those of the read, and `at` is how far from
        there the tile begins, by dimension of the memory.
        """
        places = moved(b, indices, at)
        return b.insert(amx.TileLoad(view, [places[d] for d in self.order], None, res=type)).res


def rows_of_words(value: Value, sums: VectorType, number: Value) -> Operand | None:
    """The left operand, rows of which each has a word for a step of the loop over `number`.

    None if the value is something else, or the words of a row do not lie side by side.
    """
    if (found := _read(value, sums)) is None or (step := _step(found[0], number)) is None:
        return None
    read, shape = found
    along, rows = _along(read), [d for d, size in enumerate(shape) if size > 1]
    if shape[-1] != 1 or len(along) != 1 or len(rows) != 1:
        return None
    if _strides(read)[step] != 1 or along[0] == step:
        return None
    return Operand(read, along[0], step, along[0], rows[0])


def vectors_of_words(value: Value, sums: VectorType, number: Value) -> Operand | None:
    """The right operand, one or several vectors of words for a step of the loop over `number`.

    None if the value is something else, or the words of a vector do not lie side by side.
    """
    if (found := _read(value, sums)) is None or (step := _step(found[0], number)) is None:
        return None
    read, shape = found
    along, copies = _along(read), [d for d, size in enumerate(shape[:-1]) if size > 1]
    if shape[-1] == 1 or len(copies) > 1 or len(along) != 1 + len(copies):
        return None
    if _strides(read)[along[-1]] != 1 or step in along:
        return None
    several = bool(copies)
    return Operand(
        read, step, along[-1], along[0] if several else None, copies[0] if several else None
    )


def _read(value: Value, sums: VectorType) -> tuple[vector.TransferRead, tuple[int, ...]] | None:
    """(the read that a value repeats, its shape along the dimensions of the sums)."""
    shape: tuple[int, ...] | None = None
    while isinstance(op := value.defining_op, vector.Broadcast | vector.ShapeCast):
        source: Any = op.operands[0].type
        if not isinstance(source, VectorType) or isinstance(op, vector.Broadcast) == bool(shape):
            return None
        shape = shape or source.shape
        value = op.operands[0]
    read = value.defined_by(vector.TransferRead)
    if read is None or read.mask is not None or not all(read.bounds):
        return None
    if not isinstance(read.base.type, MemRefType) or read.base.type.strides_and_offset() is None:
        return None
    shape = shape or read.vector_type.shape
    return read, (1,) * (sums.rank - len(shape)) + shape


def _strides(read: vector.TransferRead) -> tuple[int | None, ...]:
    return read.base.type.strides_and_offset()[0]


def _step(read: vector.TransferRead, number: Value) -> int | None:
    """The dimension of the memory whose index is `number`; None if others depend on it too."""
    block = number.parent_block
    if block is None or sum(_depends(index, number, block) for index in read.indices) != 1:
        return None
    return next((d for d, index in enumerate(read.indices) if index is number), None)


def _depends(value: Value, number: Value, block: Block) -> bool:
    """Whether a value depends on another one of the same block."""
    op = value.defining_op
    if op is None or op.parent is not block:
        return value is number
    return any(_depends(operand, number, block) for operand in op.operands)


def _along(read: vector.TransferRead) -> list[int]:
    """The dimensions of the memory along which a read has several elements, in the vector's order;
    empty if it repeats elements.
    """
    results = zip(read.map.results, read.vector_type.shape, strict=True)
    found = [expression for expression, size in results if size > 1]
    dims = [expression.position for expression in found if isinstance(expression, AffineDim)]
    return dims if len(dims) == len(found) else []


def moved(b: Builder, indices: Sequence[Value], at: Mapping[int | None, int]) -> list[Value]:
    """Indices, plus a number for some dimensions."""
    return [plus(b, index, at.get(d, 0)) for d, index in enumerate(indices)]


def plus(b: Builder, index: Value, offset: int) -> Value:
    """An index plus a number."""
    if not offset:
        return index
    return b.insert(arith.AddI(index, b.insert(arith.Constant.index(offset)).result)).results[0]


def ordered(b: Builder, memory: Value, order: Sequence[int]) -> Value:
    """A view of memory with its dimensions in another order."""
    if list(order) == sorted(order):
        return memory
    type = memory.type
    strides, offset = type.strides_and_offset()
    made = strided(type, [type.shape[d] for d in order], [strides[d] for d in order], offset)
    mapping = AffineMapAttr(AffineMap(type.rank, 0, tuple(AffineDim(d) for d in order)))
    return b.insert(memref.Transpose(memory, mapping, result=made)).result

"""Loops that add products of words to vectors of sums, and the tiles that these sums become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import amx, arith, memref, packed, scf, vector
from ....ir.core import BlockArgument, Operation, Value
from ....ir.rewriting import constant_int, constant_number
from ....ir.traits import Pure
from ....ir.types import VectorType
from ....targets.processor import TileRegisters
from .operands import Operand, rows_of_words, vectors_of_words

PRODUCTS = (packed.Dot, packed.DotF)
_ADDING = (
    arith.AddI,
    arith.AddF,
    *PRODUCTS,
    vector.TransferRead,
    vector.Broadcast,
    vector.ShapeCast,
    memref.Prefetch,
    scf.Yield,
)


def is_of_tiles(dot: Operation, tiles: TileRegisters) -> bool:
    """Whether tile registers multiply the words of a product."""
    if isinstance(dot, packed.DotF):
        return tiles.multiplies_halves
    return isinstance(dot, packed.Dot) and dot.packing == "u8s8"


@dataclass(frozen=True)
class Place:
    """Where a tile is in the sums: its first row, which vector of each row, the first lane."""

    row: int
    copy: int
    lane: int
    type: amx.TileType


@dataclass(frozen=True)
class Sums:
    """Loops that carry sums of products, the outermost first; the last one adds to them."""

    loops: Sequence[scf.For]
    left: Operand
    right: Operand
    tiles: TileRegisters

    @staticmethod
    def of(loop: scf.For, tiles: TileRegisters) -> Sums | None:
        """The sums that a loop adds to, if tile registers take them."""
        dot = _product(loop)
        if dot is None or not is_of_tiles(dot, tiles) or extent(loop) is None:
            return None
        type, number = loop.outs[0].type, loop.induction_var
        left = rows_of_words(dot.lhs, type, number)
        right = vectors_of_words(dot.rhs, type, number)
        if left is None or right is None or left.dimension == right.dimension:
            return None
        found = Sums(_carrying(loop), left, right, tiles)
        return found if found._fits() else None

    @property
    def type(self) -> VectorType:
        """The type of the sums as vectors."""
        return self.loops[0].outs[0].type

    @property
    def rows(self) -> int:
        """The number of rows."""
        assert self.left.dimension is not None
        return self.type.shape[self.left.dimension]

    @property
    def places(self) -> list[Place]:
        """The tiles of the sums, row after row."""
        lanes, most, words = self.type.shape[-1], self.tiles.rows, self.tiles.words
        element = self.type.element_type
        return [
            Place(row, copy, lane, amx.TileType((height, min(words, lanes - lane)), element))
            for row in range(0, self.rows, most)
            for height in (min(most, self.rows - row),)
            for copy in range(self.type.num_elements // (self.rows * lanes))
            for lane in range(0, lanes, words)
        ]

    def _fits(self) -> bool:
        """Whether rows are enough, and registers for all sums and the operands of a product."""
        vectors = sum(place.row == 0 for place in self.places)
        needed = self.tiles.needed(self.rows, vectors, extent(self.loops[-1]) or 0)
        return (
            self.rows >= self.tiles.least_rows
            and needed <= self.tiles.tile_registers
            and constant_number(self.loops[0].inits[0]) == 0
        )


def extent(loop: scf.For) -> int | None:
    """The number of iterations of a loop from 0 in steps of 1; None for another one."""
    if (constant_int(loop.lower), constant_int(loop.step)) != (0, 1):
        return None
    return constant_int(loop.upper)


def _product(loop: scf.For) -> packed.Dot | packed.DotF | None:
    """The product of words that a loop adds to the one thing that it carries, if it does no more
    than that and prefetching.
    """
    last = loop.body_block.last
    if len(loop.outs) != 1 or last is None or not all(map(_is_adding, loop.body_block)):
        return None
    type, carried = loop.outs[0].type, loop.iter_args[0]
    total = last.operands[0].defining_op
    if not isinstance(total, arith.AddI | arith.AddF) or not isinstance(type, VectorType):
        return None
    if carried not in total.operands or not carried.has_one_use or not total.results[0].has_one_use:
        return None
    found = (value.defining_op for value in total.operands)
    return next((dot for dot in found if isinstance(dot, PRODUCTS)), None)


def _is_adding(op: Operation) -> bool:
    return isinstance(op, _ADDING) or op.has_trait(Pure)


def _carrying(loop: scf.For) -> list[scf.For]:
    """The loops that carry what a loop adds to, the outermost first, and the loop itself."""
    found = [loop]
    while isinstance(argument := found[0].inits[0], BlockArgument):
        outer = argument.owner.parent_op
        if not isinstance(outer, scf.For) or len(outer.outs) != 1 or not argument.has_one_use:
            break
        if argument is not outer.iter_args[0] or not _is_yielded(found[0].outs[0], outer):
            break
        found.insert(0, outer)
    return found


def _is_yielded(value: Value, loop: scf.For) -> bool:
    """Whether a loop yields a value that nothing else uses."""
    last = loop.body_block.last
    return last is not None and last.operands[0] is value and value.has_one_use

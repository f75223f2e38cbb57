"""--lower-to-amx: sums of products of bytes are computed in tile registers.

%s = scf.for %k = 0 to 192 step 1 iter_args(%acc = zeros) {     vectors of 32 x 2 x 16 sums
  %a = vector.transfer_read %x[%i, %k]                          32 words, one of each row
  %b = vector.transfer_read %w[%j, %k, 0]                       2 x 16 words
  %acc + packed.dot "u8s8" %a, %b
}
->
%t:4 = scf.for %k = 0 to 192 step 16 iter_args(%c:4 = tiles of zeros) {
  %b0, %b1 = amx.tile_load %w[%j, %k, 0], %w[%j + 1, %k, 0]     16 steps of 16 words
  %a0, %a1 = amx.tile_load %x[%i, %k], %x[%i + 16, %k]          16 rows of 16 steps
  amx.tile_muli %a0, %b0, %c#0                                  ..
}
amx.tile_store ..                                               to where the sums are wanted
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..dialects import amx, arith, func, memref, packed, scf, vector
from ..dialects.memref.layouts import strided
from ..ir.affine import AffineDim, AffineMap
from ..ir.attributes import AffineMapAttr, IntegerAttr
from ..ir.builder import Builder
from ..ir.core import Block, BlockArgument, Operation, Value
from ..ir.passes import Pass, PassContext, option
from ..ir.rewriting import constant_int
from ..ir.traits import Pure
from ..ir.types import MemRefType, VectorType, i8, i32
from ..ir.values import IRMapping
from ..targets.processor import TileRegisters, processor_of


@dataclass(frozen=True)
class LowerToAmx(
    Pass,
    name="lower-to-amx",
    anchor="builtin.module",
    statistics={"sums": "Number of sums that are computed in tile registers"},
):
    """Compute sums of products of bytes in tile registers, on processors that have these.

    A loop that adds products of words, `packed.dot "u8s8"`, to vectors of zeros is one over as many
    words as a row of a tile has. It may be in other loops that carry its sums; what is left behind
    the last whole tile is a step of its own. Sums that are stored as they are leave the tiles for
    where they are wanted, others for a buffer on the stack, from which they are read as vectors.

    Rows and vectors of the sums are as the schedule has them. Where they need more tile registers
    than there are, or fewer rows than pay (`TileRegisters`), the loop stays as it is, and so do
    sums of words that do not lie side by side.
    """

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        """Rewrite the loops of all functions."""
        tiles = processor_of(op, self.target).tiles
        if not tiles.count:
            return
        for function in func.functions_by_name(op).values():
            for loop in [one for one in function.walk() if isinstance(one, scf.For)]:
                if (found := _Sum.of(loop, tiles)) is not None:
                    found.rewrite()
                    context.statistic("sums")


# -- the operands ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Operand:
    """An operand of a product: a read of vectors for each step of the sum.

    `rows` and `columns` are the dimensions of the memory that are those of a tile. Its tiles lie
    along the dimension `along` of the memory, which is `dimension` of the sums, if there are
    several, or several rows.
    """

    read: vector.TransferRead
    rows: int
    columns: int
    along: int | None
    dimension: int | None

    def load(
        self,
        b: Builder,
        view: Value,
        indices: Sequence[Value],
        at: Mapping[int | None, int],
        type: amx.TileType,
    ) -> Value:
        """Load a tile; `indices` are the read's, `at` is how far from there it begins, for each
        dimension of the memory.
        """
        places = _moved_along(b, indices, at)
        ordered = [places[d] for d in self.order]
        return b.insert(amx.TileLoad(view, ordered, None, res=type)).results[0]

    @property
    def order(self) -> list[int]:
        """The memory's dimensions with the tile's last."""
        ends = (self.rows, self.columns)
        return [*(d for d in range(self.read.base.type.rank) if d not in ends), *ends]

    def view(self, b: Builder) -> Value:
        """The memory with its dimensions in that order."""
        return _ordered(b, self.read.base, self.order)


def _left(value: Value, sums: VectorType, number: Value) -> _Operand | None:
    """Rows of which each has a word for a step of the loop over `number`; None if it is another."""
    if (found := _read(value, sums)) is None or (step := _step(found[0], number)) is None:
        return None
    read, shape = found
    along, copies = _along(read), [d for d, size in enumerate(shape) if size > 1]
    if shape[-1] != 1 or len(along) != 1 or len(copies) != 1:
        return None
    if _strides(read)[step] != 1 or along[0] == step:
        return None
    return _Operand(read, along[0], step, along[0], copies[0])


def _right(value: Value, sums: VectorType, number: Value) -> _Operand | None:
    """Vectors of words for a step of the loop over `number`; None if it is something else."""
    if (found := _read(value, sums)) is None or (step := _step(found[0], number)) is None:
        return None
    read, shape = found
    along, copies = _along(read), [d for d, size in enumerate(shape[:-1]) if size > 1]
    if shape[-1] == 1 or len(copies) > 1 or len(along) != 1 + len(copies):
        return None
    lanes = along[-1]
    if _strides(read)[lanes] != 1 or step in along:
        return None
    return _Operand(read, step, lanes, along[0] if copies else None, copies[0] if copies else None)


def _read(value: Value, sums: VectorType) -> tuple[vector.TransferRead, tuple[int, ...]] | None:
    """(the read that a value repeats, its shape along the dimensions of the sums)."""
    shape: tuple[int, ...] | None = None
    while isinstance(op := value.defining_op, vector.Broadcast | vector.ShapeCast):
        source: Any = op.operands[0].type
        if not isinstance(source, VectorType):
            return None
        if isinstance(op, vector.Broadcast):
            if shape is not None:
                return None
            shape = source.shape
        elif shape is None:
            return None
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
    """The one dimension of the memory whose index is `number`; None if others depend on it."""
    block = number.parent_block
    if sum(_depends(index, number, block) for index in read.indices) != 1:
        return None
    return next((d for d, index in enumerate(read.indices) if index is number), None)


def _depends(value: Value, number: Value, block: Block) -> bool:
    op = value.defining_op
    if op is None or op.parent is not block:
        return value is number
    return any(_depends(operand, number, block) for operand in op.operands)


def _along(read: vector.TransferRead) -> list[int]:
    """The dimensions of the memory along which a read has several elements, in the vector's order;
    empty if it repeats elements.
    """
    results = zip(read.map.results, read.vector_type.shape, strict=True)
    found = [(expression, size) for expression, size in results if size > 1]
    if not all(isinstance(expression, AffineDim) for expression, _ in found):
        return []
    return [expression.position for expression, _ in found]  # type: ignore[union-attr]


# -- the sums --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sum:
    """Loops that carry sums of products, the outermost first, and the product in the last one."""

    loops: Sequence[scf.For]
    left: _Operand
    right: _Operand
    tiles: TileRegisters

    @staticmethod
    def of(loop: scf.For, tiles: TileRegisters) -> _Sum | None:
        """The sums that a loop adds to, if tile registers take them."""
        if len(loop.outs) != 1 or _extent(loop) is None:
            return None
        type, body = loop.outs[0].type, loop.body_block
        total = body.last.operands[0].defined_by(arith.AddI) if body.last is not None else None
        if total is None or not isinstance(type, VectorType) or type.element_type is not i32:
            return None
        carried = loop.iter_args[0]
        dot = next((v.defined_by(packed.Dot) for v in total.operands if v is not carried), None)
        if dot is None or carried not in total.operands or dot.packing != "u8s8":
            return None
        number = loop.induction_var
        left, right = _left(dot.lhs, type, number), _right(dot.rhs, type, number)
        if left is None or right is None or left.dimension == right.dimension:
            return None
        found = _Sum(_around(loop), left, right, tiles)
        return found if found._fits(type) and found._is_alone(total) else None

    def _fits(self, sums: VectorType) -> bool:
        """Whether the tiles of the sums, and those of both operands, are in registers at once."""
        rows, lanes = self._rows_of(sums), sums.shape[-1]
        columns = sums.num_elements // (rows * lanes) * -(-lanes // self.tiles.words)
        needed = -(-rows // self.tiles.rows) * columns + columns + 1
        return (
            rows >= self.tiles.least_rows
            and needed <= self.tiles.count
            and constant_int(self.loops[0].inits[0]) == 0
        )

    def _is_alone(self, total: Operation) -> bool:
        """Whether the innermost loop does nothing but add to the sums, and prefetch."""
        *_, inner = self.loops
        known = (arith.AddI, packed.Dot, vector.TransferRead, vector.Broadcast, vector.ShapeCast)
        return all(
            isinstance(op, (*known, memref.Prefetch, scf.Yield)) or op.has_trait(Pure)
            for op in inner.body_block
        ) and all(v.has_one_use for v in (total.results[0], *(l.iter_args[0] for l in self.loops)))

    def _rows_of(self, sums: VectorType) -> int:
        assert self.left.dimension is not None
        return sums.shape[self.left.dimension]

    # -- the change --------------------------------------------------------------------------

    def rewrite(self) -> None:
        """Replace the loops by ones that carry tiles."""
        outer = self.loops[0]
        b, places = Builder.before_op(outer), self.places
        zeros = [b.insert(amx.TileZero(res=place.type)).results[0] for place in places]
        views = self.left.view(b), self.right.view(b)
        tiles = _Writer(self, views, IRMapping()).loop(b, self.loops, zeros)
        self._leave(b, dict(zip(places, tiles, strict=True)))
        outer.erase()

    @property
    def type(self) -> VectorType:
        """The type of the sums as vectors."""
        return self.loops[0].outs[0].type

    @property
    def places(self) -> list[_Place]:
        """The tiles of the sums, row after row."""
        rows, lanes = self._rows_of(self.type), self.type.shape[-1]
        most, words = self.tiles.rows, self.tiles.words
        return [
            _Place(
                row,
                copy,
                lane,
                amx.TileType((min(most, rows - row), min(words, lanes - lane)), i32),
            )
            for row in range(0, rows, most)
            for copy in range(self.type.num_elements // (rows * lanes))
            for lane in range(0, lanes, words)
        ]

    def _leave(self, b: Builder, tiles: Mapping[_Place, Value]) -> None:
        """Store the tiles where the sums are wanted, or read them as vectors from a buffer."""
        old = self.loops[0].outs[0]
        (user, *more) = old.users
        if not more and isinstance(user, vector.TransferWrite) and self._stores_whole(user):
            at_user = Builder.before_op(user)
            self._store(
                at_user, tiles, user.base, user.indices, [e.position for e in user.map.results]
            )
            user.erase()
            return
        buffer = Builder.at_start(_frame(self.loops[0]))
        memory = buffer.insert(
            memref.Alloca([], [], memref=MemRefType(self.type.shape, i32))
        ).memref
        zero = b.insert(arith.Constant.index(0)).result
        places = [zero] * self.type.rank
        self._store(b, tiles, memory, places, list(range(self.type.rank)))
        padding = b.insert(arith.Constant(IntegerAttr(0, i32))).result
        read = b.insert(vector.TransferRead.of(memory, places, padding, self.type))
        old.replace_all_uses_with(read.vector)

    def _stores_whole(self, write: vector.TransferWrite) -> bool:
        """Whether a write puts all sums to where tiles can be stored."""
        type = write.base.type
        if write.mask is not None or not all(write.bounds) or not isinstance(type, MemRefType):
            return False
        along, found = write.map.results, type.strides_and_offset()
        if found is None or type.element_type is not i32 or len(along) != self.type.rank:
            return False
        lanes = along[-1]
        if not all(isinstance(e, AffineDim) for e in along) or found[0][lanes.position] != 1:  # type: ignore[union-attr]
            return False
        return self.left.dimension != self.type.rank - 1

    def _store(
        self,
        b: Builder,
        tiles: Mapping[_Place, Value],
        memory: Value,
        indices: Sequence[Value],
        along: Sequence[int],
    ) -> None:
        """Store the tiles; `along` has the memory's dimension of each dimension of the sums."""
        rows, columns = self.left.dimension, self.right.dimension
        assert rows is not None
        ends = (along[rows], along[-1])
        order = [*(d for d in range(memory.type.rank) if d not in ends), *ends]
        view = _ordered(b, memory, order)
        for place, tile in tiles.items():
            moved = {along[rows]: place.row, along[-1]: place.lane}
            if columns is not None:
                moved[along[columns]] = place.copy
            at = _moved_along(b, indices, moved)
            b.insert(amx.TileStore(view, [at[d] for d in order], tile, None))


@dataclass(frozen=True)
class _Place:
    """Where a tile is in the sums: its first row, which vector of each row, the first lane."""

    row: int
    copy: int
    lane: int
    type: amx.TileType


@dataclass(frozen=True)
class _Writer:
    """Writes the loops of sums with tiles in their place."""

    sums: _Sum
    views: tuple[Value, Value]
    known: IRMapping

    def loop(self, b: Builder, loops: Sequence[scf.For], tiles: Sequence[Value]) -> Sequence[Value]:
        """Write loops, the outermost first, that begin with these tiles. Returns the last ones."""
        loop, *inside = loops
        if not inside:
            return self._steps(b, loop, tiles)
        bounds = [self.known[v] for v in (loop.lower, loop.upper, loop.step)]
        made = b.insert(scf.For.of(*bounds, tiles, loc=loop.loc))
        self._name(made, loop)
        inner, found = Builder.at_end(made.body_block, loop.loc), tiles
        for op in loop.body_block:
            if op is inside[0]:
                found = self.loop(inner, inside, made.iter_args)
            elif not isinstance(op, scf.Yield):
                inner.insert(op.clone(self.known))
        inner.insert(scf.Yield(found))
        return made.outs

    def _steps(self, b: Builder, loop: scf.For, tiles: Sequence[Value]) -> Sequence[Value]:
        """Write the innermost loop: one over whole tiles, and a step for what they leave."""
        words, extent = self.sums.tiles.words, _extent(loop) or 0
        whole = extent - extent % words
        if whole:
            ends = [b.insert(arith.Constant.index(n)).result for n in (0, whole, words)]
            made = b.insert(scf.For.of(*ends, tiles, loc=loop.loc))
            self._name(made, loop)
            inner = Builder.at_end(made.body_block, loop.loc)
            self._ask(inner, loop, made.induction_var)
            step = self._step(inner, loop, made.induction_var, words, made.iter_args)
            inner.insert(scf.Yield(step))
            tiles = made.outs
        if extent > whole:
            number = b.insert(arith.Constant.index(whole)).result
            tiles = self._step(b, loop, number, extent - whole, tiles)
        return tiles

    def _name(self, made: scf.For, loop: scf.For) -> None:
        made.induction_var.name_hint = loop.induction_var.name_hint
        self.known[loop.induction_var] = made.induction_var

    def _ask(self, b: Builder, loop: scf.For, number: Value) -> None:
        """Prefetch what each step that a tile covers did."""
        asked = [op for op in loop.body_block if isinstance(op, memref.Prefetch)]
        for offset in range(self.sums.tiles.words if asked else 0):
            known = IRMapping(self.known.values)
            known[loop.induction_var] = _moved(b, number, offset) if offset else number
            for one in asked:
                _copy(b, one, loop.body_block, known)

    def _step(
        self, b: Builder, loop: scf.For, number: Value, words: int, tiles: Sequence[Value]
    ) -> list[Value]:
        """Add the products of `words` steps from `number` on to the tiles."""
        known = IRMapping(self.known.values)
        known[loop.induction_var] = number
        left, right = self.sums.left, self.sums.right
        indices = [
            [_copied(b, index, loop.body_block, known) for index in side.read.indices]
            for side in (left, right)
        ]
        lefts, rights, found = dict[int, Value](), dict[tuple[int, int], Value](), list[Value]()
        for place, tile in zip(self.sums.places, tiles, strict=True):
            (rows, lanes), column = place.type.shape, (place.copy, place.lane)
            if column not in rights:
                type = amx.TileType((words, 4 * lanes), i8)
                at = {right.along: place.copy, right.columns: place.lane}
                rights[column] = right.load(b, self.views[1], indices[1], at, type)
            if place.row not in lefts:
                type = amx.TileType((rows, 4 * words), i8)
                at = {left.along: place.row}
                lefts[place.row] = left.load(b, self.views[0], indices[0], at, type)
            sides = lefts[place.row], rights[column]
            found.append(b.insert(amx.TileMulI(*sides, tile, isZextLhs=True)).results[0])
        return found


# -- loops and values ------------------------------------------------------------------------------


def _extent(loop: scf.For) -> int | None:
    """The number of iterations of a loop from 0 in steps of 1; None for another one."""
    if (constant_int(loop.lower), constant_int(loop.step)) != (0, 1):
        return None
    return constant_int(loop.upper)


def _around(loop: scf.For) -> list[scf.For]:
    """The loops that carry what a loop adds to, the outermost first, and the loop itself."""
    found = [loop]
    while isinstance(argument := found[0].inits[0], BlockArgument):
        outer = argument.owner.parent_op
        if not isinstance(outer, scf.For) or len(outer.outs) != 1:
            break
        last = outer.body_block.last
        if argument is not outer.iter_args[0] or last is None:
            break
        if list(last.operands) != [found[0].outs[0]] or not found[0].outs[0].has_one_use:
            break
        found.insert(0, outer)
    return found


def _frame(op: Operation) -> Block:
    """The block of the innermost parallel loop around an operation, or of its function."""
    while not isinstance(op.parent_op, scf.Parallel | func.FuncOp):
        assert op.parent_op is not None
        op = op.parent_op
    assert op.parent is not None
    return op.parent


def _copied(b: Builder, value: Value, block: Block, known: IRMapping) -> Value:
    """A value of a block, computed anew from what `known` has in place of other values."""
    op = value.defining_op
    if value not in known.values and op is not None and op.parent is block:
        _copy(b, op, block, known)
    return known[value]


def _copy(b: Builder, op: Operation, block: Block, known: IRMapping) -> None:
    for operand in op.operands:
        _copied(b, operand, block, known)
    b.insert(op.clone(known))


def _moved(b: Builder, index: Value, offset: int) -> Value:
    """An index plus a number."""
    return b.insert(arith.AddI(index, b.insert(arith.Constant.index(offset)).result)).results[0]


def _moved_along(
    b: Builder, indices: Sequence[Value], at: Mapping[int | None, int]
) -> Sequence[Value]:
    """Indices, those of some dimensions plus a number."""
    return [_moved(b, index, at[d]) if at.get(d) else index for d, index in enumerate(indices)]


def _ordered(b: Builder, memory: Value, order: Sequence[int]) -> Value:
    """A view of memory with its dimensions in another order."""
    if list(order) == sorted(order):
        return memory
    type = memory.type
    strides, offset = type.strides_and_offset()
    made = strided(type, [type.shape[d] for d in order], [strides[d] for d in order], offset)
    mapping = AffineMapAttr(AffineMap(type.rank, 0, tuple(AffineDim(d) for d in order)))
    return b.insert(memref.Transpose(memory, mapping, result=made)).result

"""Writes loops over tiles in place of loops over vectors of sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....dialects import amx, arith, func, memref, scf, ub, vector
from ....ir.affine import AffineDim
from ....ir.builder import Builder
from ....ir.core import Block, Operation, Value
from ....ir.types import MemRefType, bf16, f32, i8
from ....ir.values import IRMapping
from .operands import moved, ordered, plus
from .sums import Place, Sums, extent


def rewrite(sums: Sums) -> None:
    """Replace the loops of sums by ones that carry tiles."""
    outer = sums.loops[0]
    b, places = Builder.before_op(outer), sums.places
    zeros = [b.insert(amx.TileZero(res=place.type)).res for place in places]
    views = sums.left.view(b), sums.right.view(b)
    tiles = _Writer(sums, views, IRMapping()).loop(b, sums.loops, zeros)
    _leave(b, sums, dict(zip(places, tiles, strict=True)))
    outer.erase()


@dataclass(frozen=True)
class _Writer:
    """Writes the loops. `known` has the new value for each old one."""

    sums: Sums
    views: tuple[Value, Value]
    known: IRMapping

    def loop(self, b: Builder, loops: Sequence[scf.For], tiles: Sequence[Value]) -> Sequence[Value]:
        """Write loops, the outermost first, that begin with these tiles. Returns the last ones."""
        loop, *inside = loops
        if not inside:
            return self._steps(b, loop, tiles)
        low, high, step = (self.known[v] for v in (loop.lower, loop.upper, loop.step))
        made = b.insert(scf.For.of(low, high, step, tiles))
        self._follow(made, loop)
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
        count = extent(loop) or 0
        words, rest = self.sums.tiles.steps(count)
        whole = count - rest
        if whole:
            low, high, step = (b.insert(arith.Constant.index(n)).result for n in (0, whole, words))
            made = b.insert(scf.For.of(low, high, step, tiles))
            self._follow(made, loop)
            inner = Builder.at_end(made.body_block, loop.loc)
            self._prefetch(inner, loop, made.induction_var, words)
            found = self._step(inner, loop, made.induction_var, words, made.iter_args)
            inner.insert(scf.Yield(found))
            tiles = made.outs
        if rest:
            number = b.insert(arith.Constant.index(whole)).result
            tiles = self._step(b, loop, number, rest, tiles)
        return tiles

    def _follow(self, made: scf.For, loop: scf.For) -> None:
        """Let a new loop take the place of an old one."""
        made.induction_var.name_hint = loop.induction_var.name_hint
        self.known[loop.induction_var] = made.induction_var

    def _prefetch(self, b: Builder, loop: scf.For, number: Value, words: int) -> None:
        """Prefetch what each of the `words` steps did that are one now, from `number` on."""
        asked = [op for op in loop.body_block if isinstance(op, memref.Prefetch)]
        for offset in range(words if asked else 0):
            known = IRMapping(self.known.values)
            known[loop.induction_var] = plus(b, number, offset)
            for one in asked:
                _copy(b, one, loop.body_block, known)

    def _step(
        self, b: Builder, loop: scf.For, number: Value, words: int, tiles: Sequence[Value]
    ) -> list[Value]:
        """Add the products of `words` steps, from `number` on, to the tiles."""
        known = IRMapping(self.known.values)
        known[loop.induction_var] = number
        left, right = self.sums.left, self.sums.right
        indices = [
            [_copied(b, index, loop.body_block, known) for index in side.read.indices]
            for side in (left, right)
        ]
        rows, vectors = dict[int, Value](), dict[tuple[int, int], Value]()
        found = list[Value]()
        for place, tile in zip(self.sums.places, tiles, strict=True):
            (height, lanes), column = place.type.shape, (place.copy, place.lane)
            if column not in vectors:
                at = {right.along: place.copy, right.columns: place.lane}
                type = self._operand(words, lanes)
                vectors[column] = right.load(b, self.views[1], indices[1], at, type)
            if place.row not in rows:
                type = self._operand(height, words)
                rows[place.row] = left.load(
                    b, self.views[0], indices[0], {left.along: place.row}, type
                )
            sides = rows[place.row], vectors[column]
            found.append(b.insert(self._product(*sides, tile)).res)
        return found

    def _operand(self, rows: int, words: int) -> amx.TileType:
        """The type of a tile of words."""
        if self.sums.type.element_type is f32:
            return amx.TileType((rows, 2 * words), bf16)
        return amx.TileType((rows, 4 * words), i8)

    def _product(self, left: Value, right: Value, sums: Value) -> amx.TileMulF | amx.TileMulI:
        if self.sums.type.element_type is f32:
            return amx.TileMulF(left, right, sums)
        return amx.TileMulI(left, right, sums, isZextLhs=True)


# -- what becomes of the sums ----------------------------------------------------------------------


def _leave(b: Builder, sums: Sums, tiles: Mapping[Place, Value]) -> None:
    """Store the tiles where the sums are wanted, or read them as vectors from a buffer."""
    old = sums.loops[0].outs[0]
    user = next(iter(old.users)) if old.has_one_use else None
    if isinstance(user, vector.TransferWrite) and (along := _stored_along(user, sums)):
        _store(Builder.before_op(user), sums, tiles, user.base, user.indices, along)
        user.erase()
        return
    element = sums.type.element_type
    type = MemRefType(sums.type.shape, element)
    buffer = Builder.at_start(_frame(sums.loops[0])).insert(memref.Alloca([], [], memref=type))
    zeros = [b.insert(arith.Constant.index(0)).result] * type.rank
    _store(b, sums, tiles, buffer.results[0], zeros, range(type.rank))
    padding = b.insert(ub.Poison(out=element)).out
    read = b.insert(vector.TransferRead.of(buffer.results[0], zeros, padding, sums.type))
    old.replace_all_uses_with(read.vector)


def _stored_along(write: vector.TransferWrite, sums: Sums) -> list[int]:
    """The memory's dimension for each of the sums', if a write stores all sums where tiles can be
    stored; else empty.
    """
    type = write.base.type
    if write.mask is not None or not all(write.bounds) or not isinstance(type, MemRefType):
        return []
    found = type.strides_and_offset()
    along = [e.position for e in write.map.results if isinstance(e, AffineDim)]
    if found is None or len(along) != sums.type.rank or found[0][along[-1]] != 1:
        return []
    return along


def _store(
    b: Builder,
    sums: Sums,
    tiles: Mapping[Place, Value],
    memory: Value,
    indices: Sequence[Value],
    along: Sequence[int],
) -> None:
    """Store the tiles; `along` has the memory's dimension for each of the sums'."""
    rows, copies = sums.left.dimension, sums.right.dimension
    assert rows is not None
    ends = (along[rows], along[-1])
    order = [*(d for d in range(memory.type.rank) if d not in ends), *ends]
    view = ordered(b, memory, order)
    for place, tile in tiles.items():
        at: dict[int | None, int] = {along[rows]: place.row, along[-1]: place.lane}
        if copies is not None:
            at[along[copies]] = place.copy
        places = moved(b, indices, at)
        b.insert(amx.TileStore(view, [places[d] for d in order], tile, None))


def _frame(op: Operation) -> Block:
    """The block of the innermost parallel loop around an operation, or of its function."""
    while not isinstance(op.parent_op, scf.Parallel | func.FuncOp):
        assert op.parent_op is not None
        op = op.parent_op
    assert op.parent is not None
    return op.parent


# -- values ----------------------------------------------------------------------------------------


def _copied(b: Builder, value: Value, block: Block, known: IRMapping) -> Value:
    """A value of a block, computed anew from what `known` has in place of other values."""
    op = value.defining_op
    if value not in known.values and op is not None and op.parent is block:
        _copy(b, op, block, known)
    return known[value]


def _copy(b: Builder, op: Operation, block: Block, known: IRMapping) -> None:
    """Copy an operation of a block, and what its operands need of that block."""
    for operand in op.operands:
        _copied(b, operand, block, known)
    b.insert(op.clone(known))

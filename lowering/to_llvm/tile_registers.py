"""Which tile register holds each tile of a function.

A product adds to the register of its sums, and a loop carries a tile in one register, so these
values are one *tile*: it is live from where its first value is made to the last use of any. Tiles
that are live at the same time have registers of their own. A register has one shape from where the
first tile is made to where none is left, a *stretch*; the shapes are set before each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...dialects import amx, func, scf
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.diagnostics import PassError

_KNOWN = (amx.TileZero, amx.TileLoad, amx.TileStore, scf.Yield)


@dataclass
class Stretch:
    """The operations from the first that makes a tile to the last that uses one, and the shape of
    each register in between.
    """

    first: Operation
    last: Operation
    shapes: dict[int, amx.TileType] = field(default_factory=dict)


class TileAllocation:
    """The register of each tile of one function. Raises PassError where there are not enough."""

    def __init__(self, function: func.FuncOp) -> None:
        if any(isinstance(arg.type, amx.TileType) for arg in function.args):
            raise PassError("a function that takes tiles has no lowering", function.loc)
        self.register: dict[Value, int] = {}
        self.stretches: list[Stretch] = []
        for op in [op for op in function.walk() if isinstance(op, amx.TileZero)]:
            _make_for_each_use(op)
        self._ops = [op for op in function.walk() if op is not function]
        self._place = {op: place for place, op in enumerate(self._ops)}
        self._first: dict[Value, Value] = {}
        """For each value that shares a register, the value that does so first."""
        for op in self._ops:
            self._join(op)
        for op in self._ops:
            self._check(op)
        self._allocate()

    # -- which values share a register -------------------------------------------------------

    def _join(self, op: Operation) -> None:
        """Let the tiles of an operation share the registers that it wants them to share."""
        if isinstance(op, amx.TileMulI | amx.TileMulF):
            self._share(op, [op.acc, op.res])
        elif isinstance(op, scf.For):
            last = op.body_block.last
            assert last is not None
            carried = zip(op.inits, op.iter_args, last.operands, op.outs, strict=True)
            for init, argument, next, out in carried:
                if isinstance(out.type, amx.TileType):
                    self._share(op, [init, argument, next, out])
        elif not isinstance(op, _KNOWN) and any(
            isinstance(v.type, amx.TileType) for v in (*op.operands, *op.results)
        ):
            raise PassError(f"'{op.name}' has no lowering for tiles", op.loc)

    def _check(self, op: Operation) -> None:
        """Raise if a loop carries two tiles that share a register."""
        if isinstance(op, scf.For):
            roots = [self._root(v) for v in op.iter_args if isinstance(v.type, amx.TileType)]
            if len(set(roots)) < len(roots):
                raise PassError("two tiles that a loop carries change places", op.loc)

    def _share(self, op: Operation, values: Sequence[Value]) -> None:
        *old, _ = values
        if not all(value.has_one_use for value in old):
            raise PassError("a tile that is added to or carried on has another use", op.loc)
        root = self._root(values[0])
        for value in values[1:]:
            if (other := self._root(value)) is not root:
                self._first[other] = root

    def _root(self, value: Value) -> Value:
        while value in self._first:
            value = self._first[value]
        return value

    # -- which register ----------------------------------------------------------------------

    def _allocate(self) -> None:
        """Give each tile a register that no other has at the time: if there are enough, one that
        no product has just read.
        """
        spans = sorted(self._spans().items(), key=lambda item: item[1])
        if not (self._fits(spans, spread=True) or self._fits(spans, spread=False)):
            loc = self._ops[spans[0][1][0]].loc
            raise PassError(f"more than {amx.REGISTERS} tile registers are needed", loc)
        for value in self._first:
            self.register[value] = self.register[self._root(value)]

    def _fits(self, spans: Sequence[tuple[Value, tuple[int, int]]], spread: bool) -> bool:
        """Whether there are registers for all tiles; these then have them."""
        held: dict[int, int] = {}  # by register, the place where its last tile ends
        ends = -1
        self.stretches.clear()
        for root, (start, end) in spans:
            if start > ends:
                self.stretches.append(Stretch(self._ops[start], self._ops[end]))
                held.clear()
            stretch, type = self.stretches[-1], root.type
            fits = [
                number
                for number in range(amx.REGISTERS)
                if held.get(number, -1) < start
                and stretch.shapes.get(number, type).size == type.size
            ]
            if not fits:
                return False
            used = [number for number in fits if number in held]
            number = min(fits if spread else used or fits, key=lambda n: held.get(n, -1))
            stretch.shapes[number] = type
            held[number], self.register[root] = end, number
            if end > ends:
                ends, stretch.last = end, self._ops[end]
        return True

    def _spans(self) -> dict[Value, tuple[int, int]]:
        """For the first value of each tile, the places of its first and last operation."""
        spans: dict[Value, tuple[int, int]] = {}
        for op, place in self._place.items():
            for value in (*op.operands, *op.results):
                if isinstance(value.type, amx.TileType):
                    root = self._root(value)
                    start, end = spans.get(root, (place, place))
                    spans[root] = start, max(end, self._end(op, start))
        return spans

    def _end(self, op: Operation, start: int) -> int:
        """The place until which a tile that begins at `start` lives, if an operation uses it: the
        end of the outermost loop around the operation that begins later.
        """
        end = self._place[op]
        around = op.parent_op
        while around is not None and self._place.get(around, -1) > start:
            end = self._place[self._last_in(around)]
            around = around.parent_op
        return end

    def _last_in(self, op: Operation) -> Operation:
        """The last operation in the text of another one."""
        while op.regions and op.regions[-1].blocks and (last := op.regions[-1].blocks[-1].last):
            op = last
        return op


def _make_for_each_use(zero: amx.TileZero) -> None:
    """Make tiles of zeros where they are used, one for each: equal ones may have become one."""
    for user in list(zero.res.users):
        for number, operand in enumerate(user.operands):
            if operand is zero.res:
                other = zero.clone()
                Builder.before_op(user).insert(other)
                user.set_operand(number, other.results[0])
    zero.erase()

"""--forward-stores: registers replace memory between the stores and loads of a block."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

from ....dialects import arith, gpu, memref, ub, vector
from ....ir.core import Block, Operation, Value
from ....ir.passes import Pass, PassContext
from ....ir.traits import Pure, Terminator
from ....ir.types import MemRefType
from ..buffers import erase_dead_buffers
from ..code import Scope
from ..contents import Contents, Entry
from .effects import EVERYTHING, NOTHING, Effects
from .places import Place, Places


@dataclass(frozen=True)
class ForwardStores(
    Pass,
    name="forward-stores",
    anchor="builtin.module",
    statistics={
        "loads": "Number of loads replaced by a value in a register",
        "stores": "Number of stores removed since a later one overwrites them",
    },
):
    """Replace loads by values in registers, and move stores down and loads to their first use.

        %a = vector.load %x[%i]             %a = vector.load %x[%i]
        vector.store %v, %t[%i]
        %b = vector.load %t[%i]        ->   %c = arith.addf %v, %a
        %c = arith.addf %b, %a
        vector.store %c, %t[%i]             vector.store %c, %t[%i]

    A load of elements that were loaded or stored before is removed. A store moves down to the end
    of its block, or to where something may touch its elements; it is removed if all its elements
    are stored again. A load moves down to its first use, or to where its elements may change,
    together with the prefetch after it. Buffers that are only written are removed. Like upstream's
    `--affine-scalrep`, but for vectors and any subscripts.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        for function in gpu.functions_with_code(op):
            found = _Forwarding(function)
            found.run()
            context.statistic("loads", found.loads_gone)
            context.statistic("stores", found.contents.stores_gone)


class _Known(Contents):
    """The table of known contents; writing a delayed store moves it to where the walk is."""

    def __init__(self, walk: _Forwarding) -> None:
        super().__init__(walk)
        self.stores_gone = 0

    def write(self, entry: Entry) -> None:
        entry.dirty = False
        entry.place.op.move_before(self.walk.scope.anchor)

    def store(self, place: Place, value: Value) -> None:
        old = self.table(place.alias).get(place.key)
        if old is not None and old.dirty:
            old.place.op.erase()
            self.stores_gone += 1
        super().store(place, value)


class _Forwarding:
    """One function, block by block."""

    def __init__(self, function: gpu.FunctionWithCode) -> None:
        self.function = function
        self.effects = Effects(function)
        self.places = Places(self.effects)
        self.scope = Scope(function.body.blocks[0], None)
        self.contents = _Known(self)
        self.waiting: dict[Operation, int] = {}
        """Loads that no operation met so far uses, and rearrangements of what they load.

        The number is the operation's place in the order of the text.
        """
        self.numbers = count()
        self.loads: dict[Hashable, dict[Operation, Place | None]] = {}
        """The loads among them with their places, by the alias key of their buffer."""
        self.prefetches: dict[Operation, Operation] = {}
        """For a waiting load, the prefetch that moves with it."""
        self.last_load: tuple[Place, bool] | None = None
        """The place of the load that the walk met last, and whether that load stays."""
        self.loads_gone = 0

    def run(self) -> None:
        for block in self.function.body.blocks:
            self.block(block)
        erase_dead_buffers(self.function.body.blocks[0])

    def block(self, block: Block, written: frozenset = NOTHING) -> None:
        self.scope = Scope(block, self.scope)
        self.scope.written = written
        for op in block:
            self.scope.anchor = op
            self.visit(op)
        assert self.scope.parent is not None
        self.scope = self.scope.parent

    def visit(self, op: Any) -> None:
        cls = type(op)
        if cls in _LOADS:
            self.load(op)
        elif cls in _STORES:
            self.store(op)
        elif cls is memref.Prefetch:
            self.prefetch(op)
        elif cls in _REARRANGEMENTS and any(v.defining_op in self.waiting for v in op._operands):
            self.waiting[op] = next(self.numbers)
        elif op.regions:
            self.region_op(op)
        elif Terminator in cls.traits:
            self.terminator(op)
        else:
            self.other(op)

    # -- loads -------------------------------------------------------------------------------

    def load(self, op: Any) -> None:
        if not isinstance(op._operands[0].type, MemRefType):
            self.other(op)
            return
        if not op.results[0].has_uses:
            op.erase()
            return
        self.place(op._operands)
        place = self.places.of(op)
        self.last_load = None
        if place is None:
            alias = self.effects.alias(op._operands[0])
            self.contents.flush([alias])
        else:
            alias = place.alias
            known = self.contents.find(place)
            self.last_load = place, known is None
            if known is not None:
                self.replace(op, known)
                return
            self.contents.load([place], lambda group: [op.results[0]])
        self.waiting[op] = next(self.numbers)
        self.loads.setdefault(alias, {})[op] = place

    def replace(self, op: Any, known: Entry) -> None:
        """Replace a load by a known value; lanes that its mask leaves out stay its `pass_thru`."""
        value, place = known.value, known.place
        if place.mask is not None and not _are_alike_elsewhere(op, place.op):
            self.place((value, op.pass_thru))
            choice = arith.Select(place.mask, value, op.pass_thru)
            choice.loc = op.loc
            self.scope.block.insert_before(choice, op)
            value = choice.results[0]
        elif value.parent_block is not self.scope.block:
            self.place((value,))
        op.replace_with(value)
        self.loads_gone += 1

    def prefetch(self, op: memref.Prefetch) -> None:
        """Tie a prefetch to the load before it if both have the same base.

        The prefetch is erased if the load is, and moves with the load.
        """
        last, self.last_load = self.last_load, None
        if last is not None:
            place, stays = last
            view = self.places.forms.view(op.memref)
            if view is not None:
                base, _ = self.places.forms.flat(view, op.indices)
                if (view.root, base) == place.base:
                    if not stays:
                        op.erase()
                    elif place.op in self.waiting:
                        self.prefetches[place.op] = op

    # -- what waits --------------------------------------------------------------------------

    def place(self, values: Iterable[Value]) -> None:
        """Move the waiting operations that these values depend on to where the walk is."""
        if not self.waiting:
            return
        front = [made for v in values if (made := v.defining_op) in self.waiting]
        found = dict.fromkeys(front)
        while front:
            for value in front.pop()._operands:
                made = value.defining_op
                if made in self.waiting and made not in found:
                    found[made] = None
                    front.append(made)
        for op in sorted(found, key=self.waiting.__getitem__):
            self.move(op)

    def move(self, op: Operation) -> None:
        """Move a waiting operation to where the walk is.

        One of an outer block goes before the operation of that block whose region is being walked.
        """
        scope = self.scope
        while scope.block is not op.parent:
            assert scope.parent is not None
            scope = scope.parent
        assert scope.anchor is not None
        op.move_before(scope.anchor)
        asked = self.forget_waiting(op)
        if asked is not None:
            asked.move_before(scope.anchor)

    def forget_waiting(self, op: Operation) -> Operation | None:
        """Stop delaying an operation. Returns the prefetch that is tied to it, or None."""
        del self.waiting[op]
        if type(op) not in _LOADS:
            return None
        del self.loads[self.effects.alias(op._operands[0])][op]
        return self.prefetches.pop(op, None)

    def place_loads(self, written: frozenset, place: Place | None = None) -> None:
        """Move waiting loads before the write that the walk has reached, as it may change them.

        `written` are the buffers that it writes, and `place` the part of them, all if None.
        """
        for alias in [a for a in self.loads if a in written]:
            for op, own in list(self.loads[alias].items()):
                if own is None or place is None or not own.disjoint(place):
                    self.place(op.results)

    # -- stores and all else -----------------------------------------------------------------

    def store(self, op: Any) -> None:
        place = self.places.of(op)
        if place is None or not isinstance(place.step, int):
            self.other(op)
            return
        self.place(op._operands)
        self.place_loads(frozenset((place.alias,)), place)
        self.contents.store(place, _stored(op))

    def other(self, op: Operation) -> None:
        self.place(op._operands)
        if Pure in type(op).traits:
            return
        touched, written = self.effects.of(op)
        if touched is NOTHING and written is NOTHING:
            return
        self.place_loads(written)
        # A buffer's life ends here: no store may move past it.
        is_end = isinstance(op, memref.Dealloc)
        self.contents.flush(None if is_end or touched is EVERYTHING else touched)
        self.contents.forget(None if written is EVERYTHING else written)

    def region_op(self, op: Operation) -> None:
        self.place(op._operands)
        touched, written = self.effects.of(op)
        block = self.scope.block
        for one in list(self.waiting):
            if one in self.waiting and one.parent is block and _is_used_inside(one, block):
                self.place(one.results)
        self.place_loads(written)
        # Before an outermost loop all stores are written: none waits until after the loop.
        is_nest = self.scope.depth == 1
        self.contents.flush(None if is_nest or touched is EVERYTHING else touched)
        for region in op.regions:
            for inner in region.blocks:
                self.block(inner, written)
        self.contents.forget(None if written is EVERYTHING else written)

    def terminator(self, op: Operation) -> None:
        self.place(op._operands)
        block = self.scope.block
        for one in reversed(list(self.waiting)):
            if one not in self.waiting:
                continue
            if one.parent is not block:
                break  # those of outer blocks are older
            if one.has_used_results:
                self.place(one.results)
                continue
            asked = self.forget_waiting(one)
            if asked is not None:
                asked.erase()
            one.erase()
        self.contents.flush()


def _is_used_inside(op: Operation, block: Block) -> bool:
    """Whether an operation of a block is used in a region or another block."""
    return any(user.parent is not block for result in op.results for user in result.users)


def _are_alike_elsewhere(op: Any, other: Any) -> bool:
    """Whether the lanes that a masked load leaves out need no select.

    They need none if they are undefined, or if `other` is a load with the same `pass_thru`.
    """
    if op.pass_thru.defined_by(ub.Poison):
        return True
    return type(other) in _LOADS and other.pass_thru is op.pass_thru


def _stored(op: Any) -> Value:
    return op.value if isinstance(op, memref.Store) else op.valueToStore


_LOADS: frozenset[type[Operation]] = frozenset(
    (memref.Load, vector.Load, vector.MaskedLoad, vector.Gather)
)
_STORES: frozenset[type[Operation]] = frozenset(
    (memref.Store, vector.Store, vector.MaskedStore, vector.Scatter)
)
_REARRANGEMENTS: frozenset[type[Operation]] = frozenset(
    (
        vector.Broadcast,
        vector.Extract,
        vector.ExtractStridedSlice,
        vector.FromElements,
        vector.Insert,
        vector.InsertStridedSlice,
        vector.Shuffle,
    )
)
"""Operations that only move elements between registers."""

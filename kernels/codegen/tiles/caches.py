"""Operands in workgroup memory: each iteration of a loop copies the part that it needs.

With several buffers, an iteration copies the part of a later one: it loads the elements before it
computes and stores them afterwards, so that loading and computing overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ....dialects import arith, memref, vector
from ....dialects.gpu.attributes import WORKGROUP
from ....ir.affine import AffineConstant, AffineDim, AffineExpr, AffineMap
from ....ir.core import Value
from ....ir.types import MemRefType, VectorType
from ...model.cached import first_inside, run_apart
from ...model.nest import Node
from ...model.plan import Border, Cached, Loop, Plan
from ...model.stages import Access, Linear
from ..code import Code
from .axes import Inner, Number, inner_extent
from .branches import Branch
from .copied_rows import (
    copied_rows,
    merged_number,
    merged_sizes,
    merged_subscripts,
    merged_view,
)
from .memory import Memory
from .places import Position


@dataclass(frozen=True)
class _Part:
    """The part of an operand that an iteration needs: its sizes, how many elements of each lie
    inside the operand (`active`; None: all), and its first index in the copy.
    """

    sizes: tuple[int, ...]
    active: tuple[Number | None, ...]
    begin: tuple[int, ...]


@dataclass
class _Ahead:
    """The state of a loop that copies operands for later iterations."""

    lower: Number
    upper: Number
    step: int
    inner: Inner
    read: dict[Access, tuple[Value, _Part]] = field(default_factory=dict)
    """Parts that the current iteration has loaded and not yet stored in a buffer."""


class Caches:
    """Copies operands into workgroup memory; see the module."""

    def __init__(
        self,
        plan: Plan,
        code: Code,
        memory: Memory,
        positions: dict,
        extents: dict[Loop, Number],
    ) -> None:
        self.plan = plan
        self.code = code
        self.memory = memory
        self.coordinates = memory.coordinates
        self.positions: dict = positions
        self.extents = extents
        self._rooms: dict[Access, Value] = {}
        self._running: dict[Loop, _Ahead] = {}
        self._by_loop: dict[Loop, list[Access]] = {}
        for access, cached in plan.cached.items():
            self._by_loop.setdefault(cached.at, []).append(access)

    def filled_in(self, node: Node) -> set[Value]:
        """The buffers into which a subtree copies operands."""
        found = set()
        for access, room in self._rooms.items():
            order = self.plan.order[access.stage]
            at = order.index(self.plan.cached[access].at)
            mine = [loop for loop in node.loops if loop.stage is access.stage]
            if mine and order.index(mine[0]) <= at:
                found.add(room)
        return found

    # -- buffers -------------------------------------------------------------------------------

    def enter(self, nodes: Sequence[Node], are_groups: bool = False) -> list[Access]:
        """Allocate a thread group's buffers at the start of its code; returned for `leave`.

        That is in the outermost loop over groups, or in the single iteration of the innermost one.
        """
        loops = {loop for node in nodes for loop in node.loops}
        made = []
        for access, cached in self.plan.cached.items():
            order = self.plan.order[access.stage]
            leading = self.plan.leading(access.stage)[: order.index(cached.at) + 1]
            around = [loop for loop, lead in zip(order, leading, strict=False) if lead.at_once]
            if access not in self._rooms and loops & set(around if are_groups else around[-1:]):
                self._rooms[access] = self._room(access, cached)
                self._frame(access, cached)
                made.append(access)
        return made

    def leave(self, made: Sequence[Access]) -> None:
        """End the iteration in which `enter` made these buffers."""
        for access in made:
            del self._rooms[access]

    def _room(self, access: Access, cached: Cached) -> Value:
        """A buffer for the copies of an operand: that of a loop which ends before, if one fits."""
        type = self._type_of_room(access, cached)
        for room in dict.fromkeys(self._rooms.values()):
            holders = [other for other, held in self._rooms.items() if held is room]
            if room.type == type and all(run_apart(self.plan, access, one) for one in holders):
                return room
        return self.code.value(memref.Alloca([], [], memref=type))

    def _type_of_room(self, access: Access, cached: Cached) -> MemRefType:
        sizes = [self._size(access, linear, cached.at) for linear in _linear(access)]
        rows = copied_rows(self.plan, access, cached)
        shape = [sizes[d] for d in cached.order] if rows is None else merged_sizes(sizes, rows)
        if cached.buffers > 1:
            shape.insert(0, cached.buffers)
        return MemRefType(tuple(shape), access.element_type, None, WORKGROUP)

    def _size(self, access: Access, linear: Linear, at: Loop) -> int:
        size = 1
        for dim, factor in linear.terms:
            first = first_inside(self.plan, access.stage, dim, at)
            if first is not None:
                assert isinstance(first.extent, int)
                size += factor * (first.extent - 1)
        return size

    def _frame(self, access: Access, cached: Cached) -> None:
        """Write the padding along dimensions that each copy covers whole; no copy overwrites it.

        The copies then begin at the operand's rows, and are aligned as these are.
        """
        code, room = self.code, self._rooms[access]
        if cached.border is None:
            return
        shape: list[int] = list(room.type.shape)  # type: ignore[attr-defined]
        lead = len(shape) - len(cached.order)
        for d, (first, size) in self._whole(access, cached).items():
            at = lead + cached.order.index(d)
            for begin, end in ((0, first), (first + size, shape[at])):
                if begin < end:
                    sizes = (*shape[:at], end - begin, *shape[at + 1 :])
                    type = VectorType(sizes, access.element_type)
                    filled = code.value(vector.Broadcast(cached.border.number, vector=type))
                    indices = [code.index(begin if e == at else 0) for e in range(len(shape))]
                    code.put(vector.TransferWrite.of(filled, room, indices))
        self.memory.forget([room])

    def _whole(self, access: Access, cached: Cached) -> dict[int, tuple[int, int]]:
        """{dimension: (first index in the copy, extent)} of the operand along those dimensions of
        which each copy holds all elements and padding besides.
        """
        found = dict[int, tuple[int, int]]()
        if cached.border is None:
            return found
        for d, (linear, size) in enumerate(zip(_linear(access), cached.border.sizes, strict=True)):
            extents = access.stage.extents
            loops = {
                dim: first_inside(self.plan, access.stage, dim, cached.at)
                for dim, _ in linear.terms
                if extents[dim] != 1
            }
            inside = all(one and one.extent == extents[dim] for dim, one in loops.items())
            first, whole = -linear.constant, self._size(access, linear, cached.at)
            if not isinstance(size, int) or not inside or first < 0:
                continue
            if first + size <= whole and size < whole:
                found[d] = first, size
        return found

    # -- one iteration -------------------------------------------------------------------------

    def begin(self, node: Node) -> None:
        """Copy the parts that this iteration needs, or load those that a later one needs."""
        at_once = [access for access in self._at(node) if self._ahead(access) is None]
        due = [(access, *self._read(access)) for access in at_once]
        for access, value, part in due:
            self._write(access, value, part, 0)
        for access in at_once:
            self._take(access, 0)
        for ahead, distance, accesses in self._ahead_at(node):
            self._read_ahead(ahead, distance, accesses)
            for access in accesses:
                self._take(access, self._slot(access, ahead, 0))

    def end(self, node: Node) -> None:
        """Store the parts that were loaded for a later iteration."""
        for ahead, distance, accesses in self._ahead_at(node):
            slots = [self._slot(access, ahead, distance) for access in accesses]
            with Branch(self.code, self._is_inside(accesses[0], ahead, distance)):
                for access, slot in zip(accesses, slots, strict=True):
                    self._write(access, *ahead.read.pop(access), slot)

    def _at(self, node: Node) -> list[Access]:
        return [access for loop in node.loops for access in self._by_loop.get(loop, ())]

    def _ahead(self, access: Access) -> _Ahead | None:
        cached = self.plan.cached[access]
        return self._running.get(cached.at) if cached.buffers > 1 else None

    def _ahead_at(self, node: Node) -> list[tuple[_Ahead, int, list[Access]]]:
        """(state, distance in iterations, operands) of each loop that copies ahead."""
        found: dict[tuple[Loop, int], list[Access]] = {}
        for access in self._at(node):
            cached = self.plan.cached[access]
            if self._ahead(access) is not None:
                found.setdefault((cached.at, cached.buffers - 1), []).append(access)
        return [(self._running[at], distance, own) for (at, distance), own in found.items()]

    # -- a loop of iterations ------------------------------------------------------------------

    def start(self, node: Node, lower: Number, upper: Number, step: int, inner: Inner) -> None:
        """Copy the parts of the first iterations, before a loop that copies ahead."""
        accesses = [a for a in self._at(node) if self.plan.cached[a].buffers > 1]
        for loop in dict.fromkeys(self.plan.cached[a].at for a in accesses):
            self._running[loop] = _Ahead(lower, upper, step, inner)
        most = max((self.plan.cached[a].buffers - 1 for a in accesses), default=0)
        for number in range(most):
            first = self.code.add(lower, number * step)
            due = [a for a in accesses if number < self.plan.cached[a].buffers - 1]
            if isinstance(first, int) and isinstance(upper, int):
                if first < upper:
                    self._copy(due, first, inner, number)
                continue
            with Branch(self.code, self._less(first, upper)):
                self._copy(due, first, inner, number)

    def stop(self, node: Node) -> None:
        """Forget the state of a loop that copied ahead, after its end."""
        for access in self._at(node):
            self._running.pop(self.plan.cached[access].at, None)

    def _copy(self, accesses: Sequence[Access], first: Number, inner: Inner, slot: int) -> None:
        """Copy the parts that the iteration with counter `first` needs into buffer `slot`."""
        due = [(access, *self._read_at(access, first, inner)) for access in accesses]
        for access, value, part in due:
            self._write(access, value, part, slot)

    def _read_at(self, access: Access, value: Number, inner: Inner) -> tuple[Value, _Part]:
        """Load the part that the iteration with counter `value` needs."""
        at = self.plan.cached[access].at
        position: Position = self.positions[access.stage]
        kept = dict(position.values), dict(position.offsets), dict(self.extents)
        position.remove(at)
        position.put(at, value)
        if at.rest is not None:
            self.extents[at.rest] = inner_extent(inner, self.code.as_value(value))
        found = self._read(access)
        position.values, position.offsets = kept[0], kept[1]
        self.extents.clear()
        self.extents.update(kept[2])
        return found

    def _read_ahead(self, ahead: _Ahead, distance: int, accesses: Sequence[Access]) -> None:
        """Load the parts for the iteration `distance` later, if there is one."""
        later = self.code.add(self._counter(accesses[0]), distance * ahead.step)
        with Branch(self.code, self._is_inside(accesses[0], ahead, distance)) as branch:
            read = [self._read_at(access, later, ahead.inner) for access in accesses]
            branch.yields = [value for value, _ in read]
        for access, value, (_, part) in zip(accesses, branch.results, read, strict=True):
            ahead.read[access] = value, part

    def _is_inside(self, access: Access, ahead: _Ahead, distance: int) -> Value:
        later = self.code.add(self._counter(access), distance * ahead.step)
        return self._less(later, ahead.upper)

    def _counter(self, access: Access) -> Value:
        return self.positions[access.stage].values[self.plan.cached[access].at]

    def _slot(self, access: Access, ahead: _Ahead, distance: int) -> Value:
        """The index of the buffer for the iteration `distance` later."""
        code = self.code
        count: Number = self._counter(access)
        if isinstance(ahead.lower, Value):
            count = code.binary(arith.SubI, count, ahead.lower)
        else:
            count = code.add(count, -ahead.lower)
        count = code.as_value(count)
        if ahead.step > 1:
            count = code.binary(arith.DivUI, count, code.index(ahead.step))
        later = code.as_value(code.add(count, distance))
        return code.binary(arith.RemUI, later, code.index(self.plan.cached[access].buffers))

    # -- reading and writing -------------------------------------------------------------------

    def _read(self, access: Access) -> tuple[Value, _Part]:
        """Load the part of an operand that the iteration at the stage's position needs."""
        code, memory = self.code, self.memory
        memory.flush([self.coordinates.base(access.value)])
        firsts: list[Number] = []
        sizes: list[int] = []
        active: list[Number | None] = []
        for linear in _linear(access):
            first, size, count = self._along(access, linear)
            firsts.append(first)
            sizes.append(size)
            active.append(count)
        cached = self.plan.cached[access]
        operand = memory.views.replaced.get(access.value, access.value)
        if (rows := copied_rows(self.plan, access, cached)) is not None:
            operand = merged_view(code, operand, rows)
            firsts = [merged_number(code, access, firsts[row[0]], row) for row in rows]
            counts = [active[row[0]] for row in rows]
            active = [
                count if count is None else merged_number(code, access, count, row)
                for count, row in zip(counts, rows, strict=True)
            ]
            sizes = merged_sizes(sizes, rows)
        begin = [0] * len(firsts)
        for d, (before, size) in self._whole(access, cached).items():
            if firsts[d] == -before and active[d] is None:
                firsts[d], sizes[d], begin[d] = 0, size, before
        indices = [code.as_value(first) for first in firsts]
        border = cached.border
        element = access.element_type
        if border is None:
            known = any(count is not None for count in active)
            mask = memory.mask(sizes, active) if known else None
            beyond, inside = memory.padding(element), [count is None for count in active]
        else:
            mask = self._within(border, firsts, sizes, active)
            beyond, inside = border.number, [True] * len(sizes)
        op = vector.TransferRead.of(
            operand,
            indices,
            beyond,
            VectorType(tuple(sizes), element),
            AffineMap.identity(len(sizes)),
            inside,
            mask,
        )
        return code.value(op), _Part(tuple(sizes), tuple(active), tuple(begin))

    def _within(
        self,
        border: Border,
        firsts: Sequence[Number],
        sizes: Sequence[int],
        active: Sequence[Number | None],
    ) -> Value | None:
        """The mask of a part's elements that are not padding; None if the part has no padding.

        The part begins at subscripts `firsts`.
        """
        code, rank = self.code, len(sizes)
        ends, before = list(active), dict[int, Number]()
        for d, (first, size, whole) in enumerate(zip(firsts, sizes, border.sizes, strict=True)):
            if not isinstance(whole, int) or not (border.begin[d] or border.end[d]):
                continue
            if isinstance(first, int):
                if first + size > whole:
                    ends[d] = max(0, whole - first)
                if first < 0:
                    before[d] = min(size, -first)
            else:
                ends[d] = code.binary(arith.SubI, code.index(whole), first)
                if border.begin[d]:
                    before[d] = code.binary(arith.SubI, code.index(0), first)
        if not before and all(end is None for end in ends):
            return None
        mask = self.memory.mask(sizes, ends)
        every = code.splat_number(1, mask.type)  # type: ignore[arg-type]
        for d, count in before.items():
            outside = self.memory.mask(sizes, [count if e == d else None for e in range(rank)])
            rest = code.value(arith.XOrI(outside, every))
            mask = code.value(arith.AndI(mask, rest))
        return mask

    def _along(self, access: Access, linear: Linear) -> tuple[Number, int, Number | None]:
        """(first index, size, active elements or None for all) of a part along one subscript."""
        code = self.code
        cached, position = self.plan.cached[access], self.positions[access.stage]
        first: Number = linear.constant
        size, count = 1, 1
        total: Number = count
        for dim, factor in linear.terms:
            values, constant = self.coordinates.parts((dim,), access, position, ())
            for value in values:
                first = code.add(code.multiply(value, factor), first)
            first = code.add(first, constant * factor)
            entered = {*position.values, *position.offsets}
            loop = first_inside(self.plan, access.stage, dim, cached.at, entered)
            if loop is None:
                continue
            extent = self.extents.get(loop.span, loop.extent)
            whole = extent if isinstance(extent, int) else loop.extent
            assert isinstance(whole, int)
            size += factor * (whole - 1)
            less = extent - 1 if isinstance(extent, int) else code.add(extent, -1)  # type: ignore[arg-type]
            total = code.add(total, code.multiply(less, factor))
        return first, size, None if isinstance(total, int) else total

    def _write(self, access: Access, value: Value, part: _Part, slot: Number) -> None:
        """Store a part of an operand in one of its buffers."""
        code, cached, room = self.code, self.plan.cached[access], self._rooms[access]
        rank = len(part.sizes)
        is_merged = copied_rows(self.plan, access, cached) is not None
        order = range(rank) if is_merged else cached.order
        lead = [code.as_value(slot)] if cached.buffers > 1 else []
        along = tuple(AffineDim(len(lead) + order.index(d)) for d in range(rank))
        mask = None
        if any(count is not None for count in part.active):
            ordered = [part.sizes[d] for d in order], [part.active[d] for d in order]
            mask = self.memory.mask(*ordered)
        op = vector.TransferWrite.of(
            value,
            room,
            [*lead, *(code.index(part.begin[d]) for d in order)],
            AffineMap(len(lead) + rank, 0, along),
            [count is None for count in part.active],
            mask,
        )
        code.put(op)
        self.memory.forget([room])

    def _take(self, access: Access, slot: Number) -> None:
        """Redirect the stage's access to one of the buffers."""
        cached, room = self.plan.cached[access], self._rooms[access]
        linear = _linear(access)
        exprs = tuple(_without_constant(access.exprs[d], linear[d]) for d in cached.order)
        if (rows := copied_rows(self.plan, access, cached)) is not None:
            exprs = merged_subscripts(access, exprs, rows)
        if cached.buffers > 1:
            exprs = (AffineConstant(0), *exprs)
        instead = Access(access.stage, access.number, room, exprs, False)
        position: Position = self.positions[access.stage]
        around = frozenset(
            loop
            for loop in self.plan.order[access.stage]
            if loop in position.values or loop in position.offsets
        )
        self.coordinates.instead[access] = instead
        self.coordinates.dropped[instead] = around
        if cached.buffers > 1:
            self.coordinates.slots[instead] = slot

    def _less(self, a: Number, b: Number) -> Value:
        code = self.code
        operands = code.as_value(a), code.as_value(b)
        return code.value(arith.CmpI("slt", *operands))


def _linear(access: Access) -> list[Linear]:
    return [linear for linear in access.linear if linear is not None]


def _without_constant(expr: AffineExpr, linear: Linear) -> AffineExpr:
    """The subscript without its constant: relative to the first element that an iteration needs."""
    if not linear.constant:
        return expr
    if len(linear.terms) == 1 and linear.terms[0][1] == 1:
        return AffineDim(linear.terms[0][0])
    return expr + -linear.constant

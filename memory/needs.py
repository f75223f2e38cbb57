"""The buffers that a function needs, by memory space, and how long each of them is alive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ..dialects import arith, func, memref, scf
from ..dialects.marks import IN_PLACE
from ..ir.attributes import Attribute, DenseArrayAttr
from ..ir.builder import Builder
from ..ir.core import Block, Operation, Value
from ..ir.types import IntegerType, MemRefType
from ..kernels.model.executions import sides
from ..runtime.abi import aligned
from .memory_plan import Buffer, MemoryPlan, plan

_BYTE = IntegerType(8)

Space = Attribute | None
"""A memory space, as types have it; None for the default one."""

Scratch = dict[str, dict[Space, int]]
"""For each function, the bytes of scratch memory that callers pass to it, by memory space."""

Pair = tuple[str, int, int]
"""(function, index of an operand, index of the result that shares its buffer)."""


@dataclass(frozen=True)
class Join:
    """A call whose result buffer may be written over an operand's buffer.

    `before` and `after` are the indices of the two buffers; `operand` and `result` are the numbers
    of the operand and the result of the call of `callee`.
    """

    before: int
    after: int
    callee: str
    operand: int
    result: int


def bytes_in(space: Space, size: int) -> MemRefType:
    """The type of `size` bytes in a memory space."""
    return MemRefType((size,), _BYTE, None, space)


@dataclass(frozen=True)
class _Calls:
    """Calls that never run at the same time, so that they share their scratch memory."""

    calls: Sequence[func.Call]


@dataclass
class Needs:
    """The buffers of a function in one memory space, in the order of their definitions."""

    block: Block
    space: Space
    buffers: list[Buffer] = field(default_factory=list)
    owners: list[memref.Alloc | _Calls] = field(default_factory=list)
    joins: list[Join] = field(default_factory=list)
    numbers: dict[Value, int] = field(default_factory=dict)

    def add(self, owner: memref.Alloc | _Calls, size: int, first: int, last: int) -> None:
        """Add a buffer of `size` bytes that is alive from time `first` to time `last`, both
        included.
        """
        if isinstance(owner, memref.Alloc):
            self.numbers[owner.memref] = len(self.buffers)
        self.owners.append(owner)
        self.buffers.append(Buffer(size, first, last))

    def add_calls(self, calls: Iterable[func.Call], scratch: Scratch, time: int) -> None:
        """Add the scratch memory of calls that run one after the other."""
        needing = [c for c in calls if self.space in scratch.get(c.callee, ())]
        if needing:
            size = max(scratch[c.callee][self.space] for c in needing)
            self.add(_Calls(needing), size, time, time)

    def join(self, call: func.Call, callee: func.FuncOp, time: int) -> None:
        """Note which results of a call may be written over an operand.

        The operand must not be used after the call, nor the result before it, and no other argument
        of the call may overlap either of them.
        """
        places = [self.numbers.get(memref.base_buffer(v)) for v in call.args]
        free = {
            at: place
            for at, place in enumerate(places)
            if place is not None and self._is_whole(call, at, places)
        }
        for i, after in list(free.items()):
            over = callee.arg_attribute(i, IN_PLACE)
            if not isinstance(over, DenseArrayAttr) or self.buffers[after].first != time:
                continue
            for operand in (int(n) for n in over if n in free):
                old, new = self.buffers[free[operand]], self.buffers[after]
                if old.last == time and old.size == new.size:
                    before = free.pop(operand)
                    self.joins.append(Join(before, after, call.callee, operand, i))
                    break

    def _is_whole(self, call: func.Call, at: int, places: list[int | None]) -> bool:
        """Whether an argument is a whole buffer that no other argument overlaps."""
        place, type = places[at], call.args[at].type
        return (
            place is not None
            and places.count(place) == 1
            and isinstance(type, MemRefType)
            and type.has_static_shape
            and type.num_bytes == self.buffers[place].size
        )

    def plan(self) -> tuple[MemoryPlan, list[Join]]:
        """The smaller of the plans with and without results over operands, and the joins that it
        makes.
        """
        apart = plan(self.buffers)
        if not self.joins:
            return apart, []
        leader = list(range(len(self.buffers)))
        for one in self.joins:
            leader[one.after] = leader[one.before]
        lives: dict[int, Buffer] = {}
        for number, buffer in zip(leader, self.buffers, strict=True):
            life = lives.setdefault(number, buffer)
            first, last = min(life.first, buffer.first), max(life.last, buffer.last)
            lives[number] = Buffer(buffer.size, first, last)
        together = plan(list(lives.values()))
        if together.size > apart.size:
            return apart, []
        offsets = dict(zip(lives, together.offsets, strict=True))
        whole = tuple(offsets[number] for number in leader)
        return replace(together, offsets=whole), self.joins

    def apply(self, made: MemoryPlan, arena: Value, scratch: Scratch) -> None:
        """Replace allocations by views of the arena, and pass scratch memory to the calls."""
        start = Builder.at_start(self.block)
        offsets = {
            offset: start.insert(arith.Constant.index(offset)).result
            for offset in dict.fromkeys(made.offsets)
        }
        for owner, offset in zip(self.owners, made.offsets, strict=True):
            if isinstance(owner, _Calls):
                for call in owner.calls:
                    builder = Builder.before_op(call)
                    type = bytes_in(self.space, aligned(scratch[call.callee][self.space]))
                    part = builder.insert(memref.View(arena, offsets[offset], [], result=type))
                    call.args = [*call.args, part.result]
                continue
            builder = Builder.before_op(owner)
            type = owner.memref.type
            view = builder.insert(memref.View(arena, offsets[offset], [], result=type)).result
            view.name_hint = owner.memref.name_hint
            for user in owner.memref.users:
                if isinstance(user, memref.Dealloc):
                    user.erase()
            owner.replace_with(view)


def needs_of(
    function: func.FuncOp, functions: dict[str, func.FuncOp], scratch: Scratch
) -> list[Needs]:
    """What a function needs in each memory space, the default one first, the others by name."""
    block = function.body.block
    times = {op: i for i, op in enumerate(block)}
    uses = _uses_of_buffers(block, functions)
    given_away = buffers_given_away(function)
    spaces = _spaces(function, scratch)
    needs = {space: Needs(block, space) for space in sorted(spaces, key=_rank)}
    for op in block:
        time = times[op]
        if isinstance(op, memref.Alloc) and op.memref.type.has_static_shape:
            if op.memref in given_away:
                continue
            at = [times[user] for user in uses.get(op.memref, ())]
            # One that nobody uses lives at its definition.
            first, last = min(at, default=time), max(at, default=time)
            type = op.memref.type
            needs[type.memory_space].add(op, type.num_bytes, first, last)
        elif op.regions or isinstance(op, func.Call):
            by_thread = _calls_by_thread(op)
            for one in needs.values():
                for calls in by_thread:
                    one.add_calls(calls, scratch, time)
                if isinstance(op, func.Call) and (callee := functions.get(op.callee)) is not None:
                    one.join(op, callee, time)
    return list(needs.values())


def _calls_by_thread(op: Operation) -> list[list[func.Call]]:
    """The calls in an operation, in a list for each set that never runs at the same time.

    Calls that may run at the same time are in the cases of a switch which is the body of a parallel
    loop.
    """
    parts: list[Iterable[Operation]] = [region.ops for region in sides(op)] or [[op]]
    return [
        [inner for one in part for inner in one.walk() if isinstance(inner, func.Call)]
        for part in parts
    ]


def _spaces(function: func.FuncOp, scratch: Scratch) -> set[Space]:
    """The memory spaces of a function's allocations, and of the scratch memory of functions it
    calls.
    """
    found: set[Space] = {None}
    for op in function.walk():
        if isinstance(op, memref.Alloc):
            found.add(op.memref.type.memory_space)
        elif isinstance(op, func.Call):
            found.update(scratch.get(op.callee, ()))
    return found


def _rank(space: Space) -> tuple[bool, str]:
    return space is not None, str(space)


def _uses_of_buffers(
    block: Block, functions: dict[str, func.FuncOp]
) -> dict[Value, list[Operation]]:
    """For each buffer, the block's operations that read or write it, also through views.

    `memref.dealloc` does not count. A result that may be one of several buffers, as that of
    `arith.select`, uses all of them.
    """
    among: dict[Value, dict[Value, None]] = {}
    uses: dict[Value, list[Operation]] = {}
    for op in block:
        for inner in op.walk():
            if isinstance(inner, memref.Dealloc):
                continue
            viewed = len(inner.results) if inner.has_trait(memref.ViewLike) else 0
            held = inner.operands[viewed:]
            bases: dict[Value, None] = {}
            for value in held:
                if isinstance(value.type, MemRefType):
                    base = memref.base_buffer(value)
                    bases |= {base: None, **among.get(base, {})}
            for buffer in bases:
                users = uses.setdefault(buffer, [])
                if not users or users[-1] is not op:
                    users.append(op)
            if viewed or not bases or _gives_new_buffers(inner, functions):
                continue
            among.update((r, bases) for r in inner.results if isinstance(r.type, MemRefType))
    return uses


def _gives_new_buffers(op: Operation, functions: dict[str, func.FuncOp]) -> bool:
    """Whether an operation calls a function that only returns buffers which it has made."""
    callee = functions.get(op.callee) if isinstance(op, func.Call) else None
    if callee is None or callee.is_declaration or len(callee.body.blocks) != 1:
        return False
    last = callee.body.block.last
    returned = [v for v in last.operands if isinstance(v.type, MemRefType)] if last else []
    return all(memref.base_buffer(v).defined_by(memref.Alloc) is not None for v in returned)


def buffers_given_away(function: func.FuncOp) -> set[Value]:
    """The buffers that are returned, or passed on to a branch or a loop, which then own them."""
    taking = (func.Return, scf.Yield, scf.Condition, scf.For, scf.While)
    return {
        memref.base_buffer(v)
        for op in function.walk()
        if isinstance(op, taking)
        for v in op.operands
        if isinstance(v.type, MemRefType)
    }

"""Buffers of static size get places in one arena, constants in one block of weights.

    func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {nn.entry} {
      %w = memref.get_global @w : memref<4xf32>
      %t = memref.alloc() : memref<4xf32>
      ..
      memref.dealloc %t : memref<4xf32>

    func.func @main(%x: .., %y: .., %arena: memref<64xi8> {nn.arena},
                    %weights: memref<64xi8> {nn.weights}) attributes {nn.entry} {
      %w = memref.view %weights[%c0][] : memref<64xi8> to memref<4xf32>
      %t = memref.view %arena[%c0][] : memref<64xi8> to memref<4xf32>

A function that the entry calls gets its temporaries as a last argument `%scratch`, which is
a part of the arena during the call. A result that `mark-in-place` allows to be written over an
operand lies where the operand was, if that is not used afterwards. Buffers of unknown size stay on
the heap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..dialects import arith, func, memref, scf
from ..dialects.marks import ARENA, ENTRY, IN_PLACE, LIVE_BYTES, MAKER, SCRATCH
from ..ir.attributes import (
    DenseArrayAttr,
    I64Array,
    I64Attr,
)
from ..ir.builder import Builder
from ..ir.core import Block, Operation, Value
from ..ir.passes import Pass, PassContext, option
from ..ir.types import IntegerType, MemRefType
from ..runtime.abi import aligned
from ..targets.attribute import target_of
from .memory_plan import Buffer, MemoryPlan, plan
from .place_weights import add_argument, place_weights

_BYTE = IntegerType(8)


@dataclass(frozen=True)
class PlanMemory(
    Pass,
    name="plan-memory",
    anchor="builtin.module",
    statistics={
        "buffers": "Number of buffers placed",
        "in-place": "Number of buffers that are written over one that is not needed any more",
        "arena-bytes": "Bytes of the arena of each entry",
        "peak-live-bytes": "Bytes that are live at once, below which no arena can be",
        "scratch-bytes": "Bytes of scratch memory of each thread",
        "weights-bytes": "Bytes of weights",
        "prepared-bytes": "Bytes of weights that are made at creation",
    },
):
    """Give every buffer of static size a place in one arena, and weights in another.

    Entry functions (nn.entry) get the arguments %arena and %weights, functions they call
    %scratch. The module's attribute nn.weights says what the weights buffer holds.
    """

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        """Plan callees before their callers, which need the sizes of their scratch memory."""
        functions = {f.sym_name: f for f in op.regions[0].ops if isinstance(f, func.FuncOp)}
        stack = target_of(op, self.target).machine.costs.buffers.loop_stack
        scratch: dict[str, int] = {}
        in_place: set[Pair] = set()
        done: set[str] = set()
        for name in functions:
            for one in _callees_first(name, functions, done):
                function = functions[one]
                if not function.is_declaration:
                    _move_allocations(function, stack)
                    in_place |= self._plan_function(function, functions, scratch, context)
        _keep_marks(functions.values(), in_place)
        weights, prepared = place_weights(op, functions.values())
        if any(ENTRY in function.attributes for function in functions.values()):
            context.statistic("weights-bytes", weights)
            context.statistic("prepared-bytes", prepared)

    def _plan_function(
        self,
        function: func.FuncOp,
        functions: dict[str, func.FuncOp],
        scratch: dict[str, int],
        context: PassContext,
    ) -> set[Pair]:
        """Place a function's buffers. Returns the pairs of arguments that share one now."""
        entry = _is_entry(function)
        called = function.sym_visibility == "private"
        if len(function.body.blocks) != 1 or not (entry or called):
            _heap_scratch(function, scratch)
            return set()
        needs = _Needs.of(function, functions, scratch)
        made, pairs = needs.plan()
        if entry:
            context.statistic("buffers", len(needs.buffers))
            context.statistic("in-place", len(pairs))
            context.statistic("arena-bytes", made.size)
            context.statistic("peak-live-bytes", made.lower_bound)
            function.attributes[LIVE_BYTES] = I64Attr(made.lower_bound)
            arena = add_argument(function, made.size, "arena", ARENA)
        elif made.size:
            scratch[function.sym_name] = made.size
            context.statistic("scratch-bytes", made.size)
            arena = add_argument(function, made.size, "scratch", SCRATCH)
        else:
            return set()
        needs.apply(made, arena, scratch)
        return {(join.callee, join.operand, join.result) for join in pairs}


def _callees_first(name: str, functions: dict[str, func.FuncOp], done: set[str]) -> Iterator[str]:
    """The functions that `name` calls, directly or not, and itself; each once."""
    stack = [(name, False)]
    while stack:
        one, ready = stack.pop()
        if ready:
            yield one
            continue
        if one in done or one not in functions:
            continue
        done.add(one)
        stack.append((one, True))
        for inner in functions[one].walk():
            if isinstance(inner, func.Call):
                stack.append((inner.callee, False))


# -- what a function needs -------------------------------------------------------------------------


Pair = tuple[str, int, int]
"""A function, and the numbers of an operand and a result of it that are one buffer."""


@dataclass(frozen=True)
class Join:
    """Two buffers, by number, of which the second may take the place of the first."""

    before: int
    after: int
    callee: str
    operand: int
    result: int


@dataclass(frozen=True)
class _Calls:
    """Calls that never run at the same time, which share their scratch memory."""

    calls: Sequence[func.Call]

    def sizes(self, scratch: dict[str, int]) -> Iterator[tuple[func.Call, int]]:
        """The calls, and the bytes of scratch memory that each needs."""
        for call in self.calls:
            yield call, scratch[call.callee]


@dataclass
class _Needs:
    """The buffers of a function, in the order of their definitions, and their lives."""

    block: Block
    buffers: list[Buffer] = field(default_factory=list)
    owners: list[memref.Alloc | _Calls] = field(default_factory=list)
    joins: list[Join] = field(default_factory=list)

    @staticmethod
    def of(
        function: func.FuncOp, functions: dict[str, func.FuncOp], scratch: dict[str, int]
    ) -> _Needs:
        block = function.body.block
        times = {op: i for i, op in enumerate(block)}
        uses = _uses_of_buffers(block, functions)
        needs = _Needs(block)
        numbers: dict[Value, int] = {}
        given_away = _given_away(function)
        for op in block:
            if op.regions:
                needs.add_calls_in(op, scratch, times[op])
            if isinstance(op, memref.Alloc) and op.memref.type.has_static_shape:
                if op.memref in given_away:
                    continue
                at = [times[user] for user in uses.get(op.memref, ())]
                # One that nobody uses lives at its definition.
                first, last = min(at, default=times[op]), max(at, default=times[op])
                numbers[op.memref] = len(needs.buffers)
                needs.add(op, op.memref.type.num_bytes, first, last)
            elif isinstance(op, func.Call):
                if scratch.get(op.callee):
                    needs.add(_Calls([op]), scratch[op.callee], times[op], times[op])
                if (callee := functions.get(op.callee)) is not None:
                    places = [numbers.get(memref.base_buffer(v)) for v in op.args]
                    needs.join(op, callee, places, times[op])
        return needs

    def add(self, owner: memref.Alloc | _Calls, size: int, first: int, last: int) -> None:
        self.owners.append(owner)
        self.buffers.append(Buffer(size, first, last))

    def add_calls_in(self, op: Operation, scratch: dict[str, int], time: int) -> None:
        """The scratch of the calls in an operation's regions, which run one after the other."""
        calls = [c for c in op.walk() if isinstance(c, func.Call) and scratch.get(c.callee)]
        if calls:
            size = max(scratch[c.callee] for c in calls)
            self.add(_Calls(calls), size, time, time)

    def join(
        self, call: func.Call, callee: func.FuncOp, places: list[int | None], time: int
    ) -> None:
        """Note which of a call's results may lie where an operand was; `places` are buffers.

        The operand's life ends there, the result's begins, and the call sees no part of either
        in any other argument.
        """
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
        """Whether an argument is all of a buffer, of which no other argument is a part."""
        place, type = places[at], call.args[at].type
        return (
            place is not None
            and places.count(place) == 1
            and isinstance(type, MemRefType)
            and type.has_static_shape
            and type.num_bytes == self.buffers[place].size
        )

    def plan(self) -> tuple[MemoryPlan, list[Join]]:
        """The smaller of the plans with and without buffers in place of others."""
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

    def apply(self, made: MemoryPlan, arena: Value, scratch: dict[str, int]) -> None:
        """Put views of the arena in place of allocations, and give calls their scratch."""
        start = Builder.at_start(self.block)
        offsets = {
            offset: start.insert(arith.Constant.index(offset)).result
            for offset in dict.fromkeys(made.offsets)
        }
        for owner, offset in zip(self.owners, made.offsets, strict=True):
            if isinstance(owner, _Calls):
                for call, size in owner.sizes(scratch):
                    builder = Builder.before_op(call)
                    type = MemRefType((aligned(size),), _BYTE)
                    part = builder.insert(memref.View(arena, offsets[offset], [], result=type))
                    call.args = [*call.args, part.result]
                continue
            builder = Builder.before_op(owner)
            type = owner.memref.type  # type: ignore[assignment]
            view = builder.insert(memref.View(arena, offsets[offset], [], result=type)).result
            view.name_hint = owner.memref.name_hint
            for user in owner.memref.users:
                if isinstance(user, memref.Dealloc):
                    user.erase()
            owner.memref.replace_all_uses_with(view)
            owner.erase()


def _uses_of_buffers(
    block: Block, functions: dict[str, func.FuncOp]
) -> dict[Value, list[Operation]]:
    """The block's operations that read or write each buffer.

    Views count through their own uses, `memref.dealloc` does not count. A result that may be one
    of several buffers, as of `arith.select`, uses them all.
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
    """Whether an operation calls a function that returns buffers which it made itself."""
    callee = functions.get(op.callee) if isinstance(op, func.Call) else None
    if callee is None or callee.is_declaration or len(callee.body.blocks) != 1:
        return False
    last = callee.body.block.last
    returned = [v for v in last.operands if isinstance(v.type, MemRefType)] if last else []
    return all(memref.base_buffer(v).defined_by(memref.Alloc) is not None for v in returned)


def _given_away(function: func.FuncOp) -> set[Value]:
    """The buffers that others own in the end: who called the function, or a branch or a loop."""
    taking = (func.Return, scf.Yield, scf.Condition, scf.For, scf.While)
    return {
        memref.base_buffer(v)
        for op in function.walk()
        if isinstance(op, taking)
        for v in op.operands
        if isinstance(v.type, MemRefType)
    }


def _keep_marks(functions: Iterable[func.FuncOp], used: set[Pair]) -> None:
    """Take `nn.in_place` from arguments that share no buffer: code need not allow for it."""
    for function in functions:
        name = function.sym_name
        numbers = range(len(function.function_type.inputs))
        marks = {i: function.arg_attribute(i, IN_PLACE) for i in numbers}
        results = {i: mark for i, mark in marks.items() if isinstance(mark, DenseArrayAttr)}
        for i, mark in results.items():
            over = [int(operand) for operand in mark if (name, operand, i) in used]
            function.set_arg_attribute(i, IN_PLACE, I64Array(over) if over else None)
        for i in {int(operand) for mark in results.values() for operand in mark}:
            if not any(pair[:2] == (name, i) for pair in used):
                function.set_arg_attribute(i, IN_PLACE, None)


# -- moving allocations -------------------------------------------------------------------------


def _move_allocations(function: func.FuncOp, stack_bytes: int) -> None:
    """Take static allocations out of sequential loops; small ones in parallel go on the stack.

    An allocation in a loop is of the same size every time, and what it held before is
    undefined, so one for all iterations will do.
    """
    given_away = _given_away(function)
    for op in list(function.walk()):
        if not isinstance(op, memref.Alloc) or not op.memref.type.has_static_shape:
            continue
        if op.memref in given_away:
            continue
        top = _outermost(op, function)
        if top is op:
            continue
        deallocs = [u for u in op.memref.users if isinstance(u, memref.Dealloc)]
        parallel = op.parent_of(scf.Parallel)
        if parallel is None:
            op.move_before(top)
        elif op.memref.type.num_bytes <= stack_bytes:
            alloca = memref.Alloca([], alignment=op.alignment, memref=op.memref.type, loc=op.loc)
            parallel.body_block.prepend(alloca)
            op.memref.replace_all_uses_with(alloca.memref)
        else:
            continue
        for dealloc in deallocs:
            dealloc.erase()
        if parallel is not None:
            op.erase()


def _outermost(op: Operation, function: func.FuncOp) -> Operation:
    """The operation of the function's own blocks that holds `op`."""
    at, above = op, op.parent_op
    while above is not None and above is not function:
        at, above = above, above.parent_op
    return at


def _heap_scratch(function: func.FuncOp, scratch: dict[str, int]) -> None:
    """Calls in a function without an arena get their scratch from the heap."""
    for call in list(function.walk()):
        if isinstance(call, func.Call) and scratch.get(call.callee):
            builder = Builder.before_op(call)
            type = MemRefType((scratch[call.callee],), _BYTE)
            made = builder.insert(memref.Alloc([], alignment=64, memref=type)).memref
            call.args = [*call.args, made]
            Builder.after_op(call).insert(memref.Dealloc(made))


def _is_entry(function: func.FuncOp) -> bool:
    """Whether C code calls the function."""
    return ENTRY in function.attributes or MAKER in function.attributes

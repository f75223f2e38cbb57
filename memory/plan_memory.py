"""Buffers of static size get offsets in an arena, constants in one block of weights.

    func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {nn.entry} {
      %w = memref.get_global @w : memref<4xf32>
      %t = memref.alloc() : memref<4xf32>
      memref.dealloc %t : memref<4xf32>

    func.func @main(%x: .., %y: .., %arena: memref<64xi8> {nn.arena},
                    %weights: memref<64xi8> {nn.weights}) attributes {nn.entry} {
      %w = memref.view %weights[%c0][] : memref<64xi8> to memref<4xf32>
      %t = memref.view %arena[%c0][] : memref<64xi8> to memref<4xf32>

Each memory space has its own arena: buffers of type `memref<4xf32, 3>` give the entry a second one
of type `memref<..xi8, 3>`, unless the target's device has no arena. A function that the entry calls
gets its temporary memory as a last argument `%scratch`, which is a part of the arena during the
call. A result that `mark-in-place` allows to be written over an operand gets the operand's place if
that is not used afterwards. Buffers of unknown size stay on the heap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..dialects import func, memref, scf
from ..dialects.marks import ARENA, ENTRY, IN_PLACE, LIVE_BYTES, MAKER, SCRATCH
from ..ir.attributes import (
    DenseArrayAttr,
    I64Array,
    I64Attr,
)
from ..ir.builder import Builder
from ..ir.core import Operation
from ..ir.passes import Pass, PassContext, option
from ..targets.attribute import target_of
from .needs import Pair, Scratch, buffers_given_away, bytes_in, needs_of
from .place_weights import add_argument, place_weights


@dataclass(frozen=True)
class PlanMemory(
    Pass,
    name="plan-memory",
    anchor="builtin.module",
    statistics={
        "buffers": "Number of buffers placed",
        "in-place": "Number of buffers that overwrite one that is no longer needed",
        "arena-bytes": "Bytes of the arena of each entry",
        "peak-live-bytes": "Most bytes live at one time: no arena can be smaller",
        "scratch-bytes": "Bytes of scratch memory of each thread",
        "weights-bytes": "Bytes of weights",
        "prepared-bytes": "Bytes of weights that are computed when a model is loaded",
    },
):
    """Give every buffer of static size a place in its space's arena, and every constant one in a
    block.

    Entry functions (nn.entry) get the arguments %arena and %weights, functions that they call get
    %scratch. The module's attribute nn.weights says what the block of weights holds.
    """

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        """Plan functions before their callers, which need to know the sizes of their scratch
        memory.
        """
        functions = func.functions_by_name(op)
        machine = target_of(op, self.target).machine
        stack = machine.costs.buffers.loop_stack
        scratch: Scratch = {}
        in_place: set[Pair] = set()
        done: set[str] = set()
        for name in functions:
            for one in _callees_first(name, functions, done):
                function = functions[one]
                if not function.is_declaration:
                    _move_allocations(function, stack)
                    in_place |= self._plan_function(
                        function, functions, scratch, machine.has_arena, context
                    )
        _keep_marks(functions.values(), in_place)
        weights, prepared = place_weights(op, functions.values())
        if any(ENTRY in function.attributes for function in functions.values()):
            context.statistic("weights-bytes", weights)
            context.statistic("prepared-bytes", prepared)

    def _plan_function(
        self,
        function: func.FuncOp,
        functions: dict[str, func.FuncOp],
        scratch: Scratch,
        has_arena: bool,
        context: PassContext,
    ) -> set[Pair]:
        """Place a function's buffers. Returns the pairs of operand and result that
        share one now.
        """
        entry = _is_entry(function)
        called = function.sym_visibility == "private"
        if len(function.body.blocks) != 1 or not (entry or called):
            _heap_scratch(function, scratch)
            return set()
        shared: set[Pair] = set()
        for needs in needs_of(function, functions, scratch):
            made, pairs = needs.plan()
            of_default = needs.space is None
            if not (of_default or has_arena):
                continue
            if not made.size and not (entry and of_default):
                continue
            type = bytes_in(needs.space, made.size)
            if entry:
                context.statistic("buffers", len(needs.buffers))
                context.statistic("in-place", len(pairs))
                context.statistic("arena-bytes", made.size)
                context.statistic("peak-live-bytes", made.lower_bound)
                if of_default:
                    function.attributes[LIVE_BYTES] = I64Attr(made.lower_bound)
                arena = add_argument(function, type, "arena", ARENA)
            else:
                scratch.setdefault(function.sym_name, {})[needs.space] = made.size
                context.statistic("scratch-bytes", made.size)
                arena = add_argument(function, type, "scratch", SCRATCH)
            needs.apply(made, arena, scratch)
            shared |= {(join.callee, join.operand, join.result) for join in pairs}
        return shared


def _callees_first(name: str, functions: dict[str, func.FuncOp], done: set[str]) -> Iterator[str]:
    """The functions that `name` calls, directly or not, and then itself; each once."""
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


def _keep_marks(functions: Iterable[func.FuncOp], used: set[Pair]) -> None:
    """Remove `nn.in_place` from arguments that share no buffer, so that the mark
    can be relied on.
    """
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
    """Move static allocations out of sequential loops; put small ones in parallel loops on the
    stack.

    An allocation in a loop has the same size every time and undefined contents, so one for all
    iterations suffices.
    """
    given_away = buffers_given_away(function)
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
        elif op.memref.type.memory_space is None and op.memref.type.num_bytes <= stack_bytes:
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
    """The operation of the function's own blocks that contains `op`."""
    at, above = op, op.parent_op
    while above is not None and above is not function:
        at, above = above, above.parent_op
    return at


def _heap_scratch(function: func.FuncOp, scratch: Scratch) -> None:
    """Allocate the scratch memory of calls on the heap, in a function without an arena."""
    for call in list(function.walk()):
        if not isinstance(call, func.Call):
            continue
        for space, size in scratch.get(call.callee, {}).items():
            alloc = memref.Alloc([], alignment=64, memref=bytes_in(space, size))
            made = Builder.before_op(call).insert(alloc).memref
            call.args = [*call.args, made]
            Builder.after_op(call).insert(memref.Dealloc(made))


def _is_entry(function: func.FuncOp) -> bool:
    """Whether C code calls the function."""
    return ENTRY in function.attributes or MAKER in function.attributes

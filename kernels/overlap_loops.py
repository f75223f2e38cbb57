"""--overlap-loops: loops that do not depend on each other run side by side, each on one thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..dialects import arith, cf, func, scf, schedule
from ..dialects.linalg.structured import StructuredOp
from ..dialects.marks import KERNEL
from ..ir.builder import Builder
from ..ir.core import Block, Operation, Region, Value
from ..ir.decisions import Alternative, Decision, Terms
from ..ir.passes import Pass, PassContext, option
from ..ir.traits import Pure, Terminator
from ..targets.attribute import target_of
from ..targets.machine import Machine
from ..targets.roofline import Roofline
from .call_effects import CallEffects, Touched
from .kernel_costs import kernel_cost
from .model.executions import repetitions

SIDE_BY_SIDE, ONE_BY_ONE = "side by side", "one after the other"


@dataclass(frozen=True)
class OverlapLoops(
    Pass,
    name="overlap-loops",
    anchor="builtin.module",
    statistics={"loops": "Number of loops that run beside others"},
):
    """Run loops that do not depend on each other side by side, such as both directions of an LSTM.

    %0 = scf.while .. { step forward }         scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
    call @k(..)                                  scf.index_switch %i
    %1 = scf.while .. { step backward }   ->     case 0 { scf.while .. { step forward } }
                                                 default { scf.while .. { step backward } }
                                               }

    That is done where each loop has enough work for a thread of its own, and where all together
    are expected to take less time than one after the other: then, all threads share each kernel
    whose schedule says so. Operations that depend on one of the loops come after all of them. Runs
    after choose-schedules.
    """

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        """Overlap the loops in the blocks of all functions that are no kernels."""
        machine = target_of(op, self.target).machine
        if not machine.calls_kernels or machine.cores < 2:
            return
        functions = func.functions_by_name(op)
        shared = {
            name
            for name, one in schedule.schedules(op).items()
            if any(isinstance(inner, schedule.Parallel) for inner in one.walk())
        }
        work = _Work(machine, functions, shared)
        effects = CallEffects(functions)
        for function in functions.values():
            for block in function.body.blocks if KERNEL not in function.attributes else ():
                for group in _groups(block, work, effects):
                    if context.decide(work.decision(group)).taken == SIDE_BY_SIDE:
                        _overlap(group)
                        context.statistic("loops", len(group.loops))


# -- which loops -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Work:
    """The work of a module's loops, on one thread."""

    machine: Machine
    functions: dict[str, func.FuncOp]
    shared: set[str]
    """The kernels that several threads share."""

    def kernels(self, op: Operation, callers: tuple[str, ...] = ()) -> Iterator[func.FuncOp]:
        """The kernels that an operation calls, directly or through functions, once for each call.

        Functions in `callers`, which are being looked into already, are not followed again.
        """
        for call in (inner for inner in op.walk() if isinstance(inner, func.Call)):
            called = self.functions.get(call.callee)
            if called is not None and KERNEL in called.attributes:
                yield called
            elif called is not None and call.callee not in callers:
                yield from self.kernels(called, (*callers, call.callee))

    def cycles(self, loop: scf.While, threads: int) -> float:
        """The expected cycles of a loop, if `threads` threads share each kernel that may be shared.

        They follow from the operations and bytes of each kernel, and the cost of starting threads.
        """
        costs = self.machine.costs.threads
        region = costs.region_microseconds * self.machine.cycles_per_microsecond
        roofline, total = Roofline(self.machine), 0.0
        for kernel in self.kernels(loop):
            cost = kernel_cost(kernel, 1)
            operations, bytes = cost.operations or 0, cost.bytes or 0
            arithmetic = operations / 2 / self.machine.multiply_adds
            cycles = roofline.beside(arithmetic, bytes / roofline.bandwidth(bytes))
            is_shared = threads > 1 and kernel.sym_name in self.shared
            total += cycles / threads + region if is_shared else cycles
        return total * (repetitions(loop, loop.after) or costs.unknown_trips)

    def is_enough(self, loop: scf.While) -> bool:
        """Whether a loop is worth a thread of its own."""
        least = self.machine.costs.threads.least_microseconds
        return self.cycles(loop, 1) >= least * self.machine.cycles_per_microsecond

    def decision(self, group: _Group) -> Decision:
        """The choice between loops side by side, a thread for each, and one after the other."""
        loops = [op for loop in group.loops for op in loop if isinstance(op, scf.While)]
        cores = self.machine.cores
        alone = [self.cycles(loop, 1) for loop in loops]
        together = max(*alone, sum(alone) / cores)
        apart = sum(self.cycles(loop, cores) for loop in loops)
        ways = (
            Alternative(SIDE_BY_SIDE, Terms({"loops": together}), cores=min(cores, len(loops))),
            Alternative(ONE_BY_ONE, Terms({"loops": apart})),
        )
        taken = SIDE_BY_SIDE if together < apart else ONE_BY_ONE
        return Decision("loops", ways, taken, loops[0].loc)


@dataclass
class _Group:
    """Loops to run side by side, each with the checks of its results.

    `behind` are the operations between the loops that must come after them.
    """

    loops: list[list[Operation]]
    behind: list[Operation]


def _groups(block: Block, work: _Work, effects: CallEffects) -> Iterator[_Group]:
    """The groups of a block; it may be changed after each."""
    done: set[Operation] = set()
    for op in list(block):
        if op not in done and (unit := _unit(op, work)):
            group = _group(unit, work, effects)
            if len(group.loops) > 1:
                done.update(one for loop in group.loops for one in loop)
                yield group


def _unit(op: Operation, work: _Work) -> list[Operation] | None:
    """A loop with the checks that use its results; None if anything else uses them."""
    if not isinstance(op, scf.While) or not work.is_enough(op):
        return None
    unit: list[Operation] = [op]
    for one in unit:
        for user in (user for result in one.results for user in result.users):
            if user.parent is not op.parent or not _is_check(user):
                return None
            if user not in unit:
                unit.append(user)
    assert op.parent is not None
    return [one for one in op.parent if one in unit]


def _is_check(op: Operation) -> bool:
    """Whether an operation is a check, or computes what may be checked."""
    is_computed = op.has_trait(Pure) and not op.has_trait(Terminator)
    return isinstance(op, cf.Assert) or (is_computed and not op.regions)


def _group(first: list[Operation], work: _Work, effects: CallEffects) -> _Group:
    """The loops that can run beside the first one: none depends on another."""
    block = first[0].parent
    assert block is not None
    places = {op: place for place, op in enumerate(block)}
    loops, behind, waiting = [first], list[Operation](), list[Operation]()
    before, taken = _Before(effects), set(first)
    before.add(first)
    for at in [op for op, place in places.items() if place > places[first[0]]][:-1]:
        if at in taken:
            continue
        if before.precedes(at):
            before.add([at])
            waiting.append(at)
        elif unit := _unit(at, work):
            before.add(unit)
            loops.append(unit)
            taken.update(unit)
            behind = list(waiting)
    needed = {v.defining_op for loop in loops for one in loop for v in one.operands} - taken
    late = any(places.get(op, 0) > places[loops[-1][0]] for op in needed if op is not None)
    # A schedule counts the stages of a block in their order.
    stages = any(isinstance(one, StructuredOp) for one in behind)
    is_legal = not late and not stages and needed.isdisjoint(behind)
    return _Group(loops, behind) if is_legal else _Group([first], [])


@dataclass
class _Before:
    """Operations that come before others: the values they define, the buffers they touch."""

    effects: CallEffects
    made: set[Value] = field(default_factory=set)
    touched: Touched = field(default_factory=Touched)

    def add(self, operations: Iterable[Operation]) -> None:
        for op in operations:
            self.made.update(op.results)
            self.touched.merge(self.effects.of(op))

    def precedes(self, op: Operation) -> bool:
        """Whether another operation must come after these."""
        if self.touched.conflicts(self.effects.of(op)):
            return True
        return any(not self.made.isdisjoint(inner.operands) for inner in op.walk())


# -- the change ------------------------------------------------------------------------------------


def _overlap(group: _Group) -> None:
    """Move the loops into the cases of a switch in a parallel loop, before the code after them."""
    last = group.loops[-1][0]
    builder = Builder.before_op(last)
    low, high, step = (
        builder.insert(arith.Constant.index(n)).result for n in (0, len(group.loops), 1)
    )
    made = builder.insert(scf.Parallel.of([low], [high], [step], loc=last.loc))
    for one in reversed(group.behind):
        one.move_after(made)
    regions = [Region([Block()]) for _ in group.loops]
    inside = Builder.at_end(made.body_block, last.loc)
    numbers = range(len(group.loops) - 1)
    number, others = made.body_block.args[0], regions[:-1]
    inside.insert(scf.IndexSwitch(number, numbers, regions[-1], others, outs=[]))
    inside.insert(scf.Reduce([], []))
    for region, loop in zip(regions, group.loops, strict=True):
        for one in loop:
            one.detach()
            region.block.append(one)
        region.block.append(scf.Yield([]))

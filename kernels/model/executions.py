"""How often a run executes operations outside of kernels, and how long its kernels take together.

A loop multiplies what it contains by its iterations. Their number may be unknown: it is the number
of rows of some tensor, which counts as other unknown extents do, or depends on values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from ...dialects import arith, cf, func, scf
from ...dialects.marks import ENTRY, KERNEL
from ...ir.core import Operation, Region, Value
from ...ir.rewriting import constant_int
from ...targets.costs import ThreadCosts
from .extents import UNKNOWN_EXTENT

UNKNOWN_TRIPS = ThreadCosts.unknown_trips
"""The assumed number of iterations of a loop that ends depending on values."""


@dataclass(frozen=True)
class Execution:
    """An operation, and how many `times` a run executes it: at most, if it is in a branch.

    `is_assumed`: the number of iterations of a loop around it is unknown, and is an assumed one.
    `is_beside`: it is in one of several loops that run side by side, so one thread executes it.
    """

    op: Operation
    times: int
    is_assumed: bool = False
    is_beside: bool = False

    def within(self, op: Operation, times: int | None, is_beside: bool) -> Execution:
        """The execution of an operation that this one contains or calls `times` times.

        If `times` is None, the number is unknown, and an assumed one takes its place.
        """
        count = _assumed(self.op) if times is None else times
        is_assumed = self.is_assumed or times is None
        return Execution(op, self.times * count, is_assumed, self.is_beside or is_beside)


def executions(module: Operation) -> Iterator[Execution]:
    """All operations that a run of the entry executes outside of kernels.

    An operation is yielded once for each call of the function that it is in; recursive calls are
    not followed.
    """
    functions = func.functions_by_name(module)
    for function in functions.values():
        if ENTRY in function.attributes:
            yield from _inside(Execution(function, 1), functions, ())


def _inside(
    around: Execution, functions: Mapping[str, func.FuncOp], callers: tuple[str, ...]
) -> Iterator[Execution]:
    """The operations in the regions of an operation, or in the function that it calls."""
    op, beside = around.op, bool(sides(around.op))
    for region in op.regions:
        for inner in region.ops:
            found = around.within(inner, repetitions(op, region), beside)
            yield found
            yield from _inside(found, functions, callers)
    if isinstance(op, func.Call):
        called = functions.get(op.callee)
        if called is not None and KERNEL not in called.attributes and op.callee not in callers:
            inside = around.within(called, 1, False)
            yield from _inside(inside, functions, (*callers, op.callee))


def times_of(several: Iterable[Execution]) -> int:
    """How often a run executes several operations in all."""
    return sum(one.times for one in several)


def kernel_calls(module: Operation) -> dict[str, list[Execution]]:
    """The calls of each kernel that a run makes, by the kernel's name."""
    functions, found = func.functions_by_name(module), dict[str, list[Execution]]()
    for one in executions(module):
        called = functions.get(one.op.callee) if isinstance(one.op, func.Call) else None
        if called is not None and KERNEL in called.attributes:
            found.setdefault(called.sym_name, []).append(one)
    return found


def run_time(module: Operation, call: Callable[[str, bool], float], cores: int) -> float:
    """The time of all kernels of a run, in the unit of `call`.

    `call` gives the time of one call of a kernel, from its name and whether a single thread
    executes it beside others. Loops that run side by side share `cores` cores; of the branches of
    an operation, the longest counts.
    """
    functions = func.functions_by_name(module)
    open_functions: list[str] = []

    def several(region: Region, is_beside: bool) -> float:
        return sum(one(op, is_beside) for op in region.ops)

    def one(op: Operation, is_beside: bool) -> float:
        if isinstance(op, func.Call):
            return called(op.callee, is_beside)
        if apart := sides(op):
            times = [several(region, True) for region in apart]
            return max(*times, sum(times) / cores)
        parts = [(repetitions(op, region), several(region, is_beside)) for region in op.regions]
        found = [(_assumed(op) if n is None else n) * time for n, time in parts]
        return max(found) if isinstance(op, scf.If | scf.IndexSwitch) else sum(found)

    @cache
    def called(name: str, is_beside: bool) -> float:
        function = functions.get(name)
        if function is None or name in open_functions:
            return 0.0
        if KERNEL in function.attributes:
            return call(name, is_beside)
        open_functions.append(name)
        found = several(function.body, is_beside)
        open_functions.pop()
        return found

    return sum(called(f.sym_name, False) for f in functions.values() if ENTRY in f.attributes)


# -- loops -----------------------------------------------------------------------------------------


def sides(op: Operation) -> list[Region]:
    """The loops that an operation runs side by side, as `overlap-loops` writes them; else none."""
    if not isinstance(op, scf.Parallel) or len(op.body_block.args) != 1:
        return []
    # Buffers of the loops' iterations may come before the switch.
    found = (inner for inner in op.body_block if isinstance(inner, scf.IndexSwitch))
    switches = [one for one in found if one.arg is op.body_block.args[0]]
    return list(switches[0].regions) if len(switches) == 1 else []


def repetitions(op: Operation, region: Region) -> int | None:
    """How often an operation runs one of its regions; None if that is unknown."""
    match op:
        case scf.For():
            return op.trip_count()
        case scf.Parallel() if not sides(op):
            return _points(op)
        case scf.While():
            count = iterations(op)
            known = None if count is None else constant_int(count)
            # The condition is asked once more than it holds.
            return known if known is None or region is op.after else known + 1
    return 1


def _points(loop: scf.Parallel) -> int | None:
    """The points of a nest's iteration space; None if a bound or step is no constant."""
    count = 1
    for values in zip(loop.lower, loop.upper, loop.step, strict=True):
        lower, upper, step = map(constant_int, values)
        if lower is None or upper is None or step is None:
            return None
        count *= max(0, -((lower - upper) // step))
    return count


def iterations(loop: scf.While) -> Value | None:
    """The value that an assertion compares a loop's iteration count with; None without one."""
    for result in loop.results:
        for user in result.users:
            is_check = isinstance(user, arith.CmpI) and user.predicate == "eq"
            if is_check and any(isinstance(one, cf.Assert) for one in user.result.users):
                return next(v for v in user.operands if v is not result)
    return None


def _assumed(loop: Operation) -> int:
    """The assumed iterations of a loop whose number is unknown."""
    is_counted = not isinstance(loop, scf.While) or iterations(loop) is not None
    return UNKNOWN_EXTENT if is_counted else UNKNOWN_TRIPS

"""Primitives: functions that each apply one kind of scheduling operation to a plan.

    @primitive(schedule.Accumulate)
    def accumulate(plan: Plan, op: schedule.Accumulate, loop: Loop) -> None:
        check_alive(loop, op)
        loop.accumulates = True

The function takes the plan, the operation, and the loop or stage of each operand; it returns those
of the results. It raises IllegalScheduleError where the plan does not allow the operation. Checks
that concern several stages at once are in `model/nest.py`, which sees the whole plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Generic, TypeVar

from ...dialects import schedule
from ...ir.core import Operation, Value
from ...ir.declare import Op
from ..model.legality import illegal
from ..model.plan import Loop, Plan
from ..model.stages import Stage

R = TypeVar("R")


@dataclass(frozen=True)
class Primitive(Generic[R]):
    """How one kind of scheduling operation is carried out."""

    op: type[Op]
    carry_out: Callable[..., R]

    def __call__(self, plan: Plan, op: Operation, *operands: Any) -> R:
        return self.carry_out(plan, op, *operands)


def primitive(op: type[Op]) -> Callable[[Callable[..., R]], Primitive[R]]:
    """Decorator: the function carries out this kind of operation."""
    return lambda carry_out: Primitive(op, carry_out)


@cache
def primitives() -> dict[str, Primitive]:
    """All primitives by the names of their operations: those of the files beside this one."""
    from .. import primitives as package

    names = [module.name for module in iter_modules(package.__path__)]
    files = {name: import_module(f".{name}", package.__name__) for name in names}
    found = [getattr(file, name, None) for name, file in files.items()]
    return {one.op.name: one for one in found if isinstance(one, Primitive)}


class Progress:
    """The state of carrying out a schedule: the plan, and the loop or stage of each value."""

    def __init__(self, stages: Sequence[Stage], values: Sequence[Value]) -> None:
        self.plan = Plan(stages)
        self.known: dict[Value, Stage | Loop] = dict(zip(values, stages, strict=True))

    def carry_out(self, op: Operation) -> Any:
        """Apply an operation to the plan. Returns the result of its primitive."""
        operands = [self.known[value] for value in op.operands]
        if any(operand in self.plan.inlined for operand in operands):
            raise illegal(op, "the stage is gone: it was inlined")
        one = primitives().get(op.name)
        if one is None:
            raise op.error("is not a scheduling operation")
        loops = [(loop, loop.binding) for loop in operands if isinstance(loop, Loop)]
        made = one(self.plan, op, *operands)
        results = () if made is None else made if isinstance(made, list | tuple) else (made,)
        bound = [loop for loop, before in loops if loop.binding is not before]
        is_name = isinstance(op, schedule.Loops)  # Of loops that are there.
        for loop in bound if is_name else (*bound, *results):
            if isinstance(loop, Loop):
                loop.primitives += (op,)
        for value, result in zip(op.results, results, strict=True):
            self.known[value] = result
            if isinstance(result, Loop):
                value.name_hint = result.name = value.name_hint or result.name
        return made


def carry_out(one: schedule.For, stages: Sequence[Stage]) -> Plan:
    """The plan that a schedule makes of stages. Raises NncError at the faulty operation."""
    block = one.regions[0].block
    if len(block.args) != len(stages):
        raise one.error(
            f"has {len(block.args)} stages, but @{one.kernel} has {len(stages)} linalg operations"
        )
    progress = Progress(stages, block.args)
    for op in block:
        progress.carry_out(op)
    return progress.plan


# -- what several primitives check -----------------------------------------------------------------


def check_alive(loop: Loop, op: Operation) -> None:
    """Raise unless the loop still exists: nothing has replaced it."""
    if not loop.is_alive:
        raise illegal(op, "the loop is gone: it was split or collapsed, or its stage inlined")


def check_free(loop: Loop, op: Operation) -> None:
    """Raise unless the loop exists and no other stage shares it."""
    check_alive(loop, op)
    if loop.is_shared:
        raise illegal(op, "the loop is shared with a fused stage and cannot be changed any more")


def check_plain(loop: Loop, op: Operation) -> None:
    """Raise unless the loop exists and is still serial: neither parallel, nor unrolled, .."""
    check_alive(loop, op)
    if not loop.is_serial:
        raise illegal(op, f"the loop is already {loop.binding.name}")


def check_counted(loop: Loop, op: Operation) -> None:
    """Raise unless the loop has a constant extent and belongs to its stage alone."""
    check_plain(loop, op)
    if not isinstance(loop.extent, int):
        raise illegal(op, "the loop's extent is not known; split it first")
    if loop.is_shared:
        raise illegal(op, "a loop shared with a fused stage can only be made parallel")


def check_unfused(plan: Plan, stage: Stage, op: Operation) -> None:
    """Raise if the stage shares loops."""
    if stage in plan.sharing or any(s.host is stage for s in plan.sharing.values()):
        raise illegal(op, "must come before the stage is fused with others")


def check_uncollapsed(plan: Plan, stage: Stage, op: Operation) -> None:
    """Raise if loops of the stage are collapsed: another operand may not be contiguous."""
    if any(len(loop.dims) > 1 for loop in plan.roots[stage]):
        raise illegal(op, "must come before loops of the stage that reads are collapsed")


def one_stage(loops: Sequence[Loop], op: Operation) -> Stage:
    """The stage that all these loops belong to; raises if there are several."""
    if not loops:
        raise illegal(op, "expects at least one loop")
    if any(loop.stage is not loops[0].stage for loop in loops):
        raise illegal(op, "expects loops of one stage")
    return loops[0].stage

"""Choose schedules: for every kernel, a `schedule.for` from an analytical machine model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..dialects import func, linalg, schedule
from ..dialects.marks import CYCLES, KERNEL
from ..ir.attributes import I64Attr
from ..ir.core import Operation
from ..ir.passes import Pass, PassContext, option
from ..targets.attribute import target_of
from .on_host import keep_on_host
from .policy import policy_of

if TYPE_CHECKING:
    from .policy.candidates import Candidate


@dataclass(frozen=True)
class ChooseSchedules(
    Pass,
    name="choose-schedules",
    anchor="builtin.module",
    statistics={"schedules": "Number of schedules chosen"},
):
    """Put a schedule beside every function of linalg operations that has none yet.

    Register tiles, loop orders, fusion inside kernels and parallel loops come from a model
    of the machine, by the policy that its target names; see the schedule dialect for what they
    mean. Of several candidates the best legal one is taken.
    """

    target: str = option("", help="a target's name (default: the module's)", alias="machine")
    print_candidates: bool = option(
        False, help="say of each kernel what its candidates are expected to take"
    )

    def run(self, op: Operation, context: PassContext) -> None:
        target = target_of(op, self.target)
        existing = schedule.schedules(op)
        for function in list(op.regions[0].ops):
            if not isinstance(function, func.FuncOp) or not function.regions[0].blocks:
                continue
            if function.sym_name in existing:
                continue
            block = function.regions[0].blocks[0]
            has_stages = any(isinstance(stage, linalg.StructuredOp) for stage in block)
            if has_stages or KERNEL in function.attributes:
                keep_on_host(function, target)
            if has_stages:
                own = target_of(function)
                machine, policy, every = own.machine, policy_of(own.policy), self.print_candidates
                found = policy.candidates(function.sym_name, block, machine, every)
                chosen = policy.best(found, machine)
                if self.print_candidates:
                    show(found, chosen, function, context)
                chosen.schedule.loc = function.loc
                if machine.program is not machine:
                    function.attributes[CYCLES] = I64Attr(round(getattr(chosen, "cycles", 0)))
                assert function.parent is not None
                function.parent.insert_after(chosen.schedule, function)
                context.statistic("schedules")


def show(
    found: Sequence[Candidate], chosen: Candidate, function: func.FuncOp, context: PassContext
) -> None:
    """Say what a kernel's candidates are expected to take, and which of them it gets."""
    for one in found:
        taken = " (chosen)" if one is chosen else ""
        context.remark(f"schedule of @{function.sym_name}, {one}{taken}", function.loc)

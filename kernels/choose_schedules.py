"""Choose schedules: for every kernel, a `schedule.for` from an analytical machine model."""

from __future__ import annotations

from dataclasses import dataclass

from ..dialects import func, schedule
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.passes import Pass, PassContext, option
from ..targets.attribute import target_of
from ..targets.machine import Machine
from .model.nest import build_nest
from .model.stages import Stage, stages_of
from .policy.chains import chains
from .policy.grouping import partition
from .policy.heuristics import Heuristics
from .policy.writer import ScheduleWriter
from .primitives.caching import discard
from .primitives.inlining import worth_inlining


@dataclass(frozen=True)
class ChooseSchedules(
    Pass,
    name="choose-schedules",
    anchor="builtin.module",
    statistics={"schedules": "Number of schedules chosen"},
):
    """Put a schedule beside every function of linalg operations that has none yet.

    Register tiles, loop orders, fusion inside kernels and parallel loops come from a model
    of the processor; see the schedule dialect for what they mean.
    """

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        machine = target_of(op, self.target).machine
        existing = schedule.schedules(op)
        for function in list(op.regions[0].ops):
            if not isinstance(function, func.FuncOp) or not function.regions[0].blocks:
                continue
            if function.sym_name in existing:
                continue
            stages = stages_of(function.regions[0].blocks[0])
            if stages:
                chosen = choose(function.sym_name, stages, machine)
                chosen.loc = function.loc
                assert function.parent is not None
                function.parent.insert_after(chosen, function)
                context.statistic("schedules")


def choose(kernel: str, stages: list[Stage], machine: Machine) -> schedule.For:
    """A legal schedule of a kernel: the best the heuristics find."""
    block = stages[0].op.parent
    assert block is not None
    for chained, fuse in ((True, True), (False, True), (False, False)):
        if not chained:
            stages = stages_of(block)
        writer = ScheduleWriter(kernel, stages)
        heuristics = Heuristics(writer, machine, use_caches=fuse)
        try:
            if fuse:
                for stage in stages:
                    if worth_inlining(stage, stages):
                        writer.inline(stage)
                groups = partition(writer.plan.stages)
                joined = chains(groups, writer.plan) if chained else []
                for chain in joined:
                    heuristics.chain(chain)
                for group in groups:
                    if not any(group in chain.groups for chain in joined):
                        heuristics.group(group)
            else:
                for stage in stages:
                    heuristics.alone(stage)
            build_nest(writer.plan)
        except NncError:
            continue
        finally:
            for made, _ in writer.plan.caches:
                discard(made)
        return writer.op
    return ScheduleWriter(kernel, stages_of(block)).op

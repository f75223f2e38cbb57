"""Apply schedules: linalg on buffers + schedule -> scf, memref, vector, arith, math."""

from __future__ import annotations

from dataclasses import dataclass

from ..dialects import func, linalg, schedule
from ..ir.core import Block, Operation
from ..ir.passes import Pass, PassContext, option
from ..targets.processor import Processor, processor_of
from .codegen.buffers import erase_dead_buffers, shrink_buffers
from .codegen.code import Code, Scope
from .codegen.tiles.emission import Emission
from .model.nest import build_nest
from .model.places import move_deallocations, place_nests
from .model.plan import Plan
from .model.stages import stages_of
from .primitives import cache as caching
from .primitives import rfactor
from .primitives.primitive import carry_out


@dataclass(frozen=True)
class ApplySchedules(
    Pass,
    name="apply-schedules",
    anchor="builtin.module",
    statistics={"functions": "Number of kernels whose schedule was applied"},
):
    """Make loops of linalg operations on buffers, as their schedules say.

    Every `schedule.for` is carried out and erased. Functions without one get plain loops.
    """

    numerics = "rounding"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        processor_of(op, self.target)
        found = schedule.schedules(op)
        functions = func.functions_by_name(op)
        for name, one in found.items():
            if name not in functions:
                raise one.error(f"there is no function @{name}")
        for name, function in functions.items():
            if function.regions[0].blocks:
                apply_schedule(function, found.get(name), processor_of(function))
                context.statistic("functions")
        for one in found.values():
            one.erase()


def apply_schedule(function: Operation, one: schedule.For | None, target: Processor) -> None:
    """Replace the stages of a function by loops."""
    blocks = [
        block
        for op in function.walk()
        if not isinstance(op, linalg.StructuredOp)
        for region in op.regions
        for block in region.blocks
    ]
    for block in blocks:
        stages = stages_of(block)
        is_body = block is function.regions[0].blocks[0]
        if is_body and one is not None:
            plan = carry_out(one, stages)
        elif stages:
            plan = Plan(stages)
        else:
            continue
        write_loops(block, plan, target)


def write_loops(block: Block, plan: Plan, target: Processor) -> None:
    """Replace the stages of a block by the loops of a plan."""
    for made, reader in plan.caches:
        caching.insert(made, reader.op)
    for out, partial in plan.factored.items():
        rfactor.insert(partial, out.stage.op)
    nests = build_nest(plan)
    anchors = place_nests(block, nests)
    move_deallocations(block, nests, anchors)
    first = block.first
    assert first is not None
    code = Code(Scope(block, None), first.loc)
    emission = Emission(plan, code, target)
    for shrunk in shrink_buffers(block, plan, nests, target):
        if not shrunk.stays_whole(plan, target):
            emission.temporaries.use(shrunk)
    for root, anchor in zip(nests, anchors, strict=True):
        emission.nest(root, anchor)
    for stage in (*plan.stages, *plan.inlined):
        stage.op.erase()
    erase_dead_buffers(block)

"""Apply schedules: linalg on buffers + schedule -> scf, memref, vector, arith, math."""

from __future__ import annotations

from dataclasses import dataclass

from ..dialects import func, linalg, memref, schedule
from ..dialects.memref import base_buffer
from ..ir.core import Block, Operation
from ..ir.diagnostics import NncError
from ..ir.passes import Pass, PassContext, option
from ..ir.traits import is_pure
from ..targets.attribute import target_of
from ..targets.machine import Machine
from .codegen.buffers import erase_dead_buffers, shrink_buffers
from .codegen.code import Code, Scope
from .codegen.tiles.emission import Emission
from .model.nest import Node, build_nest
from .model.plan import Plan
from .model.stages import Stage, stages_of
from .primitives import cache as caching
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
        machine = target_of(op, self.target).machine
        found = schedule.schedules(op)
        functions = {f.sym_name: f for f in op.regions[0].ops if isinstance(f, func.FuncOp)}
        for name, one in found.items():
            if name not in functions:
                raise one.error(f"there is no function @{name}")
        for name, function in functions.items():
            if function.regions[0].blocks:
                apply_schedule(function, found.get(name), machine)
                context.statistic("functions")
        for one in found.values():
            one.erase()


def apply_schedule(function: Operation, one: schedule.For | None, target: Machine) -> None:
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


def write_loops(block: Block, plan: Plan, target: Machine) -> None:
    """Replace the stages of a block by the loops of a plan."""
    for made, reader in plan.caches:
        caching.insert(made, reader.op)
    nests = build_nest(plan)
    anchors = place_nests(block, nests)
    first = block.first
    assert first is not None
    code = Code(Scope(block, None), first.loc)
    emission = Emission(plan, code, target)
    for shrunk in shrink_buffers(block, plan, nests, target):
        emission.temporaries.use(shrunk)
    for root, anchor in zip(nests, anchors, strict=True):
        emission.nest(root, anchor)
    for stage in (*plan.stages, *plan.inlined):
        stage.op.erase()
    erase_dead_buffers(block)


def place_nests(block: Block, nests: list[Node | Stage]) -> list[Operation]:
    """The operation before which each nest goes: its last stage's, and after earlier nests.

    Raises NncError where that would carry a stage past another use of its buffers.
    """
    position = {op: i for i, op in enumerate(block)}
    ops = list(position)
    anchors: list[Operation] = []
    least = 0
    for root in nests:
        stages = [root] if isinstance(root, Stage) else list(root.stages())
        least = max(least, *(position[s.op] for s in stages))
        anchors.append(ops[least])
        for stage in stages:
            _check_move(stage, ops[position[stage.op] + 1 : least], anchors[-1])
    return anchors


def _check_move(stage: Stage, passed: list[Operation], anchor: Operation) -> None:
    """Later deallocations of the stage's buffers move along; other uses are an error."""
    mine = {base_buffer(a.value) for a in stage.accesses if not a.is_scalar}
    for op in passed:
        if isinstance(op, linalg.StructuredOp | memref.Alloc | memref.Alloca) or is_pure(op):
            continue
        if not any(base_buffer(v) in mine for inner in op.walk() for v in inner.operands):
            continue
        if isinstance(op, memref.Dealloc):
            if anchor.parent.comes_before(op, anchor):  # type: ignore[union-attr]
                op.move_after(anchor)
            continue
        raise NncError(
            f"schedule: cannot carry the stage past '{op.name}', which uses its buffers",
            stage.op.loc,
        )

"""Schedules for FPGAs: which loops become pipelines, and how often their bodies are replicated.

Kernels run one after the other, each on hardware of its own. A kernel gets multipliers in
proportion to the square root of its number of products, which minimizes the sum of all cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod, sqrt

from ...dialects import func, linalg
from ...dialects.marks import PIPELINE, REPLICATE
from ...ir.core import Block
from ...ir.decisions import Terms
from ...ir.types import FloatType
from ...targets.fpga import FpgaMachine
from ..codegen.tiles.contraction import factors_of
from ..model.extents import expected
from ..model.legality import IllegalScheduleError
from ..model.nest import Node, build_nest
from ..model.places import place_nests
from ..model.plan import Loop, iterations
from ..model.stages import Stage, has_reuse, stages_of
from ..primitives.fuse import fuse
from ..primitives.inline import inline
from ..primitives.pipeline import pipeline
from ..primitives.replicate import replicate
from ..primitives.split import split
from .candidates import Candidate, any_fewer, fewest_cycles
from .copies import worth_inlining
from .grouping import Group, partition
from .writer import ScheduleWriter

best, margin = fewest_cycles, any_fewer


def candidates(
    kernel: str, block: Block, machine: FpgaMachine, every: bool = False
) -> list[Candidate]:
    """Candidate schedules for the stages of a block on an FPGA; at least the last one is legal.

    With `every`, they include the one without any transformation, even if others are legal.
    """
    copies = _Copies(block, machine)
    found = [
        _candidate("grouped", kernel, block, machine, lambda w: _grouped(w, copies)),
        _candidate("apart", kernel, block, machine, lambda w: _apart(w, copies)),
    ]
    if every or all(one.fault for one in found):
        found.append(_candidate("plain", kernel, block, machine, lambda w: None))
    return found


def _candidate(
    name: str,
    kernel: str,
    block: Block,
    machine: FpgaMachine,
    write: Callable[[ScheduleWriter], None],
) -> Candidate:
    writer = ScheduleWriter(kernel, stages_of(block))
    try:
        write(writer)
        nests = build_nest(writer.plan)
        place_nests(block, nests)
        terms = Terms.sum(_terms(nest, machine) for nest in nests)
        return Candidate(name, writer.op, terms.cycles, "", terms)
    except IllegalScheduleError as error:
        return Candidate(name, writer.op, fault=error.message)


def _terms(part: Node | Stage, machine: FpgaMachine) -> Terms:
    """The cycles of a part of a nest; a pipeline fills anew each time that it is entered.

    A pipelined reduction waits in each iteration for the sum of the previous one.
    """
    if isinstance(part, Stage):
        return Terms({"arithmetic": 1.0})
    binding = part.loops[0].binding
    turns = iterations(part.loops[0])
    if any(loop.binding.mark == PIPELINE for loop in part.loops):
        waited = turns * (max(1, binding.value) - 1)
        filled = machine.pipeline_cycles
        return Terms({"filling": filled, "arithmetic": turns, "latency": waited})
    inside = Terms.sum(_terms(child, machine) for child in part.children)
    return inside if binding.mark == REPLICATE else inside.scaled(turns)


class _Copies:
    """How many copies of the bodies of a kernel's products there are in hardware."""

    def __init__(self, block: Block, machine: FpgaMachine) -> None:
        function = block.parent_op
        assert function is not None and function.parent is not None
        kernels = [op for op in function.parent if isinstance(op, func.FuncOp) and op.body.blocks]
        total = sum(sqrt(_products(op.body.blocks[0])) for op in kernels)
        self.multipliers = machine.dsps * sqrt(_products(block)) / max(1.0, total)
        self.machine = machine

    def of(self, stage: Stage) -> tuple[int, int]:
        """(dimension, how many of its iterations run at once, each in hardware of its own)."""
        factors = factors_of(stage)
        if factors is None:
            return 0, 1
        is_float = isinstance(stage.outputs[0].element_type, FloatType)
        each = self.machine.float_dsps if is_float else 1
        most = min(int(self.multipliers) // each, self.machine.most_copies)
        able = [d for d, kind in enumerate(stage.kinds) if kind == "parallel"]
        shared = [d for d in able if sum(f.access.coefficients[d] == 0 for f in factors) == 1]  # type: ignore[index]
        sizes = [(_divisor(expected(stage.extents[d]), most), d) for d in shared or able]
        size, dim = max(sizes, default=(1, 0))
        return dim, size


def _divisor(extent: int, most: int) -> int:
    return max((n for n in range(1, min(extent, most) + 1) if extent % n == 0), default=1)


def _products(block: Block) -> int:
    """How many multiplications the products and convolutions of a kernel take."""
    if not any(isinstance(op, linalg.StructuredOp) for op in block):
        return 0
    return sum(prod(map(expected, s.extents)) for s in stages_of(block) if has_reuse(s))


# -- writing ---------------------------------------------------------------------------------------


def _apart(writer: ScheduleWriter, copies: _Copies) -> None:
    """Schedule each stage in loops of its own."""
    for stage in writer.plan.stages:
        _product(writer, Group(stage, "tile"), copies)


def _grouped(writer: ScheduleWriter, copies: _Copies) -> None:
    """Schedule products in shared loops with what initializes them and what uses their results."""
    for stage in list(writer.plan.stages):
        if worth_inlining(stage, writer.plan.stages):
            writer.put(inline, stage)
    for group in partition(writer.plan.stages):
        match group.kind:
            case "tile":
                _product(writer, group, copies)
            case "map":
                _maps(writer, group)
            case _:
                _rows(writer, group, copies)
        for stage in group.feeders:
            _product(writer, Group(stage, "tile"), copies)


def _maps(writer: ScheduleWriter, group: Group) -> None:
    """Schedule elementwise stages in one pipeline."""
    loops = writer.loops(group.host)
    for stage in group.members:
        if loops:
            writer.put(fuse, stage, loops[-1])
    _pipe(writer, loops)


def _rows(writer: ScheduleWriter, group: Group, copies: _Copies) -> None:
    """Schedule each reduction with its initialization and its users, other stages separately."""
    stages = sorted(group.maps, key=lambda one: one.index)
    summed = [one for one in stages if one.has_reduction]
    for number, stage in enumerate(summed):
        dims = writer.plan.matching_dims
        parallel = {d for d, kind in enumerate(stage.kinds) if kind == "parallel"}
        last = summed[number + 1].index if number + 1 < len(summed) else stages[-1].index + 1
        maps = {stage: {d: d for d in range(stage.rank)}}
        for one in [s for s in stages if s is not stage and s.index < last]:
            found = dims(one, stage)
            follows = one.index > stage.index and not last < stages[-1].index
            if set(found.values()) == parallel and (follows or not one.inputs):
                maps[one] = found
        stages = [one for one in stages if one not in maps]
        _product(writer, Group(stage, "tile", maps), copies)
    for stage in stages:
        _product(writer, Group(stage, "tile"), copies)


def _product(writer: ScheduleWriter, group: Group, copies: _Copies) -> None:
    """Schedule a reduction as a pipeline that computes several results at once.

    The last stage that reads the results has the outer loops; those before it share all of its
    loops, and the product those around its blocks.
    """
    stage = group.host
    dim, size = copies.of(stage)
    after = [one for one in group.members if one.index > stage.index]
    host = after[-1] if after else stage
    outer, copied, summed = _split(writer, group, host, dim, size)
    for one in after[:-1]:
        writer.put(fuse, one, (copied or outer)[-1])
    if host is not stage:
        _pipe(writer, copied)
        _, copied, summed = _split(writer, group, stage, dim, size)
        writer.put(fuse, stage, outer[-1])
    for one in group.members:
        if one.index < stage.index and outer:
            _, again, _ = _split(writer, group, one, dim, size)
            writer.put(fuse, one, outer[-1])
            _copy(writer, again)
    _copy(writer, copied)
    few = prod(expected(l.extent) for l in summed) <= copies.machine.window and not copied
    if summed and few and outer:
        _copy(writer, [l for l in summed if isinstance(l.extent, int) and l.extent > 1])
        _pipe(writer, outer)
    else:
        is_sum = bool(summed) and stage.combiners == ["add"]
        is_float = isinstance(stage.outputs[0].element_type, FloatType)
        waits = copies.machine.sum_cycles if is_sum and is_float else 1
        _pipe(writer, summed or outer, waits)


def _split(
    writer: ScheduleWriter, group: Group, stage: Stage, dim: int, size: int
) -> tuple[list[Loop], list[Loop], list[Loop]]:
    """(loops over blocks of results, loops within a block, loops of the reduction)."""
    loops = writer.loops(stage)
    summed = [l for l in loops if l.is_reduction]
    outer, inner = [l for l in loops if not l.is_reduction], []
    if size > 1:
        own = next(l for l in outer if group.maps[stage][l.dims[0]] == dim)
        around, within = writer.put(split, own, size, names=(f"{own.name}o", f"{own.name}i"))
        outer, inner = [*(l for l in outer if l is not own), around], [within]
    writer.reorder([*outer, *summed, *inner])
    return outer, inner, summed


def _copy(writer: ScheduleWriter, loops: Sequence[Loop]) -> None:
    for loop in loops:
        writer.put(replicate, loop)


def _pipe(writer: ScheduleWriter, loops: Sequence[Loop], interval: int = 1) -> None:
    """Make a pipeline of the innermost of these loops that has more than one iteration."""
    able = [l for l in loops if l.is_serial and iterations(l) > 1]
    if able:
        writer.put(pipeline, able[-1], interval=interval if interval > 1 else None)

"""The candidate schedules of a kernel, each with its predicted cycles.

Which strategy is best for a kernel is known only once all schedules are written: some may turn out
to be illegal, since interactions of several stages are checked at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TypeVar

from ...dialects import schedule
from ...ir.core import Block
from ...ir.decisions import Terms
from ...targets.machine import Machine
from ...targets.processor import Processor
from ..model.legality import IllegalScheduleError
from ..model.nest import build_nest
from ..model.places import place_nests
from ..model.plan import Plan
from ..model.reuse import Reuse
from ..model.stages import Stage, stages_of
from ..primitives import cache as caching
from ..primitives import rfactor
from ..primitives.inline import inline
from .chains import chains
from .choices import Choices
from .copies import worth_inlining
from .grouping import partition
from .heuristics import Heuristics
from .score import least_cycles, prediction
from .writer import ScheduleWriter

READS_REUSE = True
"""`candidates` takes reuse distances: they say which of a processor's caches holds an argument."""


@dataclass(frozen=True)
class Candidate:
    """A schedule, how it was written, and its predicted cycles; or why it is not legal.

    `terms` are the cycles by resource, `tiles` those of its nests or launches, `cores` how many
    cores it keeps busy.
    """

    policy: str
    schedule: schedule.For
    cycles: float = inf
    fault: str = ""
    terms: Terms | None = None
    tiles: tuple[object, ...] = ()
    cores: int = 1

    def __str__(self) -> str:
        return f"{self.policy}: " + (self.fault or f"{self.cycles:.0f} cycles")


C = TypeVar("C", bound=Candidate)


def candidates(
    kernel: str, block: Block, machine: Processor, every: bool = False, reuse: Reuse = ()
) -> list[Candidate]:
    """The candidate schedules of a block's stages in order of preference; at least one is legal.

    `reuse` are the reuse distances of the block's arguments. A candidate whose lower bound shows
    that it cannot clearly beat an earlier one is left out, unless `every` is set.
    """
    policies = Policies(kernel, block, machine, reuse=reuse)
    found = [policies.fused(chained=True)]
    better = machine.costs.loops.clearly_better
    if policies.has_chains and (every or policies.least_grouped < better * found[0].cycles):
        found.append(policies.fused(chained=False))
    most = better * min(one.cycles for one in found)
    if every or policies.least_apart < most:
        found.append(policies.apart())
    if all(one.fault for one in found):
        found.append(policies.plain())
    return found


def best(found: Sequence[Candidate], machine: Processor) -> Candidate:
    """The first legal candidate, or a later one that is expected to take clearly fewer cycles."""
    chosen, *others = [one for one in found if not one.fault]
    for one in others:
        if one.cycles < margin(machine) * chosen.cycles:
            chosen = one
    return chosen


def margin(machine: Processor) -> float:
    """A later candidate is taken if its cycles are below this fraction of an earlier one's."""
    return machine.costs.loops.clearly_better


def fewest_cycles(found: Sequence[C], machine: Machine) -> C:
    """The legal candidate of the fewest cycles: `best` for devices and FPGAs."""
    return min((one for one in found if not one.fault), key=lambda one: one.cycles)


def any_fewer(machine: Machine) -> float:
    """1: any candidate with fewer cycles is better. The `margin` that goes with `fewest_cycles`."""
    return 1.0


class Policies:
    """The ways of writing a schedule for the stages of a block."""

    def __init__(
        self,
        kernel: str,
        block: Block,
        machine: Processor,
        choices: Choices | None = None,
        reuse: Reuse = (),
    ) -> None:
        self.kernel, self.block, self.machine, self.reuse = kernel, block, machine, reuse
        self.choices = choices or Choices()
        self.least_apart = self.least_grouped = 0.0
        """The least cycles of stages in loops of their own, and of groups that share loops. Set by
        `fused`."""
        self.has_chains = False

    def fused(self, chained: bool) -> Candidate:
        """Groups of stages that share loops, and `chained` ones whose groups share outer loops."""

        def write(writer: ScheduleWriter) -> None:
            heuristics = Heuristics(writer, self.machine, choices=self.choices)
            self.least_apart = self.least([[s] for s in writer.plan.stages])
            for stage in list(writer.plan.stages):
                if worth_inlining(stage, writer.plan.stages) and self.choices.either(
                    f"inline {stage.index}", True
                ):
                    writer.put(inline, stage)
            groups = partition(writer.plan.stages, with_makers=True)
            joined = chains(groups, writer.plan) if chained else []
            if joined:
                self.has_chains = True
                self.least_grouped = self.least(list(g.maps) for g in groups)
            for chain in joined:
                heuristics.chain(chain)
            for group in groups:
                if not any(group in chain.groups for chain in joined):
                    heuristics.group(group)

        found = self._candidate("grouped", write)
        return replace(found, policy="chained") if chained and self.has_chains else found

    def apart(self) -> Candidate:
        """Each stage in loops of its own, without copies of its operands."""

        def write(writer: ScheduleWriter) -> None:
            heuristics = Heuristics(writer, self.machine, use_caches=False, choices=self.choices)
            for stage in writer.plan.stages:
                heuristics.alone(stage)

        return self._candidate("apart", write)

    def plain(self) -> Candidate:
        """The loops of the iteration spaces as they are, which are always legal."""
        return self._candidate("plain", lambda writer: None)

    def least(self, nests: Iterable[Sequence[Stage]]) -> float:
        """The least cycles of any schedule in which these stages share loops."""
        return least_cycles(nests, self.machine, self.reuse)

    def _candidate(self, name: str, write: Callable[[ScheduleWriter], None]) -> Candidate:
        writer = ScheduleWriter(self.kernel, stages_of(self.block))
        try:
            write(writer)
            place_nests(self.block, build_nest(writer.plan))
            found = prediction(writer.plan, self.machine, self.reuse)
            terms, tiles, cores = found.terms, found.tiles, found.cores
            return Candidate(name, writer.op, terms.cycles, "", terms, tiles, cores)
        except IllegalScheduleError as error:
            return Candidate(name, writer.op, fault=error.message)
        finally:
            discard_made(writer.plan)


def discard_made(plan: Plan) -> None:
    """Erase the stages that a plan added: copies of operands, sums of partial results."""
    for made, _ in plan.caches:
        caching.discard(made)
    for partial in plan.factored.values():
        rfactor.discard(partial)

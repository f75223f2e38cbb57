"""Schedules for devices: which loops become groups of threads, and which tile each group has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from ...dialects import memref
from ...dialects.marks import COMPUTES_AGAIN
from ...ir.core import Block, Value
from ...ir.decisions import Terms
from ...targets.groups import GroupMachine
from ..codegen.buffers import shrink_buffers
from ..model.extents import expected
from ..model.legality import IllegalScheduleError
from ..model.nest import build_nest
from ..model.places import place_nests
from ..model.stages import Stage, has_reuse, stages_of
from ..primitives.inline import inline
from ..primitives.rfactor import discard
from .candidates import Candidate, any_fewer, fewest_cycles
from .chains import chains
from .choices import Choices
from .copies import worth_inlining
from .group_heuristics import GroupHeuristics
from .grouping import Group, partition, spread
from .row_passes import PassWriter, row_passes
from .tile_batches import GroupTile
from .writer import ScheduleWriter

margin = any_fewer
IN_PASSES = "in passes"
"""The name of the schedule whose groups go over blocks of columns of their rows."""


def candidates(
    kernel: str,
    block: Block,
    machine: GroupMachine,
    every: bool = False,
    choices: Choices | None = None,
) -> list[GroupCandidate]:
    """The schedules of the stages of a block; one is legal."""
    writing = Writing(kernel, block, machine, choices)
    found = [writing.together()]
    if writing.has_passes and not (passes := writing.in_passes()).fault:
        return [passes]  # Stages are there twice for this schedule only.
    if writing.has_feeders:
        found.append(writing.together(fed=True))
    if writing.has_products:
        found.append(writing.together(staged=True))
        if writing.has_feeders:
            found.append(writing.together(fed=True, staged=True))
        if writing.leaves_room(found):
            found.append(writing.together(split=True))
        if writing.has_chains:
            found.append(writing.together(chained=True))
    if len(stages_of(block)) > 1:
        found.append(writing.apart())
    if writing.has_few_rows:
        found.append(writing.spread())
    if every or all(one.fault for one in found):
        found.append(writing.plain())
    return found


@dataclass(frozen=True)
class GroupCandidate(Candidate):
    """A schedule for a device, with the tiles of its launches."""

    tiles: tuple[GroupTile, ...] = ()
    has_products: bool = False
    """Whether some stages read elements more than once."""

    def __str__(self) -> str:
        return "; ".join((super().__str__(), *map(str, self.tiles)))

    def leaves_idle(self, machine: GroupMachine) -> bool:
        """Whether the longest launch of products leaves many cores without a group."""
        longest = max(self.tiles, key=lambda tile: tile.cycles, default=None)
        most = machine.costs.groups.most_idle
        return self.has_products and longest is not None and longest.idle(machine.cores) > most


def best(found: Sequence[GroupCandidate], machine: GroupMachine) -> GroupCandidate:
    """The legal candidate of the fewest cycles; if its products leave many cores without a group,
    another one that is as good and leaves few, if it has no more launches.

    One in which groups share sums has: its partial sums are written and read, so that it would take
    as long and move more.
    """
    fastest = fewest_cycles(found, machine)
    if machine.together == 1 or not fastest.leaves_idle(machine):
        return fastest
    most, launches = machine.costs.groups.alike * fastest.cycles, len(fastest.tiles)
    legal = [one for one in found if one.cycles <= most and len(one.tiles) <= launches]
    busy = [one for one in legal if not one.leaves_idle(machine)]
    return fewest_cycles(busy or [fastest], machine)


class Writing:
    """The ways of writing a schedule for the stages of a block."""

    def __init__(
        self, kernel: str, block: Block, machine: GroupMachine, choices: Choices | None = None
    ) -> None:
        self.kernel, self.block, self.machine = kernel, block, machine
        self.choices = choices or Choices()
        function = block.parent_op
        self.computes_again = function is not None and COMPUTES_AGAIN in function.attributes
        """Whether rows of a product are computed for each stage that reads them."""
        self.has_feeders = False
        """Whether some stages compute inputs of others piece by piece. Set by `together`."""
        self.has_products = False
        """Whether some stages read elements more than once. Set by `together`."""
        self.has_chains = False
        """Whether a product needs only the same rows of another one's result. Set by `together`."""
        self.has_few_rows = False
        """Whether there are fewer rows to reduce than cores. Set by `together`."""
        self.has_passes = False
        """Whether groups can go over blocks of the columns of such rows. Set by `together`."""

    def together(
        self, fed: bool = False, staged: bool = False, split: bool = False, chained: bool = False
    ) -> GroupCandidate:
        """A schedule in which stages share loops where they can.

        `fed`: producers of their inputs share the loops, too. Products: if `staged`, they copy
        operands into workgroup memory; if `split`, several groups share each sum; if `chained`,
        they pass their rows to the next product in workgroup memory.

        Of tiles that are as good, the one that wastes fewest lines may have parts of rows, whose
        producers then need launches of their own. The tile of the least cycles is compared, too.
        """
        leaves_feeders = False

        def write(heuristics: GroupHeuristics, only_cycles: bool = False) -> None:
            nonlocal leaves_feeders
            plan = heuristics.writer.plan
            self._inline(heuristics)
            heuristics.only_cycles = only_cycles
            heuristics.fed, heuristics.staged, heuristics.split = fed, staged, split
            groups = partition(plan.stages)
            heuristics.waiting = _by_themselves(groups)
            self.has_feeders |= any(group.feeders for group in groups)
            self.has_products |= any(has_reuse(group.host) for group in groups)
            self.has_few_rows |= any(self._has_few_rows(group) for group in groups)
            joined = [chain for chain in chains(groups, plan) if not chain.is_transform]
            self.has_chains |= bool(joined)
            self.has_passes |= self.computes_again and row_passes(groups, plan) is not None
            for chain in joined if chained else ():
                heuristics.chain(chain)
                groups = [group for group in groups if group not in chain.groups]
            parts = _parts(groups)
            for group in groups:
                is_part = any(group.host in stages for stages in parts)
                if not is_part and not heuristics.is_gone(group.host):
                    heuristics.group(group)
            for stages in parts:
                left = [stage for stage in stages if not heuristics.is_gone(stage)]
                if left:
                    heuristics.leaves_feeders = True
                    heuristics.beside(left)
            leaves_feeders = heuristics.leaves_feeders

        names = {"fed": fed, "staged": staged, "split": split, "chained": chained}
        name = " and ".join(name for name, is_so in names.items() if is_so)
        found = self._candidate(name or "grouped", write, hands_on=fed or chained)
        if not (fed and leaves_feeders and self.machine.together > 1):
            return found
        other = self._candidate(name, lambda h: write(h, only_cycles=True), hands_on=True)
        return other if not other.fault and (found.fault or other.cycles < found.cycles) else found

    def in_passes(self) -> GroupCandidate:
        """A schedule with one launch, whose groups go over blocks of columns of their rows."""

        def write(heuristics: GroupHeuristics) -> None:
            plan = heuristics.writer.plan
            self._inline(heuristics)
            found = row_passes(partition(plan.stages), plan)
            if found is None:
                raise IllegalScheduleError("the rows are not reduced in passes")
            PassWriter(heuristics, found).write()

        return self._candidate(IN_PASSES, write, hands_on=True)

    def spread(self) -> GroupCandidate:
        """A schedule in which all groups of the device share each reduction, in launches apart."""

        def write(heuristics: GroupHeuristics) -> None:
            self._inline(heuristics)
            heuristics.split = heuristics.spreads = True
            for group in spread(heuristics.writer.plan.stages):
                heuristics.group(group)

        return self._candidate("spread", write)

    def _has_few_rows(self, group: Group) -> bool:
        """Whether the rows that a group of stages reduces are fewer than the cores."""
        host = group.host
        rows = (e for e, kind in zip(host.extents, host.kinds, strict=True) if kind == "parallel")
        known = all(isinstance(extent, int) for extent in host.extents)
        return group.kind == "row" and known and prod(map(expected, rows)) < self.machine.cores

    def _inline(self, heuristics: GroupHeuristics) -> None:
        """Inline the stages for which that pays."""
        stages = heuristics.writer.plan.stages
        for stage in list(stages):
            if worth_inlining(stage, stages) and self.choices.either(f"inline {stage.index}", True):
                heuristics.writer.put(inline, stage)

    def named(self, policy: str) -> GroupCandidate:
        """The candidate of this name: `apart`, `plain`, or options such as `fed and staged`."""
        match policy:
            case "apart":
                return self.apart()
            case "plain":
                return self.plain()
            case "spread":
                return self.spread()
            case _ if policy == IN_PASSES:
                return self.in_passes()
        ways = policy.split(" and ")
        return self.together(*(way in ways for way in ("fed", "staged", "split", "chained")))

    def leaves_room(self, found: Sequence[GroupCandidate]) -> bool:
        """Whether a launch of the best candidate has fewer groups than can run at once."""
        legal = [one for one in found if not one.fault]
        most = self.machine.cores * self.machine.core_groups
        tiles = best(legal, self.machine).tiles if legal else ()
        return any(tile.groups < most for tile in tiles)

    def apart(self) -> GroupCandidate:
        """A schedule with a launch for each stage."""

        def write(heuristics: GroupHeuristics) -> None:
            for stage in heuristics.writer.plan.stages:
                heuristics.alone(stage)

        return self._candidate("apart", write)

    def plain(self) -> GroupCandidate:
        """A schedule with a thread for each result, which is always legal."""

        def write(heuristics: GroupHeuristics) -> None:
            for stage in heuristics.writer.plan.stages:
                heuristics.plain(stage)

        return self._candidate("plain", write)

    def _candidate(
        self, name: str, write: Callable[[GroupHeuristics], None], hands_on: bool = False
    ) -> GroupCandidate:
        """The schedule that `write` writes; if it `hands_on` blocks, they must fit a group."""
        writer = ScheduleWriter(self.kernel, stages_of(self.block))
        heuristics = GroupHeuristics(writer, self.machine, self.choices)
        try:
            write(heuristics)
            nests = build_nest(writer.plan)
            place_nests(self.block, nests)
            thread = self.machine.thread
            found = shrink_buffers(self.block, writer.plan, nests, thread)
            if hands_on and any(buffer.stays_whole(writer.plan, thread) for buffer in found):
                return GroupCandidate(name, writer.op, fault="a group's buffers do not fit")
            launched = heuristics.launched
            terms = Terms.sum(tile.terms for tile in (*launched, *heuristics.continued))
            terms = terms.plus("launches", heuristics.launch * len(launched))
            tiles, cores = tuple(launched), self.machine.cores
            own = name, writer.op, terms.cycles, "", terms
            return GroupCandidate(*own, tiles, cores, self.has_products)
        except IllegalScheduleError as error:
            return GroupCandidate(name, writer.op, fault=error.message)
        finally:
            for partial in writer.plan.factored.values():
                discard(partial)


def _by_themselves(groups: Sequence[Group]) -> set[Stage]:
    """Elementwise stages that share loops with no other stage, or that produce its inputs."""
    alone = {g.host for g in groups if g.kind == "map" and len(g.maps) == 1}
    return alone.union(*(group.feeders for group in groups))


def _parts(groups: Sequence[Group]) -> list[list[Stage]]:
    """Lists of stages that write parts of the same buffer and share no loops with other stages."""
    found: dict[Value, list[Stage]] = {}
    for group in groups:
        outputs = [a.value for a in group.host.outputs]
        if group.kind != "map" or len(group.maps) > 1 or len(outputs) > 1:
            continue
        if outputs[0].defined_by(memref.Alloc) is not None:
            found.setdefault(outputs[0], []).append(group.host)
    return [stages for stages in found.values() if len(stages) > 1]

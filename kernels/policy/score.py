"""The cycles that a schedule is expected to take: models of tiles and of memory on a whole plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from ...ir.decisions import Terms
from ...targets.processor import Processor
from ..model.extents import expected
from ..model.plan import Plan
from ..model.reuse import Reuse
from ..model.stages import Stage
from .bodies import widest_element, work_per_point
from .register_tile import Tile
from .tile_costs import TileEstimate
from .work import even_share, moving_terms


@dataclass(frozen=True)
class Prediction:
    """The predicted cost of a kernel under a plan, with the register tiles of its nests.

    `cores` is how many cores the nest that takes the most keeps busy.
    """

    terms: Terms
    tiles: tuple[Tile, ...]
    cores: int


def prediction(plan: Plan, machine: Processor, reuse: Reuse = ()) -> Prediction:
    """The predicted cost of one run of a kernel under a plan; parallel loops use all cores.

    `reuse` are the reuse distances of the kernel's arguments.
    """
    together: dict[Stage, list[Stage]] = {}
    for stage in plan.stages:
        together.setdefault(host_of(plan, stage), []).append(stage)
    nests: list[tuple[Terms, int]] = []
    for host, stages in together.items():
        work = Terms.sum(_terms_of(plan, stage, machine) for stage in stages)
        work = beside(work, moving_terms(stages, machine, reuse), machine)
        loops = [loop for loop in plan.order[host] if loop.at_once]
        if not loops:
            nests.append((work, 1))
            continue
        share = even_share(loops, machine)
        idle = work.cycles / machine.cores * (1 / share - 1)
        nests.append((work.scaled(1 / machine.cores).plus("parallel", idle), machine.cores))
    cores = max(nests, key=lambda nest: nest[0].cycles, default=(Terms(), 1))[1]
    tiles = tuple(tile_of(plan, host) for host in together)
    return Prediction(Terms.sum(terms for terms, _ in nests), tiles, cores)


def beside(work: Terms, moving: Terms, machine: Processor) -> Terms:
    """The cycles of computation and of the data movement that overlaps with it."""
    longer, other = sorted((work, moving), key=lambda one: one.cycles, reverse=True)
    return longer + other.scaled(machine.costs.algorithms.hidden)


def host_of(plan: Plan, stage: Stage) -> Stage:
    """The stage whose loops a stage is in: itself, unless it is fused into another's."""
    while (sharing := plan.sharing.get(stage)) is not None:
        stage = sharing.host
    return stage


def _terms_of(plan: Plan, stage: Stage, machine: Processor) -> Terms:
    window = unrolled_steps(plan, stage)
    costs = TileEstimate(stage, machine, frozenset(), plan.roots[stage], window=window)
    return costs.terms(tile_of(plan, stage))


def unrolled_steps(plan: Plan, stage: Stage) -> dict[int, int]:
    """How many steps of each reduction are unrolled around a stage's register tile."""
    loops = plan.order[stage]
    lanes = {loop.root.dims[-1] for loop in loops if loop.in_lanes}
    steps: dict[int, int] = {}
    for loop in loops:
        dim, extent = loop.root.dims[-1], loop.extent
        if loop.is_reduction and loop.is_unrolled and dim not in lanes and isinstance(extent, int):
            steps[dim] = steps.get(dim, 1) * -(-extent // loop.step)
    return steps


def tile_of(plan: Plan, stage: Stage) -> Tile:
    """The register tile that the vectorized and unrolled loops of a stage make up."""
    lane_dim, lanes, copies = None, 1, dict[int, int]()
    for loop in plan.order[stage]:
        dim = loop.root.dims[-1]
        if not loop.in_tile:
            continue
        assert isinstance(loop.extent, int)
        if loop.in_lanes:
            lane_dim, lanes = dim, loop.extent
        elif not loop.is_reduction:
            copies[dim] = copies.get(dim, 1) * max(1, -(-loop.extent // loop.step))
    return Tile(lane_dim, lanes, copies)


def least_cycles(nests: Iterable[Sequence[Stage]], machine: Processor, reuse: Reuse = ()) -> float:
    """A lower bound on the cycles of any schedule in which these stages share loops.

    It assumes that all cores work and that all arithmetic runs at the rate of full vectors.
    """
    total = 0.0
    for stages in nests:
        least = Terms({"arithmetic": sum(_least_arithmetic(stage, machine) for stage in stages)})
        total += beside(least, moving_terms(stages, machine, reuse), machine).cycles
    return total / machine.cores


def _least_arithmetic(stage: Stage, machine: Processor) -> float:
    points = prod(map(expected, stage.extents))
    width = widest_element(stage)
    lanes = machine.lanes(width)
    weight = work_per_point(stage, machine.costs.operations)
    return points * weight * machine.fma_cycles(lanes * width) / lanes

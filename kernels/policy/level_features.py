"""Features of a schedule's use of caches, for a learned model: numbers without a unit.

For each cache: the innermost loops' footprint relative to its size, how often that is fetched
again, and the time of fetching relative to the schedule's predicted time. So kernels of different
sizes, and machines with different caches, have similar features if they behave alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, prod

from ...targets.machine import Machine
from ..model.extents import expected
from ..model.plan import Loop, iterations
from ..model.stages import Stage
from .register_tile import Tile


def level_features(
    stage: Stage, tile: Tile, outside: Sequence[Loop], machine: Machine, cycles: float
) -> dict[str, float]:
    """The features of a stage with this register tile and these loops around it, outermost first;
    none on machines without caches.

    `cycles` is what the whole schedule is expected to take.
    """
    if not machine.caches:
        return {}
    footprints = _footprints(stage, tile, outside, machine.line_bytes)
    touched = sum(footprints[0])
    found = {"level.whole": log_ratio(touched, machine.caches[-1].bytes)}
    tiles = sum(footprints[-1])
    for name, capacity, bandwidth in machine.caches:
        filled = machine.costs.loops.cache_filled * capacity
        fits = next((k for k, one in enumerate(footprints) if sum(one) <= filled), len(outside))
        moved = _moved(stage, footprints[fits], outside[:fits])
        found |= {
            f"level.{name}.tile": log_ratio(tiles, capacity),
            f"level.{name}.filled": log_ratio(sum(footprints[fits]), capacity),
            f"level.{name}.again": log_ratio(moved, touched),
            f"level.{name}.part": log_ratio(moved / bandwidth, cycles),
        }
    return found


def _footprints(stage: Stage, tile: Tile, outside: Sequence[Loop], line: int) -> list[list[float]]:
    """Bytes of each access in the loops from each one inwards; the last row is the tile's."""
    accesses = [a for a in stage.accesses if not a.is_scalar]
    extents = [expected(e) for e in stage.extents]
    ranges = [min(tile.size(d), extents[d]) for d in range(stage.rank)]
    rows: list[list[float]] = []

    def add() -> None:
        row = []
        for access in accesses:
            *outer, inner = access.reach(ranges) or [1]
            row.append(prod(outer) * float(max(inner * access.element_bytes, line)))
        rows.insert(0, row)

    add()
    for loop in reversed(outside):
        left = iterations(loop)
        for dim in reversed(loop.root.dims):
            grown = min(extents[dim], ranges[dim] * left)
            left = max(1, -(-left * ranges[dim] // max(1, grown)))
            ranges[dim] = grown
        add()
    return rows


def _moved(stage: Stage, inside: Sequence[float], around: Sequence[Loop]) -> float:
    """Bytes that are read into a cache that holds what the loops inside of `around` touch.

    Operands that do not vary along the innermost of `around` stay in the cache.
    """
    accesses = [a for a in stage.accesses if not a.is_scalar]
    total = 0.0
    for access, bytes in zip(accesses, inside, strict=True):
        for k, loop in enumerate(reversed(around)):
            if k or not access.used.isdisjoint(loop.root.dims):
                bytes *= iterations(loop)
        total += bytes
    return total


def log_ratio(one: float, other: float) -> float:
    """The logarithm of `one / other` to the base of 2, within bounds for any numbers."""
    return max(-20.0, min(20.0, log2(max(one, 1e-6) / max(other, 1e-6))))

"""Which small reductions can be unrolled around a register tile: the window of a convolution."""

from __future__ import annotations

from collections.abc import Sequence

from ...targets.costs import TileCosts
from ..model.plan import Loop


def unrolled_window(reductions: Sequence[Loop], bodies: int, costs: TileCosts) -> list[Loop]:
    """The innermost reductions that are small enough to be unrolled around `bodies` bodies."""
    unrolled: list[Loop] = []
    for loop in reversed(reductions):
        extent = loop.extent
        if extent == 1:
            continue
        if loop.step != 1 or not isinstance(extent, int) or extent > costs.unrolled_window:
            break
        if bodies * extent > costs.bodies:
            break
        bodies *= extent
        unrolled.insert(0, loop)
    return unrolled


def extents_of(loops: Sequence[Loop]) -> dict[int, int]:
    """{last dimension: extent} of the loops with a constant extent."""
    return {l.dims[-1]: l.extent for l in loops if isinstance(l.extent, int)}

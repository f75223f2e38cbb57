"""Loops around a register tile, of which one may run in blocks."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.plan import Loop


@dataclass(frozen=True)
class Blocked:
    """The loops of a stage, of which at most one runs in blocks.

    A block stays in a cache while the other loops read all of theirs:

        for j, i                 for ib step 64
            body(j, i)     ->        for j, ir in 0..64
                                         body(j, ib + ir)
    """

    loops: list[Loop]
    """All loops; for the one that runs in blocks, its loop inside of a block (`ir` above)."""

    over: Loop | None = None
    """The loop over blocks (`ib` above); None where no loop runs in blocks."""

    def around(self, loops: list[Loop]) -> list[Loop]:
        """`loops` with the loop over blocks outside of all that have more than one iteration."""
        if self.over is None:
            return loops
        idle = [l for l in loops if l.extent == 1]
        return [*idle, self.over, *(l for l in loops if l not in idle)]

    def outermost(self, loops: list[Loop], dims: set[int]) -> list[Loop]:
        """`loops` with those over `dims` moved outermost, so that other stages can be fused there.

        If the blocked loop is itself over `dims`, the order stays: otherwise its two loops would be
        adjacent, and blocking pays only with other loops between them.
        """
        if not dims or (self.over is not None and set(self.over.root.dims) <= dims):
            return loops
        return sorted(loops, key=lambda l: l.extent != 1 and not set(l.root.dims) <= dims)

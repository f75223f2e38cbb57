"""The extents of loops while code is emitted, and how their iterations are divided into loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....dialects import arith
from ....ir.core import Value
from ....targets.processor import Processor
from ...model.lanes import unvectorizable
from ...model.nest import Node
from ...model.plan import Loop, Plan
from ...model.steps import remainders
from ..code import Code
from .axes import Inner, Number


@dataclass(frozen=True)
class Once:
    """A single iteration, which needs no loop."""

    lower: Number
    inner: Number
    """The extent of the inner half."""


@dataclass(frozen=True)
class Run:
    """Iterations that one loop executes."""

    lower: Number
    upper: Number
    step: int
    inner: Inner
    """The extent of the inner half in each iteration of the outer one."""


class Extents:
    """The extents of loops, given the loops around them that are being written."""

    def __init__(self, plan: Plan, code: Code, machine: Processor) -> None:
        self.plan = plan
        self.code = code
        self.machine = machine
        self.known: dict[Loop, Number] = {}
        self.masked: set[Loop] = set()
        """Loops inside of groups of threads that may have fewer iterations in the last group."""
        self.masks = False
        """Whether groups of threads mask their remainders, in the nest that is being written."""

    def extent(self, loop: Loop) -> Number:
        """The extent of a loop at this point; an inner half has one for each outer iteration."""
        known = self.known.get(loop.span)
        return known if known is not None else self.code.size(loop.extent)

    def bound(self, loop: Loop) -> Number:
        """The extent for which the grid of groups is sized; the last block may be shorter."""
        known = self.known.get(loop.span)
        if known is None and loop.span in self.masked and isinstance(loop.extent, int):
            return loop.extent
        return self.extent(loop)

    def give(self, node: Node, extent: Number | None) -> None:
        """Set the extent of a node's inner halves in the current iteration; None forgets it."""
        for loop in node.loops:
            if loop.rest is not None and extent is None:
                self.known.pop(loop.rest, None)
            elif loop.rest is not None and extent is not None:
                self.known[loop.rest] = extent

    def parts(self, loop: Loop) -> Iterator[tuple[int, Number]]:
        """(offset, extent of the inner half) for each iteration of an unrolled loop."""
        extent, step = self.extent(loop), loop.step
        if not isinstance(extent, int):
            yield 0, extent
            return
        for i in range(0, extent - step + 1, step):
            yield i, step
        if extent % step:
            yield extent - extent % step, extent % step

    # -- runs ----------------------------------------------------------------------------------

    def runs(self, node: Node) -> Iterator[Run | Once]:
        """The iterations of a loop: the whole steps, then the remainder.

        A loop over groups of threads is one run, whose last group masks what exceeds the extent.
        The iterator emits the bounds of a run when the run is requested, after the code of the runs
        before it.
        """
        lead = node.loops[0]
        extent, step = self.extent(lead), lead.step
        hands_on = lead.is_reduction and len(node.loops) > 1
        if self.masks and (lead.at_once or hands_on):
            yield Run(0, extent, step, self.share(node))
        elif isinstance(extent, int):
            full, rest = divmod(extent, step)
            if full == 1:
                yield Once(0, step)
            elif full:
                yield Run(0, full * step, step, step)
            if rest:
                yield Once(full * step, rest)
        elif lead.rest is None:
            yield Run(0, extent, 1, 1)
        elif self.masks and not lead.is_reduction:
            yield Run(0, extent, step, self.share(node))
        else:
            yield from self._of_open(node, extent, step)

    def share(self, node: Node) -> Inner:
        """The extent of the inner half in each group: a whole step, or less at the loop's end."""
        code, lead = self.code, node.loops[0]
        extent, step = self.bound(lead), lead.step
        in_block = self.masks and lead.span in self.masked
        if lead.rest is None or (isinstance(extent, int) and extent % step == 0 and not in_block):
            return step
        self.masked.update(loop.rest for loop in node.loops if loop.rest is not None)

        def left(iv: Value) -> Number:
            whole = code.as_value(self.extent(lead))
            rest = code.binary(arith.SubI, whole, iv)
            if in_block:  # Of the last block, there may be less than the grid counts.
                rest = code.binary(arith.MaxSI, rest, code.index(0))
            return code.minimum(step, rest)

        return left

    def _of_open(self, node: Node, extent: Value, step: int) -> Iterator[Run | Once]:
        """The iterations of a loop whose extent is known only at run time; see `runs`."""
        code = self.code

        def at_most(size: int) -> Inner:
            return lambda iv: code.minimum(size, code.binary(arith.SubI, extent, iv))

        granules = [g for loop in node.loops if (g := self._granule(loop)) is not None]
        granule = min(granules, default=None)
        if granule is None and node.at_once and _are_blocks(node.loops[0]):
            main = code.multiply(code.binary(arith.DivUI, extent, code.index(step)), step)
            yield Run(0, main, step, step)
            yield Once(main, code.binary(arith.SubI, extent, code.as_value(main)))
            return
        if granule is None:  # plain loops inside adapt to any extent
            yield Run(0, extent, step, at_most(step))
            return
        whole = code.binary(arith.DivUI, extent, code.index(step))
        main = code.multiply(whole, step)
        yield Run(0, main, step, step)
        if granule > 1 and self._can_mask(node):
            yield Run(main, extent, granule, at_most(granule))
            return
        first = [granule] if 1 < granule < step else []
        for inner in (*first, *remainders(granule if granule > 1 else step)):
            rest = code.binary(arith.SubI, extent, code.as_value(main))
            count = code.binary(arith.DivUI, rest, code.index(inner))
            end = code.add(main, code.multiply(count, inner)) if inner > 1 else extent
            yield Run(main, end, inner, inner)
            main = end

    def _can_mask(self, node: Node) -> bool:
        """Whether the machine can mask all that a loop reads, computes and writes."""
        if any(unvectorizable(stage, self.machine) for stage in node.stages()):
            return False
        widths = {
            getattr(access.element_type, "byte_width", 8)
            for stage in node.stages()
            for access in stage.accesses
            if not access.is_scalar
        }
        return all(map(self.machine.can_mask, widths))

    def _granule(self, outer: Loop) -> int | None:
        """The step of a remainder loop: a vector where there is one inside, else one.

        None if the first loop inside is a plain one, which needs no constant extent.
        """
        order = self.plan.order[outer.stage]
        inside = [loop for loop in order if _stems_from(loop, outer.rest)]
        if not inside[0].in_tile:
            return None
        last = inside[-1]
        return last.extent if last.in_lanes else 1  # type: ignore[return-value]


def _are_blocks(loop: Loop) -> bool:
    """Whether the iterations of a loop's inner half run in parallel, too."""
    rest = loop.rest
    return rest is not None and (rest if rest.parts is None else rest.parts[0]).at_once


def _stems_from(loop: Loop, whole: Loop | None) -> bool:
    """Whether a loop is a part of another, through splits."""
    if whole is None:
        return False
    if loop is whole:
        return True
    return whole.parts is not None and any(_stems_from(loop, part) for part in whole.parts)

"""The loops of a kernel's stages.

A `Plan` starts with one loop per dimension and stage and is changed by the primitives (`split`,
`reorder`, `fuse`, ..) until `nest.py` makes a tree of it.

A loop counts in units of the dimension it stems from: after a split by 16, the outer loop
takes the values 0, 16, 32, .. and the inner one 0 to 15, so that the dimension's coordinate
is simply the sum of its loops' values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...ir.core import Operation, Value
from ...ir.location import Location
from ...ir.polynomial import Size
from .binding import SERIAL, Binding
from .extents import expected, least
from .stages import Access, Stage, correspondences


@dataclass(eq=False)
class Loop:
    """One loop of a stage.

    `extent` is how many values of the dimension the loop covers, in steps of `step`. For the inner
    half of a split it is that of a full step; the last one, the remainder, may be shorter. The
    outer half of a split covers the loop that was split, its `span`, and sets the extent of its
    inner half, `rest`, in each iteration. The `span` of any other loop is the loop itself.
    """

    stage: Stage
    dims: tuple[int, ...]
    extent: Size
    name: str = ""
    step: int = 1
    span: Loop = field(init=False)
    root: Loop = field(init=False)
    rest: Loop | None = None
    parts: tuple[Loop, Loop] | None = None
    binding: Binding = SERIAL
    partial: bool = False
    """Whether each iteration of an unrolled reduction has a partial result of its own."""
    most_bodies: int = 0
    """The limit on copies of the body when the loop is unrolled."""
    sums: int = 0
    """The limit on partial results of an unrolled loop, counted over all copies."""
    accumulates: bool = False
    is_factored: bool = False
    """Whether each iteration of a reduction has its own results in memory."""
    threads: int = 0
    """The number of device threads that share an iteration; 0 if not set."""
    is_shared: bool = False
    """Whether several stages run in the loop, so that primitives must leave it as it is."""
    is_alive: bool = True
    primitives: tuple[Operation, ...] = ()
    """The operations of the schedule that created or annotated the loop, in order."""

    def __post_init__(self) -> None:
        self.span = self.root = self

    @property
    def in_tile(self) -> bool:
        """Whether its iterations are elements of an n-dimensional vector."""
        return self.binding.in_tile

    @property
    def in_lanes(self) -> bool:
        """Whether its iterations lie along the last dimension of a vector."""
        return self.binding.in_lanes

    @property
    def is_unrolled(self) -> bool:
        """Whether its iterations lie along a dimension of a vector other than the last."""
        return self.binding.in_tile and not self.binding.in_lanes

    @property
    def at_once(self) -> bool:
        """Whether its iterations may run at the same time."""
        return self.binding.at_once

    @property
    def is_serial(self) -> bool:
        """Whether its iterations run one after the other, as every loop starts."""
        return self.binding is SERIAL

    @property
    def is_reduction(self) -> bool:
        return self.stage.kinds[self.dims[0]] == "reduction" and not self.is_factored


def iterations(loop: Loop) -> int:
    """The number of a loop's iterations; an expected one if it is not known."""
    return max(1, -(-expected(loop.extent) // loop.step))


def sure_iterations(loop: Loop) -> int:
    """A low estimate of the number of a loop's iterations."""
    return max(1, -(-least(loop.extent) // loop.step))


@dataclass(eq=False)
class Sharing:
    """A stage fused into another: the loops they share, and which dimensions correspond."""

    host: Stage
    depth: int
    dims: dict[int, int]
    location: Location


@dataclass(frozen=True)
class Ahead:
    """How an operand is prefetched: `elements` elements before it is read.

    With loops `over`, all their iterations read the same `elements` elements, and each of them
    prefetches another part of the elements that follow. After `passes` iterations all are
    prefetched; if that is 0, after the least number of iterations that is certain.
    """

    elements: int
    over: tuple[Loop, ...] = ()
    passes: int = 0


@dataclass(frozen=True)
class Border:
    """The padding of an operand of `sizes`: along each dimension, `begin` and `end` copies of
    `number` before its first and after its last elements. Dimensions with padding have known sizes.
    """

    begin: tuple[int, ...]
    sizes: tuple[Size, ...]
    end: tuple[int, ...]
    number: Value


@dataclass(frozen=True)
class Cached:
    """An operand copied into workgroup memory: each iteration of loop `at` copies its part.

    Dimension i of the copy is dimension `order[i]` of the operand. With several buffers, parts are
    copied `buffers` - 1 iterations ahead. With a border, the operand is the part inside of it, at
    subscripts from 0 on; copies include the border.
    """

    at: Loop
    order: tuple[int, ...]
    buffers: int
    location: Location
    border: Border | None = None


@dataclass(frozen=True)
class Factored:
    """Partial results: each iteration of `loop` has its own, and stage `combined` combines them.

    The operations in `before` make the buffer that holds them; they are in no block until the
    loops are made.
    """

    loop: Loop
    combined: Stage
    before: tuple[Operation, ...]


class Plan:
    """The loops of all stages of a kernel, in order, and which stages share loops."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = list(stages)
        self.caches: list[tuple[Stage, Stage]] = []
        """(copying stage, the stage that reads the copy) for each cached operand."""
        self.inlined: list[Stage] = []
        """The stages that were removed."""
        self.prefetched: dict[Access, Ahead] = {}
        """The operands that are prefetched."""
        self.cached: dict[Access, Cached] = {}
        """The operands that groups copy to workgroup memory."""
        self.factored: dict[Access, Factored] = {}
        """The results that each iteration of some loop has its own copy of, by their accesses."""
        self.roots: dict[Stage, list[Loop]] = {}
        self.order: dict[Stage, list[Loop]] = {}
        self.sharing: dict[Stage, Sharing] = {}
        self._correspondences: dict[Stage, dict[Stage, dict[int, int]]] = {}
        for stage in stages:
            self._add_loops(stage)

    def _add_loops(self, stage: Stage) -> None:
        loops = [Loop(stage, (d,), extent, f"d{d}") for d, extent in enumerate(stage.extents)]
        self.roots[stage] = loops
        self.order[stage] = list(loops)

    def replace(self, loops: Sequence[Loop], by: Sequence[Loop]) -> None:
        """Replace adjacent loops of one stage by others."""
        order = self.order[loops[0].stage]
        at = order.index(loops[0])
        order[at : at + len(loops)] = by

    def insert(self, stage: Stage, before: Stage) -> None:
        """Insert a stage before the one that reads its results."""
        self.stages.insert(self.stages.index(before), stage)
        self._add_loops(stage)
        self._renumber()

    def insert_after(self, stage: Stage, other: Stage) -> None:
        """Insert a stage after the one whose results it reads."""
        self.stages.insert(self.stages.index(other) + 1, stage)
        self._add_loops(stage)
        self._renumber()

    def remove(self, stage: Stage) -> None:
        """Remove a stage whose readers read another buffer instead."""
        self.stages.remove(stage)
        self.inlined.append(stage)
        for loop in self.order[stage]:
            loop.is_alive = False
        self._renumber()

    def _renumber(self) -> None:
        for i, one in enumerate(self.stages):
            one.index = i
        self._correspondences.clear()

    def leading(self, stage: Stage) -> list[Loop]:
        """For each loop of a stage, in order, the loop that says how it is executed: of shared
        loops, the host's.
        """
        order, share = list(self.order[stage]), self.sharing.get(stage)
        if share is not None:
            order[: share.depth] = self.leading(share.host)[: share.depth]
        return order

    def matching_dims(self, stage: Stage, host: Stage) -> dict[int, int]:
        """Dimensions of a stage and of its host that correspond, through buffers."""
        known = self._correspondences.get(host)
        if known is None:
            known = self._correspondences[host] = correspondences(host, self.stages)
        return known.get(stage, {})

"""The loops of a kernel's stages, and the scheduling operations on them.

A `Plan` starts with one loop per dimension and stage and is changed by `split`, `reorder`,
`fuse`, .. until `nest.py` makes a tree of it.

A loop counts in units of the dimension it stems from: after a split by 16, the outer loop
takes the values 0, 16, 32, .. and the inner one 0 to 15, so that the dimension's coordinate
is simply the sum of its loops' values.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...ir.core import Operation
from ...ir.location import Location
from ..primitives.caching import cached
from ..primitives.inlining import inline
from .polynomial import Size
from .stages import Access, Stage, correspondences


@dataclass(eq=False)
class Loop:
    """One loop of a stage.

    `extent` is the number of values of the dimension it walks over in steps of `step`, as
    far as it is known; for the inner half of a split, where there is no remainder. It walks
    the extent of `span` (itself, but for the outer half of a split) and, when it is entered,
    gives `rest` (the inner half) its extent.
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
    kind: str = "for"
    partial: bool = False
    accumulates: bool = False
    is_shared: bool = False
    is_alive: bool = True

    def __post_init__(self) -> None:
        self.span = self.root = self

    @property
    def is_reduction(self) -> bool:
        return self.stage.kinds[self.dims[0]] == "reduction"


@dataclass(eq=False)
class Sharing:
    """A stage fused into another: the loops they share, and which dimensions correspond."""

    host: Stage
    depth: int
    dims: dict[int, int]
    location: Location


class Plan:
    """The loops of all stages of a kernel, in order, and which stages share loops."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = list(stages)
        self.caches: list[tuple[Stage, Stage]] = []
        """(copying stage, the stage that reads the copy) for each cached operand."""
        self.inlined: list[Stage] = []
        self.prefetched: dict[Access, int] = {}
        """How many elements ahead an operand is asked for wherever it is read."""
        self.roots: dict[Stage, list[Loop]] = {}
        self.order: dict[Stage, list[Loop]] = {}
        self.sharing: dict[Stage, Sharing] = {}
        self._correspondences: dict[Stage, dict[Stage, dict[int, int]]] = {}
        for stage in stages:
            self._add_loops(stage)

    def _add_loops(self, stage: Stage) -> None:
        loops = [Loop(stage, (d,), extent) for d, extent in enumerate(stage.extents)]
        self.roots[stage] = loops
        self.order[stage] = list(loops)

    # -- primitives; `op` is the scheduling operation, for messages --------------------------

    def split(self, loop: Loop, factor: int, op: Operation) -> tuple[Loop, Loop]:
        """The outer and inner half; see `schedule.split`."""
        self._check_free(loop, op)
        if loop.kind != "for":
            raise op.error(f"the loop is already {_participle(loop.kind)}")
        if loop.rest is not None:
            raise op.error("the outer half of a split cannot be split again; split the inner one")
        extent = loop.extent
        outer = Loop(loop.stage, loop.dims, extent, step=factor)
        inner_extent = min(factor, max(extent, 1)) if isinstance(extent, int) else factor
        inner = Loop(loop.stage, loop.dims, inner_extent)
        outer.root = inner.root = loop.root
        outer.span, outer.rest = loop, inner
        loop.parts, loop.is_alive = (outer, inner), False
        order = self.order[loop.stage]
        at = order.index(loop)
        order[at : at + 1] = [outer, inner]
        return outer, inner

    def collapse(self, loops: Sequence[Loop], op: Operation) -> Loop:
        """One loop over several whole dimensions; see `schedule.collapse`."""
        stage = self._one_stage(loops, op)
        for loop in loops:
            self._check_free(loop, op)
            if loop.root is not loop or loop.kind != "for":
                raise op.error("takes whole loops, neither split nor already scheduled")
        for a, b in itertools.pairwise(loops):
            if reason := not_collapsible(stage, a.dims[-1], b.dims[0]):
                raise op.error(reason)
        order = self.order[stage]
        at = order.index(loops[0])
        if order[at : at + len(loops)] != list(loops):
            raise op.error("the loops are not adjacent in this order")
        extent: Size = 1
        for loop in loops:
            extent = extent * loop.extent
            loop.is_alive = False
        merged = Loop(stage, tuple(d for loop in loops for d in loop.dims), extent)
        order[at : at + len(loops)] = [merged]
        self.roots[stage] = [r for r in self.roots[stage] if r not in loops] + [merged]
        return merged

    def reorder(self, loops: Sequence[Loop], op: Operation) -> None:
        """Permute loops within the places they take; see `schedule.reorder`."""
        stage = self._one_stage(loops, op)
        for loop in loops:
            self._check_free(loop, op)
        order = self.order[stage]
        places = sorted(order.index(loop) for loop in loops)
        if len(set(places)) != len(loops):
            raise op.error("names a loop twice")
        for place, loop in zip(places, loops, strict=True):
            order[place] = loop

    def set_kind(self, loop: Loop, kind: str, op: Operation, partial: bool = False) -> None:
        """Make a loop parallel, unrolled or vectorized."""
        self._check_alive(loop, op)
        if loop.kind != "for":
            raise op.error(f"the loop is already {_participle(loop.kind)}")
        if kind in ("unroll", "vector") and not isinstance(loop.extent, int):
            raise op.error("the loop's extent is not known; split it first")
        if loop.is_shared and kind != "parallel":
            raise op.error("a loop shared with a fused stage can only be made parallel")
        if kind == "vector" and loop.step != 1:
            raise op.error("the outer half of a split cannot be vectorized")
        loop.kind, loop.partial = kind, partial

    def accumulate(self, loop: Loop, op: Operation) -> None:
        """Keep results in registers while the loop runs; see `schedule.accumulate`."""
        self._check_alive(loop, op)
        loop.accumulates = True

    def fuse(self, stage: Stage, at: Loop, op: Operation, rolled: bool = False) -> None:
        """Compute a stage inside a loop of another; see `schedule.fuse`."""
        host = at.stage
        self._check_alive(at, op)
        if stage is host:
            raise op.error("cannot fuse a stage into itself")
        if at.kind == "vector":
            raise op.error("cannot fuse inside the lanes of a vector; fuse further outside")
        if stage in self.sharing:
            raise op.error("the stage is already fused")
        if any(s.host is stage for s in self.sharing.values()):
            raise op.error("another stage is already fused into this one")
        matches = self.matching_dims(stage, host)
        depth = self.order[host].index(at) + 1
        self._mirror(stage, host, matches, depth, op, rolled)
        for loop in (*self.order[host][:depth], *self.order[stage][:depth]):
            loop.is_shared = True
        self.sharing[stage] = Sharing(host, depth, matches, op.loc)

    def cache(self, stage: Stage, number: int, order: Sequence[int], op: Operation) -> Stage:
        """A stage that copies an operand of another, which reads the copy."""
        self._check_unfused(stage, op)
        self._check_uncollapsed(stage, op)
        made = cached(stage, number, order, op)
        self.stages.insert(self.stages.index(stage), made)
        self._add_loops(made)
        self._renumber()
        self.caches.append((made, stage))
        return made

    def _renumber(self) -> None:
        for i, one in enumerate(self.stages):
            one.index = i
        self._correspondences.clear()

    def prefetch(self, stage: Stage, number: int, ahead: int, op: Operation) -> None:
        """Ask for an operand ahead of its use; see `schedule.prefetch`."""
        access = next((a for a in stage.inputs if a.number == number), None)
        if access is None or access.is_scalar or access.coefficients is None:
            raise op.error(f"the stage has no input buffer {number} that it reads linearly")
        self.prefetched[access] = ahead

    def inline(self, stage: Stage, op: Operation) -> None:
        """Remove a stage that only copies; its readers read what it copies."""
        self._check_unfused(stage, op)
        for reader in inline(stage, self.stages, op):
            self._check_uncollapsed(reader, op)
        self.stages.remove(stage)
        self.inlined.append(stage)
        for loop in self.order[stage]:
            loop.is_alive = False
        self._renumber()

    # -- fusing ------------------------------------------------------------------------------

    def matching_dims(self, stage: Stage, host: Stage) -> dict[int, int]:
        """Dimensions of a stage and of its host that correspond, through buffers."""
        known = self._correspondences.get(host)
        if known is None:
            known = self._correspondences[host] = correspondences(host, self.stages)
        return known.get(stage, {})

    def _mirror(
        self,
        stage: Stage,
        host: Stage,
        matches: dict[int, int],
        depth: int,
        op: Operation,
        rolled: bool,
    ) -> None:
        """Give the stage the host's loops: `depth` shared ones first, then the inner ones."""
        to_stage = {theirs: ours for ours, theirs in matches.items()}
        twins: dict[Loop, Loop] = {}
        shared = self.order[host][:depth]
        for root in self.roots[host]:
            own = self._twin_of_root(stage, root, to_stage, op)
            if own is not None:
                self._mirror_splits(root, own, twins, op)
        for loop in shared:
            if loop not in twins:
                raise op.error(
                    "the stage has no loop that corresponds to "
                    f"dimension {loop.dims[0]} of the stage it is fused into"
                )
        inner = [twins[loop] for loop in self.order[host][depth:] if loop in twins]
        for loop in self.order[host]:
            keep = loop.kind == "vector" or (loop.kind == "unroll" and not rolled)
            if loop in twins and (keep or loop in shared):
                twins[loop].kind = loop.kind if loop.kind != "parallel" else "for"
        mirrored = set(twins.values())
        own_loops = [loop for loop in self.order[stage] if loop not in mirrored]
        rest = [*inner, *(loop for loop in own_loops if loop.kind != "for")]
        self.order[stage] = [
            *(twins[loop] for loop in shared),
            *(loop for loop in own_loops if loop.kind == "for"),
            *sorted(rest, key=lambda loop: ("for", "unroll", "vector").index(loop.kind)),
        ]

    def _twin_of_root(
        self, stage: Stage, root: Loop, to_stage: dict[int, int], op: Operation
    ) -> Loop | None:
        """The stage's loop over the same dimensions, untouched or split; None if there is none."""
        dims = [to_stage[d] for d in root.dims if d in to_stage]
        if len(dims) < len(root.dims):
            return None
        own = {r.dims: r for r in self.roots[stage]}
        loops = [own.get((d,)) for d in dims]
        if len(loops) == 1 and loops[0] is not None and loops[0].parts is not None:
            return loops[0]
        if any(r is None or not r.is_alive or r.kind != "for" for r in loops):
            return None
        if len(loops) == 1:
            return loops[0]
        order = self.order[stage]
        places = sorted(order.index(r) for r in loops)  # type: ignore[arg-type]
        for place, loop in zip(places, loops, strict=True):
            order[place] = loop  # type: ignore[assignment]
        return self.collapse(loops, op)  # type: ignore[arg-type]

    def _mirror_splits(
        self, theirs: Loop, own: Loop, twins: dict[Loop, Loop], op: Operation
    ) -> None:
        if theirs.parts is None:
            if own.parts is None:
                twins[theirs] = own
            return
        outer, inner = theirs.parts
        if own.parts is not None and own.parts[0].step != outer.step:
            return
        own_outer, own_inner = own.parts or self.split(own, outer.step, op)
        self._mirror_splits(outer, own_outer, twins, op)
        self._mirror_splits(inner, own_inner, twins, op)

    # -- checks ------------------------------------------------------------------------------

    def _check_alive(self, loop: Loop, op: Operation) -> None:
        if not loop.is_alive:
            raise op.error("the loop is gone: it was split or collapsed, or its stage inlined")

    def _check_free(self, loop: Loop, op: Operation) -> None:
        self._check_alive(loop, op)
        if loop.is_shared:
            raise op.error("the loop is shared with a fused stage and cannot be changed any more")

    def _check_unfused(self, stage: Stage, op: Operation) -> None:
        if stage in self.sharing or any(s.host is stage for s in self.sharing.values()):
            raise op.error("must come before the stage is fused with others")

    def _check_uncollapsed(self, stage: Stage, op: Operation) -> None:
        """Collapsed loops need operands that are contiguous over them; another may not be."""
        if any(len(loop.dims) > 1 for loop in self.roots[stage]):
            raise op.error("must come before loops of the stage that reads are collapsed")

    def _one_stage(self, loops: Sequence[Loop], op: Operation) -> Stage:
        if not loops:
            raise op.error("expects at least one loop")
        if any(loop.stage is not loops[0].stage for loop in loops):
            raise op.error("expects loops of one stage")
        return loops[0].stage


def not_collapsible(stage: Stage, a: int, b: int) -> str | None:
    """Why dimension `a` and, inside it, `b` cannot become one loop; None if they can."""
    if stage.kinds[a] != stage.kinds[b]:
        return "cannot collapse a parallel loop with a reduction"
    if stage.indexed_dims & {a, b}:
        return "the body uses the coordinates of the loops"
    for access in stage.accesses:
        if access.is_scalar:
            continue
        if access.coefficients is None:
            return f"operand {access.number} is not indexed linearly"
        if access.coefficients[a] != access.coefficients[b] * stage.extents[b]:
            return f"operand {access.number} is not contiguous over the loops"
    return None


def _participle(kind: str) -> str:
    return {"unroll": "unrolled", "vector": "vectorized"}.get(kind, kind)

"""Which stages of a kernel share loops.

A *tile* group has a host with reuse, a matrix product or a convolution; stages over the same
results join it per register tile: its initial value, what is done with its results. A *row*
group is a chain of reductions and elementwise stages over common outer dimensions, such as
softmax. A *map* group is elementwise only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...dialects import memref
from ..model.nest import depends
from ..model.stages import Stage, correspondences, has_reuse


@dataclass
class Group:
    """Stages that share the loops of one of them, the host.

    `maps` has, for each stage, {its dimension: the dimension of the host that it corresponds to}.
    """

    host: Stage
    kind: str
    maps: dict[Stage, dict[int, int]] = field(default_factory=dict)
    feeders: dict[Stage, dict[int, int]] = field(default_factory=dict)
    """Stages that make an input of the host, over some of its parallel dimensions."""
    rows: frozenset[int] = frozenset()
    """The host's dimensions that all stages of a row group run over together."""

    def __post_init__(self) -> None:
        self.maps.setdefault(self.host, {d: d for d in range(self.host.rank)})

    @property
    def members(self) -> list[Stage]:
        """All stages but the host, in order."""
        return sorted((s for s in self.maps if s is not self.host), key=lambda s: s.index)


def partition(stages: Sequence[Stage], *, with_makers: bool = False) -> list[Group]:
    """Divide stages into groups: each is in exactly one.

    A group's feeders are stages that write the inputs of its host. With `with_makers`, stages that
    write the inputs of feeders are feeders, too.
    """
    groups: list[Group] = []
    taken: set[Stage] = set()
    for stage in stages:
        if stage not in taken and has_reuse(stage):
            group = _tile_group(stage, stages, taken)
            if with_makers:
                _add_makers(group, stages, taken)
            groups.append(group)
            taken.update(group.maps, group.feeders)
    rest = [s for s in stages if s not in taken]
    while rest:
        group = _run_group(rest, stages)
        groups.append(group)
        rest = [s for s in rest if s not in group.maps]
    return groups


def spread(stages: Sequence[Stage]) -> list[Group]:
    """Divide stages into groups that share no rows, so that each can use a whole device.

    A reduction has loops with what initializes it and with stages over its results. Of the others,
    those that follow one another over equal extents share loops.
    """
    groups: list[Group] = []
    taken: set[Stage] = set()
    for stage in stages:
        if stage not in taken and stage.has_reduction:
            group = _tile_group(stage, stages, taken)
            group.feeders.clear()
            groups.append(group)
            taken.update(group.maps)
    rest = [s for s in stages if s not in taken]
    while rest:
        run = _leading_run(rest)
        alike = next((i for i, s in enumerate(run) if s.extents != run[0].extents), len(run))
        group = _map_group(run[:alike])
        groups.append(group)
        rest = [s for s in rest if s not in group.maps]
    return groups


def _dims(stage: Stage, kind: str) -> list[int]:
    return [d for d, k in enumerate(stage.kinds) if k == kind]


def _tile_group(host: Stage, stages: Sequence[Stage], taken: set[Stage]) -> Group:
    group = Group(host, "tile")
    maps = correspondences(host, stages)
    parallel = set(_dims(host, "parallel"))
    alike = {
        stage: found
        for stage in stages
        if stage not in taken
        and not stage.has_reduction
        and len(found := maps.get(stage, {})) == stage.rank
        and set(found.values()) == parallel
    }
    for stage in reversed(stages[: host.index]):
        initializes = stage in alike and _initializes(stage, host)
        if initializes and not _between(stage, group, stages):
            group.maps[stage] = alike[stage]
    # What depends on the group and is not in it comes after it; the rest can come before it.
    blocked: set[Stage] = set()
    for stage in stages[host.index + 1 :]:
        needs = any(depends(s, stage) for s in group.maps)
        waits = any(depends(s, stage) for s in blocked)
        if needs and not waits and stage in alike:
            group.maps[stage] = alike[stage]
        elif needs or waits:
            blocked.add(stage)
    for stage in reversed(stages[host.index + 1 :]):
        readers = [s for s in stages[stage.index + 1 :] if depends(stage, s)]
        if stage in alike and readers and all(s in group.maps for s in readers):
            group.maps[stage] = alike[stage]
    _add_feeders(group, stages, taken, maps)
    return group


def _add_feeders(
    group: Group, stages: Sequence[Stage], taken: set[Stage], maps: dict[Stage, dict[int, int]]
) -> None:
    """Stages that write, right before the host, a buffer that only it reads: padding, say.

    Left out are stages that read the results of a reduction, which have rows of their own, and
    stages with another one between them and the host, such as one that writes at an offset known
    only at run time.
    """
    host = group.host
    reduced = _reduced(stages[: host.index])
    parallel = set(_dims(host, "parallel"))
    for access in host.inputs:
        if access.value.defined_by(memref.Alloc) is None:
            continue
        users = [s for s in stages if any(a.value is access.value for a in s.accesses)]
        writers = [s for s in users if s is not host]
        fits = all(
            s.index < host.index
            and s not in taken
            and s not in group.maps
            and s not in reduced
            and all(a.value is not access.value for a in s.inputs)
            and sum(a.value is access.value for a in s.outputs) == 1
            for s in writers
        )
        shared = [
            {d for d in maps.get(s, {}).values() if d in parallel and host.extents[d] != 1}
            for s in writers
        ]
        if not writers or not fits or _stands_between(writers, host, stages):
            continue
        if set.intersection(*shared):
            group.feeders.update({s: maps[s] for s in writers})


def _reduced(stages: Sequence[Stage]) -> set[Stage]:
    """The reductions among stages, and what depends on them."""
    found: set[Stage] = set()
    for stage in stages:
        if stage.has_reduction or any(depends(s, stage) for s in found):
            found.add(stage)
    return found


def _add_makers(group: Group, stages: Sequence[Stage], taken: set[Stage]) -> None:
    """Stages that write buffers which only feeders read, over all dimensions that these share: a
    change of layout before padding, say.
    """
    if not group.feeders:
        return
    maps = correspondences(group.host, stages)
    fed = set.intersection(*(set(found.values()) for found in group.feeders.values()))
    dims = {d for d in fed if group.host.extents[d] != 1}
    left_out = taken | _reduced(stages[: group.host.index])
    for stage in reversed(stages[: group.host.index]):
        made = {access.value for access in stage.outputs}
        readers = [s for s in stages if any(a.value in made for a in s.accesses) and s is not stage]
        if (
            readers
            and stage not in left_out
            and all(value.defined_by(memref.Alloc) is not None for value in made)
            and all(s in group.feeders for s in readers)
            and dims <= set(maps.get(stage, {}).values())
        ):
            group.feeders[stage] = maps[stage]


def _stands_between(writers: Sequence[Stage], host: Stage, stages: Sequence[Stage]) -> bool:
    """Whether a stage between a writer and the host depends on that writer."""
    first = min(s.index for s in writers)
    others = [s for s in stages[first : host.index] if s not in writers]
    return any(depends(writer, s) for s in others for writer in writers if writer.index < s.index)


def _initializes(stage: Stage, host: Stage) -> bool:
    """Whether a stage writes what the host reduces into."""
    results = {a.value for a in host.outputs}
    return any(a.value in results for a in stage.outputs)


def _between(stage: Stage, group: Group, stages: Sequence[Stage]) -> list[Stage]:
    """Stages outside of the group, between it and an earlier stage, that use its buffers."""
    return [
        s
        for s in stages[stage.index + 1 : group.host.index]
        if s not in group.maps and (depends(stage, s))
    ]


def _run_group(rest: Sequence[Stage], stages: Sequence[Stage]) -> Group:
    """The first of the remaining stages with all following ones that can share its loops."""
    run = _leading_run(rest)
    reductions = [s for s in run if s.has_reduction]
    if not reductions:
        return _map_group(run)
    host = reductions[0]
    group = Group(host, "row")
    maps = correspondences(host, run)
    parallel = _dims(host, "parallel")
    # A reduced dimension that is kept has one element here, and more in other stages.
    rows = {d for d in parallel if host.extents[d] != 1}
    others = [set(m.values()) for s, m in maps.items() if s is not host and rows <= set(m.values())]
    rows |= {d for d in parallel if others and all(d in dims for dims in others)}
    if not rows:
        return group
    group.rows = frozenset(rows)
    for stage in run:
        found = maps.get(stage, {})
        kinds = {stage.kinds[a] for a, b in found.items() if b in rows}
        if stage is not host and rows <= set(found.values()) and kinds == {"parallel"}:
            group.maps[stage] = found
    _keep_convex(group, stages)
    return group


def _leading_run(rest: Sequence[Stage]) -> list[Stage]:
    """The first remaining stages whose indices follow one another without a gap."""
    run = [rest[0]]
    for stage in rest[1:]:
        if stage.index != run[-1].index + 1:
            break
        run.append(stage)
    return run


def _map_group(run: list[Stage]) -> Group:
    first = run[0]
    group = Group(first, "map")
    maps = correspondences(first, run)
    for stage in run[1:]:
        if stage.rank != first.rank:
            continue
        found = maps.get(stage, {})
        if len(found) == stage.rank and any(depends(s, stage) for s in group.maps):
            group.maps[stage] = found
    _keep_convex(group, run)
    return group


def _keep_convex(group: Group, stages: Sequence[Stage]) -> None:
    """Remove members that depend on a stage outside of the group which depends on the group."""
    changed = True
    while changed:
        changed = False
        members = sorted(group.maps, key=lambda s: s.index)
        low, high = members[0].index, members[-1].index
        after: set[Stage] = set()
        for stage in stages:
            if not low <= stage.index <= high:
                continue
            inside = stage in group.maps
            behind = any(depends(s, stage) for s in after)
            if inside and behind and stage is not group.host:
                del group.maps[stage]
                changed = True
                break
            if not inside and (
                behind or any(depends(s, stage) for s in members if s.index < stage.index)
            ):
                after.add(stage)

"""Chains of groups that share outer loops: a product, operations on its rows, a product.

    for each head                                for each head
        scores = queries * keys                      for each block of queries
    for each head                         ->             scores = queries * keys
        softmax of scores                                softmax of scores
    for each head                                        results = scores * values
        results = scores * values

What one group hands to the next then is a block that stays in the L2 cache. A product between
two transforms, as Winograd's, is a chain too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from ...ir.core import Value
from ...targets.processor import Processor
from ..model.extents import expected
from ..model.nest import depends
from ..model.plan import Plan
from ..model.stages import Access, Stage
from .grouping import Group


@dataclass
class Chain:
    """Groups in order: the first and the last are products, or a product stands between transforms.

    `shared` are the dimensions of the first group's host that all stages run over in parallel;
    `dims` maps them, for each group's host, to that host's own dimensions.
    """

    groups: list[Group]
    shared: list[int]
    dims: dict[Stage, dict[int, int]]

    @property
    def host(self) -> Stage:
        return self.groups[0].host

    @property
    def stages(self) -> list[Stage]:
        """All stages, in order."""
        return sorted((s for g in self.groups for s in g.maps), key=lambda s: s.index)

    @property
    def is_transform(self) -> bool:
        """Whether the chain is a product between two transforms, as Winograd's."""
        return self.groups[0].kind == "map"

    def read_again(self) -> int:
        """Bytes of the largest operand of a product that each block reads again."""
        read = (a for g in self.groups if g.kind == "tile" for a in g.host.inputs)
        return max(self.bytes_of(a, self.shared) for a in read)

    def handed_on(self) -> list[Access]:
        """One access to each buffer that one group writes and another reads."""
        writers: dict[Value, tuple[Group, Access]] = {}
        for group in self.groups:
            for stage in group.maps:
                writers.update({a.value: (group, a) for a in stage.outputs})
        found = {
            a.value: writers[a.value][1]
            for group in self.groups
            for stage in group.maps
            for a in stage.inputs
            if a.value in writers and writers[a.value][0] is not group
        }
        return list(found.values())

    def bytes_of(self, access: Access, over: Iterable[int]) -> int:
        """Bytes that an access touches in one iteration of the dimensions in `over`."""
        own = self.dims.get(access.stage)
        fixed = {own[d] for d in over} if own is not None else set()
        return access.element_bytes * prod(
            expected(extent if dim is None else access.stage.extents[dim])
            for dim, extent in zip(access.plain_dims(), access.shape, strict=True)
            if dim not in fixed
        )

    def block(self, machine: Processor) -> int:
        """Iterations of the innermost shared dimension whose results stay in the L2 cache.

        They may fill a part of the cache; the rest is for operands that all iterations read.
        """
        row = sum(self.bytes_of(a, self.shared) for a in self.handed_on())
        costs = machine.costs.loops
        share, unit = machine.l2_bytes // costs.block_l2_part, costs.block_rows
        if self.is_transform:
            # Larger blocks read the weights less often, which makes up for the slower L3 cache.
            most = costs.transform_weights * self.read_again()
            most = min(most, machine.l3_bytes // costs.transform_l3_part)
            share = max(costs.transform_l2s * machine.l2_bytes, most)
            unit = 1
        most = max(unit, share // max(1, row))
        extent = expected(self.host.extents[self.shared[-1]])
        if extent <= most:
            return extent
        count = -(-extent // most)
        return -(-extent // (count * unit)) * unit


def chains(groups: Sequence[Group], plan: Plan) -> list[Chain]:
    """The chains among the groups of a kernel, none of which shares a group with another."""
    ordered = sorted(groups, key=lambda g: g.host.index)
    found: list[Chain] = []
    taken: set[int] = set()
    for i in range(len(ordered)):
        around = _transforms_around(ordered, i)
        chain = _chain([ordered[k] for k in around], plan) if around else None
        if chain is not None:
            found.append(chain)
            taken.update(around)
    for i, first in enumerate(ordered):
        if first.kind != "tile" or i in taken:
            continue
        after = {i}
        for k in range(i + 1, len(ordered)):
            if k not in taken and any(_feeds(ordered[a], ordered[k]) for a in after):
                after.add(k)
        last = max((k for k in after if ordered[k].kind == "tile"), default=i)
        needed = {last}
        for k in range(last - 1, i - 1, -1):
            if k in after and any(_feeds(ordered[k], ordered[n]) for n in needed):
                needed.add(k)
        members = [ordered[k] for k in sorted(needed)]
        chain = _chain(members, plan) if last != i and i in needed else None
        if chain is not None:
            found.append(chain)
            taken |= needed
    return found


def _transforms_around(groups: Sequence[Group], product: int) -> list[int]:
    """The numbers of a product's group, the transform before it and the one after it, if any.

    A transform writes several elements of the product's operand at each point.
    """
    before = [k for k in range(product) if _feeds(groups[k], groups[product])]
    after = [k for k in range(product + 1, len(groups)) if _feeds(groups[product], groups[k])]
    found = [*before[-1:], product, *after[:1]]
    kinds = [groups[k].kind for k in found]
    is_transform = kinds == ["map", "tile", "map"] and len(groups[found[0]].host.outputs) > 1
    return found if is_transform else []


def _feeds(a: Group, b: Group) -> bool:
    return any(s.index < t.index and depends(s, t) for s in a.maps for t in (*b.maps, *b.feeders))


def _chain(groups: list[Group], plan: Plan) -> Chain | None:
    """The chain of these groups, or None where they share no loop.

    In a chain with transforms, only the hosts have to share them, and the innermost dimension in
    common is no shared loop: the register tiles of the product divide it.
    """
    host, is_transform = groups[0].host, groups[0].kind == "map"
    stages = [s for g in groups for s in ([g.host] if is_transform else g.maps)]
    own = {
        stage: {
            theirs: ours
            for ours, theirs in plan.matching_dims(stage, host).items()
            if stage.kinds[ours] == "parallel"
        }
        for stage in stages
    }
    shared = [
        d
        for d, kind in enumerate(host.kinds)
        if kind == "parallel" and all(d in dims for dims in own.values())
    ]
    if is_transform:
        shared = [d for d in shared if host.extents[d] != 1][:-1]
    return Chain(groups, shared, own) if shared else None

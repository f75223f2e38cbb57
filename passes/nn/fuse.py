"""--fuse: ops that are computed together go into one `nn.kernel`.

    %0 = nn.conv %x, %w ..             %2 = nn.kernel %x, %w, %y .. {
    %1 = nn.add %0, %y ..         ->     %0 = nn.conv ..  %1 = nn.add ..  %2 = nn.relu ..
    %2 = nn.relu %1 ..                   nn.yield %2
                                       }

`fusion_groups.py` chooses the groups.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import nn
from ...dialects.marks import INPUT_DIMS, KERNEL
from ...dialects.nn.dimension_names import names_of
from ...dialects.nn.symbolic_shapes import SymbolicShapes
from ...ir.attributes import UnitAttr
from ...ir.core import Operation
from ...ir.passes import Pass, PassContext, option
from ...targets.attribute import target_of
from .fusion_costs import APART, CHAINED, Told, chain_decision, fusion_decision
from .fusion_groups import Grouping
from .kernel_maker import KernelMaker
from .parts import prepare
from .work import Work


@dataclass(frozen=True)
class Fuse(
    Pass,
    name="fuse",
    anchor="func.func",
    statistics={
        "kernels": "Number of kernels made",
        "ops-fused": "Number of ops that share a kernel with another",
    },
):
    """Group ops into kernels: products with their epilogues, row-wise ops, elementwise chains.

    Constants, ops that are in a kernel already, and views (reshapes, and slices and concatenations
    that need no copy) stay as they are. Small integers that follow from extents are computed in
    each kernel that reads them, from tensors with these extents.
    """

    target: str = option("", help="a target's name (default: the module's)", alias="machine")
    limit: int = option(
        64, help="the most ops of one kernel; 1 makes one kernel of each op", least=1
    )

    def run(self, op: Operation, context: PassContext) -> None:
        """Fuse in each block of the function."""
        if isinstance(op.attributes.get(KERNEL), UnitAttr):
            return
        machine = target_of(op, self.target).machine
        names = names_of(op.attributes.get(INPUT_DIMS))
        for block in op.regions[0].blocks:
            views = prepare(block).ops
            shapes = SymbolicShapes(block, names)
            work = Work(machine, shapes)
            expected = work.expected_extents(block)
            found = Grouping(block, self.limit, views, work)
            if self.limit > 1:
                told = told_otherwise(found, context)
                if told.alone or told.chains:
                    found = Grouping(block, self.limit, views, work, told)
            maker = KernelMaker(block, shapes, expected)
            for group in found.groups:
                maker.make(group)
                context.statistic("kernels")
                context.statistic("ops-fused", len(group) - 1)
            maker.erase_unread()


def told_otherwise(found: Grouping, context: PassContext) -> Told:
    """Record the decision on each group, and return those that users want otherwise."""
    chains: dict[nn.NnOp, bool] = {}
    for last, chain in found.chains.items():
        decided = context.decide(chain_decision(found.work, last, *chain))
        if (wanted := decided.taken == CHAINED) != chain[1]:
            chains[last] = wanted
    alone = set[nn.NnOp]()
    for anchor, group in zip(found.anchors, found.found, strict=True):
        is_chain = found.chains.get(anchor, (set(), False))[1]
        if len(group) > 1 and not is_chain:
            decided = context.decide(fusion_decision(found.work, anchor, group))
            if decided.taken == APART:
                alone.add(anchor)
    return Told(frozenset(alone), chains)

"""Walks through decision trees, several interleaved to hide the latency of loads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...dialects import arith, nn, scf
from ...ir.attributes import DenseElements
from ...ir.core import Value
from ...ir.types import i1, i32, index
from .emitter import Emitter
from .extents import Size
from .table import lowers

LANES = 8
"""Walks at a time. A step is two dependent loads, about 12 cycles, but takes only one cycle to
issue.
"""
STEPS = 6
"""In trees deeper than twice this, the steps after which it is checked whether all walks are at
leaves.
"""

Use = Callable[[Value, Value, Size], None]
"""A function (leaf, tree, row) that emits what to do with the leaf that a row reaches in a tree."""


@lowers(nn.WalkTrees)
def lower_walk_trees(e: Emitter, op: nn.WalkTrees) -> None:
    """out[tree, row] = the number of the leaf that the row reaches in the tree."""
    trees = _Trees(e, op)
    out = e.destination(op.out, [trees.count, e.size(trees.x, 0)])

    def enter(leaf: Value, tree: Value, row: Size) -> None:
        e.store(e.from_index(leaf, i32), out, [tree, row])

    trees.walk_all(enter)


@lowers(nn.SumTrees)
def lower_sum_trees(e: Emitter, op: nn.SumTrees) -> None:
    """out[row, target] = the sum of the weights of the leaves that the row reaches.

    The trees are walked in the order of their depths, so that those of one depth run together.
    """
    trees = _Trees(e, op)
    count, element = op.out.type.shape[1], op.out.type.element_type
    weights = e.global_(op.weights)
    targets = None if op.targets is None else e.global_(op.targets)
    out = e.destination(op.out, [e.size(trees.x, 0), count])
    e.fill(e.constant(0, element), out)

    def add(leaf: Value, row: Size, column: Size, target: Size) -> None:
        sums = arith.AddF(e.load(out, [row, target]), e.load(weights, [leaf, column]))
        e.store(e.insert(sums).result, out, [row, target])

    def weigh(leaf: Value, tree: Value, row: Size) -> None:
        if targets is not None:
            add(leaf, row, 0, e.to_index(e.load(targets, [leaf]), unsigned=True))
        elif count == 1:
            add(leaf, row, 0, 0)
        else:
            with e.loop(count) as i:
                add(leaf, row, i, i)

    trees.walk_all(weigh)


class _Trees:
    """The trees of an op in the order of their depths, and the code that walks them."""

    def __init__(self, e: Emitter, op: nn.TreesOp) -> None:
        table = op.table
        self.e, self.count = e, len(table.roots)
        self.x, self.features = e.buffer(op.x), op.x.type.shape[1]
        self.splits, self.links = e.global_(op.splits), e.global_(op.links)
        order = np.argsort(table.depths, kind="stable")
        self.depths = table.depths[order]
        plan = np.stack([order, table.roots[order], self.depths], axis=1)
        self.plan = e.global_(DenseElements.from_numpy(plan.astype(np.int64)))

    def walk_all(self, use: Use) -> None:
        """Walk all rows through all trees.

        `LANES` rows go side by side through one tree; rows that are left over go through `LANES`
        trees.
        """
        e = self.e
        rows = e.size(self.x, 0)
        groups = e.floordiv(rows, LANES)
        if groups != 0:
            most = self._groups_together()
            with e.loop(e.ceildiv(groups, most)) as block:
                start = e.mul(block, most)
                end = e.min(groups, e.add(start, most))
                for lower, upper, is_deep in self._kinds(0, self.count):
                    with e.loop(upper, lower) as tree, e.loop(end, start) as group:
                        first = e.mul(group, LANES)
                        self._walk([tree], self._lanes(first), is_deep, use)
        first_left = e.mul(groups, LANES)
        if first_left == rows:
            return
        alone = self.count % LANES  # the shallowest trees
        with e.loop(rows, first_left) as row:
            for lower, upper, is_deep in self._kinds(0, alone):
                with e.loop(upper, lower) as tree:
                    self._walk([tree], [row], is_deep, use)
            for lower, upper, is_deep in self._kinds(alone, self.count, LANES):
                with e.loop((upper - lower) // LANES) as group:
                    first = e.add(e.mul(group, LANES), lower)
                    self._walk(self._lanes(first), [row], is_deep, use)

    def _groups_together(self) -> int:
        """How many groups of `LANES` rows go through all trees before the next groups do."""
        machine = self.e.globals.machine
        costs = machine.costs.forests
        cached = int(costs.first_cache * machine.nearest_memory.bytes)
        return max(costs.groups, cached // (self.features * 8 * LANES))

    def _lanes(self, first: Size) -> list[Size]:
        return [self.e.add(first, lane) for lane in range(LANES)]

    def _kinds(self, lower: int, upper: int, together: int = 1) -> list[tuple[int, int, bool]]:
        """The ranges of shallow and of deep trees, as (lower, upper, is_deep).

        The number of shallow ones is a multiple of `together`.
        """
        shallow = int((self.depths[lower:upper] <= 2 * STEPS).sum()) // together * together
        middle = lower + shallow
        ranges = [(lower, middle, False), (middle, upper, True)]
        return [one for one in ranges if one[0] < one[1]]

    def _walk(self, trees: list[Size], rows: list[Size], is_deep: bool, use: Use) -> None:
        """Walk several rows through one tree, or one row through several, to their leaves."""
        e = self.e
        numbers = [e.load_index(self.plan, [tree, 0]) for tree in trees] * len(rows)
        starts = [e.load_index(self.plan, [tree, 1]) for tree in trees] * len(rows)
        rows = rows * len(trees)
        if is_deep:
            leaves = self._to_leaves(starts, rows)
        else:
            depth = e.load_index(self.plan, [trees[-1], 2])
            leaves = e.fold_loop(depth, starts, lambda _, *at: self._steps(at, rows))
        for leaf, number, row in zip(leaves, numbers, rows, strict=True):
            use(leaf, number, row)

    def _to_leaves(self, starts: list[Value], rows: list[Size]) -> list[Value]:
        """Step until all walks are at leaves; a leaf's next node is the leaf itself."""
        e = self.e
        made = e.insert(scf.While.of(starts, [index] * len(starts), loc=e.loc))
        with e.inside(made.before.block):
            at = list(made.before.block.args)
            for _ in range(STEPS):
                at = self._steps(at, rows)
            moves = e.constant(0, i1)
            for node in at:
                differs = e.compare("ne", self._link(node, 0), node)
                moves = e.insert(arith.OrI(moves, differs)).result
            e.insert(scf.Condition(moves, at))
        with e.inside(made.after.block):
            e.insert(scf.Yield(list(made.after.block.args)))
        return list(made.outs)

    def _steps(self, nodes: Sequence[Value], rows: list[Size]) -> list[Value]:
        """The next node of each walk."""
        return [self._step(node, row) for node, row in zip(nodes, rows, strict=True)]

    def _step(self, node: Value, row: Size) -> Value:
        e = self.e
        key = e.load(self.x, [row, self._link(node, 1)])
        more = e.insert(arith.CmpI("ugt", key, e.load(self.splits, [node]))).result
        return e.value(e.add(self._link(node, 0), e.to_index(more, unsigned=True)))

    def _link(self, node: Value, i: int) -> Value:
        """Link `i` of a node as an index; it is never negative, so it is zero-extended."""
        return self.e.to_index(self.e.load(self.links, [node, i]), unsigned=True)

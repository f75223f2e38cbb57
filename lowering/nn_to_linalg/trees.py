"""Walks through decision trees: several at once, none of which waits for the others' loads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dialects import arith, nn, scf
from ...ir.attributes import DenseElements
from ...ir.core import Value
from ...ir.types import i1, i32, index
from .emitter import Emitter, Size
from .table import lowers

LANES = 8
"""Walks at once: a step is a chain of two loads of about 12 cycles, and takes one to issue."""
STEPS = 6
"""After so many steps walks are asked whether they are at leaves, in trees of more than twice."""
BLOCK = 1 << 15
"""Bytes of rows that pass through all trees before the next ones: most of a first cache."""


@lowers(nn.WalkTrees)
def lower_walk_trees(e: Emitter, op: nn.WalkTrees) -> None:
    """Rows side by side in one tree; for rows that are left over, trees side by side."""
    trees = _Trees(e, op)
    rows = e.size(trees.x, 0)
    groups = e.floordiv(rows, LANES)
    if groups != 0:
        most = max(1, BLOCK // (op.x.type.shape[1] * 8 * LANES))
        with e.loop(e.ceildiv(groups, most)) as block:
            start = e.mul(block, most)
            end = e.min(groups, e.add(start, most))
            for lower, upper, is_deep in trees.kinds(1):
                with e.loop(upper, lower) as i, e.loop(end, start) as group:
                    first = e.mul(group, LANES)
                    trees.walk([i], [e.add(first, lane) for lane in range(LANES)], is_deep)
    first_left = e.mul(groups, LANES)
    if first_left == rows:
        return
    with e.loop(rows, first_left) as row:
        for lower, upper, is_deep in trees.kinds(LANES):
            with e.loop(upper // LANES, lower // LANES) as group:
                first = e.mul(group, LANES)
                trees.walk([e.add(first, lane) for lane in range(LANES)], [row], is_deep)


class _Trees:
    """The trees of one op in the order of their depths.

    The last of them is there several times, so that the list is a multiple of `LANES` long.
    """

    def __init__(self, e: Emitter, op: nn.WalkTrees) -> None:
        table = op.table
        self.e, self.count = e, len(table.roots)
        self.x = e.buffer(op.x)
        self.splits, self.links = e.global_(op.splits), e.global_(op.links)
        self.out = e.destination(op.out, [self.count, e.size(self.x, 0)])
        order = np.argsort(table.depths, kind="stable")
        order = np.pad(order, (0, -len(order) % LANES), "edge") if len(order) else order
        self.depths = table.depths[order]
        plan = np.stack([order, table.roots[order], self.depths], axis=1)
        self.plan = e.global_(DenseElements.from_numpy(plan.astype(np.int64)))

    def kinds(self, together: int) -> list[tuple[int, int, bool]]:
        """Ranges of trees that are walked in one way, and whether they are deep."""
        end = len(self.depths) if together > 1 else self.count
        shallow = int((self.depths[:end] <= 2 * STEPS).sum()) // together * together
        return [r for r in ((0, shallow, False), (shallow, end, True)) if r[0] < r[1]]

    def walk(self, trees: list[Size], rows: list[Size], is_deep: bool) -> None:
        """Walk to the leaves that rows reach in trees: one of one, or one of the other."""
        e = self.e
        roots = [e.load_index(self.plan, [tree, 1]) for tree in trees]
        numbers = [e.load_index(self.plan, [tree, 0]) for tree in trees]
        starts, numbers = roots * len(rows), numbers * len(rows)
        rows = rows * len(trees)
        if is_deep:
            leaves = self._to_leaves(starts, rows)
        else:
            depth = e.load_index(self.plan, [trees[-1], 2])
            leaves = e.fold_loop(depth, starts, lambda _, *at: self._steps(at, rows))
        for leaf, tree, row in zip(leaves, numbers, rows, strict=True):
            e.store(e.from_index(leaf, i32), self.out, [tree, row])

    def _to_leaves(self, starts: list[Value], rows: list[Size]) -> list[Value]:
        """Steps from nodes on, until all are at nodes that are behind themselves."""
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
        """The nodes behind nodes."""
        return [self._step(node, row) for node, row in zip(nodes, rows, strict=True)]

    def _step(self, node: Value, row: Size) -> Value:
        e = self.e
        key = e.load(self.x, [row, self._link(node, 1)])
        more = e.insert(arith.CmpI("ugt", key, e.load(self.splits, [node]))).result
        return e.value(e.add(self._link(node, 0), e.to_index(more, unsigned=True)))

    def _link(self, node: Value, i: int) -> Value:
        """A link of a node, which is not negative: no sign has to be extended."""
        return self.e.to_index(self.e.load(self.links, [node, i]), unsigned=True)

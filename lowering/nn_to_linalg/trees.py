"""Walks through decision trees: several at once, none of which waits for the others' loads."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith, nn, scf
from ...ir.core import Value
from ...ir.types import i1, index
from .emitter import Emitter, Size
from .table import lowers

LANES = 8
"""Walks at once: a step is a chain of three loads of about 16 cycles, and takes two to issue."""
STEPS = 6
"""After so many steps walks are asked whether they are at leaves, in trees of more than twice."""


@lowers(nn.WalkTrees)
def lower_walk_trees(e: Emitter, op: nn.WalkTrees) -> None:
    """Rows side by side in one tree; for rows that are left over, trees side by side."""
    x, roots = e.buffer(op.x), e.global_(op.roots)
    rows, trees = e.size(x, 0), e.size(roots, 0)
    fits = e.compare("sge", e.size(x, 1), op.features)
    if op.x.type.shape[1] is None:
        e.require(fits, f"its input has less than {op.features} features")
    out = e.destination(op.out, [trees, rows])
    walk = _Walk(e, op, x)

    def along(places: Sequence[tuple[Size, Size]]) -> None:
        """Walk for some (tree, row)."""
        starts = [e.load_index(roots, [tree]) for tree, _ in places]
        leaves = walk.to_leaves(starts, [row for _, row in places])
        for leaf, (tree, row) in zip(leaves, places, strict=True):
            e.store(e.from_index(leaf, op.out.type.element_type), out, [tree, row])

    groups = e.floordiv(rows, LANES)
    if groups != 0:
        with e.loop(trees) as tree, e.loop(groups) as group:
            first = e.mul(group, LANES)
            along([(tree, e.add(first, i)) for i in range(LANES)])
    first_left = e.mul(groups, LANES)
    if first_left == rows:
        return
    whole = e.floordiv(trees, LANES)
    with e.loop(rows, lower=first_left) as row:
        with e.loop(whole) as group:
            first = e.mul(group, LANES)
            along([(e.add(first, i), row) for i in range(LANES)])
        with e.loop(trees, lower=e.mul(whole, LANES)) as tree:
            along([(tree, row)])


class _Walk:
    """The steps through the trees of one op."""

    def __init__(self, e: Emitter, op: nn.WalkTrees, x: Value) -> None:
        self.e, self.op, self.x = e, op, x
        self.nodes = e.global_(op.nodes)

    def to_leaves(self, starts: list[Value], rows: list[Size]) -> list[Value]:
        """The leaves that rows of x reach from nodes."""
        e, depth = self.e, self.op.depth

        def steps(at: Sequence[Value], count: int) -> tuple[list[Value], list[Value]]:
            before = after = list(at)
            for _ in range(count):
                before, after = after, [self._step(*p) for p in zip(after, rows, strict=True)]
            return before, after

        if depth <= 2 * STEPS:
            return e.fold_loop(depth, starts, lambda _, *at: steps(at, 1)[1])
        made = e.insert(scf.While.of(starts, [index] * len(starts), loc=e.loc))
        with e.inside(made.before.block):
            before, after = steps(made.before.block.args, STEPS)
            moves = e.constant(0, i1)
            for pair in zip(before, after, strict=True):
                moves = e.insert(arith.OrI(moves, e.compare("ne", *pair))).result
            e.insert(scf.Condition(moves, after))
        with e.inside(made.after.block):
            e.insert(scf.Yield(list(made.after.block.args)))
        return list(made.outs)

    def _step(self, node: Value, row: Size) -> Value:
        """The node behind a node."""
        e, op = self.e, self.op
        feature: Size = e.load_index(self.nodes, [node, 0])
        bits = e.load(self.nodes, [node, 1])
        split = e.insert(arith.Bitcast(bits, out=op.x.type.element_type)).result
        counts_nan = None
        if op.missing:
            number = e.value(feature)
            one = e.index(1)
            counts_nan = e.compare("ne", e.insert(arith.AndI(number, one)).result, 0)
            feature = e.insert(arith.ShRUI(number, one)).result
        value = e.load(self.x, [row, feature])
        holds = e.insert(arith.CmpF("o" + op.compare, value, split)).result
        if counts_nan is not None:
            unknown = e.insert(arith.CmpF("uno", value, value)).result
            unknown = e.insert(arith.AndI(unknown, counts_nan)).result
            holds = e.insert(arith.OrI(holds, unknown)).result
        return e.load_index(self.nodes, [node, e.add(e.to_index(holds, unsigned=True), 2)])

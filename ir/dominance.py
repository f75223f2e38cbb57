"""Dominance between blocks, operations and values.

Source: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001.
"""

from __future__ import annotations

from .core import Block, Operation, Region, UnregisteredOp, Value
from .traits import GraphRegion


class DominanceInfo:
    """Answers dominance queries; dominator trees are computed once per region, when asked."""

    def __init__(self) -> None:
        self._trees: dict[Region, dict[Block, Block]] = {}
        self._numbers: dict[Region, dict[Block, int]] = {}

    def _tree(self, region: Region) -> dict[Block, Block]:
        """Immediate dominators of the region's reachable blocks; the entry is its own."""
        tree = self._trees.get(region)
        if tree is None:
            tree = self._compute(region)
            self._trees[region] = tree
        return tree

    def _compute(self, region: Region) -> dict[Block, Block]:
        order = _reverse_postorder(region.blocks[0])
        number = {block: i for i, block in enumerate(order)}
        self._numbers[region] = number
        predecessors: dict[Block, list[Block]] = {block: [] for block in order}
        for block in order:
            for successor in block.last.successors if block.last is not None else ():
                if successor in predecessors:
                    predecessors[successor].append(block)
        tree: dict[Block, Block] = {order[0]: order[0]}
        changed = True
        while changed:
            changed = False
            for block in order[1:]:
                known = [p for p in predecessors[block] if p in tree]
                new = known[0]
                for other in known[1:]:
                    new = _intersect(tree, number, new, other)
                if tree.get(block) is not new:
                    tree[block] = new
                    changed = True
        return tree

    def block_dominates(self, a: Block, b: Block) -> bool:
        """Whether every path to b passes a; both are blocks of one region."""
        if a is b:
            return True
        assert a.parent is not None and a.parent is b.parent
        tree = self._tree(a.parent)
        if b not in tree:
            return True  # unreachable: anything goes, as upstream
        if a not in tree:
            return False
        number = self._numbers[a.parent]
        while number[b] > number[a]:
            b = tree[b]
        return a is b

    def is_reachable(self, block: Block) -> bool:
        """Whether a path leads from the entry of the block's region to the block."""
        return block.parent is None or block.is_entry or block in self._tree(block.parent)

    def value_dominates(self, value: Value, op: Operation) -> bool:
        """Whether `value` is defined on every path before `op` runs, and visible there."""
        block = value.parent_block
        definer = value.defining_op
        at: Operation | None = op
        while at is not None and (
            at.parent is None or block is None or at.parent.parent is not block.parent
        ):
            at = at.parent_op
        if at is None or at.parent is None or block is None:
            return False
        if at.parent is not block:
            return self.block_dominates(block, at.parent)
        if definer is None:
            return True
        owner = block.parent_op
        if owner is not None and (
            isinstance(owner, UnregisteredOp) or owner.has_trait(GraphRegion)
        ):
            return True
        return definer is not at and block.comes_before(definer, at)


def _intersect(tree: dict[Block, Block], number: dict[Block, int], a: Block, b: Block) -> Block:
    while a is not b:
        while number[a] > number[b]:
            a = tree[a]
        while number[b] > number[a]:
            b = tree[b]
    return a


def _reverse_postorder(entry: Block) -> list[Block]:
    seen = {entry}
    order: list[Block] = []
    stack = [(entry, iter(entry.last.successors if entry.last is not None else ()))]
    while stack:
        block, successors = stack[-1]
        for successor in successors:
            if successor not in seen:
                seen.add(successor)
                last = successor.last
                stack.append((successor, iter(last.successors if last is not None else ())))
                break
        else:
            order.append(block)
            stack.pop()
    order.reverse()
    return order

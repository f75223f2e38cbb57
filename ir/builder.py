"""Inserting operations at an insertion point."""

from __future__ import annotations

from .core import Block, Operation, OpT
from .location import UNKNOWN, Location, UnknownLoc


class Builder:
    """An insertion point; `insert` puts operations there, one after the other.

        b = Builder.at_end(block)
        total = b.insert(AddF(x, y))

    Operations without a location get the builder's `loc`.
    """

    def __init__(
        self, block: Block, before: Operation | None = None, loc: Location = UNKNOWN
    ) -> None:
        self.block = block
        self.before = before
        self.loc = loc

    @staticmethod
    def at_end(block: Block, loc: Location = UNKNOWN) -> Builder:
        return Builder(block, None, loc)

    @staticmethod
    def at_start(block: Block) -> Builder:
        return Builder(block, block.first)

    @staticmethod
    def before_op(op: Operation) -> Builder:
        assert op.parent is not None
        return Builder(op.parent, op, op.loc)

    @staticmethod
    def after_op(op: Operation) -> Builder:
        assert op.parent is not None
        return Builder(op.parent, op.next, op.loc)

    def insert(self, op: OpT) -> OpT:
        """Insert at the point and return the operation."""
        if isinstance(op.loc, UnknownLoc):
            op.loc = self.loc
        if self.before is None:
            self.block.append(op)
        else:
            self.block.insert_before(op, self.before)
        return op

    def __call__(self, op: OpT) -> OpT:
        return self.insert(op)

"""Buffers of a kernel that nobody reads any more."""

from __future__ import annotations

from ...dialects import memref, vector
from ...ir.core import Block, Operation, Value
from .stages import VIEWS

_STORES = {memref.Store: 1, vector.Store: 1, vector.MaskedStore: 0, vector.Scatter: 0}
"""Operations that only write, and which operand is the buffer."""


def erase_dead_buffers(block: Block) -> None:
    """Erase the buffers made in a block that are only written, with what writes them."""
    for op in block.ops:
        if isinstance(op, memref.Alloc | memref.Alloca):
            uses = _writes(op.results[0])
            if uses is not None:
                for user in uses:
                    user.erase()
                op.erase()


def _writes(buffer: Value) -> list[Operation] | None:
    """All users of a buffer and its views, innermost first, or None if one may read it."""
    found: list[Operation] = []
    for user in buffer.users:
        if isinstance(user, VIEWS):
            inner = _writes(user.results[0])
            if inner is None:
                return None
            found += inner
            found.append(user)
        elif isinstance(user, memref.Dealloc):
            found.append(user)
        elif type(user) in _STORES and user.operands[_STORES[type(user)]] is buffer:
            found.append(user)
        else:
            return None
    return found

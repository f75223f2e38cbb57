"""Which values are buffers, and which buffer a memref is part of."""

from __future__ import annotations

from ...ir.traits import Trait
from ...ir.types import UnrankedMemRefType
from ..vocabulary import *


class ViewLike(Trait):
    """Each result that is a buffer is a view of the operand with the same index."""


def is_buffer(value: Value) -> bool:
    """Whether the value is a buffer of known rank."""
    return isinstance(value.type, MemRefType)


def base_buffer(value: Value) -> Value:
    """The buffer at the start of the chain of views that made the value; the value if it is no
    view.
    """
    while isinstance(value.type, MemRefType | UnrankedMemRefType):
        op = value.defining_op
        if op is None or not op.has_trait(ViewLike):
            break
        value = op.operands[op.results.index(value)]
    return value

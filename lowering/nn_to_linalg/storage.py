"""The element types that tensors have in memory."""

from __future__ import annotations

from ...ir.conversions import is_small
from ...ir.types import IntegerType, Type, i8


def storage_type(type: Type) -> Type:
    """The element type in memory: integers without sign, and small numbers as one byte each."""
    if is_small(type):
        return i8
    return IntegerType(type.width) if isinstance(type, IntegerType) else type

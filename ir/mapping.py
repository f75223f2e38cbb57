"""What values and blocks became in a copy of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .values import Value

if TYPE_CHECKING:
    from .core import Block


class IRMapping:
    """What old values and blocks became in a copy."""

    __slots__ = ("blocks", "values")

    def __init__(self, values: Mapping[Value, Value] | None = None) -> None:
        self.values: dict[Value, Value] = dict(values or {})
        self.blocks: dict[Block, Block] = {}

    def __getitem__(self, value: Value) -> Value:
        return self.values.get(value, value)

    def __setitem__(self, old: Value, new: Value) -> None:
        self.values[old] = new

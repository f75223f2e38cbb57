"""The names that a text defines, and the regions that are being built of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core import Block, Region, Value


class Forward(Value):
    """Stands for a value that is used before it is defined."""

    __slots__ = ("name", "pos")

    def __init__(self, type: Any, name: str, pos: int) -> None:
        super().__init__(type)
        self.name = name
        self.pos = pos


class Scope:
    """The value names of a region that is isolated from above, and of the regions in it."""

    __slots__ = ("forward", "values")

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.forward: dict[str, Forward] = {}


class Frame:
    """A region being built: its remaining operations and blocks, and the names it defines."""

    __slots__ = (
        "block",
        "blocks",
        "defined",
        "is_generic",
        "isolated",
        "labels",
        "ops",
        "outer_pending",
        "region",
        "rest",
        "shadowed",
    )

    def __init__(self, region: Region, ops: Iterator[Any], block: Block, isolated: bool) -> None:
        self.region = region
        self.ops = ops
        self.block = block
        self.isolated = isolated
        self.rest: Iterator[Any] = iter(())
        self.blocks: dict[str, tuple[Block, int, bool]] = {}
        self.defined: list[str] = []
        self.is_generic = False
        self.shadowed: dict[str, Value] = {}
        self.outer_pending = 0
        """The number of pending regions (`Builder._pending`) when the scope was entered."""

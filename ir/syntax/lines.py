"""A module's text for reading on a page, with the line on which each operation stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..core import Operation
from .aliases import Aliases
from .naming import Naming
from .printer import Printer, with_definitions

MOST_ELEMENTS = 16
"""Constants of at most this many elements are written out; longer ones become `...`."""

_MARK = re.compile("\0([0-9]+)\0")


@dataclass(frozen=True)
class Lines:
    """The lines of a text, and for each operation that begins one the number of its line, from 0.

    Operations that share a line with another one before them have that line too.
    """

    lines: list[str]
    line_of: dict[Operation, int]


def lines_of(op: Operation) -> Lines:
    """The text of an operation that is in no other, without long constants and resources.

    The text cannot be read back where something was left out.
    """
    naming, aliases = Naming(op), Aliases()
    printers: list[_MarkingPrinter] = []

    def write() -> str:
        printers.append(_MarkingPrinter(naming, aliases))
        return printers[-1].text_of(op)

    marked = with_definitions(op, aliases, write, resource_limit=0).split("\n")
    order, line_of, lines = printers[-1].order, {}, []
    for number, text in enumerate(marked):
        for mark in _MARK.findall(text):
            line_of[order[int(mark)]] = number
        lines.append(_MARK.sub("", text))
    return Lines(lines, line_of)


class _MarkingPrinter(Printer):
    """Puts a mark before each operation: its number in `order`, between characters that no text
    has.
    """

    def __init__(self, naming: Naming, aliases: Aliases) -> None:
        super().__init__(naming, aliases, generic=False, debuginfo=False)
        self.order: list[Operation] = []

    def _operation(self, op: Operation, named: bool = True) -> None:
        self.out.append(f"\0{len(self.order)}\0")
        self.order.append(op)
        super()._operation(op, named)

    def elements(self, attribute: Any) -> str:
        if not attribute.is_splat and attribute.type.num_elements > MOST_ELEMENTS:
            return "..."
        return super().elements(attribute)

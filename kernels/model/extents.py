"""Extents of a kernel's buffers and loops, which may be known only at run time.

`Extent` is the symbol of one, `Extents` finds which of a block's are equal; `expected` and `least`
are the numbers that models calculate with.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from ...ir.core import Operation, Value
from ...ir.polynomial import Poly, Size, Symbol
from ...ir.types import MemRefType, row_major_strides

UNKNOWN_EXTENT = 1024
"""The extent that cost models assume if it is known only at run time."""


def expected(extent: Size | None) -> int:
    """The extent for cost models: the number, or the expected value of an unknown one."""
    if isinstance(extent, Poly) and any(map(expectation, extent.symbols)):
        return evaluated(extent)
    return extent if isinstance(extent, int) else UNKNOWN_EXTENT


def evaluated(extent: Size) -> int:
    """An extent for the expected values of its symbols (`UNKNOWN_EXTENT` for those without one)."""
    if isinstance(extent, int):
        return extent
    return max(1, extent.at(lambda symbol: expectation(symbol) or UNKNOWN_EXTENT))


def least(extent: Size) -> int:
    """A low estimate of an extent for cost models: 1 if nothing is known of it."""
    return extent if isinstance(extent, int) else max(1, extent.at(lambda s: expectation(s) or 1))


def expectation(symbol: Hashable) -> int:
    """The value that the kernel expects of a symbol; 0 if it expects none."""
    return symbol.expected if isinstance(symbol, Extent) else 0


@dataclass(frozen=True, eq=False)
class Extent(Symbol):
    """The extent (or stride, or offset) of a buffer, known only at run time."""

    buffer: Value
    dim: int
    kind: str = "extent"
    expected: int = 0

    def __repr__(self) -> str:
        return f"{self.kind}{self.dim}"


class Extents:
    """Run-time extents of a block's buffers as symbols; extents that must be equal share one.

    The shared symbol is that of the buffer which is defined first, so all later ones can use it.
    """

    def __init__(self, block: Iterable[Operation] = ()) -> None:
        self._positions = {op: i for i, op in enumerate(block)}
        self._same: dict[tuple[Value, int], tuple[Value, int]] = {}
        self._known: dict[tuple[Value, int], int] = {}
        self._symbols: dict[tuple, Poly] = {}
        self._expected: dict[tuple[Value, int], int] = {}

    def expect(self, key: tuple[Value, int], extent: int) -> None:
        """Note what a buffer's extent is expected to be."""
        self._expected[self._find(key)] = extent

    def _find(self, key: tuple[Value, int]) -> tuple[Value, int]:
        while (up := self._same.get(key)) is not None:
            key = up
        return key

    def unify(self, keys: Iterable[tuple[Value, int]]) -> None:
        """Note that these (buffer, dimension) have equal extents."""
        roots = dict.fromkeys(self._find(key) for key in keys)
        first, *others = sorted(roots, key=self._position)
        for other in others:
            self._same[other] = first
            for facts in (self._known, self._expected):
                if other in facts:
                    facts.setdefault(first, facts[other])
        for buffer, dim in keys:
            static = buffer.type.shape[dim]  # type: ignore[attr-defined]
            if static is not None:
                self._known.setdefault(first, static)

    def follow(self, key: tuple[Value, int], known: tuple[Value, int]) -> None:
        """Note that a buffer made later has the extent of one that is known."""
        self._same[key] = self._find(known)

    def _position(self, key: tuple[Value, int]) -> int:
        definer = key[0].defining_op
        return -1 if definer is None else self._positions.get(definer, -1)

    def of(self, buffer: Value, dim: int) -> Size:
        static = buffer.type.shape[dim]  # type: ignore[attr-defined]
        if static is not None:
            return static
        root = self._find((buffer, dim))
        known = self._known.get(root)
        return self.symbol(*root) if known is None else known

    def symbol(self, buffer: Value, dim: int, kind: str = "extent") -> Poly:
        key = (buffer, dim, kind)
        if key not in self._symbols:
            known = self._expected.get((buffer, dim), 0) if kind == "extent" else 0
            self._symbols[key] = Poly.symbol(Extent(buffer, dim, kind, known))
        return self._symbols[key]

    def strides(self, buffer: Value) -> list[Size]:
        """The strides of a buffer's dimensions. Units: elements."""
        type: MemRefType = buffer.type  # type: ignore[assignment]
        if type.layout is None:
            # Products list symbols in the order of their making: that of inner dimensions first.
            extents = [self.of(buffer, dim) for dim in reversed(range(type.rank))]
            return row_major_strides(extents[::-1])
        known = type.strides_and_offset()
        if known is None:
            raise ValueError(f"a layout without strides: {type}")
        return [
            self.symbol(buffer, i, "stride") if s is None else s for i, s in enumerate(known[0])
        ]

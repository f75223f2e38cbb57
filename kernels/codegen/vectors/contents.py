"""What of memory is in registers: loads are remembered, stores are delayed.

A piece that one operation stores and a later one loads at the same place never goes through memory.
Stores reach it at the end of the block, or earlier where something else needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from ....ir.core import Value
from ..addresses.walk import Walk
from .accesses import Address, disjoint
from .reads import is_interleaved
from .writes import write, write_interleaved


@dataclass(slots=True)
class Entry:
    """A value known to be (or, if dirty, to become) the content of an address."""

    address: Address
    value: Value
    dirty: bool


class Contents:
    """The tables of known contents, one in each open block, by what buffers may share memory."""

    def __init__(self, code: Walk) -> None:
        self.code = code

    def find(self, address: Address) -> Value | None:
        """The content of an address if it is known here."""
        alias, key, scope = address.access.alias, address.key, self.code.scope
        while scope is not None:
            table = scope.entries.get(alias)  # type: ignore[call-overload]
            if table is not None:
                entry = table.get(key)
                if entry is not None:
                    return entry.value
            if alias in scope.written:
                return None
            scope = scope.parent
        return None

    def load(
        self, group: Sequence[Address], read: Callable[[Sequence[Address]], Sequence[Value]]
    ) -> None:
        """Make the contents of addresses known, which `read` loads together."""
        table = self._table(group[0].access.alias)
        for entry in table.values():
            if entry.dirty and not all(disjoint(entry.address, one) for one in group):
                self._write(entry)
        for address, value in zip(group, read(group), strict=True):
            table[address.key] = Entry(address, value, False)

    def store(self, address: Address, value: Value) -> None:
        """Set the content of an address; memory learns of it later."""
        table = self._table(address.access.alias)
        for key, entry in list(table.items()):
            if key != address.key and not disjoint(entry.address, address):
                if entry.dirty:
                    self._write(entry)
                del table[key]
        table[address.key] = Entry(address, value, True)

    def flush(self, aliases: Iterable[Hashable] | None = None) -> None:
        """Carry out the delayed stores into these buffers, or all, of the current block."""
        tables = self.code.scope.entries
        for alias in list(tables) if aliases is None else aliases:
            for entry in tables.get(alias, {}).values():  # type: ignore[call-overload]
                if entry.dirty:
                    self._write(entry)

    def forget(self, aliases: Iterable[Hashable] | None = None) -> None:
        """Drop what is known of buffers, or all, that something else has written."""
        tables = self.code.scope.entries
        if aliases is None:
            tables.clear()
            return
        for alias in aliases:
            tables.pop(alias, None)  # type: ignore[call-overload]

    def _table(self, alias: Hashable) -> dict:
        return self.code.scope.entries.setdefault(alias, {})  # type: ignore[arg-type]

    def _write(self, entry: Entry) -> None:
        together = self._interleaved_with(entry)
        if together:
            write_interleaved(self.code, [e.address for e in together], [e.value for e in together])
        else:
            write(self.code, entry.address, entry.value)
        for one in together or (entry,):
            one.dirty = False

    def _interleaved_with(self, entry: Entry) -> list[Entry]:
        """Delayed stores that together fill the gaps between each other's lanes, or none."""
        address, stride = entry.address, entry.address.lane
        if not is_interleaved(stride) or isinstance(address.count, Value):
            return []
        assert isinstance(stride, int)
        table = self._table(address.access.alias)
        base, constant, *rest = address.key
        found = {
            shift: one
            for shift in range(1 - stride, stride)
            if (one := table.get((base, constant + shift, *rest))) is not None and one.dirty
        }
        for first in range(1 - stride, 1):
            if all(first + i in found for i in range(stride)):
                return [found[first + i] for i in range(stride)]
        return []

"""A table of which values memory holds: loads are remembered, stores are delayed.

A value that one operation stores and a later one loads at the same place stays in a register. The
store is written at the end of the block, or earlier where another operation needs it in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ...ir.core import Value
from .code import Scope


class HasScope(Protocol):
    """Anything that walks blocks and knows the innermost open one."""

    scope: Scope


class Place(Protocol):
    """What accesses touch: elements of a buffer."""

    alias: Any
    """A key that is equal for places in buffers that may share memory."""
    key: tuple
    """A key that is equal for places with the same elements."""

    def disjoint(self, other: Any) -> bool:
        """Whether two places in buffers that may alias certainly share no element."""
        ...


@dataclass(slots=True)
class Entry:
    """The value that a place of memory holds or, if dirty, that is still to be stored there."""

    place: Any
    value: Value
    dirty: bool


class Contents(ABC):
    """The known contents of memory: a table in each open scope, by keys of aliasing buffers."""

    def __init__(self, walk: HasScope) -> None:
        self.walk = walk

    @abstractmethod
    def write(self, entry: Entry) -> None:
        """Store a dirty entry's value in memory, after which it is not dirty any more."""

    def find(self, place: Place) -> Entry | None:
        """The known content of a place, or None."""
        alias, key, scope = place.alias, place.key, self.walk.scope
        while scope is not None:
            table = scope.entries.get(alias)
            if table is not None:
                entry = table.get(key)
                if entry is not None:
                    return entry
            if alias in scope.written:
                return None
            scope = scope.parent
        return None

    def load(
        self, group: Sequence[Any], read: Callable[[Sequence[Any]], Sequence[Value]]
    ) -> Sequence[Value]:
        """Load places of one buffer by `read` and remember their contents; stores come first."""
        table = self.table(group[0].alias)
        self.settle(group)
        values = read(group)
        for place, value in zip(group, values, strict=True):
            table[place.key] = Entry(place, value, False)
        return values

    def settle(self, group: Sequence[Place]) -> None:
        """Carry out the delayed stores that may overlap any of these places of one buffer."""
        for entry in self.table(group[0].alias).values():
            if entry.dirty and not all(entry.place.disjoint(one) for one in group):
                self.write(entry)

    def store(self, place: Place, value: Value) -> None:
        """Set the content of a place; the store to memory is delayed."""
        table = self.table(place.alias)
        for key, entry in list(table.items()):
            if key != place.key and not entry.place.disjoint(place):
                if entry.dirty:
                    self.write(entry)
                del table[key]
        table[place.key] = Entry(place, value, True)

    def flush(self, aliases: Iterable[Hashable] | None = None) -> None:
        """Carry out the current scope's delayed stores into these buffers, or into all."""
        tables = self.walk.scope.entries
        for alias in list(tables) if aliases is None else aliases:
            for entry in tables.get(alias, {}).values():
                if entry.dirty:
                    self.write(entry)

    def forget(self, aliases: Iterable[Hashable] | None = None) -> None:
        """Forget the contents of these buffers, or of all: something else has written to them."""
        tables = self.walk.scope.entries
        for alias in list(tables) if aliases is None else aliases:
            tables.pop(alias, None)

    def table(self, alias: Hashable) -> dict[tuple, Entry]:
        """The current scope's entries for buffers with this alias key, by keys of places."""
        return self.walk.scope.entries.setdefault(alias, {})

"""Union-find of values, with marks on classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .core import Value


@dataclass
class ValueClasses:
    """Disjoint sets of values, each with a representative, some of them marked."""

    _leader: dict[Value, Value] = field(default_factory=dict)
    _members: dict[Value, list[Value]] = field(default_factory=dict)
    _marks: dict[Value, None] = field(default_factory=dict)

    def join(self, values: Sequence[Value]) -> None:
        """Merge the classes of these values."""
        leaders = list(dict.fromkeys(map(self._of, values)))
        for other in leaders[1:]:
            self._members[leaders[0]] += self._members.pop(other)
            self._leader[other] = leaders[0]

    def mark(self, value: Value) -> None:
        """Mark a value's class."""
        self._of(value)
        self._marks[value] = None

    def has(self, value: Value) -> bool:
        """Whether `join` or `mark` was called with the value."""
        return value in self._leader or value in self._members

    def marked(self) -> list[Value]:
        """The values of all classes with a mark."""
        leaders = dict.fromkeys(map(self._of, self._marks))
        return [value for leader in leaders for value in self._members[leader]]

    def _of(self, value: Value) -> Value:
        """The representative of a value's class; a new value becomes a class of its own."""
        self._members.setdefault(value, [value]) if value not in self._leader else None
        while (leader := self._leader.get(value)) is not None:
            value = leader
        return value

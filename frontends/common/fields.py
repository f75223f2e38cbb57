"""Fields of a node that record whether they were read, and a format's table of ignorable fields.

A field that no converter reads may still change what the model computes: `is_test` of a
normalization, an activation inside of a layer. So, after each converter, the importer looks at the
fields that it left unread:

    IGNORED = IgnoredFields(
        Ignored("engine cudnn_*", "how another runtime computes it"),
        Ignored("momentum", "of training", kinds="SpatialBN"),
        Ignored("order", "the layout that nnc has", values=("NCHW",)),
    )
    rows = Rows(__package__, IGNORED)

Everything else is refused by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from ..wire.flatbuffers import Table
from ..wire.protobuf import Record


class Fields(Mapping[Any, Any]):
    """Fields by name or number. A look-up or an `in` test counts as reading the field."""

    def __init__(self, fields: Mapping[Any, Any]) -> None:
        self._fields = fields
        self._read: set[Any] = set()

    def __getitem__(self, name: Any) -> Any:
        self._read.add(name)
        return self._fields[name]

    def __contains__(self, name: object) -> bool:
        self._read.add(name)
        return name in self._fields

    def __iter__(self) -> Iterator[Any]:
        self._read.update(self._fields)
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def read_all(self) -> None:
        """Mark all fields as read."""
        self._read.update(self._fields)

    def unread(self) -> Iterator[tuple[Any, Any]]:
        """The names and values of the fields that nobody asked for."""
        return ((key, value) for key, value in self._fields.items() if key not in self._read)


class RecordFields:
    """A protobuf message or a flatbuffer table that remembers which fields were read.

    It has the attributes and methods of what it wraps. A nested field is named `outer.inner`.
    """

    def __init__(self, record: Record | Table, read: set[str] | None = None, at: str = "") -> None:
        self._record = record
        self._read = set() if read is None else read
        self._at = at

    def __getattr__(self, name: str) -> Any:
        return self._inner(name, getattr(self._record, name))

    def has(self, name: str) -> bool:
        """Whether the field is present in the data."""
        self._read.add(self._at + name)
        return self._record.has(name)

    def which(self, *names: str) -> str:
        """The name of the field of a protobuf oneof that is present in the data; "" if none is."""
        self._read.update(self._at + name for name in names)
        return next((name for name in names if self._record.has(name)), "")

    def part(self, name: str) -> Any:
        """A nested message; an empty one if it is not present in the data."""
        assert isinstance(self._record, Record)
        return self._inner(name, self._record.part(name))

    def fields(self) -> Iterator[tuple[str, Any]]:
        """The names and values of the fields that are present in the data."""
        found = dict(self._record.fields())
        self._read.update(self._at + name for name in found)
        return iter(found.items())

    def unread(self) -> Iterator[tuple[str, Any]]:
        """The names and values of the fields that are present in the data and were never read."""
        return _unread(self._record, self._read, self._at)

    def _inner(self, name: str, value: Any) -> Any:
        self._read.add(self._at + name)
        if isinstance(value, Record | Table):
            return RecordFields(value, self._read, f"{self._at}{name}.")
        return value


def _unread(record: Record | Table, read: set[str], at: str) -> Iterator[tuple[str, Any]]:
    for name, value in record.fields():
        if at + name not in read:
            yield at + name, value
        elif isinstance(value, Record | Table):
            yield from _unread(value, read, f"{at}{name}.")
    if isinstance(record, Record):
        yield from ((at + name, True) for name in record.unknown())


def remembered(fields: Any) -> Any:
    """A node's fields, wrapped to remember what is read; unchanged if they have no names."""
    if isinstance(fields, Mapping):
        return Fields(fields)
    return RecordFields(fields) if isinstance(fields, Record | Table) else fields


@dataclass(frozen=True)
class Ignored:
    """Fields that a converter need not read, by their `names` and the `kinds` of their nodes.

    Names and kinds are patterns, separated by spaces, with `*` for any text. `why` says why the
    fields mean nothing to nnc. With `values`, fields with other values must be read.
    """

    names: str
    why: str
    kinds: str = "*"
    values: tuple[Any, ...] | None = None

    def covers(self, kind: str, name: str, value: Any) -> bool:
        """Whether this entry of the table applies to the field."""
        if not _fits(self.names, name) or not _fits(self.kinds, kind):
            return False
        return self.values is None or any(same(value, one) for one in self.values)


@cache
def _fits(patterns: str, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns.split())


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal and of one kind: 0 is not False, a list may be a tuple."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


class IgnoredFields:
    """A format's table of fields that may stay unread."""

    def __init__(self, *rows: Ignored) -> None:
        self.rows = rows

    def refused(self, kind: str, unread: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        """The unread fields of a node that are not None and that no entry of the table covers."""
        for name, value in unread:
            if value is not None and not any(row.covers(kind, name, value) for row in self.rows):
                yield name, value

"""Flatbuffers by tables of fields, read without copying their bytes.

    schema = Schema('''
    Model
      0 version u32 =1
      1 graphs Graph*
      2 name string
    Graph
      0 shape i32*
      1 options any
    ''')
    model = schema.read("Model", data)
    model.graphs[0].shape
    model.graphs[0].options.read("Conv")

Kinds are bool, i8 to i64, u8 to u64, f32, f64, string, tables, and `any`, a table whose kind
another field tells; `*` is a vector. Vectors of numbers are views of the data. A number that is
left out is 0 or what follows `=`, a string "", a table None; `has` tells.

Source: https://flatbuffers.dev/internals
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

DEEPEST = 64
"""The deepest nesting of tables."""

_NUMBERS = {
    "bool": np.dtype("?"),
    **{f"{kind}{8 * size}": np.dtype(f"<{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)},
    "f32": np.dtype("<f4"),
    "f64": np.dtype("<f8"),
}


class FlatbufferError(ValueError):
    """The bytes are not a flatbuffer of this schema."""


@dataclass(frozen=True)
class _Field:
    slot: int
    kind: str
    repeated: bool
    default: Any


class Table:
    """A table. Its fields are attributes; `has` tells whether one is present in the data."""

    def __init__(self, fields: dict[str, _Field], unknown: tuple[int, ...] = ()) -> None:
        self._fields = fields
        self._unknown = unknown

    def __getattr__(self, name: str) -> Any:
        field = self.__dict__["_fields"].get(name)
        if field is None:
            raise AttributeError(name)
        if field.repeated:
            return np.empty(0, _NUMBERS[field.kind]) if field.kind in _NUMBERS else []
        return field.default

    def has(self, name: str) -> bool:
        """Whether the field is present in the data."""
        return name in self.__dict__

    def fields(self) -> Iterator[tuple[str, Any]]:
        """The names and values of the fields that are present in the data.

        A field that the schema lacks is `field NUMBER`, without a known value.
        """
        yield from ((name, value) for name, value in self.__dict__.items() if name[0] != "_")
        yield from ((f"field {number}", "not known") for number in self._unknown)


@dataclass(frozen=True)
class AnyTable:
    """A table that can be read once its kind is known."""

    reader: _Reader
    at: int
    depth: int

    def read(self, kind: str, schema: Schema | None = None) -> Table:
        """The table, perhaps of another schema. Raises FlatbufferError."""
        reader = self.reader
        if schema is not None:
            reader = _Reader(schema.tables, reader.data)
        return reader.table(kind, self.at, self.depth)


class Schema:
    """Tables by name, from a text as above; a line with several names is a table for each."""

    def __init__(self, text: str) -> None:
        self.tables: dict[str, dict[str, _Field]] = {}
        fields: dict[str, _Field] = {}
        for line in text.splitlines():
            words = line.split()
            if words and not words[0].isdigit():
                fields = {}
                self.tables |= dict.fromkeys(words, fields)
            elif words:
                fields[words[1]] = _field(int(words[0]), words[2], words[3:])

    def read(self, table: str, data: np.ndarray | bytes) -> Table:
        """The table at the root of the bytes. Raises FlatbufferError."""
        view = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
        reader = _Reader(self.tables, view)
        return reader.table(table, reader.reference(0), 0)

    def empty(self, table: str) -> Table:
        """A table without any field."""
        return Table(self.tables[table])


def _field(slot: int, kind: str, words: list[str]) -> _Field:
    repeated, kind = kind.endswith("*"), kind.rstrip("*")
    default: Any = "" if kind == "string" else None
    if kind in _NUMBERS:
        text = words[0][1:] if words else "0"
        default = float(text) if kind[0] == "f" else int(text)
        default = bool(default) if kind == "bool" else default
    return _Field(slot, kind, repeated, default)


class _Reader:
    def __init__(self, tables: dict[str, dict[str, _Field]], data: np.ndarray) -> None:
        self.tables = tables
        self.data = data
        self.bytes = memoryview(data)  # type: ignore[arg-type]
        self.read: dict[tuple[str, int], Table] = {}
        self.elements = data.size
        """How many more elements vectors may have: each takes bytes of its own."""

    def table(self, kind: str, at: int, depth: int) -> Table:
        """The table at an offset; a table that is referenced several times is one object."""
        if depth > DEEPEST:
            raise FlatbufferError(f"tables are nested more than {DEEPEST} deep")
        if (found := self.read.get((kind, at))) is not None:
            return found
        fields = self.tables[kind]
        slots = at - self.number("<i", at)
        size, extent = self.number("<H", slots), self.number("<H", slots + 2)
        made = self.read[kind, at] = Table(fields, self.unknown(fields, slots, size))
        for name, field in fields.items():
            place = 4 + 2 * field.slot
            offset = self.number("<H", slots + place) if place + 2 <= size else 0
            if not offset:
                continue
            if offset >= extent:
                raise FlatbufferError(f"field '{name}' lies outside its table")
            made.__dict__[name] = self.value(field, at + offset, depth)
        return made

    def unknown(self, fields: dict[str, _Field], slots: int, size: int) -> tuple[int, ...]:
        """The numbers of the fields in the data that the schema lacks."""
        known = {field.slot for field in fields.values()}
        count = max(0, size - 4) // 2
        return tuple(
            i for i in range(count) if i not in known and self.number("<H", slots + 4 + 2 * i)
        )

    def value(self, field: _Field, at: int, depth: int) -> Any:
        if field.repeated:
            return self.vector(field, self.reference(at), depth)
        if (dtype := _NUMBERS.get(field.kind)) is not None:
            return self.span(at, 1, dtype)[0].item()
        at = self.reference(at)
        if field.kind == "string":
            return self.string(at)
        if field.kind == "any":
            return AnyTable(self, at, depth + 1)
        return self.table(field.kind, at, depth + 1)

    def vector(self, field: _Field, at: int, depth: int) -> Any:
        count, at = self.number("<I", at), at + 4
        if (dtype := _NUMBERS.get(field.kind)) is not None:
            return self.span(at, count, dtype)
        self.elements -= count
        if self.elements < 0:
            raise FlatbufferError("vectors overlap")
        places = self.span(at, count, _NUMBERS["u32"]).tolist()
        places = [at + 4 * i + place for i, place in enumerate(places)]
        if field.kind == "string":
            return [self.string(place) for place in places]
        return [self.table(field.kind, place, depth + 1) for place in places]

    def string(self, at: int) -> str:
        text = self.span(at + 4, self.number("<I", at), _NUMBERS["u8"])
        return text.tobytes().decode("utf-8", "replace")

    def reference(self, at: int) -> int:
        """The target of the offset at a position."""
        return at + self.number("<I", at)

    def number(self, form: str, at: int) -> int:
        if not 0 <= at <= self.data.size - struct.calcsize(form):
            raise FlatbufferError(f"an offset leads to byte {at}, outside the {self.data.size}")
        return struct.unpack_from(form, self.bytes, at)[0]

    def span(self, at: int, count: int, dtype: np.dtype) -> np.ndarray:
        """A view of `count` numbers."""
        end = at + count * dtype.itemsize
        if at < 0 or end > self.data.size:
            raise FlatbufferError(f"{count} numbers at byte {at} end outside the {self.data.size}")
        return self.data[at:end].view(dtype)

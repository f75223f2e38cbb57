"""Protocol buffers by tables of fields, read without copying their bytes.

    schema = Schema('''
    Graph
      1 node Node*; 2 versions int
    Node
      1 name string; 3 input string*
      5 attr map string Value
      7 data bytes
      8 ratio float*
      9 mode Mode =FAST
    Mode = SLOW FAST 7:EXACT
    ''')
    graph = schema.read("Graph", data)
    graph.node[0].name

Kinds are int (all varints that are not zigzag), sint, bool, fixed32, fixed64, sfixed32, sfixed64,
float, double, string, bytes, messages and enums; `*` is a repeated field, which numbers have
packed or not. A number that is left out is 0 or what follows `=`, a message None, an enum the first
of its names; `has` tells, and `part` gives an empty message instead. Enums are read as their names,
numbers without one as their digits. Bytes are views of the data. Unknown fields are skipped;
`unknown` names them.

Source: https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

DEEPEST = 100
"""The deepest nesting of messages, as in protobuf's own readers."""

FIXED = {
    "fixed32": np.dtype("<u4"),
    "fixed64": np.dtype("<u8"),
    "sfixed32": np.dtype("<i4"),
    "sfixed64": np.dtype("<i8"),
    "float": np.dtype("<f4"),
    "double": np.dtype("<f8"),
}
_VARINTS = ("int", "sint", "bool", "enum")
_DEFAULTS = {"string": "", "bytes": np.empty(0, np.uint8), "bool": False}


class WireError(ValueError):
    """The bytes are not a valid message."""


@dataclass(frozen=True)
class Field:
    """The table's description of a field."""

    name: str
    kind: str
    repeated: bool
    key: str = ""
    """The kind of the keys, if the field is a map."""
    default: Any = 0
    names: Mapping[int, str] = field(default_factory=dict)
    """The names of the numbers, if the field is an enum."""


class Record:
    """A message. Its fields are attributes; `has` tells whether one is present in the data."""

    def __init__(self, schema: Schema, message: str) -> None:
        self._schema = schema
        self._message = message

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._schema.empty(self._schema.field_of(self._message, name))

    def has(self, name: str) -> bool:
        """Whether the field is present in the data."""
        return name in self.__dict__

    def which(self, *names: str) -> str:
        """The one of several fields that is present in the data; "" for none."""
        return next((name for name in names if name in self.__dict__), "")

    def part(self, name: str) -> Record:
        """A nested message; an empty one if it is not present in the data."""
        found = self.__dict__.get(name)
        return found or Record(self._schema, self._schema.field_of(self._message, name).kind)

    def unknown(self) -> Iterable[str]:
        """The fields in the data that the table lacks, as `field_25`."""
        return self.__dict__.get("_unknown", ())

    def add_unknown(self, name: str) -> None:
        """Record a field in the data that the table lacks."""
        self.__dict__.setdefault("_unknown", {})[name] = None

    def fields(self) -> Iterator[tuple[str, Any]]:
        """The names and values of the fields that are present in the data."""
        return ((name, value) for name, value in self.__dict__.items() if name[0] != "_")


class Schema:
    """Messages by name, from a table as above."""

    def __init__(self, text: str) -> None:
        self.messages: dict[str, dict[int, Field]] = {}
        self._names: dict[str, dict[str, Field]] = {}
        rows = [row.split() for row in text.replace(";", "\n").splitlines() if row.strip()]
        lists: dict[str, list[str]] = {}
        for row in rows:
            if row[1:2] == ["="]:
                lists.setdefault(row[0], []).extend(row[2:])
        enums = {name: _numbered(words) for name, words in lists.items()}
        fields: dict[int, Field] = {}
        for row in rows:
            if row[0].isdigit():
                fields[int(row[0])] = _declared(row[1], row[2:], enums)
            elif row[0] not in enums:
                for name in row:  # messages that have the same fields
                    fields = self.messages[name] = self.messages.get(row[0], {})
        for name, found in self.messages.items():
            self._names[name] = {field.name: field for field in found.values()}

    def field_of(self, message: str, name: str) -> Field:
        """The table's description of a field. Raises AttributeError if there is none."""
        try:
            return self._names[message][name]
        except KeyError:
            raise AttributeError(name) from None

    def find(self, message: str, name: str) -> Field | None:
        """The table's description of a field; None if there is none."""
        return self._names.get(message, {}).get(name)

    def empty(self, field: Field) -> Any:
        """The value of a missing field."""
        if field.key:
            return {}
        if field.repeated:
            dtype = FIXED.get(field.kind)
            return np.empty(0, dtype) if dtype is not None else []
        if field.kind in ("float", "double"):
            return float(field.default)
        if field.default or field.kind in FIXED or field.kind in _VARINTS:
            return field.default
        return _DEFAULTS.get(field.kind)

    def read(self, message: str, data: np.ndarray | bytes) -> Record:
        """The message in the bytes. Raises WireError."""
        view = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
        return _Reader(self, view).message(message, 0, view.size, 0)


def _numbered(names: list[str]) -> dict[int, str]:
    """The names of an enum by number; a missing number is the previous one plus 1."""
    found, number = {}, 0
    for word in names:
        given, _, name = word.rpartition(":")
        number = int(given) if given else number
        found[number] = name
        number += 1
    return found


def _declared(name: str, words: list[str], enums: Mapping[str, Mapping[int, str]]) -> Field:
    kind, key = words[0], ""
    if kind == "map":
        key, kind = words[1], words[2]
    kind, repeated = kind.rstrip("*"), kind.endswith("*")
    names = enums.get(kind, {})
    default: Any = next(iter(names.values()), 0)
    if len(words) > 1 and words[-1].startswith("="):
        text = words[-1][1:]
        default = text if names or kind == "string" else float(text)
        if kind in _VARINTS:
            default = bool(default) if kind == "bool" else int(default)
    return Field(name, "enum" if names else kind, repeated, key, default, names)


def _fixed(field: Field) -> int | None:
    """The wire type of a fixed-size number; None for other fields."""
    dtype = FIXED.get(field.kind)
    return None if dtype is None else 1 if dtype.itemsize == 8 else 5


class _Reader:
    def __init__(self, schema: Schema, data: np.ndarray) -> None:
        self.schema = schema
        self.data = data
        self.bytes = memoryview(data)  # type: ignore[arg-type]

    def message(self, name: str, at: int, end: int, depth: int) -> Record:
        if depth > DEEPEST:
            raise WireError(f"messages are nested more than {DEEPEST} deep")
        fields = self.schema.messages[name]
        record = Record(self.schema, name)
        numbers: dict[str, list[Any]] = {}
        while at < end:
            tag, at = self.varint(at, end)
            field, kind = fields.get(tag >> 3), tag & 7
            if not tag >> 3:
                raise WireError("a field has the number 0")
            start, at = self.content(kind, at, end)
            if field is None:
                record.add_unknown(f"field_{tag >> 3}")
                continue
            if field.repeated and (field.kind in FIXED or field.kind in _VARINTS):
                parts = numbers.setdefault(field.name, [])
                if kind == _fixed(field):
                    at = self._run(tag, start, at, end, parts, FIXED[field.kind])
                else:
                    parts.append(self.numbers(field, kind, start, at))
                continue
            value = self.value(field, kind, start, at, depth)
            if field.key:
                record.__dict__.setdefault(field.name, {}).update([value])
            elif field.repeated:
                record.__dict__.setdefault(field.name, []).append(value)
            else:
                record.__dict__[field.name] = value
        for one, parts in numbers.items():
            if isinstance(parts[0], np.ndarray):
                record.__dict__[one] = parts[0] if len(parts) == 1 else np.concatenate(parts)
            else:
                record.__dict__[one] = [number for part in parts for number in part]
        return record

    def content(self, kind: int, at: int, end: int) -> tuple[int, int]:
        """The begin and end of a field's content."""
        if kind == 0:
            _, stop = self.varint(at, end)
        elif kind == 2:
            size, at = self.varint(at, end)
            stop = at + size
        elif kind in (1, 5):
            stop = at + (8 if kind == 1 else 4)
        elif kind == 3:
            stop = self.group(at, end)
        else:
            raise WireError(f"a field is of the unknown kind {kind}")
        if stop > end:
            raise WireError("a field ends behind its message")
        return at, stop

    def group(self, at: int, end: int) -> int:
        """The end of a group, which is skipped, as no supported format uses one."""
        open_groups = 1
        while at < end:
            tag, at = self.varint(at, end)
            if tag & 7 in (3, 4):
                open_groups += 1 if tag & 7 == 3 else -1
                if not open_groups:
                    return at
            else:
                _, at = self.content(tag & 7, at, end)
        raise WireError("a group does not end")

    def _run(
        self, tag: int, start: int, at: int, end: int, parts: list[Any], dtype: np.dtype
    ) -> int:
        """Read unpacked numbers with repeated tags as one array; returns their end."""
        head = varint_bytes(tag)
        step = len(head) + dtype.itemsize
        most = (end - (start - len(head))) // step
        rows = self.data[start - len(head) :][: most * step].reshape(most, step)
        same = (rows[:, : len(head)] == np.frombuffer(head, np.uint8)).all(axis=1)
        # the first tag may be written with more bytes than it needs
        count = most if same.all() else max(int(same.argmin()), 1)
        parts.append(rows[:count, len(head) :].copy().view(dtype).reshape(-1))
        return start - len(head) + count * step

    def numbers(self, field: Field, kind: int, start: int, at: int) -> Any:
        """The numbers of one occurrence of a repeated field."""
        dtype = FIXED.get(field.kind)
        if dtype is not None:
            if kind != 2 or (at - start) % dtype.itemsize:
                raise WireError(f"field '{field.name}' has no numbers of {field.kind}")
            return self.data[start:at].view(dtype)
        if kind == 0:
            return [_integer(field, self.varint(start, at)[0])]
        if kind != 2:
            raise WireError(f"field '{field.name}' has no integers")
        found = _varints(self.data[start:at])
        return [_integer(field, number) for number in found.tolist()]

    def value(self, field: Field, kind: int, start: int, at: int, depth: int) -> Any:
        if field.key:
            if kind != 2:
                raise WireError(f"field '{field.name}' is not a map")
            return self.entry(field, start, at, depth)
        dtype = FIXED.get(field.kind)
        expected = _fixed(field) or (0 if field.kind in _VARINTS else 2)
        if kind != expected:
            raise WireError(f"field '{field.name}' is not of kind {field.kind}")
        if dtype is not None:
            return self.data[start:at].view(dtype)[0].item()
        if field.kind in _VARINTS:
            return _integer(field, self.varint(start, at)[0])
        if field.kind == "bytes":
            return self.data[start:at]
        if field.kind == "string":
            return bytes(self.bytes[start:at]).decode("utf-8", "replace")
        return self.message(field.kind, start, at, depth + 1)

    def entry(self, field: Field, at: int, end: int, depth: int) -> tuple[Any, Any]:
        """The key and the value of a map's entry."""
        parts = {1: Field("key", field.key, False), 2: Field("value", field.kind, False)}
        found: dict[int, Any] = {}
        while at < end:
            tag, at = self.varint(at, end)
            start, at = self.content(tag & 7, at, end)
            if (part := parts.get(tag >> 3)) is not None:
                found[tag >> 3] = self.value(part, tag & 7, start, at, depth)
        value = found.get(2, self.schema.empty(parts[2]))
        if value is None:
            value = Record(self.schema, field.kind)
        return found.get(1, self.schema.empty(parts[1])), value

    def varint(self, at: int, end: int) -> tuple[int, int]:
        value = shift = 0
        data = self.bytes
        while at < end and shift < 70:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value, at
            shift += 7
        raise WireError("a number does not end")


def _varints(data: np.ndarray) -> np.ndarray:
    """Packed varints as u64."""
    if not data.size:
        return np.empty(0, np.uint64)
    last = np.flatnonzero(data < 128)
    if not last.size or last[-1] != data.size - 1:
        raise WireError("a number does not end")
    first = np.concatenate([[0], last[:-1] + 1])
    if (last - first).max() > 9:
        raise WireError("a number is too long")
    place = np.arange(data.size) - np.repeat(first, last - first + 1)
    bits = (data & np.uint8(127)).astype(np.uint64) << (7 * place).astype(np.uint64)
    return np.bitwise_or.reduceat(bits, first)


def _integer(field: Field, number: int) -> Any:
    number &= (1 << 64) - 1
    if field.kind == "bool":
        return bool(number)
    if field.kind == "sint":
        return number >> 1 ^ -(number & 1)
    if number >> 63:
        number -= 1 << 64
    return field.names.get(number, str(number)) if field.kind == "enum" else number


def varint_bytes(value: int) -> bytes:
    """A number encoded as a varint."""
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


class Place(NamedTuple):
    """A field of a message in bytes: its offset, and the range of its content."""

    number: int
    kind: int
    start: int
    begin: int
    end: int


def places(data: np.ndarray, begin: int = 0, end: int | None = None) -> Iterator[Place]:
    """The fields of the message in a range of the bytes. Raises WireError."""
    reader, at, end = _Reader(Schema(""), data), begin, data.size if end is None else end
    while at < end:
        start = at
        tag, at = reader.varint(at, end)
        if not tag >> 3:
            raise WireError("a field has the number 0")
        content, at = reader.content(tag & 7, at, end)
        yield Place(tag >> 3, tag & 7, start, content, at)


MOST_LOOKED_AT = 4096
"""The most fields that are examined to find out what a message is."""


def kinds_of_fields(data: np.ndarray, inside: int = 0) -> dict[int, int]:
    """The wire types of a message's fields by number; empty if it is no message.

    With `inside`, those of the first message in the field of this number.
    """
    found: dict[int, int] = {}
    try:
        for place in islice(places(data), MOST_LOOKED_AT):
            if inside and (place.number, place.kind) == (inside, 2):
                return kinds_of_fields(data[place.begin : place.end])
            found[place.number] = place.kind
    except WireError:
        return {}
    return {} if inside else found

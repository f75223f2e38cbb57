"""MLIR bytecode, versions 0 to 6: its sections, and operations as records of numbers.

What attributes, types and properties are is the business of their dialects: here they are spans
of bytes, which `Cursor.fields` reads by a row such as "a t s*":

    a, t, o  an attribute, a type, an attribute that may be missing
    v, s, B  an integer, a signed integer, a byte
    F        a number of 64 bits that an integer's bits are
    S, b     a string, a span of bytes
    x*, xy*  a list of them, of tuples of them

Every count is at most the bytes that are left, since each thing counted takes one at least.
Places in messages are bytes of the whole data.

Source: https://mlir.llvm.org/docs/BytecodeFormat/
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

MAGIC = b"ML\xefR"
NEWEST = 6
DEEPEST = 64
"""The deepest nesting of regions, and of attributes."""
MOST_PARTS = 1 << 20
"""The most attributes inside one; repeated ones count each time, since bytes hardly limit them."""

STRINGS, DIALECTS, ATTRIBUTES, OFFSETS, IR = range(5)
PROPERTIES = 8
_SECTIONS = ("string", "dialect", "attribute", "attribute offset", "IR")

HAS_ATTRIBUTES, HAS_RESULTS, HAS_OPERANDS, HAS_SUCCESSORS = 1, 2, 4, 8
HAS_REGIONS, HAS_USE_ORDERS, HAS_PROPERTIES = 16, 32, 64

LAZY_REGIONS, USE_ORDERS, SHORT_ARGUMENTS, NATIVE_PROPERTIES = 2, 3, 4, 5
"""The versions of the bytecode that introduced each encoding."""


class BytecodeError(ValueError):
    """The bytes are not readable bytecode."""


@dataclass(frozen=True)
class Span:
    """The encoding of a dialect's attribute or type; text unless it is `coded`."""

    dialect: str
    coded: bool
    start: int
    end: int


@dataclass
class Record:
    """An operation: indices of attributes, types and values. `at` is its offset.

    `properties` is the span of bytes that holds them, `values` are the numbers of its results.
    """

    name: str
    at: int
    location: int
    attributes: int | None = None
    properties: tuple[int, int] | None = None
    results: list[int] = field(default_factory=list)
    values: range = range(0)
    operands: list[int] = field(default_factory=list)
    regions: list[list[BlockRecord]] = field(default_factory=list)
    is_isolated: bool = False


@dataclass
class BlockRecord:
    """A block: its arguments as type indices, perhaps with locations, and operations."""

    arguments: list[tuple[int, int | None]]
    values: range
    ops: list[Record]


class Cursor:
    """A position in the data and the end of the readable range."""

    def __init__(self, file: Bytecode, at: int, end: int) -> None:
        self.file = file
        self.data = file.data
        self.at = at
        self.end = end

    def error(self, message: str) -> BytecodeError:
        """An error with the position."""
        return BytecodeError(f"byte {self.at}: {message}")

    def take(self, count: int) -> int:
        """Skip `count` bytes; returns their offset."""
        if not 0 <= count <= self.end - self.at:
            raise self.error(f"{count} bytes are expected, {self.end - self.at} are left")
        self.at += count
        return self.at - count

    def byte(self) -> int:
        """The next byte."""
        return self.data[self.take(1)]

    def number(self) -> int:
        """An integer; the trailing zeros of its first byte give the number of further bytes."""
        first = self.data[self.take(1)]
        if first & 1:
            return first >> 1
        more = (first & -first).bit_length() - 1 if first else 8
        at = self.take(more) - 1
        found = int.from_bytes(self.data[at : at + more + 1], "little")
        return found >> (more + 1 if first else 8)

    def signed(self) -> int:
        """A zigzag-encoded signed integer."""
        found = self.number()
        return found >> 1 ^ -(found & 1)

    def count(self, what: str = "elements") -> int:
        """The number of elements that follow."""
        found = self.number()
        if found > self.end - self.at:
            raise self.error(f"{found} {what} are expected, {self.end - self.at} bytes are left")
        return found

    def index(self, among: list[Any], what: str) -> Any:
        """The element of a list with the index that follows."""
        return self._one(among, self.number(), what)

    def _one(self, among: list[Any], number: int, what: str) -> Any:
        if not 0 <= number < len(among):
            raise self.error(f"{what} {number} of {len(among)}")
        return among[number]

    def flagged(self, among: list[Any], what: str) -> tuple[Any, int]:
        """The element of a list with the index that follows, and the flag bit after that."""
        found = self.number()
        return self._one(among, found >> 1, what), found & 1

    def numbers(self, what: str) -> list[int]:
        """A list of integers."""
        return [self.number() for _ in range(self.count(what))]

    def blob(self) -> memoryview:
        """A span of bytes, not copied."""
        count = self.count("bytes")
        return self.data[(at := self.take(count)) : at + count]

    def section(self) -> tuple[int, Cursor]:
        """The next section: its kind and its bytes."""
        kind, size = self.byte(), self.number()
        if kind & 0x80:
            align = self.number()
            if align == 0 or align & (align - 1):
                raise self.error(f"an alignment of {align}")
            self.take(-self.at % align)
        at = self.take(size)
        return kind & 0x7F, Cursor(self.file, at, at + size)

    def fields(self, row: str) -> list[Any]:
        """The values of a row of fields, see above."""
        read = _readers(self)
        return [
            [_some(read, kind[:-1]) for _ in range(self.count())]
            if kind.endswith("*")
            else _some(read, kind)
            for kind in _kinds(row)
        ]


@cache
def _kinds(row: str) -> tuple[str, ...]:
    return tuple(row.split())


def _some(read: dict[str, Callable[[], Any]], kinds: str) -> Any:
    return read[kinds]() if len(kinds) == 1 else tuple(read[kind]() for kind in kinds)


def _readers(at: Cursor) -> dict[str, Callable[[], Any]]:
    file = at.file

    def optional() -> Any:
        number = at.number()
        return file.attribute(number >> 1) if number & 1 else None

    return {
        "a": lambda: file.attribute(at.number()),
        "t": lambda: file.type(at.number()),
        "o": optional,
        "v": at.number,
        "s": at.signed,
        "B": at.byte,
        "F": lambda: struct.unpack("<d", struct.pack("<q", at.signed()))[0],
        "S": lambda: at.index(file.strings, "string"),
        "b": at.blob,
    }


class Bytecode:
    """A file: its tables, and its top-level operation.

    `decode(kind, span, cursor)` makes an "attribute" or a "type" from its span; each is made once,
    on first use. Raises BytecodeError.
    """

    def __init__(self, data: Any, decode: Callable[[str, Span, Cursor], Any]) -> None:
        self.data = memoryview(data).toreadonly()
        self.decode = decode
        head = Cursor(self, 0, len(self.data))
        if bytes(self.data[:4]) != MAGIC:
            raise head.error("no MLIR bytecode")
        head.take(4)
        self.version = head.number()
        if self.version > NEWEST:
            raise head.error(f"version {self.version} of the format, {NEWEST} is the newest known")
        self.producer = _terminated(head)
        sections: dict[int, Cursor] = {}
        while head.at < head.end:
            kind, found = head.section()
            if kind in sections:
                raise head.error(f"a second section of kind {kind}")
            sections[kind] = found
        for kind, name in enumerate(_SECTIONS):
            if kind not in sections:
                raise head.error(f"the {name} section is missing")
        self.strings = _strings(sections[STRINGS])
        self.names: list[str] = []
        dialects = self._dialects(sections[DIALECTS])
        self._spans = self._encodings(sections[OFFSETS], sections[ATTRIBUTES], dialects)
        self._made: dict[tuple[str, int], Any] = {}
        self._parts = [0]
        """For each attribute under construction, the number of attributes in it."""
        self.properties: list[tuple[int, int]] = []
        if (found := sections.get(PROPERTIES)) is not None:
            for _ in range(found.count("properties")):
                size = found.number()
                self.properties.append(((at := found.take(size)), at + size))
        self._ir = sections[IR]

    def attribute(self, number: int) -> Any:
        """The attribute with this index."""
        return self._entity("attribute", number)

    def type(self, number: int) -> Any:
        """The type with this index."""
        return self._entity("type", number)

    def _entity(self, kind: str, number: int) -> Any:
        key = kind, number
        if key not in self._made:
            self._made[key] = None
            self._made[key] = self._decoded(kind, number)
        if (found := self._made[key]) is None:
            raise BytecodeError(f"{kind} {number} holds itself")
        made, parts = found
        self._parts[-1] += parts
        return made

    def _decoded(self, kind: str, number: int) -> tuple[Any, int]:
        """The attribute or type, and its size including nested ones."""
        spans = self._spans[kind]
        if not 0 <= number < len(spans):
            raise BytecodeError(f"{kind} {number} of {len(spans)}")
        if len(self._parts) > DEEPEST:
            raise BytecodeError(f"attributes are nested more than {DEEPEST} deep")
        span = spans[number]
        self._parts.append(1)
        made = self.decode(kind, span, Cursor(self, span.start, span.end))
        parts = self._parts.pop()
        if parts > MOST_PARTS:
            raise BytecodeError(f"{kind} {number} holds more than {MOST_PARTS} others")
        return made, parts

    def _dialects(self, at: Cursor) -> list[str]:
        """Read the names of dialects, and those of operations into `names`."""
        dialects = []
        for _ in range(at.count("dialects")):
            if self.version == 0:
                dialects.append(at.index(self.strings, "string"))
                continue
            name, versioned = at.flagged(self.strings, "string")
            dialects.append(name)
            if versioned:
                at.section()
        if self.version >= SHORT_ARGUMENTS:
            at.number()  # how many names there are in all
        while at.at < at.end:
            dialect = at.index(dialects, "dialect")
            for _ in range(at.count("names")):
                if self.version < NATIVE_PROPERTIES:
                    name = at.index(self.strings, "string")
                else:
                    name, _ = at.flagged(self.strings, "string")
                self.names.append(f"{dialect}.{name}")
        return dialects

    def _encodings(self, at: Cursor, spans: Cursor, dialects: list[str]) -> dict[str, list[Span]]:
        counts = {"attribute": at.number(), "type": at.number()}
        found: dict[str, list[Span]] = {"attribute": [], "type": []}
        for kind, count in counts.items():
            while len(found[kind]) < count:
                dialect = at.index(dialects, "dialect")
                for _ in range(at.count(f"{kind}s")):
                    size = at.number()
                    start = spans.take(size >> 1)
                    found[kind].append(Span(dialect, bool(size & 1), start, spans.at))
        return found

    # -- operations ------------------------------------------------------------------------------

    def root(self) -> Record:
        """The top-level operation, with everything inside."""
        block = self._block(self._ir, _Numbers(), 0)
        if len(block.ops) != 1:
            raise self._ir.error(f"{len(block.ops)} operations at the top, expected one")
        return block.ops[0]

    def _block(self, at: Cursor, numbers: _Numbers, depth: int) -> BlockRecord:
        head = at.number()
        arguments = self._arguments(at) if head & 1 else []
        values = numbers.take(len(arguments), at)
        if head >> 1 > at.end - at.at:
            raise at.error(f"{head >> 1} operations are expected, {at.end - at.at} bytes are left")
        ops = [self._op(at, numbers, depth) for _ in range(head >> 1)]
        return BlockRecord(arguments, values, ops)

    def _arguments(self, at: Cursor) -> list[tuple[int, int | None]]:
        found: list[tuple[int, int | None]] = []
        for _ in range(at.count("arguments")):
            type, located = at.number(), 1
            if self.version >= SHORT_ARGUMENTS:
                type, located = type >> 1, type & 1
            found.append((type, at.number() if located else None))
        if self.version >= USE_ORDERS and at.byte():
            _skip_use_orders(at, len(found))
        return found

    def _op(self, at: Cursor, numbers: _Numbers, depth: int) -> Record:
        start = at.at
        name, mask = at.index(self.names, "operation"), at.byte()
        op = Record(name, start, at.number())
        if mask & HAS_ATTRIBUTES:
            op.attributes = at.number()
        if mask & HAS_PROPERTIES:
            op.properties = at.index(self.properties, "properties")
        if mask & HAS_RESULTS:
            op.results = at.numbers("results")
            op.values = numbers.take(len(op.results), at)
        if mask & HAS_OPERANDS:
            op.operands = at.numbers("operands")
        if mask & HAS_SUCCESSORS:
            raise at.error(f"'{name}' leads to other blocks, which is not supported")
        if mask & HAS_USE_ORDERS:
            _skip_use_orders(at, len(op.results))
        if mask & HAS_REGIONS:
            self._regions(at, op, numbers, depth)
        return op

    def _regions(self, at: Cursor, op: Record, numbers: _Numbers, depth: int) -> None:
        if depth >= DEEPEST:
            raise at.error(f"regions are nested more than {DEEPEST} deep")
        head = at.number()
        op.is_isolated = bool(head & 1)
        if head >> 1 > at.end - at.at:
            raise at.error(f"{head >> 1} regions are expected, {at.end - at.at} bytes are left")
        if op.is_isolated and self.version >= LAZY_REGIONS:
            kind, at = at.section()
            if kind != IR:
                raise at.error(f"a section of kind {kind}, expected regions")
        for _ in range(head >> 1):
            op.regions.append(list(self._region(at, op, numbers, depth)))

    def _region(
        self, at: Cursor, op: Record, numbers: _Numbers, depth: int
    ) -> Iterator[BlockRecord]:
        blocks = at.count("blocks")
        if blocks:
            own = _Numbers(0 if op.is_isolated else numbers.end, at.count("values"))
            for _ in range(blocks):
                yield self._block(at, own, depth + 1)


@dataclass
class _Numbers:
    """The numbers of the values that a region defines: `next` is the first unused one."""

    next: int = 0
    size: int = 0

    def __post_init__(self) -> None:
        self.end = self.next + self.size

    def take(self, count: int, at: Cursor) -> range:
        """The numbers of the next `count` values."""
        if self.next + count > self.end:
            raise at.error("more values are defined than the region announces")
        self.next += count
        return range(self.next - count, self.next)


def _skip_use_orders(at: Cursor, results: int) -> None:
    """Skip the use-list orders of values, which are not needed."""
    for _ in range(1 if results == 1 else at.count("orders")):
        if results != 1:
            at.number()
        for _ in range(at.number() >> 1):
            at.number()


def _strings(at: Cursor) -> list[str]:
    sizes = at.numbers("strings")
    found = []
    for size in reversed(sizes):
        start = at.take(size)
        text = bytes(at.data[start : max(start, at.at - 1)])  # without the zero that ends it
        found.append(text.decode("utf-8", "replace"))
    return found


def _terminated(at: Cursor) -> str:
    text = bytearray()
    while byte := at.byte():
        text.append(byte)
    return text.decode("utf-8", "replace")

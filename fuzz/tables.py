"""Mutates flatbuffers without knowledge of their schema: fields of tables, and offsets.
A table begins with a signed distance back to its vtable, which has its own size, the table's size,
and the offset of each field in the table. Source: flatbuffers.dev/internals.
"""

from __future__ import annotations

import random
import struct
from functools import lru_cache

VALUES = (0, 1, 2, 255, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFC)


def is_one(data: bytes) -> bool:
    """Whether the first word is the offset of a table."""
    return len(data) >= 12 and struct.unpack_from("<I", data)[0] in _tables(data)


def changed(data: bytes, choice: random.Random) -> bytes | None:
    """The buffer with a few fields absent, extreme, or with other offsets."""
    tables = _tables(data)
    homes = list(tables)
    made = bytearray(data)
    for _ in range(choice.choice((1, 1, 1, 2, 3))):
        table = choice.choice(homes)
        slots = tables[table]
        if not slots:
            continue
        slot, at = choice.choice(slots)
        (old,) = struct.unpack_from("<I", data, at)
        match choice.randrange(7):
            case 0:
                struct.pack_into("<H", made, slot, 0)
            case 1:
                struct.pack_into("<H", made, slot, choice.choice((4, 5, 8, 100, 0xFFFF)))
            case 2:
                new = (old + choice.choice((-4, -1, 1, 4, 8))) % (1 << 32)
                struct.pack_into("<I", made, at, new)
            case 3 | 4:  # to another table, or back: a cycle
                struct.pack_into("<I", made, at, (choice.choice(homes) - at) % (1 << 32))
            case 5 if at + old + 4 <= len(data):  # the length of a vector, or an element
                inner = min(at + old + choice.choice((0, 0, 4, 8)), len(data) - 4)
                struct.pack_into("<I", made, inner, choice.choice(VALUES))
            case _:
                struct.pack_into("<I", made, at, choice.choice(VALUES))
    return bytes(made)


@lru_cache(maxsize=64)
def _tables(data: bytes) -> dict[int, list[tuple[int, int]]]:
    """Possible tables by offset: for each field the offsets of its vtable entry
    and of its value.
    """
    found: dict[int, list[tuple[int, int]]] = {}
    for table in range(4, min(len(data), 1 << 20) - 3, 4):
        (back,) = struct.unpack_from("<i", data, table)
        vtable = table - back
        if not back or not 0 <= vtable <= len(data) - 4:
            continue
        size, inline = struct.unpack_from("<HH", data, vtable)
        if size % 2 or not 4 <= size <= 400 or not 4 <= inline <= 2000:
            continue
        if vtable + size > len(data) or table + inline > len(data):
            continue
        slots = range(vtable + 4, vtable + size, 2)
        fields = [(slot, struct.unpack_from("<H", data, slot)[0]) for slot in slots]
        if all(offset < inline for _, offset in fields):
            found[table] = [
                (slot, table + offset)
                for slot, offset in fields
                if offset and table + offset + 4 <= len(data)
            ]
    return found

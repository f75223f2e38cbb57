"""An object file that holds one block of read-only data, without an assembler.

The data of a model may be hundreds of megabytes: it is written once, between the head and the
tail that are made here.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..ir.diagnostics import NncError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")

_PROGBITS, _SYMTAB, _STRTAB = 1, 2, 3
_ALLOC = 2
_GLOBAL_OBJECT, _HIDDEN = 0x11, 2


@dataclass(frozen=True)
class Frame:
    """What stands before and after the data in an object file."""

    head: bytes
    tail: bytes


def data_object(symbol: str, size: int, alignment: int, like: bytes) -> Frame:
    """The object file of `size` bytes of constant data at a hidden symbol.

    `like` is an object file for the same processor. Raises NncError where it is not ELF of
    64 bits.
    """
    if like[:6] != b"\x7fELF\x02\x01":
        raise NncError("a library can hold weights on systems with 64-bit ELF files only")
    fields = _HEADER.unpack_from(like)
    ident, machine, flags = fields[0], fields[2], fields[7]
    start = -(-_HEADER.size // alignment) * alignment

    section_names = ("", f".rodata.{symbol}", ".note.GNU-stack", ".symtab", ".strtab", ".shstrtab")
    strings = b"\0" + symbol.encode() + b"\0"
    names = b"\0".join(name.encode() for name in section_names) + b"\0"
    name_at = [0]
    for name in section_names[:-1]:
        name_at.append(name_at[-1] + len(name) + 1)
    symbols = bytes(_SYMBOL.size) + _SYMBOL.pack(1, _GLOBAL_OBJECT, _HIDDEN, 1, 0, size)

    padding = bytes(-size % 8)
    symbols_at = start + size + len(padding)
    strings_at = symbols_at + len(symbols)
    names_at = strings_at + len(strings)
    table_at = -(-(names_at + len(names)) // 8) * 8
    sections = (
        (0,) * 10,
        (name_at[1], _PROGBITS, _ALLOC, 0, start, size, 0, 0, alignment, 0),
        (name_at[2], _PROGBITS, 0, 0, symbols_at, 0, 0, 0, 1, 0),
        (name_at[3], _SYMTAB, 0, 0, symbols_at, len(symbols), 4, 1, 8, _SYMBOL.size),
        (name_at[4], _STRTAB, 0, 0, strings_at, len(strings), 0, 0, 1, 0),
        (name_at[5], _STRTAB, 0, 0, names_at, len(names), 0, 0, 1, 0),
    )
    header = _HEADER.pack(
        ident, 1, machine, 1, 0, 0, table_at, flags, _HEADER.size, 0, 0, _SECTION.size,
        len(sections), 5,
    )  # fmt: skip
    table = b"".join(_SECTION.pack(*section) for section in sections)
    tail = padding + symbols + strings + names
    tail += bytes(table_at - names_at - len(names)) + table
    return Frame(header + bytes(start - len(header)), tail)

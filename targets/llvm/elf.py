"""An object file that holds one block of read-only data, made without an assembler.

The data of a model may be hundreds of megabytes: it is written once, between the head and the tail
that are made here.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct

from ...ir.diagnostics import NncError


@dataclass(frozen=True)
class _Class:
    """The records of ELF files of one address width. Units: bits."""

    bits: int
    header: Struct
    section: Struct
    symbol: Struct

    def pack_symbol(self, name: int, size: int) -> bytes:
        """The bytes of a symbol table's entry for a global object of `size` bytes.

        It lies at the start of the first section, and only the library itself can use it. `name` is
        the offset of its name in the string table.
        """
        if self.bits == 64:
            return self.symbol.pack(name, _GLOBAL_OBJECT, _HIDDEN, 1, 0, size)
        return self.symbol.pack(name, 0, size, _GLOBAL_OBJECT, _HIDDEN, 1)


_CLASSES = {
    1: _Class(32, Struct("<16sHHIIIIIHHHHHH"), Struct("<10I"), Struct("<IIIBBH")),
    2: _Class(64, Struct("<16sHHIQQQIHHHHHH"), Struct("<IIQQQQIIQQ"), Struct("<IBBHQQ")),
}
"""The header formats by the fifth byte of a file."""

_PROGBITS, _SYMTAB, _STRTAB = 1, 2, 3
_ALLOC = 2
_GLOBAL_OBJECT, _HIDDEN = 0x11, 2


@dataclass(frozen=True)
class Frame:
    """The parts of an object file before and after the data."""

    head: bytes
    tail: bytes


def data_object(symbol: str, size: int, alignment: int, like: bytes) -> Frame:
    """The object file of `size` bytes of constant data at a hidden symbol.

    `like` is an object file for the same processor, whose flags say how floats are passed, which
    linkers compare. Raises NncError where it is not ELF with the lowest byte first.
    """
    kind = _CLASSES.get(like[4]) if like[:4] == b"\x7fELF" and like[5] == 1 else None
    if kind is None:
        raise NncError("a library can hold weights on systems with little-endian ELF files only")
    fields = kind.header.unpack_from(like)
    ident, machine, flags = fields[0], fields[2], fields[7]
    start = -(-kind.header.size // alignment) * alignment

    section_names = ("", f".rodata.{symbol}", ".note.GNU-stack", ".symtab", ".strtab", ".shstrtab")
    strings = b"\0" + symbol.encode() + b"\0"
    names = b"\0".join(name.encode() for name in section_names) + b"\0"
    name_at = [0]
    for name in section_names[:-1]:
        name_at.append(name_at[-1] + len(name) + 1)
    symbols = bytes(kind.symbol.size) + kind.pack_symbol(1, size)

    padding = bytes(-size % 8)
    symbols_at = start + size + len(padding)
    strings_at = symbols_at + len(symbols)
    names_at = strings_at + len(strings)
    table_at = -(-(names_at + len(names)) // 8) * 8
    sections = (
        (0,) * 10,
        (name_at[1], _PROGBITS, _ALLOC, 0, start, size, 0, 0, alignment, 0),
        (name_at[2], _PROGBITS, 0, 0, symbols_at, 0, 0, 0, 1, 0),
        (name_at[3], _SYMTAB, 0, 0, symbols_at, len(symbols), 4, 1, 8, kind.symbol.size),
        (name_at[4], _STRTAB, 0, 0, strings_at, len(strings), 0, 0, 1, 0),
        (name_at[5], _STRTAB, 0, 0, names_at, len(names), 0, 0, 1, 0),
    )
    header = kind.header.pack(
        ident, 1, machine, 1, 0, 0, table_at, flags, kind.header.size, 0, 0, kind.section.size,
        len(sections), 5,
    )  # fmt: skip
    table = b"".join(kind.section.pack(*section) for section in sections)
    tail = padding + symbols + strings + names
    tail += bytes(table_at - names_at - len(names)) + table
    return Frame(header + bytes(start - len(header)), tail)

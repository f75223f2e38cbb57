"""Flexbuffers, which are self-describing, as Python values.

Source: https://flatbuffers.dev/internals (FlexBuffers)
"""

from __future__ import annotations

import struct
from typing import Any

from .flatbuffers import DEEPEST, FlatbufferError

_INT, _UINT, _FLOAT, _KEY, _STRING = range(1, 6)
_INDIRECT = {6: _INT, 7: _UINT, 8: _FLOAT}
_MAP, _VECTOR, _BLOB, _BOOL = 9, 10, 25, 26
_TYPED = {11: _INT, 12: _UINT, 13: _FLOAT, 14: _KEY, 15: _STRING, 36: _BOOL}
_FORMS = {_INT: "bhiq", _UINT: "BHIQ", _FLOAT: " efd", _BOOL: "BHIQ"}


def read(data: bytes) -> Any:
    """The value at the root: a dict, list, string, bytes or number. Raises FlatbufferError."""
    if len(data) < 3:
        raise FlatbufferError("options that are not a flexbuffer")
    width = data[-1]
    return _Reader(data).value(len(data) - 2 - width, data[-2], width, 0)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.left = 4 * len(data) + 64
        """How many more values may be read: overlapping parts would be read without end."""

    def value(self, at: int, packed: int, width: int, depth: int) -> Any:
        """The value at an offset; `packed` has its type and its children's width."""
        self.left -= 1
        if depth > DEEPEST or self.left < 0:
            raise FlatbufferError("a flexbuffer that has no end")
        kind, inner = packed >> 2, 1 << (packed & 3)
        if kind == 0:
            return None
        if kind in _FORMS:
            found = self.number(kind, at, width)
            return bool(found) if kind == _BOOL else found
        at -= int(self.number(_UINT, at, width))
        if kind in _INDIRECT:
            return self.number(_INDIRECT[kind], at, inner)
        if kind == _KEY:
            return self.key(at)
        if 16 <= kind <= 24:  # two, three or four numbers of one kind
            of = (_INT, _UINT, _FLOAT)[(kind - 16) % 3]
            return [self.number(of, at + i * inner, inner) for i in range((kind - 16) // 3 + 2)]
        count = int(self.number(_UINT, at - inner, inner))
        if count > len(self.data):
            raise FlatbufferError("a flexbuffer's vector is too long")
        if kind in (_STRING, _BLOB):
            raw = self.data[at : at + count]
            return raw.decode("utf-8", "replace") if kind == _STRING else raw
        if kind in _TYPED:
            packed = _TYPED[kind] << 2
            places = (at + i * inner for i in range(count))
            return [self.value(place, packed, inner, depth + 1) for place in places]
        if kind not in (_MAP, _VECTOR):
            raise FlatbufferError(f"a flexbuffer's value is of the unknown kind {kind}")
        kinds = at + count * inner
        values = [
            self.value(at + i * inner, self.byte(kinds + i), inner, depth + 1) for i in range(count)
        ]
        return values if kind == _VECTOR else dict(zip(self.keys(at, inner), values, strict=True))

    def keys(self, at: int, inner: int) -> list[str]:
        start = at - 3 * inner - int(self.number(_UINT, at - 3 * inner, inner))
        width = int(self.number(_UINT, at - 2 * inner, inner))
        count = int(self.number(_UINT, at - inner, inner))
        places = (start + i * width for i in range(count))
        return [self.key(place - int(self.number(_UINT, place, width))) for place in places]

    def key(self, at: int) -> str:
        end = self.data.find(b"\0", at) if at >= 0 else -1
        if end < 0:
            raise FlatbufferError("a flexbuffer's key does not end")
        return self.data[at:end].decode("utf-8", "replace")

    def byte(self, at: int) -> int:
        return int(self.number(_UINT, at, 1))

    def number(self, kind: int, at: int, width: int) -> Any:
        if width not in (1, 2, 4, 8) or not 0 <= at <= len(self.data) - width:
            raise FlatbufferError("a flexbuffer leads outside of itself")
        form = _FORMS[kind][width.bit_length() - 1]
        if form == " ":
            raise FlatbufferError("a flexbuffer has a float of one byte")
        return struct.unpack_from("<" + form, self.data, at)[0]

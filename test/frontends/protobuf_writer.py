"""Protocol buffers written by the tables that the front ends read them with."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from nnc.frontends.wire.protobuf import FIXED, Schema

_VARINTS = ("int", "sint", "bool", "enum")


def written(schema: Schema, message: str, values: dict[str, Any]) -> bytes:
    """The bytes of a message; inner messages are dictionaries, enums their names."""
    numbers = {field.name: number for number, field in schema.messages[message].items()}
    out = b""
    for name, value in values.items():
        field, number = schema.field_of(message, name), numbers[name]
        if field.key:
            for key, inner in value.items():
                entry = _one(schema, field.key, 1, key) + _one(schema, field.kind, 2, inner)
                out += _tag(number, 2) + _sized(entry)
        elif field.repeated and (dtype := FIXED.get(field.kind)) is not None:
            out += _tag(number, 2) + _sized(np.asarray(value, dtype).tobytes())
        elif field.repeated and field.kind in _VARINTS:
            out += _tag(number, 2) + _sized(b"".join(varint(_number(field, v)) for v in value))
        else:
            for one in value if field.repeated else [value]:
                kind = "int" if field.kind == "enum" else field.kind
                given = _number(field, one) if field.kind == "enum" else one
                out += _one(schema, kind, number, given)
    return out


def _number(field: Any, value: Any) -> int:
    if field.kind != "enum":
        return int(value)
    return next(number for number, name in field.names.items() if name == value)


def _one(schema: Schema, kind: str, number: int, value: Any) -> bytes:
    if kind in _VARINTS:
        value = int(value)
        return _tag(number, 0) + varint((value << 1 ^ value >> 63) if kind == "sint" else value)
    if kind in FIXED:
        data = np.array(value, FIXED[kind]).tobytes()
        return _tag(number, 1 if len(data) == 8 else 5) + data
    if kind == "string":
        return _tag(number, 2) + _sized(value.encode())
    if kind == "bytes":
        return _tag(number, 2) + _sized(bytes(value))
    return _tag(number, 2) + _sized(written(schema, kind, value))


def _tag(number: int, kind: int) -> bytes:
    return varint(number << 3 | kind)


def _sized(data: bytes) -> bytes:
    return varint(len(data)) + data


def varint(value: int) -> bytes:
    """A number in groups of seven bits."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + struct.pack("B", value)

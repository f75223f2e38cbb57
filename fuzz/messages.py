"""Protocol buffers changed without their schema: fields, and lengths that fit them.

Source: protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import pickle
import random
from functools import lru_cache
from typing import Any

from nnc.frontends.wire.protobuf import varint_bytes

INTEGERS = (0, 1, 2, 3, 9, 127, 1 << 31, (1 << 31) - 1, 1 << 40, 1 << 62, (1 << 63) - 1)
NEGATIVE = tuple((1 << 64) - n for n in (1, 2, 1 << 31, 1 << 63))
WIDTHS = {1: 8, 5: 4}
MOST_DEPTH = 40
LONG = 1 << 14
"""Bytes of more than this length are taken for weights and not parsed."""

Field = list[Any]
"""A field's number, its wire type, and its value: an int, bytes, or the fields of a message."""


def is_one(data: bytes) -> bool:
    """Whether the bytes can be parsed as a message that contains another one."""
    fields = pickle.loads(_pickled(data))
    return fields is not None and any(isinstance(one[2], list) for one in fields)


def changed(data: bytes, choice: random.Random) -> bytes | None:
    """The message with a few fields changed."""
    fields = pickle.loads(_pickled(data))  # four times as fast as a deep copy
    if not fields:
        return None
    try:
        for _ in range(choice.choice((1, 1, 1, 2, 3))):
            places: list[tuple[list[Field], int]] = []
            _collect(fields, places)
            if places:
                _change(*choice.choice(places), places, choice)
        return written(fields)
    except RecursionError:  # more than once inside itself
        return None


def _change(
    holder: list[Field], at: int, places: list[tuple[list[Field], int]], choice: random.Random
) -> None:
    field = holder[at]
    number, wire, value = field
    match choice.randrange(8):
        case 0:
            del holder[at]
        case 1:
            holder[at:at] = [_copied(field) for _ in range(choice.choice((1, 1, 3, 200)))]
        case 2:
            field[0] = max(1, choice.choice((number - 1, number + 1, number ^ 8, 1, 536870911)))
        case 3 | 4:
            alike = [f for h, i in places if (f := h[i])[1] == wire and f is not field]
            same = [f for f in alike if f[0] == number] if choice.random() < 0.7 else alike
            if same:
                field[2] = _copied(choice.choice(same))[2]
        case 5 if isinstance(value, list):
            for _ in range(choice.choice((1, 2, 50, 500))):  # inside itself
                field[2] = [[number, 2, field[2]]]
        case _:
            field[2] = _other(value, wire, choice)


def _copied(field: Field) -> Field:
    return pickle.loads(pickle.dumps(field))


def _other(value: Any, wire: int, choice: random.Random) -> Any:
    """A value of another size or sign."""
    if wire in WIDTHS:
        return choice.choice((bytes, lambda n: b"\xff" * n, choice.randbytes))(WIDTHS[wire])
    if wire == 0:
        near = (value + choice.choice((-1, 1, 2, 8))) % (1 << 64)
        return choice.choice((near, choice.choice(INTEGERS), choice.choice(INTEGERS + NEGATIVE)))
    if isinstance(value, list):
        return choice.choice(([], value[:-1], value[::-1], value + value))
    return choice.choice(
        (
            *(b"", b"x", b"..", b"/", b"\xff\xfe", value * 2, value[:-1], value + b"_1"),
            b"".join(
                map(varint_bytes, choice.choices(INTEGERS + NEGATIVE, k=choice.randrange(1, 6)))
            ),
        )
    )


def _collect(fields: list[Field], places: list[tuple[list[Field], int]]) -> None:
    for i, (_, _, value) in enumerate(fields):
        places.append((fields, i))
        if isinstance(value, list) and len(places) < 1 << 16:
            _collect(value, places)


# -- wire ------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _pickled(data: bytes) -> bytes:
    return pickle.dumps(parsed(data, 0))


def parsed(data: bytes, depth: int) -> list[Field] | None:
    """The fields of a message; None if the bytes are no message."""
    fields: list[Field] = []
    at = 0
    while at < len(data):
        key, at = _read(data, at)
        number, wire = key >> 3, key & 7
        if not 0 < number < 5000:
            return None
        value: Any
        if wire == 0:
            value, at = _read(data, at)
        elif wire == 2:
            size, at = _read(data, at)
            value, at = data[at : at + size], at + size
        elif wire in WIDTHS:
            value, at = data[at : at + WIDTHS[wire]], at + WIDTHS[wire]
        else:
            return None
        if at > len(data) or at < 0:
            return None
        if wire == 2 and depth < MOST_DEPTH and _may_be(value, depth):
            inner = parsed(value, depth + 1)
            value = value if inner is None else inner
        fields.append([number, wire, value])
    return fields


def _may_be(value: bytes, depth: int) -> bool:
    """Whether to try to parse bytes as a message: they are neither text nor weights."""
    if not value or (len(value) > LONG and depth > 3):
        return False
    return not all(32 <= b < 127 for b in value)


def _read(data: bytes, at: int) -> tuple[int, int]:
    """A variable-length integer and the offset of its end, which is far too large
    if it has none.
    """
    found = shift = 0
    while at < len(data) and shift < 70:
        found |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return found, at
    return 0, len(data) + 1


def written(fields: list[Field]) -> bytes:
    """The bytes of a message with these fields."""
    made = bytearray()
    for number, wire, value in fields:
        made += varint_bytes(number << 3 | wire)
        if wire == 0:
            made += varint_bytes(value)
        elif wire == 2:
            inner = written(value) if isinstance(value, list) else value
            made += varint_bytes(len(inner)) + inner
        else:
            made += value
    return bytes(made)

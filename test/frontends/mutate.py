"""Files that are broken in ways that happen and in ways that are meant."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def mutated(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """So many broken versions of a file: bytes changed, cut, repeated, moved and swapped."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        made = bytearray(data)
        for _ in range(int(random.integers(1, 4))):
            made = _MUTATIONS[random.integers(len(_MUTATIONS))](made, random)
        yield bytes(made)


def _place(data: bytearray, random: np.random.Generator) -> int:
    return int(random.integers(max(len(data), 1)))


def _flip(data: bytearray, random: np.random.Generator) -> bytearray:
    for _ in range(int(random.integers(1, 9))):
        if data:
            data[_place(data, random)] ^= 1 << int(random.integers(8))
    return data


def _overwrite(data: bytearray, random: np.random.Generator) -> bytearray:
    at, size = _place(data, random), int(random.integers(1, 17))
    filler = (0, 255, 127, 128, int(random.integers(256)))[random.integers(5)]
    data[at : at + size] = bytes([filler]) * len(data[at : at + size])
    return data


def _cut(data: bytearray, random: np.random.Generator) -> bytearray:
    return data[: _place(data, random)]


def _drop(data: bytearray, random: np.random.Generator) -> bytearray:
    at = _place(data, random)
    del data[at : at + int(random.integers(1, 65))]
    return data


def _repeat(data: bytearray, random: np.random.Generator) -> bytearray:
    at = _place(data, random)
    part = data[at : at + int(random.integers(1, 257))]
    data[at:at] = part * int(random.integers(1, 5))
    return data


def _digit(data: bytearray, random: np.random.Generator) -> bytearray:
    """Another digit where one stands, so that text formats still parse."""
    digits = [i for i in range(len(data)) if 48 <= data[i] <= 57] if len(data) < 1 << 20 else []
    for _ in range(int(random.integers(1, 4))):
        if digits:
            at = digits[random.integers(len(digits))]
            if at < len(data):
                data[at] = 48 + int(random.integers(10))
    return data


def _swap(data: bytearray, random: np.random.Generator) -> bytearray:
    a, b = sorted((_place(data, random), _place(data, random)))
    size = min(int(random.integers(1, 33)), b - a, len(data) - b)
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]
    return data


_MUTATIONS = (_flip, _overwrite, _cut, _drop, _repeat, _digit, _swap)

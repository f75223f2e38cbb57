"""CityHash64 of version 1.0, the hash by which CatBoost identifies strings.

Source: CityHash 1.0 (Pike and Alakuijala, 2011).
"""

from __future__ import annotations

from .fingerprints import ALL, K0, K1, K2, folded, rotated, weak_hash, word_at

K3 = 0xC949D7C7509E6557
FACTOR = 0x9DDFEA08EB382D69


def city_hash(data: bytes) -> int:
    """CityHash64, version 1.0, of some bytes: an unsigned integer of 64 bits."""
    size = len(data)
    if size <= 16:
        return _up_to_16(data)
    if size <= 32:
        return _up_to_32(data)
    return _up_to_64(data) if size <= 64 else _longer(data)


def _pair(u: int, v: int) -> int:
    """A hash of two words."""
    u, v = u & ALL, v & ALL
    a = folded((u ^ v) * FACTOR)
    return folded((v ^ a) * FACTOR) * FACTOR & ALL


def _up_to_16(data: bytes) -> int:
    size = len(data)
    if size > 8:
        a, b = word_at(data, 0), word_at(data, -8)
        return _pair(a, rotated(b + size, size)) ^ b
    if size >= 4:
        return _pair(size + (word_at(data, 0, 4) << 3), word_at(data, -4, 4))
    if not size:
        return K2
    low, high = data[0] + (data[size // 2] << 8), size + (data[-1] << 2)
    return folded(low * K2 ^ high * K3) * K2 & ALL


def _up_to_32(data: bytes) -> int:
    a, b = word_at(data, 0) * K1, word_at(data, 8)
    c, d = word_at(data, -8) * K2, word_at(data, -16) * K0
    u = rotated(a - b, 43) + rotated(c, 30) + d
    return _pair(u, a + rotated(b ^ K3, 20) - c + len(data))


def _up_to_64(data: bytes) -> int:
    z = word_at(data, 24)
    a = word_at(data, 0) + (len(data) + word_at(data, -16)) * K0
    v, v2 = _sums(a, z, word_at(data, 8), word_at(data, 16))
    z, a = word_at(data, -8), word_at(data, 16) + word_at(data, -32)
    w, w2 = _sums(a, z, word_at(data, -24), word_at(data, -16))
    r = folded((v + w2) * K2 + (w + v2) * K0)
    return folded(r * K0 + v2) * K2 & ALL


def _sums(a: int, z: int, second: int, third: int) -> tuple[int, int]:
    """Two hash sums of four words: a, second, third and z."""
    b, c = rotated(a + z, 52), rotated(a, 37)
    a += second
    c += rotated(a, 7)
    a += third
    return a + z, b + rotated(a, 31) + c


def _longer(data: bytes) -> int:
    """The hash of more than 64 bytes: of the last 64, then of all blocks of 64."""
    size = len(data)
    x, y, z = word_at(data, 0), word_at(data, -16) ^ K1, word_at(data, -56) ^ K0
    v, v2 = weak_hash(data, size - 64, size, y)
    w, w2 = weak_hash(data, size - 32, size * K1, K0)
    z += folded(v2) * K1
    x, y = rotated(z + x, 39) * K1, rotated(y, 33) * K1
    for at in range(0, (size - 1) & ~63, 64):
        x = rotated(x + y + v + word_at(data, at + 16), 37) * K1
        y = rotated(y + v2 + word_at(data, at + 48), 42) * K1
        x, y = (x ^ w2) & ALL, (y ^ v) & ALL
        z = rotated(z ^ w, 33)
        v, v2 = weak_hash(data, at, v2 * K1, x + w)
        w, w2 = weak_hash(data, at + 32, z + w2, y)
        z, x = x, z
    return _pair(_pair(v, w) + folded(y) * K1 + z, _pair(v2, w2) + x)

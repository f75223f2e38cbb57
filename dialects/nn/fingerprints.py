"""Hashes of bytes with 64 bits: FarmHash's fingerprint, and SipHash-2-4, which has a key.

Sources: FarmHash (Pike, 2014), whose fingerprints never change; Aumasson and Bernstein, SipHash:
a fast short-input PRF, 2012. TensorFlow's `to_hash_bucket_fast` and `to_hash_bucket_strong`.
"""

from __future__ import annotations

ALL = (1 << 64) - 1
K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def rotated(x: int, by: int) -> int:
    """The low 64 bits of x, rotated to the right by `by` bits."""
    x &= ALL
    return (x >> by | x << (64 - by)) & ALL


def folded(x: int) -> int:
    """The low 64 bits of x, xor the same shifted right by 47 bits."""
    x &= ALL
    return x ^ x >> 47


def _pair(u: int, v: int, factor: int) -> int:
    """A hash of two words."""
    a = folded((u ^ v) * factor)
    return folded((v ^ a) * factor) * factor & ALL


def farm_fingerprint(data: bytes) -> int:
    """FarmHash's fingerprint of some bytes: an unsigned integer of 64 bits."""
    size = len(data)
    if size <= 16:
        return _up_to_16(data)
    if size <= 32:
        return _up_to_32(data)
    return _up_to_64(data) if size <= 64 else _longer(data)


def word_at(data: bytes, at: int, size: int = 8) -> int:
    """The little-endian word at an offset; a negative one counts from the end."""
    at += len(data) if at < 0 else 0
    return int.from_bytes(data[at : at + size], "little")


def _up_to_16(data: bytes) -> int:
    size = len(data)
    factor = K2 + 2 * size
    if size >= 8:
        a, b = word_at(data, 0) + K2, word_at(data, -8)
        c = rotated(b, 37) * factor + a
        return _pair(c & ALL, (rotated(a, 25) + b) * factor & ALL, factor)
    if size >= 4:
        return _pair(size + (word_at(data, 0, 4) << 3), word_at(data, -4, 4), factor)
    if size == 0:
        return K2
    low = data[0] + (data[size // 2] << 8)
    return folded(low * K2 ^ (size + (data[-1] << 2)) * K0) * K2 & ALL


def _up_to_32(data: bytes) -> int:
    factor = K2 + 2 * len(data)
    a, b = word_at(data, 0) * K1, word_at(data, 8)
    c, d = word_at(data, -8) * factor, word_at(data, -16) * K2
    u = rotated(a + b, 43) + rotated(c, 30) + d
    return _pair(u & ALL, (a + rotated(b + K2, 18) + c) & ALL, factor)


def _up_to_64(data: bytes) -> int:
    factor = K2 + 2 * len(data)
    a, b = word_at(data, 0) * K2, word_at(data, 8)
    c, d = word_at(data, -8) * factor, word_at(data, -16) * K2
    y = rotated(a + b, 43) + rotated(c, 30) + d
    z = _pair(y & ALL, (a + rotated(b + K2, 18) + c) & ALL, factor)
    e, f = word_at(data, 16) * factor, word_at(data, 24)
    g, h = (y + word_at(data, -32)) * factor, (z + word_at(data, -24)) * factor
    u = rotated(e + f, 43) + rotated(g, 30) + h
    return _pair(u & ALL, (e + rotated(f + a, 18) + g) & ALL, factor)


def _longer(data: bytes) -> int:
    """The hash of more than 64 bytes, by blocks of 64; the last overlaps the one before."""
    y = 81 * K1 + 113
    state = (81 * K2 + word_at(data, 0), y, folded(y * K2 + 113) * K2, 0, 0, 0, 0)
    blocks = (len(data) - 1) // 64
    for i in range(blocks):
        state = _block(data, 64 * i, state, K1, 1)
    x, y, z, v, v2, w, w2 = state
    factor = K1 + ((z & 0xFF) << 1)
    w += (len(data) - 1) % 64
    v += w
    w += v
    state = _block(data, len(data) - 64, (x, y, z, v, v2, w, w2), factor, 9)
    x, y, z, v, v2, w, w2 = state
    first = _pair(v, w, factor) + folded(y) * K0 + z
    return _pair(first & ALL, (_pair(v2, w2, factor) + x) & ALL, factor)


State = tuple[int, int, int, int, int, int, int]


def _block(data: bytes, at: int, state: State, factor: int, weight: int) -> State:
    """The state after a block of 64 bytes: x, y, z and two pairs."""
    x, y, z, v, v2, w, w2 = state
    x = rotated(x + y + v + word_at(data, at + 8), 37) * factor
    y = rotated(y + v2 + word_at(data, at + 48), 42) * factor
    x = (x ^ w2 * weight) & ALL
    y += v * weight + word_at(data, at + 40)
    z = rotated(z + w, 33) * factor
    v, v2 = weak_hash(data, at, v2 * factor, x + w)
    w, w2 = weak_hash(data, at + 32, z + w2, y + word_at(data, at + 16))
    return z & ALL, y & ALL, x, v, v2, w, w2


def weak_hash(data: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Two hash sums of 32 bytes and the seeds a and b."""
    first, second, third, last = (word_at(data, at + i) for i in (0, 8, 16, 24))
    a += first
    b = rotated(b + a + last, 21)
    total = a + second + third
    return (total + last) & ALL, (b + rotated(total, 44) + a) & ALL


def sip_hash(data: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4 of some bytes: an unsigned integer of 64 bits. `key` is two words of 64 bits.

    It mixes twice for each word of 8 bytes, and four times at the end.
    """
    low, high = (word & ALL for word in key)
    state = (
        low ^ 0x736F6D6570736575,
        high ^ 0x646F72616E646F6D,
        low ^ 0x6C7967656E657261,
        high ^ 0x7465646279746573,
    )
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for at in range(0, len(padded), 8):
        word = word_at(padded, at)
        a, b, c, d = _sip_round(_sip_round((*state[:3], state[3] ^ word)))
        state = (a ^ word, b, c, d)
    state = (*state[:2], state[2] ^ 0xFF, state[3])
    for _ in range(4):
        state = _sip_round(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _sip_round(state: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    a, b, c, d = state
    a, c = (a + b) & ALL, (c + d) & ALL
    b, d = rotated(b, 51) ^ a, rotated(d, 48) ^ c
    a, c = (rotated(a, 32) + d) & ALL, (c + b) & ALL
    return a, rotated(b, 47) ^ c, rotated(c, 32), rotated(d, 43) ^ a

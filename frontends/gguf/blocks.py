"""GGUF's packing of numbers: blocks of a row with scales of their own.

A number is an unsigned integer times the scale of its group, plus an offset, or counted from a
middle. Integers of 3 bits take 4 here, those of 5 and 6 bits a byte.

Source: ggml's ggml-common.h and ggml-quants.c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from ..common.quantization import pack_bits
from .grids import grid


@dataclass(frozen=True)
class Blocks:
    """The integers [blocks, elements] of blocks, and the scales and offsets [blocks, groups]."""

    scale: np.ndarray
    integers: np.ndarray
    bits: int
    offset: np.ndarray | None = None
    middle: int = 0

    @property
    def bytes(self) -> np.ndarray:
        """The packed integers [blocks, groups, bytes], the first in the lowest bits."""
        return pack_bits(self.integers.reshape(*self.scale.shape, -1), self.bits)


@dataclass(frozen=True)
class Kind:
    """A kind of blocks: what bytes [blocks, bytes] hold.

    `dtype` is that of numbers that are not packed at all.
    """

    name: str
    elements: int
    bytes: int
    read: Callable[[np.ndarray], Blocks] | None
    dtype: np.dtype | None = None


def half(x: np.ndarray) -> np.ndarray:
    """Pairs of bytes as f16."""
    return np.ascontiguousarray(x).view(np.float16)


def wide(x: np.ndarray) -> np.ndarray:
    """Pairs of bytes as f16, in f32."""
    return half(x).astype(np.float32)


def _bits(x: np.ndarray, width: int, run: int, count: int | None = None) -> np.ndarray:
    """Numbers of `width` bits: for each run of bytes all lowest ones, then the next ones.

    [blocks, bytes] -> [blocks, bytes * 8 / width], or the first `count` groups of each run.
    """
    shifts = np.arange(0, 8, width, dtype=np.uint8)[:count, None]
    apart = x.reshape(len(x), -1, 1, run) >> shifts
    return (apart & np.uint8((1 << width) - 1)).reshape(len(x), -1)


def _fifth(x: np.ndarray) -> np.ndarray:
    """The fifth bits of 32 numbers, from four bytes."""
    return np.unpackbits(x, axis=1, bitorder="little") << np.uint8(4)


def _unsigned(x: np.ndarray) -> np.ndarray:
    """Signed bytes as their distance from -128."""
    return x.view(np.uint8) ^ np.uint8(128)


def _q4_0(x: np.ndarray) -> Blocks:
    return Blocks(half(x[:, :2]), _bits(x[:, 2:], 4, 16), 4, middle=8)


def _q4_1(x: np.ndarray) -> Blocks:
    return Blocks(half(x[:, :2]), _bits(x[:, 4:], 4, 16), 4, half(x[:, 2:4]))


def _q5_0(x: np.ndarray) -> Blocks:
    return Blocks(half(x[:, :2]), _bits(x[:, 6:], 4, 16) | _fifth(x[:, 2:6]), 8, middle=16)


def _q5_1(x: np.ndarray) -> Blocks:
    numbers = _bits(x[:, 8:], 4, 16) | _fifth(x[:, 4:8])
    return Blocks(half(x[:, :2]), numbers, 8, half(x[:, 2:4]))


def _q8_0(x: np.ndarray) -> Blocks:
    return Blocks(half(x[:, :2]), _unsigned(x[:, 2:]), 8, middle=128)


def _q2_k(x: np.ndarray) -> Blocks:
    scales, numbers, d, least = np.split(x, [16, 80, 82], axis=1)
    low = wide(least) * (scales >> 4).astype(np.float32)
    return Blocks(wide(d) * (scales & 15).astype(np.float32), _bits(numbers, 2, 32), 2, -low)


def _q3_k(x: np.ndarray) -> Blocks:
    high, numbers, scales, d = np.split(x, [32, 96, 108], axis=1)
    steps = _bits(scales[:, :8], 4, 8) | _bits(scales[:, 8:], 2, 4) << np.uint8(4)
    # Four less where the high bit is not set.
    found = _bits(numbers, 2, 32) | _bits(high, 1, 32) << np.uint8(2)
    return Blocks(wide(d) * (steps.astype(np.float32) - 32), found, 4, middle=4)


def _six_bits(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eight scales and eight offsets of 6 bits, in 12 bytes."""
    scales, offsets, rest = np.split(x, 3, axis=1)
    upper = [(part >> 2) & np.uint8(0x30) for part in (scales, offsets)]
    lower = rest & np.uint8(15), rest >> 4
    found = [
        np.concatenate([part & np.uint8(63), low | up], axis=1).astype(np.float32)
        for part, low, up in zip((scales, offsets), lower, upper, strict=True)
    ]
    return found[0], found[1]


def _q4_k(x: np.ndarray) -> Blocks:
    d, least, packed, numbers = np.split(x, [2, 4, 16], axis=1)
    scales, offsets = _six_bits(packed)
    return Blocks(wide(d) * scales, _bits(numbers, 4, 32), 4, -(wide(least) * offsets))


def _q5_k(x: np.ndarray) -> Blocks:
    d, least, packed, high, numbers = np.split(x, [2, 4, 16, 48], axis=1)
    scales, offsets = _six_bits(packed)
    found = _bits(numbers, 4, 32) | _bits(high, 1, 32) << np.uint8(4)
    return Blocks(wide(d) * scales, found, 8, -(wide(least) * offsets))


def _q6_k(x: np.ndarray) -> Blocks:
    low, high, scales, d = np.split(x, [128, 192, 208], axis=1)
    numbers = _bits(low, 4, 64) | _bits(high, 2, 32) << np.uint8(4)
    steps = np.ascontiguousarray(scales).view(np.int8).astype(np.float32)
    return Blocks(wide(d) * steps, numbers, 8, middle=32)


_LEVELS = _unsigned(
    np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.int8)
)
"""The values of the 16 codes of IQ4."""


def _iq4_nl(x: np.ndarray) -> Blocks:
    return Blocks(half(x[:, :2]), _LEVELS[_bits(x[:, 2:], 4, 16)], 8, middle=128)


def _iq4_xs(x: np.ndarray) -> Blocks:
    d, high, low, numbers = np.split(x, [2, 4, 8], axis=1)
    upper = np.ascontiguousarray(high).view(np.uint16) >> np.arange(0, 16, 2, dtype=np.uint16) & 3
    lower = (low[..., None] >> np.array([0, 4], np.uint8) & 15).reshape(len(x), -1)
    steps = (lower | upper.astype(np.uint8) << np.uint8(4)).astype(np.float32) - 32
    return Blocks(wide(d) * steps, _LEVELS[_bits(numbers, 4, 16)], 8, middle=128)


def _mxfp4(x: np.ndarray) -> Blocks:
    scale = np.ldexp(np.float32(1), x[:, :1].astype(np.int32) - 128)
    return Blocks(scale, _FLOATS[_bits(x[:, 1:], 4, 16)], 8, middle=12)


def _nvfp4(x: np.ndarray) -> Blocks:
    """Four groups, each with a scale that is a float of 8 bits without a sign."""
    exponents, rest = (x[:, :4] >> 3 & 15).astype(np.int32), (x[:, :4] & 7).astype(np.float32)
    plain = np.where(exponents == 0, np.ldexp(rest, -9), np.ldexp(1 + rest / 8, exponents - 7))
    # The byte of NaN is 0 here. A half, since the integers are twice the values of the codes.
    scale = np.where(x[:, :4] == 0x7F, 0, plain / 2).astype(np.float32)
    return Blocks(scale, _FLOATS[_bits(x[:, 4:], 4, 8)], 8, middle=12)


def _q1_0(x: np.ndarray) -> Blocks:
    return Blocks(half(x[:, :2]), _bits(x[:, 2:], 1, 1) << np.uint8(1), 2, middle=1)


def _q2_0(x: np.ndarray) -> Blocks:
    return Blocks(half(x[:, :2]), _bits(x[:, 2:], 2, 1), 2, middle=1)


_FLOATS = np.array([12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0], np.uint8)
"""Twice the values of the 16 codes of f4E2M1FN, plus 12."""


def _tq1_0(x: np.ndarray) -> Blocks:
    """Five digits of base 3 in a byte, as a fraction of 256; four in each of the last bytes."""
    parts = zip(np.split(x, [32, 48, 52], axis=1)[:3], (5, 5, 4), strict=True)
    powers = np.array([1, 3, 9, 27, 81], np.uint8)
    rows = [(part[:, None] * powers[:count, None]).reshape(len(x), -1) for part, count in parts]
    digits = np.concatenate(rows, axis=1).astype(np.uint16) * 3 >> 8
    return Blocks(half(x[:, 52:]), digits.astype(np.uint8), 2, middle=1)


def _tq2_0(x: np.ndarray) -> Blocks:
    return Blocks(half(x[:, 64:]), _bits(x[:, :64], 2, 32), 2, middle=1)


def _ints(x: np.ndarray, type: str) -> np.ndarray:
    """Bytes as unsigned integers of several bytes."""
    return np.ascontiguousarray(x).view(type)


def _signed(name: str, codes: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """The vectors of a grid, negative where a bit of the bytes `signs` is set, plus 128."""
    numbers = grid(name)[codes].reshape(len(codes), -1)
    bits = np.unpackbits(signs.reshape(len(codes), -1), axis=1, bitorder="little")
    return _unsigned(np.where(bits, -numbers, numbers))


_EVEN = np.array([n | (n.bit_count() & 1) << 7 for n in range(128)], np.uint8)
"""Bytes of seven signs and an eighth one, which makes the number of minus signs even."""


def _even_signs(words: np.ndarray) -> np.ndarray:
    """The four bytes of signs of words of 32 bits, whose upper bits are a scale."""
    return _EVEN[words[..., None] >> np.arange(0, 28, 7, dtype=np.uint32) & 127]


def _iq2_xxs(x: np.ndarray) -> Blocks:
    pairs = _ints(x[:, 2:], "<u4").reshape(len(x), 8, 2)
    codes, words = _ints(pairs[..., 0], "u1"), pairs[..., 1]
    scale = wide(x[:, :2]) * ((words >> 28).astype(np.float32) + 0.5) * 0.25
    return Blocks(scale, _signed("IQ2_XXS", codes, _even_signs(words)), 8, middle=128)


def _iq2_xs(x: np.ndarray) -> Blocks:
    codes = _ints(x[:, 2:66], "<u2")
    scale = wide(x[:, :2]) * (_bits(x[:, 66:], 4, 1).astype(np.float32) + 0.5) * 0.25
    return Blocks(scale, _signed("IQ2_XS", codes & 511, _EVEN[codes >> 9]), 8, middle=128)


def _iq2_s(x: np.ndarray) -> Blocks:
    d, low, signs, high, scales = np.split(x, [2, 34, 66, 74], axis=1)
    scale = wide(d) * (_bits(scales, 4, 1).astype(np.float32) + 0.5) * 0.25
    codes = low | _bits(high, 2, 1).astype(np.uint16) << 8
    return Blocks(scale, _signed("IQ2_S", codes, signs), 8, middle=128)


def _iq3_xxs(x: np.ndarray) -> Blocks:
    words = _ints(x[:, 66:], "<u4")
    scale = wide(x[:, :2]) * ((words >> 28).astype(np.float32) + 0.5) * 0.5
    return Blocks(scale, _signed("IQ3_XXS", x[:, 2:66], _even_signs(words)), 8, middle=128)


def _iq3_s(x: np.ndarray) -> Blocks:
    d, low, high, signs, scales = np.split(x, [2, 66, 74, 106], axis=1)
    scale = wide(d) * (_bits(scales, 4, 1).astype(np.float32) * 2 + 1)
    codes = low | _bits(high, 1, 1).astype(np.uint16) << 8
    return Blocks(scale, _signed("IQ3_S", codes, signs), 8, middle=128)


def _eighths(codes: np.ndarray, is_less: np.ndarray) -> np.ndarray:
    """Eight times the vectors of the grid, one less or more than that, plus 16."""
    numbers = grid("IQ1")[codes] * np.int8(8) + np.where(is_less, 15, 17)[..., None]
    return numbers.astype(np.uint8).reshape(len(codes), -1)


def _iq1_s(x: np.ndarray) -> Blocks:
    words = _ints(x[:, 34:], "<u2")
    scale = wide(x[:, :2]) * ((words >> 12 & 7).astype(np.float32) * 2 + 1) / 8
    upper = (words[..., None] >> np.arange(0, 12, 3, dtype=np.uint16) & 7).reshape(len(x), -1)
    is_less = np.repeat(words >> 15, 4, axis=1)
    return Blocks(scale, _eighths(x[:, 2:34] | upper << 8, is_less), 8, middle=16)


def _iq1_m(x: np.ndarray) -> Blocks:
    high, words = _bits(x[:, 32:48], 4, 1), _ints(x[:, 48:], "<u2")
    nibbles = words >> 12 << np.arange(0, 16, 4, dtype=np.uint16)
    d = np.bitwise_or.reduce(nibbles, axis=1, keepdims=True).view(np.float16).astype(np.float32)
    steps = (words[..., None] >> np.arange(0, 12, 3, dtype=np.uint16) & 7).reshape(len(x), -1)
    codes = x[:, :32] | (high & 7).astype(np.uint16) << 8
    scale = d * (steps.astype(np.float32) * 2 + 1) / 8
    return Blocks(scale, _eighths(codes, high >> 3), 8, middle=16)


def _plain(type: type | str) -> Callable[[str], Kind]:
    dtype = np.dtype(type)
    return lambda name: Kind(name, 1, dtype.itemsize, None, dtype)


KINDS: dict[int, Kind] = {
    0: _plain("f4")("F32"),
    1: _plain("f2")("F16"),
    30: _plain(ml_dtypes.bfloat16)("BF16"),
    2: Kind("Q4_0", 32, 18, _q4_0),
    3: Kind("Q4_1", 32, 20, _q4_1),
    6: Kind("Q5_0", 32, 22, _q5_0),
    7: Kind("Q5_1", 32, 24, _q5_1),
    8: Kind("Q8_0", 32, 34, _q8_0),
    10: Kind("Q2_K", 256, 84, _q2_k),
    11: Kind("Q3_K", 256, 110, _q3_k),
    12: Kind("Q4_K", 256, 144, _q4_k),
    13: Kind("Q5_K", 256, 176, _q5_k),
    14: Kind("Q6_K", 256, 210, _q6_k),
    16: Kind("IQ2_XXS", 256, 66, _iq2_xxs),
    17: Kind("IQ2_XS", 256, 74, _iq2_xs),
    18: Kind("IQ3_XXS", 256, 98, _iq3_xxs),
    19: Kind("IQ1_S", 256, 50, _iq1_s),
    20: Kind("IQ4_NL", 32, 18, _iq4_nl),
    21: Kind("IQ3_S", 256, 110, _iq3_s),
    22: Kind("IQ2_S", 256, 82, _iq2_s),
    23: Kind("IQ4_XS", 256, 136, _iq4_xs),
    29: Kind("IQ1_M", 256, 56, _iq1_m),
    34: Kind("TQ1_0", 256, 54, _tq1_0),
    35: Kind("TQ2_0", 256, 66, _tq2_0),
    39: Kind("MXFP4", 32, 17, _mxfp4),
    40: Kind("NVFP4", 64, 36, _nvfp4),
    41: Kind("Q1_0", 128, 18, _q1_0),
    42: Kind("Q2_0", 64, 18, _q2_0),
}
"""The kinds by ggml's numbers."""

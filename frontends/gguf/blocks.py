"""How GGUF packs numbers: blocks of a row with scales of their own.

Each kind's function takes blocks as bytes [blocks, bytes] and gives f32 [blocks, elements].

Source: ggml's ggml-common.h and ggml-quants.c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np

Unpack = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Kind:
    """A kind of blocks. `dtype` is that of numbers that are not packed at all."""

    name: str
    elements: int
    bytes: int
    unpack: Unpack
    dtype: np.dtype | None = None

    def numbers(self, rows: np.ndarray) -> np.ndarray:
        """The numbers of rows of bytes."""
        shape = (*rows.shape[:-1], rows.shape[-1] // self.bytes * self.elements)
        return self.unpack(rows.reshape(-1, self.bytes)).reshape(shape)


def half(x: np.ndarray) -> np.ndarray:
    """Pairs of bytes as f16, in f32."""
    return np.ascontiguousarray(x).view(np.float16).astype(np.float32)


def _bits(x: np.ndarray, width: int, run: int, count: int | None = None) -> np.ndarray:
    """Numbers of few bits: of each run of bytes all lowest ones, then all the next.

    [blocks, bytes] -> [blocks, bytes * 8 / width], or the first `count` groups of each run.
    """
    shifts = np.arange(0, 8, width, dtype=np.uint8)[:count, None]
    apart = x.reshape(len(x), -1, 1, run) >> shifts
    return (apart & np.uint8((1 << width) - 1)).reshape(len(x), -1)


def _scaled(scale: np.ndarray, numbers: np.ndarray, offset: np.ndarray | None = None) -> np.ndarray:
    """Numbers in groups, each times its scale, with its offset added."""
    groups = scale.shape[1]
    found = scale[..., None] * numbers.reshape(len(scale), groups, -1).astype(np.float32)
    return found if offset is None else found + offset[..., None]


def _fifth(x: np.ndarray) -> np.ndarray:
    """The fifth bit of 32 numbers, of four bytes."""
    return np.unpackbits(x, axis=1, bitorder="little") << np.uint8(4)


def _signed(x: np.ndarray, middle: int) -> np.ndarray:
    return x.astype(np.int8) - np.int8(middle)


def _q4_0(x: np.ndarray) -> np.ndarray:
    return _scaled(half(x[:, :2]), _signed(_bits(x[:, 2:], 4, 16), 8))


def _q4_1(x: np.ndarray) -> np.ndarray:
    return _scaled(half(x[:, :2]), _bits(x[:, 4:], 4, 16), half(x[:, 2:4]))


def _q5_0(x: np.ndarray) -> np.ndarray:
    return _scaled(half(x[:, :2]), _signed(_bits(x[:, 6:], 4, 16) | _fifth(x[:, 2:6]), 16))


def _q5_1(x: np.ndarray) -> np.ndarray:
    numbers = _bits(x[:, 8:], 4, 16) | _fifth(x[:, 4:8])
    return _scaled(half(x[:, :2]), numbers, half(x[:, 2:4]))


def _q8_0(x: np.ndarray) -> np.ndarray:
    return _scaled(half(x[:, :2]), np.ascontiguousarray(x[:, 2:]).view(np.int8))


def _q2_k(x: np.ndarray) -> np.ndarray:
    scales, numbers, d, least = np.split(x, [16, 80, 82], axis=1)
    low = half(least) * (scales >> 4).astype(np.float32)
    return _scaled(half(d) * (scales & 15).astype(np.float32), _bits(numbers, 2, 32), -low)


def _q3_k(x: np.ndarray) -> np.ndarray:
    high, numbers, scales, d = np.split(x, [32, 96, 108], axis=1)
    steps = _signed(_bits(scales[:, :8], 4, 8) | _bits(scales[:, 8:], 2, 4) << np.uint8(4), 32)
    # Four less where the high bit is not set.
    found = _bits(numbers, 2, 32).astype(np.int8) + (_bits(high, 1, 32) << np.uint8(2)).astype(
        np.int8
    )
    return _scaled(half(d) * steps.astype(np.float32), found - np.int8(4))


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


def _q4_k(x: np.ndarray) -> np.ndarray:
    d, least, packed, numbers = np.split(x, [2, 4, 16], axis=1)
    scales, offsets = _six_bits(packed)
    return _scaled(half(d) * scales, _bits(numbers, 4, 32), -(half(least) * offsets))


def _q5_k(x: np.ndarray) -> np.ndarray:
    d, least, packed, high, numbers = np.split(x, [2, 4, 16, 48], axis=1)
    scales, offsets = _six_bits(packed)
    found = _bits(numbers, 4, 32) | _bits(high, 1, 32) << np.uint8(4)
    return _scaled(half(d) * scales, found, -(half(least) * offsets))


def _q6_k(x: np.ndarray) -> np.ndarray:
    low, high, scales, d = np.split(x, [128, 192, 208], axis=1)
    numbers = _signed(_bits(low, 4, 64) | _bits(high, 2, 32) << np.uint8(4), 32)
    steps = np.ascontiguousarray(scales).view(np.int8).astype(np.float32)
    return _scaled(half(d) * steps, numbers)


_LEVELS = np.array(
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.int8
)
"""What the four bits of IQ4 stand for."""


def _iq4_nl(x: np.ndarray) -> np.ndarray:
    return _scaled(half(x[:, :2]), _LEVELS[_bits(x[:, 2:], 4, 16)])


def _iq4_xs(x: np.ndarray) -> np.ndarray:
    d, high, low, numbers = np.split(x, [2, 4, 8], axis=1)
    upper = np.ascontiguousarray(high).view(np.uint16) >> np.arange(0, 16, 2, dtype=np.uint16) & 3
    lower = (low[..., None] >> np.array([0, 4], np.uint8) & 15).reshape(len(x), -1)
    steps = _signed(lower | upper.astype(np.uint8) << np.uint8(4), 32)
    return _scaled(half(d) * steps.astype(np.float32), _LEVELS[_bits(numbers, 4, 16)])


def _plain(type: type | str) -> Callable[[str], Kind]:
    dtype = np.dtype(type)

    def unpack(x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(x).view(dtype)

    return lambda name: Kind(name, 1, dtype.itemsize, unpack, dtype)


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
    20: Kind("IQ4_NL", 32, 18, _iq4_nl),
    23: Kind("IQ4_XS", 256, 136, _iq4_xs),
}
"""The kinds by ggml's numbers."""

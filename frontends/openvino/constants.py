"""Weights of OpenVINO's models, which are parts of the file `NAME.bin`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...ir.numpy_types import type_to_numpy
from ...ir.types import FloatType, IntegerType, Type, bf16, f16, f32, f64, i1, i8, i16, i32, i64
from ..common.source import Source

TYPES: dict[str, Type] = {
    "f64": f64, "f32": f32, "f16": f16, "bf16": bf16, "i64": i64, "i32": i32, "i16": i16,
    "i8": i8, "boolean": i1, **{f"u{w}": IntegerType(w, "u") for w in (8, 16, 32, 64)},
    "f8e4m3": FloatType("f8E4M3FN"), "f8e5m2": FloatType("f8E5M2"),
    "f8e8m0": FloatType("f8E8M0FNU"),
}  # fmt: skip
"""The element types by the names that models give them."""

_BITS = {"u1": 1, "u2": 2, "u3": 3, "u4": 4, "i4": 4, "u6": 6, "nf4": 4, "f4e2m1": 4}
"""Types of which several numbers share a byte, or three bytes."""
_F4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
_TABLES = {
    "f4e2m1": np.concatenate([_F4, -_F4]),
    "nf4": np.array(
        [
            -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
            -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
            0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
            0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
        ],
        np.float32,
    ),
}  # fmt: skip
"""The numbers of 4 bits. Source: Dettmers and others, "QLoRA" (2023); OCP Microscaling 1.0."""


def read_constant(
    data: np.ndarray, begin: int, size: int, kind: str, shape: Sequence[int], source: Source
) -> np.ndarray:
    """The numbers of a constant: `size` bytes of `data` from `begin` on, of the type `kind`.

    They are a view of the file, unless two of them share a byte. Raises NncError.
    """
    count = math.prod(shape)
    if min(shape, default=1) < 0 or begin < 0 or size < 0 or begin + size > data.size:
        raise source.error(f"a constant of shape {list(shape)} lies outside of the weights")
    if not count:
        size = 0  # OpenVINO writes a byte for none
    part = data[begin : begin + size]
    if kind in _BITS:
        bits = _BITS[kind]
        least = -(-count * bits // 8)
        whole = -(-count * bits // 24) * 3 if bits in (3, 6) else least
        if size not in (least, whole):
            raise source.error(f"{size} bytes, expected {count} numbers of {bits} bits")
        return _unpacked(part, kind, count).reshape(shape)
    if kind not in TYPES:
        raise source.error(f"constants of type '{kind}' are not supported")
    dtype = np.dtype(type_to_numpy(TYPES[kind]))
    if size != count * dtype.itemsize:
        raise source.error(f"{size} bytes, expected {count} numbers of type '{kind}'")
    if kind == "boolean":
        return (part != 0).reshape(shape)
    return part.view(dtype).reshape(shape)


def _unpacked(data: np.ndarray, kind: str, count: int) -> np.ndarray:
    """Numbers of less than a byte each, [count]."""
    bits = _BITS[kind]
    if bits in (3, 6):  # low bits in the first two of three bytes, high ones in the last
        threes = np.resize(data, (-(-data.size // 3), 3))
        low, high = _fields(threes[:, :2], 16 * bits // 24), _fields(threes[:, 2:], 8 * bits // 24)
        numbers = (low | high << (16 * bits // 24)).reshape(-1)[:count]
    elif bits == 1:
        numbers = _fields(data[None], 1).reshape(-1)[:count]
    else:
        numbers = _fields(data[None, ::-1], bits).reshape(-1)[::-1][:count]
    if kind in _TABLES:
        return _TABLES[kind][numbers]
    if kind == "i4":
        return np.where(numbers > 7, numbers.astype(np.int8) - 16, numbers).astype(np.int8)
    return np.ascontiguousarray(numbers)


def _fields(data: np.ndarray, bits: int) -> np.ndarray:
    """Fields of bytes [.., N], the highest first: [.., N * 8 / bits]."""
    shifts = np.arange(8 - bits, -1, -bits, dtype=np.uint8)
    found = data[..., None] >> shifts & (1 << bits) - 1
    return found.reshape(*data.shape[:-1], -1).astype(np.uint8)

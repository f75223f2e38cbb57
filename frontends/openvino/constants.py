"""Weights of OpenVINO's models, which are parts of the file `NAME.bin`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...ir.numpy_types import type_to_numpy
from ...ir.types import IntegerType, Type, bf16, f16, f32, f64, i1, i8, i16, i32, i64
from ..common.source import Source

TYPES: dict[str, Type] = {
    "f64": f64, "f32": f32, "f16": f16, "bf16": bf16, "i64": i64, "i32": i32, "i16": i16,
    "i8": i8, "boolean": i1, **{f"u{w}": IntegerType(w, "u") for w in (8, 16, 32, 64)},
}  # fmt: skip
"""The element types by the names that models give them."""

_HALF_BYTES = {"u4": np.uint8, "i4": np.int8}


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
    if kind in _HALF_BYTES:
        if size != -(-count // 2):
            raise source.error(f"{size} bytes, expected {count} numbers of 4 bits")
        pairs = np.stack([part & 15, part >> 4], -1).reshape(-1)[:count].astype(np.int8)
        signed = np.where(pairs > 7, pairs - 16, pairs) if kind == "i4" else pairs
        return signed.astype(_HALF_BYTES[kind]).reshape(shape)
    if kind not in TYPES:
        raise source.error(f"constants of type '{kind}' are not supported")
    dtype = np.dtype(type_to_numpy(TYPES[kind]))
    if size != count * dtype.itemsize:
        raise source.error(f"{size} bytes, expected {count} numbers of type '{kind}'")
    if kind == "boolean":
        return (part != 0).reshape(shape)
    return part.view(dtype).reshape(shape)

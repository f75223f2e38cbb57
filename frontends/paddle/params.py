"""`.pdiparams`: all parameters, sorted by name, each preceded by its type.

u32 version, u64 levels (and u64 size, bytes for each), u32 version, i32 size, message, data
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ...ir.numpy_types import type_to_numpy
from ...ir.types import (
    ComplexType,
    IntegerType,
    Type,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from ..common.source import Source
from ..wire.protobuf import Schema, WireError

TYPES: Mapping[int, Type] = {
    0: i1,
    1: i16,
    2: i32,
    3: i64,
    4: f16,
    5: f32,
    6: f64,
    20: IntegerType(8, "u"),
    21: i8,
    22: bf16,
    23: ComplexType(f32),
    24: ComplexType(f64),
}
"""Element types by PaddlePaddle's numbers."""

_TENSOR = Schema("""
Tensor
  1 data_type int
  2 dims int*
""")


def read_params(source: Source, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The parameters by name, views of the file. Raises NncError."""
    if not names:
        return {}
    if source.path is None:
        raise source.error("its parameters are in a file beside it; give a path")
    data = source.beside(source.path.stem + ".pdiparams")
    found, at = {}, 0
    for name in sorted(names):
        found[name], at = _tensor(data, at, name)
    if at != data.data.size:
        raise data.error(f"{data.data.size - at} bytes are left behind {len(names)} parameters")
    return found


def _tensor(source: Source, at: int, name: str) -> tuple[np.ndarray, int]:
    def bytes_of(count: int) -> np.ndarray:
        nonlocal at
        if not 0 <= count <= source.data.size - at:
            raise source.error(f"the file ends inside of parameter '{name}'")
        at += count
        return source.data[at - count : at]

    def number(kind: str) -> int:
        return int(bytes_of(np.dtype(kind).itemsize).view(kind)[0])

    version, levels = number("<u4"), number("<u8")
    if version != 0 or levels > 16:
        raise source.error(f"parameter '{name}' is of version {version}, expected 0")
    for _ in range(levels):
        bytes_of(number("<u8"))
    number("<u4")
    try:
        record = _TENSOR.read("Tensor", bytes_of(number("<i4")))
    except WireError as error:
        raise source.error(f"parameter '{name}': {error}") from None
    element = TYPES.get(record.data_type)
    if element is None:
        raise source.error(f"parameter '{name}' is of the unknown type {record.data_type}")
    if any(d < 0 for d in record.dims):
        raise source.error(f"parameter '{name}' has the shape {list(record.dims)}")
    dtype = type_to_numpy(element)
    raw = bytes_of(math.prod(record.dims) * dtype.itemsize)
    return raw.view(dtype).reshape(tuple(record.dims)), at

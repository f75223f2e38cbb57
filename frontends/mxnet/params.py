"""MXNet's file of parameters: a list of arrays and their names.

Each array begins with a number that tells its version, or in the oldest with its rank:

    magic u32, storage i32 (version 2 on), rank i32, extents i64 (u32 in the oldest),
    device i32 and its number i32, element type i32, elements

Source: MXNet's src/ndarray/ndarray.cc.
"""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from ..common.source import Source
from ..wire.reader import ByteReader

LIST = 0x112
_V1, _V2, _V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
MOST_DIMENSIONS = 32

TYPES: dict[int, np.dtype] = {
    code: np.dtype(type)
    for code, type in enumerate(
        ("f4", "f8", "f2", "u1", "i4", "i1", "i8", "?", "i2", "u2", "u4", "u8", ml_dtypes.bfloat16)
    )
}
"""Element types by MXNet's numbers."""


def is_params(head: bytes) -> bool:
    """Whether a file begins like one of parameters."""
    return head[:16] == LIST.to_bytes(8, "little") + bytes(8)


def read_params(source: Source) -> dict[str, np.ndarray]:
    """The arrays by name, without the prefixes "arg:" and "aux:"; views of the mapped file.

    Raises NncError if the file is damaged.
    """
    return _Reader(source).read()


class _Reader(ByteReader):
    part = "arrays"

    def read(self) -> dict[str, np.ndarray]:
        if not is_params(self.take(16).tobytes()):
            raise self.source.error("no list of MXNet's arrays (its first number is not 0x112)")
        arrays = [self.array() for _ in range(self.count("arrays", 4))]
        names = [self.text(self.number("Q")) for _ in range(self.count("names", 8))]
        if len(names) != len(arrays):
            raise self.source.error(f"{len(arrays)} arrays but {len(names)} names")
        return {
            name.removeprefix("arg:").removeprefix("aux:"): array
            for name, array in zip(names, arrays, strict=True)
            if array is not None
        }

    def count(self, what: str, each: int) -> int:
        """A number of items that follow, each of at least `each` bytes."""
        count = self.number("Q")
        if count * each > len(self.data):
            raise self.source.error(f"{count} {what} do not fit into {len(self.data)} bytes")
        return count

    def shape(self, rank: int, form: str = "q") -> tuple[int, ...]:
        if not 0 <= rank <= MOST_DIMENSIONS:
            raise self.source.error(f"an array has rank {rank} (byte {self.at})")
        shape = tuple(self.number(form) for _ in range(rank))
        if min(shape, default=0) < 0 or math.prod(d or 1 for d in shape) >= 1 << 60:
            raise self.source.error(f"an array has shape {list(shape)} (byte {self.at})")
        return shape

    def array(self) -> np.ndarray | None:
        """The next array; None for one that was not initialized."""
        magic = self.number("I")
        if magic in (_V2, _V3):
            if self.number("i") not in (0, -1):
                raise self.source.error(f"a sparse array is not supported (byte {self.at})")
            rank = self.number("i")
            if rank == (0 if magic == _V2 else -1):
                return None
            shape = self.shape(rank)
        else:
            oldest = magic != _V1
            rank = magic if oldest else self.number("i")
            shape = self.shape(rank, "I" if oldest else "q")
            if not rank:
                return None
        self.take(8)  # the device
        code = self.number("i")
        if code not in TYPES:
            raise self.source.error(
                f"an array has the unknown element type {code} (byte {self.at})"
            )
        dtype = TYPES[code]
        data = self.take(math.prod(shape) * dtype.itemsize)
        if data.ctypes.data % dtype.itemsize:
            data = data.copy()
        return data.view(dtype).reshape(shape)

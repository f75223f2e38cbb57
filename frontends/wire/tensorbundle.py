"""Tensors of a TensorFlow checkpoint: an index, which is a sorted table, and files of data.

    bundle = Bundle(folder.beside, "variables/variables", schema)
    bundle.entries["dense/kernel"].shape

The table is LevelDB's: a footer leads to the block of blocks, in which each key tells only where
it differs from the one before. Data files are mapped; tensors are views of them.

Source: https://github.com/google/leveldb/blob/main/doc/table_format.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ..common.source import Source
from .protobuf import Record, Schema, WireError

MAGIC = bytes.fromhex("57fb808b247547db")
"""The last bytes of a table file."""
FOOTER = 48
MOST_ENTRIES = 1 << 24

HEADER = Schema("""
BundleHeader
  1 num_shards int
  2 endianness int
BundleEntry
  1 dtype int
  2 shape Shape
  3 shard int
  4 offset int
  5 size int
  7 slices bytes*
Shape
  2 dim Dim*
  3 unknown_rank bool
Dim
  1 size int
""")


class Bundle:
    """A checkpoint whose files `beside` finds by name; `prefix` starts all file names."""

    def __init__(self, beside: Callable[[str], Source], prefix: str) -> None:
        self.index = beside(f"{prefix}.index")
        self.entries: dict[str, Record] = {}
        shards = 1
        try:
            for key, value in table(self.index.data):
                if key:
                    name = key.decode("utf-8", "replace")
                    self.entries[name] = HEADER.read("BundleEntry", value)
                    continue
                header = HEADER.read("BundleHeader", value)
                shards = header.num_shards
                if header.endianness:
                    raise WireError("its numbers are big-endian")
        except WireError as error:
            raise self.index.error(f"not a checkpoint's index: {error}") from None
        self._names = [f"{prefix}.data-{i:05}-of-{shards:05}" for i in range(min(shards, 1 << 16))]
        self._beside = beside
        self._files: dict[int, np.ndarray] = {}

    def array(self, name: str, dtype: np.dtype) -> np.ndarray:
        """A numeric tensor, as a view of its file. Raises NncError if it is missing or damaged."""
        entry, shape = self.entries[name], self.shape(name)
        if entry.slices:
            raise self.index.error(f"variable '{name}' is stored in slices")
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != entry.size:
            raise self.index.error(
                f"variable '{name}' has shape {list(shape)} of {dtype}, but {entry.size} bytes"
            )
        return self.raw(name).view(dtype).reshape(shape)

    def shape(self, name: str) -> tuple[int, ...]:
        """The extents of a tensor."""
        shape = self.entries[name].shape
        return tuple(dim.size for dim in shape.dim) if shape else ()

    def raw(self, name: str) -> np.ndarray:
        """The bytes of a tensor."""
        entry = self.entries[name]
        if not 0 <= entry.shard < len(self._names):
            raise self.index.error(f"variable '{name}' is in shard {entry.shard}, which is not one")
        if entry.size == 0:
            return np.empty(0, np.uint8)
        if entry.shard not in self._files:
            self._files[entry.shard] = self._beside(self._names[entry.shard]).data
        data, end = self._files[entry.shard], entry.offset + entry.size
        if not 0 <= entry.offset <= end <= data.size:
            raise self.index.error(f"variable '{name}' ends behind its file; is it truncated?")
        return data[entry.offset : end]


def table(data: np.ndarray) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a sorted table. Raises WireError."""
    if data.size < FOOTER or data[-8:].tobytes() != MAGIC:
        raise WireError("it does not end as a table does; is it truncated?")
    footer = data[-FOOTER:].tobytes()
    _, at = _handle(footer, 0)
    where, _ = _handle(footer, at)
    count = 0
    for _, handle in _block(data, where):
        for pair in _block(data, _handle(handle, 0)[0]):
            yield pair
            count += 1
            if count > MOST_ENTRIES:
                raise WireError(f"it has more than {MOST_ENTRIES} entries")


def _block(data: np.ndarray, where: tuple[int, int]) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a block; the restart points after them are needed only for searches."""
    begin, size = where
    if size < 4 or begin + size + 1 > data.size:
        raise WireError("a block ends behind the table")
    if data[begin + size]:
        raise WireError("a block is compressed, which no checkpoint's is")
    block = data[begin : begin + size].tobytes()
    end = size - 4 - 4 * int.from_bytes(block[-4:], "little")
    if end < 0:
        raise WireError("a block has more restart points than bytes")
    at, key = 0, b""
    while at < end:
        (shared, own, length), at = _numbers(block, at, 3)
        if shared > len(key) or at + own + length > end:
            raise WireError("an entry ends behind its block")
        key = key[:shared] + block[at : at + own]
        at += own + length
        yield key, block[at - length : at]


def _handle(data: bytes, at: int) -> tuple[tuple[int, int], int]:
    """A block's offset and size, and the position after the handle."""
    (begin, size), at = _numbers(data, at, 2)
    return (begin, size), at


def _numbers(data: bytes, at: int, count: int) -> tuple[list[int], int]:
    """Varints, and the position after them."""
    found: list[int] = []
    value = shift = 0
    while len(found) < count:
        if at >= len(data) or shift > 63:
            raise WireError("a number does not end")
        value |= (data[at] & 127) << shift
        shift += 7
        if data[at] < 128:
            found.append(value)
            value = shift = 0
        at += 1
    return found, at


def strings(data: np.ndarray, count: int) -> list[bytes]:
    """The elements of a tensor of strings: lengths, their checksum, and the bytes."""
    raw = data.tobytes()
    lengths, at = _numbers(raw, 0, count)
    if at + 4 + sum(lengths) > len(raw):
        raise WireError("a string ends behind its tensor")
    found, at = [], at + 4
    for length in lengths:
        found.append(raw[at : at + length])
        at += length
    return found

"""The container: a header, metadata, descriptions of tensors, and their data.

    "GGUF", version u32, tensors u64, pairs u64
    pair:    key, type u32, value
    tensor:  name, rank u32, extents u64 (the innermost first), kind u32, offset u64
    data, aligned

Strings are a length u64 and UTF-8.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..common.source import Source
from ..wire.reader import ByteReader
from .blocks import KINDS, Kind

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MOST_DIMENSIONS = 4

_STRING, _ARRAY = 8, 9
_NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}


@dataclass(frozen=True)
class Tensor:
    """A tensor; `data` is a view of its rows of bytes in the mapped file."""

    kind: Kind
    shape: tuple[int, ...]
    data: np.ndarray


@dataclass(frozen=True)
class GgufFile:
    """The contents of a GGUF file: metadata and tensors by their names."""

    version: int
    metadata: Mapping[str, Any]
    tensors: Mapping[str, Tensor]


def read_file(source: Source) -> GgufFile:
    """The file's metadata and tensors; those of all parts, if it is the first part of a model.

    Raises NncError where it is damaged, or a part is missing.
    """
    first = _Reader(source).read()
    count = first.metadata.get("split.count", 1)
    if not isinstance(count, int) or not 0 <= count < 1 << 16:
        raise source.error(f"its 'split.count' is {count}, expected the number of its parts")
    if count <= 1:
        return first
    number = first.metadata.get("split.no")
    if number != 0:
        raise source.error(f"this is part {number} of {count}, counted from 0; give the first part")
    named = _PART.fullmatch(source.path.name) if source.path is not None else None
    if source.path is not None and named is None:
        raise source.error(f"the first of {count} parts, whose name does not end with {_SUFFIX}")
    tensors = dict(first.tensors)
    for k in range(1, count):
        stem = named[1] if named is not None else "model"
        part = source.beside(f"{stem}-{k + 1:05d}-of-{count:05d}.gguf")
        found = _Reader(part).read()
        if (found.metadata.get("split.no"), found.metadata.get("split.count")) != (k, count):
            raise part.error(f"expected part {k} of {count}, counted from 0")
        twice = tensors.keys() & found.tensors.keys()
        if twice:
            raise part.error(f"the tensor '{min(twice)}' is in an earlier part, too")
        tensors |= found.tensors
    total = first.metadata.get("split.tensors.count", len(tensors))
    if len(tensors) != total:
        raise source.error(f"its {count} parts have {len(tensors)} tensors, expected {total}")
    return replace(first, tensors=tensors)


_SUFFIX = "-00001-of-0000N.gguf"
_PART = re.compile(r"(.+)-00001-of-\d{5}\.gguf", re.DOTALL)
"""The name of the first part. Source: llama.cpp, `llama_split_path`."""


class _Reader(ByteReader):
    part = "metadata"

    def read(self) -> GgufFile:
        if self.take(4).tobytes() != MAGIC:
            raise self.source.error("no GGUF file")
        version = self.number("I")
        if version not in VERSIONS:
            swapped = int.from_bytes(version.to_bytes(4, "little"), "big")
            what = "its bytes are in big-endian order" if swapped in VERSIONS else "not supported"
            raise self.source.error(f"version {version} of GGUF: {what}")
        tensors, pairs = self.count(24), self.count(13)
        metadata = {}
        for _ in range(pairs):
            key = self.string()
            metadata[key] = self.value(self.number("I"))
        return GgufFile(version, metadata, dict(self.tensors(tensors, metadata)))

    def count(self, least: int) -> int:
        """The number of elements that follow, each of at least `least` bytes."""
        count = self.number("Q")
        if count * least > self.left:
            raise self.source.error(
                f"{count} entries are announced at byte {self.at - 8}, more than the file can hold"
            )
        return count

    def string(self) -> str:
        return self.text(self.count(1))

    def value(self, type: int) -> Any:
        if type in _NUMBERS:
            return self.number(_NUMBERS[type])
        if type == _STRING:
            return self.string()
        if type != _ARRAY:
            raise self.source.error(f"metadata of the unknown type {type} (byte {self.at - 4})")
        element = self.number("I")
        if element in _NUMBERS:
            count = self.count(struct.calcsize(_NUMBERS[element]))
            dtype = np.dtype(_NUMBERS[element]).newbyteorder("<")
            return np.frombuffer(self.take(count * dtype.itemsize), dtype).tolist()
        if element != _STRING:
            raise self.source.error(f"an array of the unknown type {element} (byte {self.at - 4})")
        return [self.string() for _ in range(self.count(8))]

    def tensors(self, count: int, metadata: Mapping[str, Any]) -> Iterator[tuple[str, Tensor]]:
        described = [self.description() for _ in range(count)]
        alignment = metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1:
            raise self.source.error(f"the alignment of its data is {alignment}")
        begin = -(-self.at // alignment) * alignment
        data = self.source.data
        names: set[str] = set()
        for name, shape, code, offset in described:
            kind = KINDS.get(code)
            if kind is None:
                known = ", ".join(kind.name for kind in KINDS.values())
                raise self.source.error(
                    f"tensor '{name}' is of kind {code}, which is not supported; these are: {known}"
                )
            width = shape[-1] if shape else 1
            if width % kind.elements:
                raise self.source.error(
                    f"tensor '{name}' has rows of {width} elements, but {kind.name} blocks of "
                    f"{kind.elements}"
                )
            size = math.prod(shape) // kind.elements * kind.bytes
            huge = math.prod(extent or 1 for extent in shape) >= 1 << 62
            if huge or begin + offset + size > len(data):
                raise self.source.error(f"the file ends within tensor '{name}'")
            if name in names:
                raise self.source.error(f"two tensors are named '{name}'")
            names.add(name)
            raw = data[begin + offset : begin + offset + size]
            rows = (*shape[:-1], width // kind.elements * kind.bytes)
            yield name, Tensor(kind, shape, raw.reshape(rows))

    def description(self) -> tuple[str, tuple[int, ...], int, int]:
        name, rank = self.string(), self.number("I")
        if rank > MOST_DIMENSIONS:
            raise self.source.error(f"tensor '{name}' has rank {rank}")
        shape = tuple(self.number("Q") for _ in range(rank))
        return name, shape[::-1], self.number("I"), self.number("Q")

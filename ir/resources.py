"""Blobs: tensor data that lives outside the IR text, in memory or in a safetensors file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .checked_files import is_whole, sums_from
from .diagnostics import NncError
from .lazy import np
from .sealed_json import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .types import ShapedType


class Blob:
    """The data of one tensor, little-endian and row-major.

    `saved` is where a blob in memory was last written to, and what that file looked like;
    `text` is its hexadecimal text where an IR file itself gives the data.
    """

    text: str | None = None
    saved: tuple[FileBlob, tuple[int, int, int] | None] | None = None

    def bytes(self) -> np.ndarray:
        """A flat uint8 array, mapped or in memory. Raises NncError where there is no data."""
        raise TypeError("each kind of blob defines where its bytes are")

    def release(self) -> None:
        """Free memory that only mirrors a file, which the next access reads again."""

    def source(self) -> Blob:
        """The blob that holds the data: this one, or the one it refers to."""
        return self

    def elements(self, type: ShapedType) -> np.ndarray:
        """As `array`, but not necessarily contiguous."""
        return self.array(type)

    def array(self, type: ShapedType) -> np.ndarray:
        """The data as an array of the type's shape and dtype, read-only, without a copy."""
        from .numpy_types import type_to_numpy

        raw = self.bytes()
        if raw.nbytes != type.num_bytes:
            raise NncError(f"resource of {type} needs {type.num_bytes} bytes, found {raw.nbytes}")
        array = np.frombuffer(raw, type_to_numpy(type.element_type)).reshape(type.shape)
        array.flags.writeable = False
        return array


class MemoryBlob(Blob):
    """A blob made by an importer or a pass; keeps the array alive."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = np.ascontiguousarray(array)

    def bytes(self) -> np.ndarray:
        return self._array.reshape(-1).view(np.uint8)

    def release(self) -> None:
        forget_pages(self._array)


class ComputedBlob(Blob):
    """A blob that is computed each time it is read, and not kept.

    Constants that one pass folds are often folded again by the next: this way only the last result
    is in memory, not one for each step. `sources` are the blobs that it is computed from; `compute`
    may be an object that also describes the computation.
    """

    def __init__(self, compute: Callable[[], np.ndarray], sources: Sequence[Blob] = ()) -> None:
        self.compute = compute
        self._sources = sources

    def release(self) -> None:
        for source in self._sources:
            source.release()

    def bytes(self) -> np.ndarray:
        return np.ascontiguousarray(self.compute()).reshape(-1).view(np.uint8)

    def elements(self, type: ShapedType) -> np.ndarray:
        array = self.compute()
        if array.shape != type.shape or array.nbytes != type.num_bytes:
            raise NncError(f"an array {array.dtype} {array.shape} was computed for {type}")
        return array


class FileBlob(Blob):
    """A tensor of a safetensors file, mapped when it is first read."""

    def __init__(self, file: SafetensorsFile, key: str) -> None:
        self.file = file
        self.key = key

    def bytes(self) -> np.ndarray:
        return self.file.bytes(self.key)

    def release(self) -> None:
        forget_pages(self.bytes())


class MissingBlob(Blob):
    """A key that no loaded file defines; reading it says so."""

    def __init__(self, key: str, searched: str = "") -> None:
        self.key = key
        self.searched = searched

    def bytes(self) -> np.ndarray:
        where = f" in {self.searched}" if self.searched else ": the module names no weights file"
        raise NncError(f"no data for dense_resource<{self.key}>{where}")


class SafetensorsFile:
    """A safetensors file, opened lazily: header read once, data mapped.

    Format: 8 bytes little-endian header length, a JSON header
    `{key: {dtype, shape, data_offsets: [begin, end]}}`, then the data.
    Source: https://github.com/huggingface/safetensors#format
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._map: np.ndarray | None = None
        self._header: dict[str, Any] = {}

    def _open(self) -> np.ndarray:

        if self._map is not None:
            return self._map
        try:
            raw = np.memmap(self.path, np.uint8, "r")
            length = int.from_bytes(raw[:8].tobytes(), "little")
            if length > raw.size - 8:
                raise ValueError(f"header of {length} bytes in a file of {raw.size}")
            header = json.loads(raw[8 : 8 + length].tobytes())
            if not isinstance(header, dict):
                raise ValueError("the header is not a JSON object")
            data = raw[8 + length :]
            self._check(header, data)
            self._header, self._map = header, data
        except (OSError, ValueError, RecursionError) as error:
            raise NncError(f"{self.path}: cannot read weights: {error}") from None
        return self._map

    def _check(self, header: dict[str, Any], data: np.ndarray) -> None:
        """Raise ValueError if nnc wrote the file and it was changed since."""
        about = header.get("__metadata__")
        if not isinstance(about, dict) or "nnc.sums" not in about or "nnc.header" not in about:
            return
        tensors = {key: entry for key, entry in header.items() if key != "__metadata__"}
        whole = digest(tensors) == about["nnc.header"]
        if not whole or not is_whole(self.path, data, sums_from(about["nnc.sums"])):
            raise ValueError(
                "it was changed after it was written: its checksums in '__metadata__' differ"
            )

    def __contains__(self, key: object) -> bool:
        self._open()
        return key in self._header and key != "__metadata__"

    def keys(self) -> list[str]:
        self._open()
        return [key for key in self._header if key != "__metadata__"]

    def bytes(self, key: str) -> np.ndarray:
        data = self._open()
        entry = self._header.get(key)
        if entry is None:
            raise NncError(f"{self.path}: no tensor named '{key}'")
        try:
            begin, end = map(int, entry["data_offsets"])
        except (TypeError, ValueError, KeyError):
            raise NncError(f"{self.path}: tensor '{key}' has no valid data_offsets") from None
        if not 0 <= begin <= end <= data.size:
            raise NncError(f"{self.path}: tensor '{key}' lies outside the file (truncated?)")
        return data[begin:end]


def forget_pages(array: np.ndarray) -> None:
    """Let the system evict an array's pages from memory if it is mapped from a file."""
    import mmap

    owner: Any = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = owner.obj if isinstance(owner, memoryview) else getattr(owner, "base", None)
    if owner is None or not hasattr(mmap, "MADV_DONTNEED"):
        return
    first = array.ctypes.data - np.frombuffer(owner, np.uint8).ctypes.data
    start = first - first % mmap.PAGESIZE
    owner.madvise(mmap.MADV_DONTNEED, start, first + array.nbytes - start)

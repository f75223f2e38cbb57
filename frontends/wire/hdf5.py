"""HDF5 files from bytes in memory: groups, attributes, and datasets as views where stored raw."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.diagnostics import NncError
from .archive import MOST_SHRUNK
from .bytes import Bytes

Error = Callable[[str], NncError]

_OBJECT = struct.Struct("<H6xQ")
"""The header of an object in a global heap: (its number, its size in bytes)."""

SIGNATURE = b"\x89HDF\r\n\x1a\n"


class Group:
    """A group; every exception that a damaged file causes becomes an NncError.

    Links out of the file are never followed.
    """

    def __init__(self, group: Any, data: np.ndarray, error: Error) -> None:
        self._group = group
        self._data = data
        self._error = error

    @staticmethod
    def open(data: np.ndarray, error: Error) -> Group:
        """The root of a file."""
        try:
            import h5py
        except ImportError:
            raise error("the package 'h5py' is needed to read HDF5 files") from None
        with Faults(error):
            return Group(h5py.File(_File(data), "r"), data, error)

    def names(self) -> list[str]:
        """The names of the group's members."""
        with Faults(self._error):
            return [name for name in self._group if self._is_own(name)]

    def group(self, *path: str) -> Group | None:
        """A group inside, or None."""
        found = self
        for name in path:
            if (found := found._member(name, "Group")) is None:
                return None
        return found

    def array(self, name: str) -> np.ndarray | None:
        """The elements of a dataset, a view of the file if they are stored raw; None if missing."""
        found = self
        *path, last = name.split("/")
        for part in path:
            if (found := found._member(part, "Group")) is None:
                return None
        dataset = found._member(last, "Dataset")
        if dataset is None:
            return None
        with Faults(self._error):
            return self._elements(dataset._group)

    def attribute(self, name: str) -> Any:
        """An attribute: a text, a list of texts, or numbers; None if it is missing.

        A long list is stored as several attributes, `name0`, `name1`, ..
        """
        with Faults(self._error):
            attributes = self._group.attrs
            if name in attributes:
                return _plain(attributes[name])
            parts: list[Any] = []
            while (part := f"{name}{len(parts)}") in attributes:
                parts.append(_plain(attributes[part]))
            return [item for part in parts for item in part] if parts else None

    def _is_own(self, name: str) -> bool:
        """Whether a member is stored here, rather than a link to elsewhere."""
        link = self._group.get(name, getlink=True)
        return type(link).__name__ == "HardLink"

    def _member(self, name: str, kind: str) -> Group | None:
        with Faults(self._error):
            if not name or "/" in name or name not in self._group or not self._is_own(name):
                return None
            found = self._group[name]
            if type(found).__name__ != kind:
                return None
            return Group(found, self._data, self._error)

    def _elements(self, dataset: Any) -> np.ndarray:
        if dataset.external or dataset.is_virtual:
            raise self._error(f"the dataset '{dataset.name}' lies in other files")
        dtype, count = dataset.dtype, int(np.prod(dataset.shape, dtype=object))
        is_bfloat16 = _plain(dataset.attrs.get("dtype")) == "bfloat16"
        if dtype.kind not in "biuf" and not (is_bfloat16 and dtype == np.dtype("V2")):
            raise self._error(f"the dataset '{dataset.name}' is of type {dtype}, expected numbers")
        least, most = (0, 1) if dataset.chunks is None else MOST_SHRUNK
        if count * dtype.itemsize > max(least, most * len(self._data)):
            raise self._error(f"the dataset '{dataset.name}' is larger than the file")
        at = dataset.id.get_offset()
        if at is not None and dtype.isnative and dataset.chunks is None:
            if at < 0 or at + count * dtype.itemsize > len(self._data):
                raise self._error(f"the dataset '{dataset.name}' is truncated")
            array = np.frombuffer(self._data, dtype, count, at).reshape(dataset.shape)
        else:
            array = np.asarray(dataset[()], dtype.newbyteorder("="))
        return _bfloat16(array) if is_bfloat16 else array


class _File(Bytes):
    """The file object for libhdf5, which hangs on a damaged global heap."""

    def readinto(self, buffer: Any) -> int:
        at = self._at
        size = super().readinto(buffer)
        if bytes(buffer[:8]) == b"GCOL\1\0\0\0":
            self._check_heap(at)
        return size

    def _check_heap(self, at: int) -> None:
        """Raise OSError for an empty heap object. Source: HDF5's file format 3.0, III.E."""
        end = min(at + int.from_bytes(self._view[at + 8 : at + 16], "little"), len(self._view))
        at += 16
        while at + _OBJECT.size <= end:
            number, size = _OBJECT.unpack_from(self._view, at)
            at += 16 + (size + 7) // 8 * 8 if number else size
            if not number and not size:
                raise OSError("an object of a global heap has no size")


class Faults:
    """A context in which every exception becomes one error of the file."""

    def __init__(self, error: Error) -> None:
        self._error = error

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, fault: BaseException | None, trace: Any) -> None:
        if isinstance(fault, Exception) and not isinstance(fault, NncError | MemoryError):
            text = str(fault).splitlines() or [type(fault).__name__]
            raise self._error(f"broken HDF5: {text[0]}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    return value.item() if isinstance(value, np.generic) else value


def _bfloat16(array: np.ndarray) -> np.ndarray:
    from ...ir.numpy_types import type_to_numpy
    from ...ir.types import bf16

    return array.view(type_to_numpy(bf16))

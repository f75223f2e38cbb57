"""Bytes in memory as a file object, for libraries that need one."""

from __future__ import annotations

import io
from typing import Any

import numpy as np


class Bytes(io.RawIOBase):
    """A file object on bytes, without a copy."""

    def __init__(self, data: np.ndarray) -> None:
        self._view = data.data
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        at = offset + (0, self._at, len(self._view))[whence]
        if at < 0:
            raise OSError("before the first byte")
        self._at = at
        return at

    def readinto(self, buffer: Any) -> int:
        part = self._view[self._at : self._at + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)

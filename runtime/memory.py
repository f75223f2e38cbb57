"""Aligned memory; that of outputs is used again once nobody looks at the array it was lent to.

Fresh memory from the system costs a page fault for each 4 KiB that is written first, which a
model with large outputs (a decoder's keys and values, say) would pay in every call.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ..ir.diagnostics import NncError
from ..ir.numpy_types import type_to_numpy
from ..ir.types import TensorType
from .abi import ALIGNMENT

_LARGE = 1 << 16
"""Bytes from which memory is kept; below it the C library's heap is as good."""
_KEPT = 4
"""Buffers that are kept for one output while nobody uses them."""


def aligned_buffer(size: int) -> np.ndarray:
    """Uninitialized bytes at an address that is a multiple of 64. Raises NncError."""
    try:
        raw = np.empty(size + ALIGNMENT, np.uint8)
    except (MemoryError, ValueError):
        raise NncError(f"a buffer of {size} bytes needs more memory than there is") from None
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]


class OutputMemory:
    """Makes the arrays of one output, whose type has a static shape."""

    def __init__(self, type: TensorType) -> None:
        self.dtype = type_to_numpy(type.element_type)
        self.shape: tuple[int, ...] = type.shape  # type: ignore[assignment]
        self._bytes = prod(self.shape) * self.dtype.itemsize
        self._free: list[np.ndarray] = []

    def array(self) -> np.ndarray:
        """An array with any contents."""
        if self._bytes < _LARGE:
            return np.empty(self.shape, self.dtype)
        try:
            memory = self._free.pop()
        except IndexError:
            memory = aligned_buffer(self._bytes)
        lent = _Lent(memory, self._free)
        return np.asarray(lent).view(self.dtype).reshape(self.shape)


class _Lent:
    """Memory that goes back to a list with the last array that looks at it."""

    def __init__(self, memory: np.ndarray, free: list[np.ndarray]) -> None:
        self.__array_interface__ = memory.__array_interface__
        self._memory = memory
        self._free = free

    def __del__(self) -> None:
        if len(self._free) < _KEPT:
            self._free.append(self._memory)

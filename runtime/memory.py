"""Aligned memory; an output's memory is reused once its array is no longer referenced.

Fresh memory from the system costs a page fault for each 4 KiB that is written first, which a model
with large outputs (a decoder's keys and values, say) would pay in every call.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

import numpy as np

from ..ir.diagnostics import NncError
from ..ir.numpy_types import type_to_numpy
from ..ir.types import TensorType
from .abi import ALIGNMENT

_LARGE = 1 << 16
"""Allocations of at least this many bytes are reused; for smaller ones the C library's heap is as
fast."""
_COPIED = 1 << 13
"""Results of up to this many bytes are copied out of C's heap, which is faster than handing it
over."""
_LARGE_PAGE = 1 << 21
"""The bytes of a large page on x86-64 and Arm. NumPy asks Linux for such pages in allocations of at
least two of them. With MobileNetV3's arena in them, a run takes 0.98 of its time.
"""
_KEPT = 4
"""The most unused buffers that are kept for one output."""


def aligned_buffer(size: int) -> np.ndarray:
    """Uninitialized bytes at an address that is a multiple of 64. Raises NncError.

    A large buffer fills whole large pages, for which NumPy asks Linux, so that fewer addresses miss
    the TLB.
    """
    alignment, room = (_LARGE_PAGE, -size % _LARGE_PAGE) if size >= _LARGE_PAGE else (ALIGNMENT, 0)
    try:
        raw = np.empty(size + room + alignment, np.uint8)
    except (MemoryError, ValueError):
        raise NncError(f"a buffer of {size} bytes needs more memory than there is") from None
    start = -raw.ctypes.data % alignment
    return raw[start : start + size]


class OutputMemory:
    """Allocates the arrays of one output, whose type has a static shape."""

    def __init__(self, type: TensorType) -> None:
        self.dtype = type_to_numpy(type.element_type)
        self.shape: tuple[int, ...] = type.shape
        self._bytes = prod(self.shape) * self.dtype.itemsize
        self._free: list[np.ndarray] = []

    def array(self) -> np.ndarray:
        """An uninitialized array of the output's shape.

        Large ones use again the memory of earlier ones that nobody refers to any more.
        """
        if self._bytes < _LARGE:
            return np.empty(self.shape, self.dtype)
        try:
            memory = self._free.pop()
        except IndexError:
            memory = aligned_buffer(self._bytes)
        lent = _Lent(memory, self._free)
        return np.asarray(lent).view(self.dtype).reshape(self.shape)


class _Lent:
    """Memory that returns to the list `free` when no array refers to it any more."""

    def __init__(self, memory: np.ndarray, free: list[np.ndarray]) -> None:
        self.__array_interface__ = memory.__array_interface__
        self._memory = memory
        self._free = free

    def __del__(self) -> None:
        if len(self._free) < _KEPT:
            self._free.append(self._memory)


class HeapMemory:
    """Memory of outputs of unknown shape: blocks of C's heap that are reused by later calls.

    At most the blocks of one call are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.kept: list[tuple[int, int]] = []
        self._free = _c_free()  # kept: at exit, this module's globals go before the last arrays

    def take(self) -> dict[int, int]:
        """The addresses and bytes of all kept blocks, for one call."""
        kept, taken = self.kept, {}
        try:
            for _ in range(self._most):
                address, taken[address] = kept.pop()
        except IndexError:  # no more, or another thread was faster
            pass
        return taken

    def give(self, address: int, bytes: int) -> None:
        """Keep a block that is no longer referenced."""
        if (bytes >= _LARGE or 0 < bytes <= _COPIED) and len(self.kept) < self._most:
            self.kept.append((address, -(-bytes // ALIGNMENT) * ALIGNMENT))
        else:
            self._free(address)

    def clear(self) -> None:
        """Free all kept blocks."""
        while taken := self.take():
            for address in taken:
                self._free(address)

    __del__ = clear


class HeapResult:
    """Wraps an output that the callee allocates on C's heap: `extents` are its shape."""

    def __init__(self, type: TensorType) -> None:
        self.extents = shape_of_rank(type)
        self._rank = type.rank
        dtype = type_to_numpy(type.element_type)
        # The array interface lacks bfloat16 and the like: these are read as integers, then viewed.
        self._item_bytes = dtype.itemsize
        self._dtype = None if dtype.isbuiltin == 1 else dtype
        self._code = (
            dtype.str if self._dtype is None else f"{'|<'[dtype.itemsize > 1]}u{dtype.itemsize}"
        )
        self._address, self._last = 0, list[int]()
        """The address and the shape of the last result."""
        self._small: np.ndarray | None = None
        """The last result, if it was copied."""

    def array(self, address: int, bytes: int, memory: HeapMemory) -> np.ndarray:
        """The elements at an address as an array, whose block finally returns to `memory`.

        `bytes` is the block's size, 0 if it equals the array's.
        """
        extents = self.extents[: self._rank]
        if address != self._address or extents != self._last:
            self._address, self._last = address, extents
            is_small = prod(extents) * self._item_bytes <= _COPIED
            buffer = _HeapBuffer(address, tuple(extents), self._code) if is_small else None
            self._small = None if buffer is None else self._seen(buffer)
        small = self._small
        if small is not None:
            copy = small.copy()
            memory.give(address, bytes or copy.nbytes)
            return copy
        block = _OwnHeapBuffer(address, tuple(extents), self._code)
        found = self._seen(block)
        block.memory, block.bytes = memory, bytes or found.nbytes
        return found

    def _seen(self, block: _HeapBuffer) -> np.ndarray:
        found = np.asarray(block)
        return found if self._dtype is None else found.view(self._dtype)


class _HeapBuffer:
    """A block of C's heap with NumPy's array interface."""

    __slots__ = ("__array_interface__", "address")

    def __init__(self, address: int, shape: tuple[int, ...], code: str) -> None:
        self.address = address
        self.__array_interface__ = {
            "data": (address, False),
            "shape": shape,
            "typestr": code,
            "version": 3,
        }


class _OwnHeapBuffer(_HeapBuffer):
    """A block of C's heap that is freed when no array refers to it any more."""

    __slots__ = ("bytes", "memory")

    memory: HeapMemory
    bytes: int

    def __del__(self) -> None:
        self.memory.give(self.address, self.bytes)


def shape_of_rank(type: TensorType) -> Any:
    """A C array for the extents of a tensor."""
    return (ctypes.c_int64 * max(1, type.rank))()


@cache
def _c_free() -> Callable[[int], None]:
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free.restype = None
    return free

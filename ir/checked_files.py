"""Checksums of files that are read back, each checked once after it was written.

The sums of n 32-bit words w are Σ w and Σ i·w modulo 2⁶⁴: Fletcher's checksum with wide sums. One
changed word or two always change them, other damage all but once in 2⁶⁴ times.
`runtime/checksum.h` has the same in C.

To sum 440 MB takes 0.3 s here and 40 ms in C, where to map them takes none. So a file whose sums
were checked is marked: the fraction of the second in its time of modification, in units of 100 ns
as all systems have, is a number that follows from the sums. What writes to the file changes it.
Where a mark does not last (time stamps in seconds, a folder that cannot be written), the sums are
taken each time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from .lazy import np

_WORDS = 1 << 14
"""Summed at once: their numbers stay in the first cache."""
_MASK = (1 << 64) - 1
_TICK, _TICKS = 100, 10_000_000
"""Nanoseconds of a unit of time, and units in a second."""


class Sums(NamedTuple):
    """The checksum of a file."""

    plain: int
    weighted: int

    def __str__(self) -> str:
        return f"{self.plain:016x}{self.weighted:016x}"

    @property
    def mark(self) -> int:
        """The units of time that mark a file of these sums."""
        return (self.plain ^ self.weighted) % _TICKS


def sums_of(parts: Iterable[np.ndarray]) -> Sums:
    """The sums of bytes in parts one after another, as if zeros followed up to a whole word."""
    plain = weighted = 0
    for first, words in _words(parts):
        total = int(words.sum(dtype=np.uint64))
        places = np.arange(words.size, dtype=np.uint64)
        plain += total
        weighted += first * total + int(np.dot(words.astype(np.uint64), places))
    return Sums(plain & _MASK, weighted & _MASK)


def _words(parts: Iterable[np.ndarray]) -> Iterable[tuple[int, np.ndarray]]:
    """Runs of words, each with the number of its first one."""
    number, rest = 0, np.empty(0, np.uint8)
    for part in parts:
        data = part.reshape(-1).view(np.uint8)
        if rest.size:
            taken = -rest.size % 4
            rest, data = np.concatenate((rest, data[:taken])), data[taken:]
            if rest.size < 4:
                continue
            yield number, rest.view("<u4")
            number += 1
        whole = data.size // 4 * 4
        for at in range(0, whole, 4 * _WORDS):
            words = _aligned(data[at : min(at + 4 * _WORDS, whole)])
            yield number, words
            number += words.size
        rest = data[whole:]
    if rest.size:
        yield number, np.concatenate((rest, np.zeros(4 - rest.size, np.uint8))).view("<u4")


def _aligned(data: np.ndarray) -> np.ndarray:
    return (data if data.ctypes.data % 4 == 0 else data.copy()).view("<u4")


def mark(path: Path, sums: Sums) -> None:
    """Say that the file has these sums, for as long as nothing writes to it."""
    with suppress(OSError):
        found = path.stat()
        second = found.st_mtime_ns // 10**9 * 10**9
        os.utime(path, ns=(found.st_atime_ns, second + sums.mark * _TICK))


def is_whole(path: Path, data: np.ndarray, sums: Sums) -> bool:
    """Whether the file, whose bytes these are, or its part that was summed, has the sums."""
    if path.stat().st_mtime_ns % 10**9 // _TICK == sums.mark:
        return True
    if sums_of([data]) != sums:
        return False
    mark(path, sums)
    return True


def sums_from(text: str) -> Sums:
    """The sums that text of them stands for. Raises ValueError."""
    if len(text) != 32:
        raise ValueError("a checksum has 32 digits")
    return Sums(int(text[:16], 16), int(text[16:], 16))

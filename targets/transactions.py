"""Memory transactions of a subgroup's threads: lines of global memory, cycles of memory banks."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from ..ir.lazy import np


@dataclass(frozen=True)
class DeviceMemory:
    """The memory properties that matter when a subgroup's threads access it. Units: bytes.

    An unknown device has the most common values.
    """

    vector_bytes: int = 16
    """The most bytes that one thread accesses with one instruction."""
    line_bytes: int = 32
    """The least bytes that an access to global memory moves."""
    banks: int = 32
    """The number of words that workgroup memory delivers in one cycle, each from its own bank."""
    bank_bytes: int = 4
    together: int = 1
    """The number of threads whose accesses are merged, where it exceeds a subgroup."""

    def count(
        self,
        addresses: np.ndarray,
        active: np.ndarray,
        size: int,
        fastest: int | None,
        is_global: bool,
    ) -> tuple[int, int]:
        """(transactions, the least that would do) of one access by all threads of a subgroup.

        Transactions are `lines` of global memory, else cycles of banks (`turns`). Shapes:
        addresses, in bytes, and `active` [threads, vector dimensions..]. Elements of `size` bytes
        along the `fastest` vector dimension are adjacent, and are accessed at once where all
        threads' addresses are aligned.
        """
        width = 1
        if fastest is not None:
            addresses, active = (np.moveaxis(a, fastest + 1, -1) for a in (addresses, active))
            width = gcd(addresses.shape[-1], max(1, self.vector_bytes // size))
            while np.any(addresses[..., ::width] % (width * size)):
                width //= 2
        addresses, active = (a.reshape(len(a), -1, width) for a in (addresses, active))
        ask = self.lines if is_global else self.turns
        rows = range(addresses.shape[1])
        counts = [ask(addresses[:, i][active[:, i]], size) for i in rows]
        return sum(taken for taken, _ in counts), sum(least for _, least in counts)

    def lines(self, addresses: np.ndarray, size: int) -> tuple[int, int]:
        """(lines that elements of `size` bytes touch, the fewest lines that could hold them)."""
        touched = _blocks(addresses, size, self.line_bytes)
        return touched.size, -(-np.unique(addresses).size * size // self.line_bytes)

    def turns(self, addresses: np.ndarray, size: int) -> tuple[int, int]:
        """(cycles in which banks deliver elements of `size` bytes, cycles if spread evenly).

        A bank delivers one word a cycle, to all threads that read it: several words are a conflict.
        """
        words = _blocks(addresses, size, self.bank_bytes)
        turns = np.bincount(words % self.banks).max() if words.size else 0
        return int(turns), -(-words.size // self.banks)


def _blocks(addresses: np.ndarray, size: int, block: int) -> np.ndarray:
    """The distinct numbers of the memory blocks that elements of `size` bytes touch."""
    places = addresses.reshape(-1, 1) + np.arange(0, size, min(size, block))
    return np.unique(places // block)

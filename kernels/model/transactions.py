"""What memory of a device moves at once, and how much of that the threads of a subgroup ask for."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.core import Operation
from ...ir.lazy import np
from ...targets.attribute import target_of
from ...targets.groups import GroupMachine


@dataclass(frozen=True)
class DeviceMemory:
    """What counts when threads of a subgroup access memory together. Units: bytes.

    A device that is not known has what most have.
    """

    vector_bytes: int = 16
    """What one thread accesses at once, at most."""
    line_bytes: int = 32
    """What an access to global memory moves at least."""
    banks: int = 32
    """Words that workgroup memory hands out at once, each of a bank of its own."""
    bank_bytes: int = 4

    def moved(self, addresses: np.ndarray, size: int) -> int:
        """Bytes of global memory that accesses of a size, a power of two, move together."""
        parts = addresses[:, None] + np.arange(0, size, min(size, self.line_bytes))
        last = (addresses + size - 1)[:, None]
        lines = np.unique(np.hstack([parts, last]) // self.line_bytes)
        return self.line_bytes * lines.size

    def turns(self, addresses: np.ndarray, size: int) -> tuple[int, int]:
        """How often workgroup memory has to hand out words for accesses of a size, and how often
        it would without conflicts.

        Threads that want the same word get it together. Of words in one bank each takes a turn.
        """
        words = addresses[:, None] // self.bank_bytes + np.arange(-(-size // self.bank_bytes))
        wanted = np.unique(words)
        turns = int(np.bincount(wanted % self.banks).max(initial=0))
        return turns, -(-wanted.size // self.banks)


def memory_of(op: Operation) -> DeviceMemory:
    """What counts on the device that an operation's module is for."""
    machine = target_of(op).machine
    if not isinstance(machine, GroupMachine):
        return DeviceMemory()
    return DeviceMemory(machine.thread.vector_bits // 8, machine.line_bytes, machine.banks)

"""Thread intrinsics of kernels, as LLVM operations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from ...dialects import llvm
from ...ir.core import Value
from ...ir.types import Type, i32


class Threads(ABC):
    """The thread intrinsics of a device. `f` emits operations at a position of a function.

    Groups have threads along x alone; numbers are integers of 32 bits.
    """

    convention: ClassVar[str]
    """The calling convention of kernels."""
    private_space: ClassVar[int] = 0
    """The address space of a thread's private memory; 1 is the device's, 3 the group's."""

    @abstractmethod
    def thread(self, f: Any, axis: int) -> Value:
        """The index of the thread in its group along an axis."""

    @abstractmethod
    def group(self, f: Any, axis: int) -> Value:
        """The index of the group in the grid along an axis."""

    @abstractmethod
    def groups(self, f: Any, axis: int, threads: int) -> Value:
        """The number of groups in the grid along an axis; each has `threads` threads."""

    @abstractmethod
    def barrier(self, f: Any) -> None:
        """Wait for the group's other threads, and make their writes visible."""

    @abstractmethod
    def from_lane(self, f: Any, word: Value, lane: Value, threads: int) -> Value:
        """The 32-bit value `word` of the thread `lane` of the subgroup (a shuffle)."""

    @abstractmethod
    def attributes(self, threads: int) -> list[tuple[str, str]]:
        """The LLVM attributes of a kernel whose groups have `threads` threads."""


def call(f: Any, name: str, args: Sequence[Value] = (), type: Type | None = i32) -> Any:
    """Emit a call of an intrinsic; returns its result, None if it has none."""
    op = llvm.CallIntrinsic(name, list(args), op_bundle_operands=(), res=type)
    f.append(op)
    return op.results[0] if type is not None else None

"""What a thread of a kernel asks its device for, in LLVM's words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from ...dialects import llvm
from ...ir.core import Value
from ...ir.types import Type, i32


class Threads(ABC):
    """The intrinsics of a device. `f` is what emits operations at a place of a function.

    Groups have threads along x alone; numbers are integers of 32 bits.
    """

    convention: ClassVar[str]
    """The calling convention of kernels."""
    private_space: ClassVar[int] = 0
    """The address space of what a thread has for itself; 1 is the device's, 3 the group's."""

    @abstractmethod
    def thread(self, f: Any, axis: int) -> Value:
        """The thread's place in its group along an axis."""

    @abstractmethod
    def group(self, f: Any, axis: int) -> Value:
        """The group's place in the grid along an axis."""

    @abstractmethod
    def groups(self, f: Any, axis: int, threads: int) -> Value:
        """How many groups the grid has along an axis, of so many threads each."""

    @abstractmethod
    def barrier(self, f: Any) -> None:
        """Wait for the group's other threads, and see what they have written."""

    @abstractmethod
    def from_lane(self, f: Any, word: Value, lane: Value, threads: int) -> Value:
        """The 32 bits that another thread of the subgroup has, in a group of so many threads."""

    @abstractmethod
    def attributes(self, threads: int) -> list[tuple[str, str]]:
        """What LLVM has to know of a kernel whose groups have so many threads."""


def call(f: Any, name: str, args: Sequence[Value] = (), type: Type | None = i32) -> Any:
    """The result of an intrinsic, None where it has none."""
    op = llvm.CallIntrinsic(name, list(args), op_bundle_operands=(), res=type)
    f.append(op)
    return op.results[0] if type is not None else None

"""A running model with replaceable kernels, outside of this process."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .model import Model
from .program import LinkedCode


@dataclass(frozen=True)
class Compared:
    """A kernel that each call runs twice: its row in the table, and how it is called.

    `candidate` is a number from `load`; 0 is the default code itself. `buffers` has, for each of
    the first arguments, its bytes and whether it is written; `parameters` is the number of all
    arguments.
    """

    row: int
    candidate: int
    parameters: int
    returns_status: bool
    buffers: Sequence[tuple[int, bool]]


class GrowingCode(LinkedCode, Protocol):
    """The code of a program for a device, to which kernels can be added; it can read and write the
    device's memory.
    """

    @property
    def functions(self) -> Mapping[str, int]:
        """The addresses of the functions that the code around kernels calls."""
        ...

    def wait(self) -> None:
        """Wait for all launched work."""
        ...

    def add(self, text: bytes, rows: str) -> int:
        """Add the kernels of a text, with a row for each; returns the number of the first.

        Raises NncError.
        """
        ...

    def read(self, address: int, size: int) -> np.ndarray:
        """A copy of bytes in the device's memory."""
        ...

    def write(self, address: int, data: np.ndarray) -> None:
        """Write bytes to the device's memory."""
        ...


class ReplacingModel(Model):
    """A model whose kernels can be replaced by candidates between calls, or compared with them.

    Calls use the candidates of the last `use`; after `compare` they run both, and report what
    differs.
    """

    @abstractmethod
    def compiled(self, part: Any) -> bytes:
        """The code of a module with a candidate, after the last stage. Raises NncError."""

    @abstractmethod
    def load(self, codes: Sequence[bytes]) -> list[int]:
        """Load these candidates in place of earlier ones; returns numbers. Raises NncError."""

    @abstractmethod
    def use(self, rows: Mapping[int, int]) -> None:
        """Use these candidates, by kernel row, and the default code for all other kernels."""

    @abstractmethod
    def compare(self, kernels: Sequence[Compared]) -> None:
        """Call each of these kernels twice at each call, until `use` is called."""

    @abstractmethod
    def told_of(
        self, at: Callable[[int], None], differs: Callable[[int, int, bytes, bytes], None]
    ) -> None:
        """Set the callbacks of runs that compare; both get the kernel's number.

        `at` is called before the kernel's candidate is; `differs` for each argument for which the
        results differ, with the argument's index and the bytes of the default and of the candidate.
        """

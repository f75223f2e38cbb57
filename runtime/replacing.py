"""A running model whose kernels can be replaced, elsewhere than in this process."""

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
    """A kernel that is called twice at each call: its row in the table, and how it is called.

    `candidate` is the number that `load` gave, 0 for the default itself. `buffers` are the bytes
    of its first arguments and whether each is written; `parameters` counts all arguments.
    """

    row: int
    candidate: int
    parameters: int
    returns_status: bool
    buffers: Sequence[tuple[int, bool]]


class GrowingCode(LinkedCode, Protocol):
    """The code of a program for a device, to which kernels can be added; a run's caller may look
    at the device's memory.
    """

    @property
    def functions(self) -> Mapping[str, int]:
        """The addresses of what code around kernels calls."""
        ...

    def wait(self) -> None:
        """Wait for what was launched."""
        ...

    def add(self, text: bytes, rows: str) -> int:
        """Add the kernels of a text, of which each has a row; the number of the first.

        Raises NncError.
        """
        ...

    def read(self, address: int, size: int) -> np.ndarray:
        """A copy of bytes of the device's memory."""
        ...

    def write(self, address: int, data: np.ndarray) -> None:
        """Set bytes of the device's memory."""
        ...


class ReplacingModel(Model):
    """Calls use the candidates that were chosen last; while they compare, they tell of them."""

    @abstractmethod
    def compiled(self, part: Any) -> bytes:
        """The code of a module with a candidate, behind the last stage. Raises NncError."""

    @abstractmethod
    def load(self, codes: Sequence[bytes]) -> list[int]:
        """Load these candidates in place of those before; their numbers. Raises NncError."""

    @abstractmethod
    def use(self, rows: Mapping[int, int]) -> None:
        """Call these candidates, by the kernels' rows, and the default code of all others."""

    @abstractmethod
    def compare(self, kernels: Sequence[Compared]) -> None:
        """Call each of these kernels twice at each call, until `use` is called."""

    @abstractmethod
    def told_of(
        self, at: Callable[[int], None], differs: Callable[[int, int, bytes, bytes], None]
    ) -> None:
        """Whom runs that compare tell, each time by the number of the kernel: `at` before its
        candidate is called, `differs` of an argument that the two have written differently, with
        the bytes that the default wrote and those of the candidate.
        """

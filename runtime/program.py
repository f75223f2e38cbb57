"""A compiled model as data: machine code, weights, and the signature of its entry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..ir.types import TensorType
from .abi import FIRST_FAILURE
from .memory import aligned_buffer


@dataclass(frozen=True)
class Signature:
    """The entry of a compiled model: inputs, outputs, and memory in bytes.

    Of the arena, `live_bytes` are in use at one time at most: no arena could be smaller.
    Its first `heap_bytes` are zero before its first call, and `nnc_release` is to end it.
    `prepared_bytes` are those of the weights that the code makes of others when it is loaded, in
    an arena of `prepare_arena_bytes`. `failures` says what did not hold, and at which node, where
    a run ends with `FIRST_FAILURE` or a later status. `input_dims` and `output_dims` have the
    names of unknown extents, empty for one without; they have no entries where no dimension has
    a name. `input_starts` has the number that an input is full of where a caller leaves it out,
    or one for each element; empty for an input that must be given. `complex_outputs` are the names
    of outputs that are complex numbers to Python, with both parts as their last dimension.
    """

    input_names: list[str]
    input_types: list[TensorType]
    output_names: list[str]
    output_types: list[TensorType]
    arena_bytes: int
    weights_bytes: int
    live_bytes: int
    heap_bytes: int = 0
    prepared_bytes: int = 0
    prepare_arena_bytes: int = 0
    input_dims: list[list[str]] = field(default_factory=list)
    output_dims: list[list[str]] = field(default_factory=list)
    input_starts: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    complex_outputs: list[str] = field(default_factory=list)

    def failure(self, status: int) -> str:
        """The message for a failed run's status."""
        number = status - FIRST_FAILURE
        if 0 <= number < len(self.failures):
            return self.failures[number]
        return f"the compiled model failed with status {status}"


class LinkedCode(Protocol):
    """Code linked into this process; unloaded when it is no longer referenced."""

    def __getitem__(self, name: str) -> int:
        """The address of an exported function."""
        ...

    def message(self, status: int) -> str | None:
        """The message for a status that comes not from the program but from what runs it, such as a
        device; None if there is none.
        """
        return None


class CodeOwner(Protocol):
    """The interface of the target that a program's code was made for."""

    @property
    def name(self) -> str: ...

    def load(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        """Link code into this process. Raises NncError."""
        ...


@dataclass(frozen=True)
class Program:
    """The code of a model and the data needed to call it.

    `code` is the result of the target's code generator, such as an object file; `weights` are the
    bytes of the buffer that the code reads, 64-byte aligned, in memory or mapped from a file;
    `parallel` says whether the code has a thread pool; `target` is the target of the code.
    """

    signature: Signature
    code: bytes
    weights: np.ndarray
    parallel: bool
    target: CodeOwner
    levels: tuple[Program, ...] = ()
    """For a program with code for several levels of a family: the program of each level, the lowest
    first, instead of `code`. They share the weights."""
    notes: tuple[str, ...] = ()
    """Messages for the user who compiled it."""
    elsewhere: tuple[str, ...] = ()
    """The steps that run on the host instead of the target's device, each with the reason."""

    def __reduce__(self):
        weights = np.asarray(self.weights)  # whose bytes can be pickled apart
        rest = self.parallel, self.target, self.levels, self.notes, self.elsewhere
        return _unpickled, (self.signature, self.code, weights, *rest)


def _unpickled(signature: Signature, code: bytes, weights: np.ndarray, *rest: Any) -> Program:
    """A program whose weights are copied to aligned memory."""
    buffer = aligned_buffer(weights.size)
    buffer[:] = weights
    return Program(signature, code, buffer, *rest)

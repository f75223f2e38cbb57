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
    """The entry of a compiled model: inputs, outputs, and sizes of memory. Units: bytes.

    * `live_bytes`: the most bytes of the arena in use at one time; no arena could be smaller.
    * `heap_bytes`: the part at the arena's start that must be zero before the first call with it.
      After the last call, `nnc_release` frees what is kept there.
    * `prepared_bytes`: the weights that the code computes from others when it is loaded, in an
      arena of `prepare_arena_bytes`.
    * `input_dims`, `output_dims`: for each tensor the names of its dimensions, "" for one without a
      name; [] if no dimension has one.
    * `input_starts`: for each input the number, or a number for each element, that it is filled
      with if the caller leaves it out; "" for an input that must be given.
    * `failures`: for the statuses from `FIRST_FAILURE` on, what failed and at which node.
    * `complex_outputs`: the names of outputs that are complex numbers in Python; their last
      dimension has the two parts.
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
        weights = np.asarray(self.weights)  # pickle can store its bytes out of band
        rest = self.parallel, self.target, self.levels, self.notes, self.elsewhere
        return _unpickled, (self.signature, self.code, weights, *rest)


def _unpickled(signature: Signature, code: bytes, weights: np.ndarray, *rest: Any) -> Program:
    """A program whose weights are copied to aligned memory."""
    buffer = aligned_buffer(weights.size)
    buffer[:] = weights
    return Program(signature, code, buffer, *rest)

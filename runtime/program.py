"""A compiled model as data: machine code, weights, and the signature of its entry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ir.types import TensorType
from ..targets.base import Target


@dataclass(frozen=True)
class Signature:
    """The entry of a compiled model: inputs, outputs, and memory in bytes.

    Of the arena, `live_bytes` are in use at one time at most: no arena could be smaller.
    `prepared_bytes` are those of the weights that the code makes of others when it is loaded, in
    an arena of `prepare_arena_bytes`.
    """

    input_names: list[str]
    input_types: list[TensorType]
    output_names: list[str]
    output_types: list[TensorType]
    arena_bytes: int
    weights_bytes: int
    live_bytes: int
    prepared_bytes: int = 0
    prepare_arena_bytes: int = 0


@dataclass(frozen=True)
class Program:
    """Machine code of a model and what is needed to call it.

    `code` is an object file; `weights` the bytes of the buffer that the code reads, 64-byte
    aligned, in memory or mapped from a file; `parallel` says whether the code has a pool;
    `target` is what the code is for.
    """

    signature: Signature
    code: bytes
    weights: np.ndarray
    parallel: bool
    target: Target

"""StableHLO: text that uses it, MLIR bytecode, and functions of JAX."""

from __future__ import annotations

import re
import sys
from typing import Any

from ..common.source import Source
from ..wire.flatbuffers import FlatbufferError, Schema, Table

BYTECODE = b"ML\xefR"
_USES = re.compile(rb"\b(?:stablehlo|chlo|mhlo|jax)\.[a-z_]+")

_EXPORTED = Schema("""
Exported
  9 platforms string*
  13 module u8*
""")
"""Source: serialization.fbs of JAX 0.10"""


def exported(source: Source) -> Table | None:
    """The contents of a file that `jax.export` has written; None for others."""
    if not source.head:
        return None
    try:
        found = _EXPORTED.read("Exported", source.data)
    except FlatbufferError:
        return None
    return found if found.module[:4].tobytes() == BYTECODE else None


def is_it(source: Source) -> bool:
    """Whether a source looks like StableHLO."""
    if source.object is not None:
        return is_of_jax(source.object) or is_function(source)
    head = source.head
    if head.startswith(BYTECODE) or exported(source) is not None:
        return True
    is_mlir = b"module" in head or b"func.func" in head
    return is_mlir and b"\0" not in head and _USES.search(head) is not None


def is_of_jax(given: Any) -> bool:
    """Whether an object is a lowered or exported JAX function, by its type alone."""
    is_jax = type(given).__module__.split(".")[0] in ("jax", "jaxlib")
    return is_jax and (hasattr(given, "mlir_module") or hasattr(given, "as_text"))


def is_function(source: Source) -> bool:
    """Whether a source is a function with example inputs, in a process that has loaded JAX."""
    return source.inputs is not None and callable(source.object) and "jax" in sys.modules

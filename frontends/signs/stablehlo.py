"""StableHLO: text that uses it, MLIR bytecode, and functions of JAX."""

from __future__ import annotations

import re
import sys
from typing import Any

from ..common.source import Source

BYTECODE = b"ML\xefR"
_USES = re.compile(rb"\b(?:stablehlo|chlo|mhlo|jax)\.[a-z_]+")


def is_it(source: Source) -> bool:
    """Whether a source looks like StableHLO; an export has its bytecode soon after its start."""
    if source.object is not None:
        return is_of_jax(source.object) or is_function(source)
    head = source.head
    if BYTECODE in head:
        return True
    return b"module" in head and b"\0" not in head and _USES.search(head) is not None


def is_of_jax(given: Any) -> bool:
    """Whether an object is a lowered or exported function, by its type alone."""
    is_jax = type(given).__module__.split(".")[0] in ("jax", "jaxlib")
    return is_jax and (hasattr(given, "mlir_module") or hasattr(given, "as_text"))


def is_function(source: Source) -> bool:
    """Whether it is a function with example inputs, in a process that has loaded JAX."""
    return source.inputs is not None and callable(source.object) and "jax" in sys.modules

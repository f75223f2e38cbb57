"""The code of an arena's heap, for linking into a module with buffers of unknown size."""

from __future__ import annotations

from ..dialects import llvm
from .c_library import define_missing, source

BYTES = 64 * 8
"""The most bytes of a heap at the start of its arena: `!heap` of `heap.mlir` and 8 bytes a pointer.
"""


def heap_functions(pointer_bits: int, system: str) -> list[llvm.Func]:
    """The functions of the heap and the declarations that they need, not yet in a module."""
    found: dict[str, llvm.Func] = {
        op.sym_name: op.clone()  # type: ignore[misc]
        for op in source("heap", pointer_bits).body_block
        if isinstance(op, llvm.Func)
    }
    define_missing(found, system)
    return list(found.values())

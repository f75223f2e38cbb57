"""The stages after the schedule for targets whose code LLVM makes."""

from __future__ import annotations

from ...ir.stages import stage
from ..stages import LOOPS, VECTORS

LLVM = stage(
    "llvm",
    "the llvm dialect",
    ("outline-parallel", "the functions that a pool of threads calls"),
    ("canonicalize", "constants of the expansions"),
    "cse",
    "lower-to-llvm",
)
STAGES = (LOOPS, VECTORS, LLVM)

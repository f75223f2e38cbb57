"""Functions of C's math library for kernels of devices that have no such library."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ...dialects import llvm
from ...ir.syntax.parser import parse_module

MATHEMATICS = Path(__file__).with_name("mathematics.mlir")


@cache
def device_functions() -> dict[str, llvm.Func]:
    """The math functions for kernels, and the functions that these call, by name."""
    module = parse_module(MATHEMATICS.read_text(encoding="utf-8"), MATHEMATICS.name)
    return {op.sym_name: op for op in module.body_block if isinstance(op, llvm.Func)}

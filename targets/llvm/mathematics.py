"""Functions of C's library for kernels of devices, which have no such library."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ...dialects import llvm
from ...ir.syntax.parser import parse_module

MATHEMATICS = Path(__file__).with_name("mathematics.mlir")


@cache
def device_functions() -> dict[str, llvm.Func]:
    """By name: functions of C's library for kernels, and what these call."""
    module = parse_module(MATHEMATICS.read_text(encoding="utf-8"), MATHEMATICS.name)
    return {op.sym_name: op for op in module.body_block if isinstance(op, llvm.Func)}

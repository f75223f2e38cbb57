"""Functions of C's library and POSIX that a system lacks, defined by others that it has."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ..dialects import llvm
from ..ir.attributes import IntegerAttr
from ..ir.builder import Builder
from ..ir.core import Operation
from ..ir.syntax.parser import parse_module
from ..ir.types import Type, i32

FOLDER = Path(__file__).parent

LINUX_ONLY = ("sched_getcpu", "pthread_getaffinity_np", "pthread_setaffinity_np")
"""Functions that only Linux has; on other systems, replacements report failure."""

_SOURCES = {"darwin": "macos", "windows": "windows"}
"""For each system: the source file with replacements for functions it lacks."""


def define_missing(functions: dict[str, llvm.Func], system: str) -> None:
    """Define the declared functions that a system lacks, and the functions that these need.

    `system` is its name in lower case, as in `platform.system()`.
    """
    if system != "linux":
        lacking = (name for name in LINUX_ONLY if name in functions)
        functions.update({name: returning(name, i32, -1) for name in lacking})
    if system not in _SOURCES:
        return
    own = _functions(_SOURCES[system])
    waiting = [name for name in functions if name in own and not own[name].is_declaration]
    while waiting:
        name = waiting.pop()
        functions[name] = own[name].clone()  # type: ignore[assignment]
        called = (op for op in own[name].walk() if isinstance(op, llvm.Call))
        waiting += [c.callee for c in called if c.callee and c.callee not in functions]


@cache
def _functions(name: str) -> dict[str, llvm.Func]:
    """The functions in a file, by name."""
    body = source(name).body_block
    return {op.sym_name: op for op in body if isinstance(op, llvm.Func)}


@cache
def source(name: str, pointer_bits: int = 64) -> Operation:
    """The module of a file, parsed once for each pointer size."""
    text = (FOLDER / f"{name}.mlir").read_text(encoding="utf-8")
    return parse_module(text.replace("!size = i64", f"!size = i{pointer_bits}"), f"{name}.mlir")


def returning(name: str, type: Type, number: int) -> llvm.Func:
    """A function that returns a constant."""
    function = llvm.Func.define(name, llvm.function_type([], type), linkage="internal")
    builder = Builder.at_end(function.body.blocks[0])
    value = builder.insert(llvm.Constant(IntegerAttr(number, type), res=type)).result
    builder.insert(llvm.Return(value))
    return function

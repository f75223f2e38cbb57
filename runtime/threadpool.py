"""The thread pool's code, to be linked into a module that has parallel loops."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ..dialects import llvm
from ..ir.attributes import IntegerAttr
from ..ir.builder import Builder
from ..ir.core import Operation
from ..ir.syntax.parser import parse_module
from ..ir.types import i32

SOURCE = Path(__file__).with_name("threadpool.mlir")

PARALLEL_FOR = "nnc_parallel_for"
POOL_CREATE = "nnc_pool_create"
POOL_DESTROY = "nnc_pool_destroy"

LINUX_ONLY = ("sched_getcpu", "pthread_getaffinity_np", "pthread_setaffinity_np")
"""Elsewhere functions of these names say that they failed."""


def pool_functions(pause: tuple[str, int | None] | None, system: str = "linux") -> list[llvm.Func]:
    """The functions of the pool and the declarations that they need, detached.

    `pause` is an intrinsic and its argument, as `Target.pause`; `system` is `linux` or another
    name.
    """
    absent = LINUX_ONLY if system != "linux" else ()
    functions = [op for op in _source().body_block if isinstance(op, llvm.Func)]
    known = [
        _failing(function) if function.sym_name in absent else function.clone()
        for function in functions
        if function.sym_name != "nnc_pause"
    ]
    return [*known, *_pause(pause)]  # type: ignore[list-item]


def _failing(declared: llvm.Func) -> llvm.Func:
    """A function like the declared one that returns -1."""
    function = llvm.Func.define(declared.sym_name, declared.function_type, linkage="internal")
    builder = Builder.at_end(function.body.blocks[0])
    minus_one = builder.insert(llvm.Constant(IntegerAttr(-1, i32), res=i32)).result
    builder.insert(llvm.Return(minus_one))
    return function


@cache
def _source() -> Operation:
    """The module as it is written, parsed once."""
    return parse_module(SOURCE.read_text(encoding="utf-8"), SOURCE.name)


def _pause(pause: tuple[str, int | None] | None) -> list[llvm.Func]:
    """`void nnc_pause(void)`, which does nothing where no instruction is known."""
    function = llvm.Func.define("nnc_pause", llvm.function_type([]), linkage="internal")
    builder = Builder.at_end(function.body.blocks[0])
    made = [function]
    if pause is not None:
        name, argument = pause
        arguments = []
        if argument is not None:
            constant = llvm.Constant(IntegerAttr(argument, i32), res=i32)
            arguments.append(builder.insert(constant).result)
        types = [value.type for value in arguments]
        made.append(llvm.Func.define(name, llvm.function_type(types), declaration=True))
        builder.insert(llvm.Call.of(name, arguments))
    builder.insert(llvm.Return())
    return made

"""The thread pool's code, to be linked into a module that has parallel loops."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Protocol

from ..dialects import llvm
from ..ir.attributes import IntegerAttr
from ..ir.builder import Builder
from ..ir.core import Operation
from ..ir.syntax.parser import parse_module
from ..ir.types import Type, i32, i64

FOLDER = Path(__file__).parent


LINUX_ONLY = ("sched_getcpu", "pthread_getaffinity_np", "pthread_setaffinity_np")
"""Elsewhere functions of these names say that they failed."""

WITHOUT_SEMAPHORES = ("darwin",)
"""Systems where semaphores are made of mutexes."""


class PoolTarget(Protocol):
    """What the pool's code depends on; a compiler's target is one."""

    @property
    def pointer_bits(self) -> int:
        """Of C's `size_t`, of a pointer, and of `pthread_t`. Indices always have 64."""
        ...

    @property
    def pause(self) -> tuple[str, int | None] | None:
        """The intrinsic that tells the processor that its thread only waits, and its argument."""
        ...

    @property
    def system(self) -> str:
        """`linux` or another name, as `platform.system()` tells it, in lower case."""
        ...


def pool_functions(target: PoolTarget, clock: str | None = None) -> list[llvm.Func]:
    """The functions of the pool and the declarations that they need, detached.

    `clock` names a function `int64_t (void)` by which the pool tells how long its callers
    waited; without one that is 0.
    """
    found = {
        op.sym_name: op.clone()
        for op in _source("threadpool", target.pointer_bits).body_block
        if isinstance(op, llvm.Func)
    }
    if target.system != "linux":
        found.update((name, _returning(name, i32, -1)) for name in LINUX_ONLY)
    if target.system in WITHOUT_SEMAPHORES:
        own = _source("semaphores", target.pointer_bits).body_block
        found.update((op.sym_name, op.clone()) for op in own if isinstance(op, llvm.Func))
    found.update((op.sym_name, op) for op in (*_pause(target.pause), _clock(clock)))
    return list(found.values())  # type: ignore[arg-type]


@cache
def _source(name: str, pointer_bits: int) -> Operation:
    """The module as it is written, parsed once for each size of pointers."""
    text = (FOLDER / f"{name}.mlir").read_text(encoding="utf-8")
    return parse_module(text.replace("!size = i64", f"!size = i{pointer_bits}"), f"{name}.mlir")


def _returning(name: str, type: Type, number: int) -> llvm.Func:
    """A function that returns a number."""
    function = llvm.Func.define(name, llvm.function_type([], type), linkage="internal")
    builder = Builder.at_end(function.body.blocks[0])
    value = builder.insert(llvm.Constant(IntegerAttr(number, type), res=type)).result
    builder.insert(llvm.Return(value))
    return function


def _clock(name: str | None) -> llvm.Func:
    """`int64_t nnc_pool_clock(void)`."""
    if name is None:
        return _returning("nnc_pool_clock", i64, 0)
    function = llvm.Func.define("nnc_pool_clock", llvm.function_type([], i64), linkage="internal")
    builder = Builder.at_end(function.body.blocks[0])
    builder.insert(llvm.Return(builder.insert(llvm.Call.of(name, [], i64)).result))
    return function


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

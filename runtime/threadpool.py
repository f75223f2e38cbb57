"""The code of the thread pool, for linking into a module with parallel loops."""

from __future__ import annotations

from typing import Protocol

from ..dialects import llvm
from ..ir.attributes import IntegerAttr
from ..ir.builder import Builder
from ..ir.types import i32, i64
from .c_library import define_missing, returning, source


class PoolTarget(Protocol):
    """The properties of a target that the pool's code depends on."""

    @property
    def pointer_bits(self) -> int:
        """The bits of C's `size_t`, of a pointer, and of `pthread_t`. Indices always have 64."""
        ...

    @property
    def pause(self) -> tuple[str, int | None] | None:
        """The intrinsic for spin-wait loops, and its argument; None without one."""
        ...

    @property
    def system(self) -> str:
        """The system's name in lower case, as in `platform.system()`: `linux`, .."""
        ...


def pool_functions(target: PoolTarget, clock: str | None = None) -> list[llvm.Func]:
    """The functions of the pool and the declarations that they need, not yet in a module.

    `clock` names a function `int64_t (void)` with which the pool measures how long its callers
    waited; without one, it measures 0.
    """
    found: dict[str, llvm.Func] = {
        op.sym_name: op.clone()  # type: ignore[misc]
        for op in source("threadpool", target.pointer_bits).body_block
        if isinstance(op, llvm.Func)
    }
    define_missing(found, target.system)
    found.update((op.sym_name, op) for op in (*_pause(target.pause), _clock(clock)))
    return list(found.values())


def _clock(name: str | None) -> llvm.Func:
    """`int64_t nnc_pool_clock(void)`."""
    if name is None:
        return returning("nnc_pool_clock", i64, 0)
    function = llvm.Func.define("nnc_pool_clock", llvm.function_type([], i64), linkage="internal")
    builder = Builder.at_end(function.body.blocks[0])
    builder.insert(llvm.Return(builder.insert(llvm.Call.of(name, [], i64)).result))
    return function


def _pause(pause: tuple[str, int | None] | None) -> list[llvm.Func]:
    """`void nnc_pause(void)`, which does nothing if no instruction is known."""
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

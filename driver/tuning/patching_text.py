"""Kernels of a program of source text, called through a table, and candidates for its rows.

It does the same as `patching.py`, but after the `text` stage, on functions of the `func` dialect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...dialects import func, memref
from ...dialects.marks import CHECKS, ENTRY, POOL, REPLACED, SCRATCH
from ...ir.attributes import I64Attr, UnitAttr
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.types import MemRefType

_MEMORY = "candidate_scratch"
_HEAP = (memref.Alloc, memref.Realloc, memref.Dealloc)


def replaceable(module: Operation, names: Sequence[str]) -> list[func.FuncOp]:
    """The named functions that cannot fail and allocate no memory."""
    functions = func.functions_by_name(module)
    found = (functions.get(name) for name in names)
    return [one for one in found if one is not None and _is_plain(one, functions)]


def _is_plain(function: func.FuncOp, functions: Mapping[str, func.FuncOp]) -> bool:
    called = [op.callee for op in function.walk() if isinstance(op, func.Call)]
    return (
        CHECKS not in function.attributes
        and not any(isinstance(op, _HEAP) for op in function.walk())
        and all(_is_plain(functions[name], functions) for name in called)
    )


def mark(module: Operation, function: func.FuncOp, number: int, symbol: str) -> None:
    """Call a kernel through row `number` of the table, and export it as `symbol`."""
    function.attributes[REPLACED] = I64Attr(number)
    for call in [op for op in module.walk() if isinstance(op, func.Call)]:
        if call.callee == function.sym_name:
            call.callee = symbol
    function.sym_name = symbol


def add_candidate(
    part: Any, name: str, symbol: str, arguments: int, scratch: int, has_pool: bool
) -> None:
    """Add a function with the default kernel's interface that calls the candidate.

    After the arguments, the default takes scratch memory of that many bytes, if any, and the pool.
    Raises NncError if the candidate needs what a caller does not pass.
    """
    functions = func.functions_by_name(part)
    kernel = functions[name]
    if not _is_plain(kernel, functions):
        raise NncError("it allocates memory or has checks that may fail, which is not supported")
    inputs = list(kernel.function_type.inputs)
    own = {mark: _position(kernel, mark) for mark in (SCRATCH, POOL)}
    given = inputs[:arguments]
    if scratch:
        at = own[SCRATCH]
        given.append(inputs[at] if at is not None else inputs[0])
    if has_pool:
        at = own[POOL]
        given.append(inputs[at] if at is not None else inputs[0])
    made = func.FuncOp.of(symbol, given, attributes={ENTRY: UnitAttr(), REPLACED: I64Attr(0)})
    block = made.body.blocks[0]
    builder = Builder.at_end(block)
    values: list[Value] = list(block.args[:arguments])
    if (at := own[SCRATCH]) is not None:
        type = inputs[at]
        assert isinstance(type, MemRefType)
        if scratch >= type.num_bytes:
            values.append(block.args[arguments])
        else:
            memory = memref.Global(_MEMORY, type, sym_visibility="private")
            part.body_block.prepend(memory)
            values.append(builder.insert(memref.GetGlobal(_MEMORY, result=type)).result)
    if own[POOL] is not None:
        if not has_pool:
            raise NncError("it needs the thread pool, which the default kernel is not passed")
        values.append(block.args[-1])
        made.set_arg_attribute(len(given) - 1, POOL, UnitAttr())
    builder.insert(func.Call(name, values, outs=[]))
    builder.insert(func.Return([]))
    part.body_block.append(made)


def _position(function: func.FuncOp, mark: str) -> int | None:
    numbers = range(len(function.function_type.inputs))
    return next((i for i in numbers if function.arg_attribute(i, mark) is not None), None)

"""Lowering of calls that --outline-parallel made: to the thread pool.

The values that the loop's body needs lie in a struct on the caller's stack. A task, which the
pool calls with the struct's address and a piece of the range, takes them out again:

    func.call @body(%pool, %begin, %end, %a, %n) {nn.parallel = 8 : i64}

        ->  store %a, %n to %environment
            nnc_parallel_for(%pool, @body.task, %environment, %begin, %end, 8)

        with  @body.task(%environment, %from, %to):  @body(%pool, %from, %to, %a, %n)
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import func, llvm
from ...dialects.marks import PARALLEL
from ...ir.attributes import IntegerAttr
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.types import i64
from ...runtime.abi import PARALLEL_FOR
from ...runtime.threadpool import pool_functions
from ...targets.attribute import target_of
from ..instrument_kernels import CLOCK
from .conversion import FunctionLowering


def lower_parallel_call(f: FunctionLowering, op: func.Call) -> None:
    """A call of the pool with the address of a task and of what the task needs."""
    pool, begin, end, *captured = op._operands
    values = [f.value(pool), *(v for value in captured for v in f.flat(value))]
    struct = llvm.StructType(tuple(v.type for v in values))
    environment = _stack_slot(f, struct, op)
    for i, value in enumerate(values):
        address = f.append(llvm.GetElementPtr.of(environment, [0, i], struct)).results[0]
        f.append(llvm.Store(value, address))
    task = f.address_of(_need_task(f, op.callee, struct))
    need_pool(f)
    given = op.attributes[PARALLEL]
    grain = f.integer(given.value if isinstance(given, IntegerAttr) else 1)
    arguments = [values[0], task, environment, f.value(begin), f.value(end), grain]
    f.append(llvm.Call.of(PARALLEL_FOR, arguments))


def _stack_slot(f: FunctionLowering, type: llvm.StructType, op: Operation) -> Value:
    """Made once, at the start of the function, even in a loop."""
    slot = llvm.Alloca(f.integer(1), type, res=llvm.ptr, loc=op.loc)
    f.func.regions[0].blocks[0].prepend(slot)
    return slot.result


def _need_task(f: FunctionLowering, body: str, struct: llvm.StructType) -> str:
    """The name of the function that calls the body with what it finds in the struct."""
    name = f"{body}.task"
    needed = f.module.needed
    if name in needed:
        return name
    type = llvm.function_type([llvm.ptr, i64, i64])
    task = needed[name] = llvm.Func.define(name, type, linkage="internal", loc=f.loc)
    block = task.body.blocks[0]
    environment, begin, end = block.args
    builder = Builder.at_end(block, f.loc)
    values: Sequence[Value] = [
        builder.insert(
            llvm.Load(
                builder.insert(llvm.GetElementPtr.of(environment, [0, i], struct)).result,
                res=element,
            )
        ).result
        for i, element in enumerate(struct.elements)
    ]
    builder.insert(llvm.Call.of(body, [values[0], begin, end, *values[1:]]))
    builder.insert(llvm.Return())
    return name


def need_pool(f: FunctionLowering) -> None:
    """Put the pool's functions into the module, once; it tells the time where the module does."""
    needed = f.module.needed
    if PARALLEL_FOR not in needed:
        target, clock = target_of(f.module.module), CLOCK if f.module.defines(CLOCK) else None
        for function in pool_functions(target, clock):
            # What the model needs too, such as `free`, is declared already.
            needed.setdefault(function.sym_name, function)

"""Lowering of calls that --outline-parallel made to calls of the thread pool.

The values that the loop's body needs are stored in a struct on the caller's stack. A task, which
the pool calls with the struct's address and a part of the range, loads them again:

    func.call @body(%pool, %begin, %end, %a, %n) {nn.parallel = 8 : i64}

        ->  store %a, %n to %environment
            nnc_parallel_for(%pool, @body.task, %environment, %begin, %end, 8)

        with  @body.task(%environment, %from, %to):  @body(%pool, %from, %to, %a, %n)

If a check of the body can fail, a status word on the stack gets the largest status of all parts,
with which the call fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import func, llvm
from ...dialects.marks import PARALLEL
from ...ir.attributes import IntegerAttr
from ...ir.builder import Builder
from ...ir.core import Block, Operation, Value
from ...ir.types import Type, i32, i64
from ...memory.instrument_kernels import CLOCK
from ...runtime.abi import PARALLEL_FOR
from ...runtime.threadpool import pool_functions
from .casts import resize_integer
from .conversion import FunctionLowering
from .failing import require_success


def lower_parallel_call(f: FunctionLowering, op: func.Call) -> None:
    """Call the pool with the addresses of a task and of the values that the task needs."""
    pool, begin, end, *captured = op._operands
    values = [f.value(pool), *(v for value in captured for v in f.flat(value))]
    reports = bool(f.module.checks.of(op.callee))
    if reports:
        status = _stack_slot(f, i32, op)
        f.append(llvm.Store(f.integer(0, i32), status))
        values.append(status)
    struct = llvm.StructType(tuple(v.type for v in values))
    environment = _stack_slot(f, struct, op)
    for i, value in enumerate(values):
        address = f.append(llvm.GetElementPtr.of(environment, [0, i], struct)).results[0]
        f.append(llvm.Store(value, address))
    task = f.address_of(_need_task(f, op.callee, struct, reports))
    need_pool(f)
    given = op.attributes[PARALLEL]
    grain = f.integer(given.value if isinstance(given, IntegerAttr) else 1, i64)
    first, last = (resize_integer(f, f.value(v), i64, signed=True) for v in (begin, end))
    arguments = [values[0], task, environment, first, last, grain]
    f.append(llvm.Call.of(PARALLEL_FOR, arguments))
    if reports:
        require_success(f, f.emit(llvm.Load, [values[-1]], i32), op)


def _stack_slot(f: FunctionLowering, type: Type, op: Operation) -> Value:
    """A stack slot of the type, made once at the start of the function, even in a loop."""
    slot = llvm.Alloca(f.integer(1), type, res=llvm.ptr, loc=op.loc)
    f.func.regions[0].blocks[0].prepend(slot)
    return slot.result


def _need_task(f: FunctionLowering, body: str, struct: llvm.StructType, reports: bool) -> str:
    """Make the task that calls the body with the values in the struct; returns its name.

    If the body `reports` a status, the last of the values is the address to store it at.
    """
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
    if f.types.index is not i64:
        begin, end = (builder.insert(llvm.Trunc(v, res=f.types.index)).result for v in (begin, end))
    if not reports:
        builder.insert(llvm.Call.of(body, [values[0], begin, end, *values[1:]]))
        builder.insert(llvm.Return())
        return name
    *captured, last = values[1:]
    call = builder.insert(llvm.Call.of(body, [values[0], begin, end, *captured], i32))
    failed, done = Block(), Block()
    zero = builder.insert(llvm.Constant(IntegerAttr(0, i32), res=i32)).res
    ok = builder.insert(llvm.ICmp("eq", call.results[0], zero)).res
    builder.insert(llvm.CondBr.of(ok, done, [], failed, []))
    for following in (failed, done):
        task.body.append(following)
    builder = Builder.at_end(failed, f.loc)
    builder.insert(llvm.AtomicRMW("umax", last, call.results[0], "monotonic"))
    builder.insert(llvm.Br([], dest=done))
    Builder.at_end(done, f.loc).insert(llvm.Return())
    return name


def need_pool(f: FunctionLowering) -> None:
    """Put the pool's functions into the module, once; they use the module's clock if it has one.

    A module that declares `nnc_parallel_for` itself uses the pool of other code.
    """
    needed = f.module.needed
    if PARALLEL_FOR not in needed and not f.module.defines(PARALLEL_FOR):
        clock = CLOCK if f.module.defines(CLOCK) else None
        for function in pool_functions(f.module.target, clock):
            # What the model needs too, such as `free`, is declared already.
            needed.setdefault(function.sym_name, function)

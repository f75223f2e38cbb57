"""Lowering of calls and returns."""

from __future__ import annotations

from ...dialects import func, llvm
from ...dialects.marks import PARALLEL
from ...ir.core import Operation, Value
from ...ir.types import MemRefType, i32
from ...runtime.abi import POOL_COUNTS
from .conversion import FunctionLowering, lowers
from .failing import made_on_heap, require_success, result_with_status
from .loops import bind_all, flatten
from .parallel import lower_parallel_call, need_pool


@lowers(func.Return)
def _return(f: FunctionLowering, op: func.Return) -> None:
    values = flatten(f, op._operands)
    if f.module.checks.of(f.func.sym_name):
        values.insert(0, f.integer(0, i32))
    if len(values) < 2:
        f.append(llvm.Return(values[0] if values else None))
        return
    type = llvm.StructType(tuple(v.type for v in values))
    struct = f.poison(type)
    for i, value in enumerate(values):
        struct = f.append(llvm.InsertValue(struct, value, (i,))).results[0]
    f.append(llvm.Return(struct))


@lowers(func.Call)
def _call(f: FunctionLowering, op: func.Call) -> None:
    if PARALLEL in op.attributes:
        lower_parallel_call(f, op)
        return
    if op.callee == POOL_COUNTS:
        need_pool(f)
    result = result_with_status(f, op.callee, op.result_types)
    arguments = flatten(f, op._operands)
    if op.callee in f.module.heap.users:
        assert f.call_heap is not None
        arguments.append(f.call_heap)
    call = f.append(llvm.Call.of(op.callee, arguments, result))
    values = call_results(f, call)
    if f.module.checks.of(op.callee):
        require_success(f, values.pop(0), op)
    bind_all(f, op.results, values)
    for made in op.results:
        if isinstance(made.type, MemRefType):
            made_on_heap(f, made, f.memref(made).pointer)


@lowers(func.Constant)
def _constant(f: FunctionLowering, op: func.Constant) -> None:
    f.bind(op.results[0], f.address_of(op.value))


@lowers(func.CallIndirect)
def _call_indirect(f: FunctionLowering, op: func.CallIndirect) -> None:
    callee, *arguments = op._operands
    result = f.types.function_results(op.result_types)
    call = f.append(llvm.Call.of(f.value(callee), flatten(f, arguments), result))
    bind_all(f, op.results, call_results(f, call))


def call_results(f: FunctionLowering, call: Operation) -> list[Value]:
    """The results of a call, taken out of the struct that it returns if there are several."""
    if not call.results or not isinstance(call.results[0].type, llvm.StructType):
        return list(call.results)
    struct = call.results[0]
    count = len(struct.type.elements)
    return [f.append(llvm.ExtractValue(struct, (i,))).results[0] for i in range(count)]

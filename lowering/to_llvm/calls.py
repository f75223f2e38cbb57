"""Lowering of calls and returns."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import func, llvm
from ...dialects.marks import PARALLEL
from ...ir.core import Operation, Value
from ...runtime.abi import POOL_COUNTS
from .conversion import FunctionLowering, lowers
from .loops import bind_all, flatten
from .parallel import lower_parallel_call, need_pool
from .types import function_results


@lowers(func.Return)
def _return(f: FunctionLowering, op: func.Return) -> None:
    values = flatten(f, op._operands)
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
    result = function_results(op.result_types)
    call = f.append(llvm.Call.of(op.callee, flatten(f, op._operands), result))
    bind_call_results(f, op.results, call)


@lowers(func.Constant)
def _constant(f: FunctionLowering, op: func.Constant) -> None:
    f.bind(op.results[0], f.address_of(op.value))


@lowers(func.CallIndirect)
def _call_indirect(f: FunctionLowering, op: func.CallIndirect) -> None:
    callee, *arguments = op._operands
    result = function_results(op.result_types)
    call = f.append(llvm.Call.of(f.value(callee), flatten(f, arguments), result))
    bind_call_results(f, op.results, call)


def bind_call_results(f: FunctionLowering, results: Sequence[Value], call: Operation) -> None:
    """Bind the results of a call, taken apart where there are several."""
    if not call.results:
        return
    value = call.results[0]
    if not isinstance(value.type, llvm.StructType):
        bind_all(f, results, [value])
        return
    parts = [
        f.append(llvm.ExtractValue(value, (i,))).results[0] for i in range(len(value.type.elements))
    ]
    bind_all(f, results, parts)

"""--instrument-kernels: when each kernel of a model began and ended, as one more output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..dialects import arith, func, llvm, memref
from ..dialects.marks import ENTRY, KERNEL, OUTPUT_NAMES, OUTPUTS, POOL
from ..ir.attributes import ArrayAttr, Attribute, DictAttr, IntegerAttr, StringAttr, UnitAttr
from ..ir.builder import Builder
from ..ir.core import Operation, Region, Value
from ..ir.diagnostics import PassError
from ..ir.passes import Pass, PassContext, option
from ..ir.syntax.parser import parse_module
from ..ir.types import FunctionType, MemRefType, TensorType, Type, i64
from ..runtime.abi import POOL_COUNTS

TIMES = "nnc.times"
"""The name of the output with the times."""
INNER = "nnc.inner"
"""The name of the output with the times of kernels inside branches and loops."""
PIECES = "nnc.pieces"
"""The name of the output with the pool's waiting time and the number of pieces of each thread."""
CLOCK = "nnc_clock"
"""The function that returns the time in nanoseconds."""

# The clock of POSIX that only goes forward: nanoseconds since some moment.
_SOURCE = """
func.func private @clock_gettime(i32, memref<2xi64>) -> i32
func.func @nnc_clock() -> i64 {
  %monotonic = arith.constant 1 : i32
  %billion = arith.constant 1000000000 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %time = memref.alloca() : memref<2xi64>
  %status = func.call @clock_gettime(%monotonic, %time) : (i32, memref<2xi64>) -> i32
  %seconds = memref.load %time[%c0] : memref<2xi64>
  %rest = memref.load %time[%c1] : memref<2xi64>
  %whole = arith.muli %seconds, %billion : i64
  %now = arith.addi %whole, %rest : i64
  return %now : i64
}
"""


@dataclass(frozen=True)
class InstrumentKernels(
    Pass,
    name="instrument-kernels",
    anchor="builtin.module",
    statistics={"kernels": "Number of kernels timed"},
):
    """Give the entry function one more output: the times before each kernel and after the last one.

        func.func @main(%x: .., %y: ..) attributes {nn.entry, ..} {
          call @k0(..)
          call @k1(..)
            ->
        func.func @main(%x: .., %y: .., %times: memref<3xi64>) attributes {nn.entry, ..} {
          times[0] = nnc_clock()
          call @k0(..)
          times[1] = nnc_clock()
          call @k1(..)
          times[2] = nnc_clock()

    A branch or loop with kernels inside counts as one kernel. Another output then has a row for
    each call of a kernel inside: the total time of its executions, and their number. With
    `threads`, another output has a row for each of these moments: how long the thread that calls
    the pool has waited for other threads since the pool was made, and how many pieces of parallel
    loops each of so many threads has done. It runs after lower-to-linalg and before plan-memory.
    Units: nanoseconds.
    """

    threads: int = option(
        0, help="also count the pieces of parallel loops of this many threads", least=0
    )

    def run(self, op: Operation, context: PassContext) -> None:
        """Instrument the entry functions that call kernels and have no clock yet."""
        clocked = False
        for entry in [f for f in op.body_block if isinstance(f, func.FuncOp)]:
            calls = kernel_units(entry, op) if ENTRY in entry.attributes else []
            if calls and not _has_clock(entry):
                inner = inner_calls(calls, op)
                if inner:
                    _time_inner(entry, [call for _, call in inner], op)
                    calls = kernel_units(entry, op)
                times = _add_output(entry, TIMES, (len(calls) + 1,))
                for i, builder in enumerate(_moments(calls)):
                    now = builder.insert(func.Call(CLOCK, [], outs=[i64])).results[0]
                    at = builder.insert(arith.Constant.index(i)).result
                    builder.insert(memref.Store(now, times, [at]))
                if self.threads:
                    _count_pieces(entry, calls, self.threads)
                context.statistic("kernels", len(calls))
                clocked = True
        if clocked:
            for function in list(parse_module(_SOURCE).body_block):
                op.body_block.append(function.clone())


def _has_clock(entry: func.FuncOp) -> bool:
    names = entry.attributes.get(OUTPUT_NAMES)
    return isinstance(names, ArrayAttr) and StringAttr(TIMES) in names.elements


def kernel_units(entry: func.FuncOp, module: Operation) -> list[Operation]:
    """The operations of the entry's block that are calls of kernels, or contain such calls."""
    if len(entry.body.blocks) != 1:
        return []
    functions = func.functions_by_name(module)
    return [op for op in entry.body.block if any(True for _ in _calls_in(op, functions))]


def inner_calls(units: list[Operation], module: Operation) -> list[tuple[int, func.Call]]:
    """(index of a unit, call) for each call of a kernel inside a unit."""
    functions = func.functions_by_name(module)
    return [
        (i, call)
        for i, unit in enumerate(units)
        for call in _calls_in(unit, functions)
        if call is not unit
    ]


def _calls_in(op: Operation, functions: Mapping[str, func.FuncOp]) -> Iterator[func.Call]:
    """The calls of kernels in an operation and in the functions that it calls."""
    for one in op.walk():
        if isinstance(one, func.Call):
            called = functions.get(one.callee)
            if called is not None and KERNEL in called.attributes:
                yield one
            elif called is not None and not called.is_declaration:
                yield from _calls_in(called, functions)


def _moments(units: list[Operation]) -> list[Builder]:
    """The insertion points of clock reads: before the first unit and after each unit."""
    return [Builder.before_op(units[0]), *map(Builder.after_op, units)]


def _time_inner(entry: func.FuncOp, calls: list[func.Call], module: Operation) -> None:
    """Add the output with the total time and the number of executions of each call."""
    times = _add_output(entry, INNER, (len(calls), 2))
    start = Builder.at_start(entry.body.block)
    zero = start.insert(arith.Constant(IntegerAttr(0, i64))).result
    for i in range(len(calls)):
        for j in range(2):
            start.insert(memref.Store(zero, times, _position(start, i, j)))
    buffers = _passed_along(entry, times, calls, module)
    for i, call in enumerate(calls):
        before, after = Builder.before_op(call), Builder.after_op(call)
        buffer = buffers[_function_of(call)]
        began = before.insert(func.Call(CLOCK, [], outs=[i64])).results[0]
        ended = after.insert(func.Call(CLOCK, [], outs=[i64])).results[0]
        took = after.insert(arith.SubI(ended, began)).result
        one = after.insert(arith.Constant(IntegerAttr(1, i64))).result
        for j, more in enumerate((took, one)):
            at = _position(after, i, j)
            old = after.insert(memref.Load(buffer, at)).result
            after.insert(memref.Store(after.insert(arith.AddI(old, more)).result, buffer, at))


def _position(builder: Builder, i: int, j: int) -> list[Value]:
    return [builder.insert(arith.Constant.index(n)).result for n in (i, j)]


def _passed_along(
    entry: func.FuncOp, times: Value, calls: list[func.Call], module: Operation
) -> dict[Operation, Value]:
    """{function: buffer of times} for the entry and each function that calls one of the kernels."""
    buffers: dict[Operation, Value] = {entry: times}
    work = [_function_of(call) for call in calls]
    callers = [op for op in module.walk() if isinstance(op, func.Call)]
    while work:
        function = work.pop()
        if function in buffers:
            continue
        buffers[function] = _add_argument(function, times.type, DictAttr(()))
        work += (_function_of(c) for c in callers if c.callee == function.sym_name)
    for call in callers:
        called = next((f for f in buffers if f.sym_name == call.callee), None)  # type: ignore[attr-defined]
        if called is not None:
            operands = [*call.operands, buffers[_function_of(call)]]
            longer = func.Call(call.callee, operands, outs=call.result_types, loc=call.loc)
            Builder.before_op(call).insert(longer)
            call.replace_with(*longer.results)
    return buffers


def _function_of(op: Operation) -> func.FuncOp:
    """The function around an operation."""
    at = op.parent_op
    while not isinstance(at, func.FuncOp):
        assert at is not None
        at = at.parent_op
    return at


def _count_pieces(entry: func.FuncOp, calls: list[Operation], threads: int) -> None:
    """Add the output that the thread pool fills; the entry gets the pool as an argument."""
    counts = _add_output(entry, PIECES, (len(calls) + 1, threads + 1))
    pool = _add_argument(entry, llvm.ptr, DictAttr(((POOL, UnitAttr()),)))
    pool.name_hint = "pool"
    for i, builder in enumerate(_moments(calls)):
        row, columns = (
            builder.insert(arith.Constant(IntegerAttr(n, i64))).result for n in (i, threads + 1)
        )
        builder.insert(func.Call(POOL_COUNTS, [pool, counts, row, columns], outs=[]))
    types = [llvm.ptr, counts.type, i64, i64]
    declaration = func.FuncOp(POOL_COUNTS, FunctionType(tuple(types), ()), "private", body=Region())
    Builder.before_op(entry).insert(declaration)


def _add_output(entry: func.FuncOp, name: str, shape: tuple[int, ...]) -> Value:
    """Add an output of 64-bit integers. Returns its buffer."""
    _append(entry, OUTPUTS, TensorType(shape, i64))
    _append(entry, OUTPUT_NAMES, StringAttr(name))
    added = _add_argument(entry, MemRefType(shape, i64), DictAttr(()))
    added.name_hint = name.partition(".")[2]
    return added


def _add_argument(entry: func.FuncOp, type: Type, attributes: DictAttr) -> Value:
    old = entry.function_type
    known = entry.arg_attrs or ArrayAttr((DictAttr(()),) * len(old.inputs))
    entry.arg_attrs = ArrayAttr((*known, attributes))
    entry.function_type = FunctionType((*old.inputs, type), old.results)
    return entry.body.block.add_arg(type, entry.loc)


def _append(entry: func.FuncOp, name: str, value: Attribute) -> None:
    known = entry.attributes.get(name)
    if not isinstance(known, ArrayAttr):
        raise PassError(f"an entry function needs the array '{name}'", entry.loc)
    entry.attributes[name] = ArrayAttr((*known, value))

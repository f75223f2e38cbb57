"""--instrument-kernels: when each kernel of a model began and ended, as one more output."""

from __future__ import annotations

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
"""The name of the new output."""
PIECES = "nnc.pieces"
"""The name of the output that tells what threads did."""
CLOCK = "nnc_clock"
"""The function that tells the time, in nanoseconds."""

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
    """Give the entry function one more output: the time before each kernel and after the last.

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

    With `threads` another output has a row for each of these moments: for how long the pool's
    caller has waited for other threads since the pool was made, and how many pieces of parallel
    loops each of so many threads has done.

    Runs after lower-to-linalg and before plan-memory. Units: nanoseconds.
    """

    threads: int = option(0, help="count the pieces that so many threads do", least=0)

    def run(self, op: Operation, context: PassContext) -> None:
        """Entry functions without kernels stay as they are, and those that have a clock already."""
        clocked = False
        for entry in [f for f in op.body_block if isinstance(f, func.FuncOp)]:
            calls = kernel_calls(entry, op) if ENTRY in entry.attributes else []
            if calls and not _has_clock(entry):
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


def kernel_calls(entry: func.FuncOp, module: Operation) -> list[func.Call]:
    """The calls of kernels in the entry's own block, in order."""
    kernels = {
        f.sym_name
        for f in module.body_block
        if isinstance(f, func.FuncOp) and KERNEL in f.attributes
    }
    if len(entry.body.blocks) != 1:
        return []
    return [op for op in entry.body.block if isinstance(op, func.Call) and op.callee in kernels]


def _moments(calls: list[func.Call]) -> list[Builder]:
    """Before the first call, and after each."""
    return [Builder.before_op(calls[0]), *map(Builder.after_op, calls)]


def _count_pieces(entry: func.FuncOp, calls: list[func.Call], threads: int) -> None:
    """One more output, set by the pool, which is an argument from here on."""
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
    """One more output of 64-bit integers."""
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

"""--instrument-kernels: when each kernel of a model began and ended, as one more output."""

from __future__ import annotations

from dataclasses import dataclass

from ..dialects import arith, func, memref
from ..dialects.marks import ENTRY, KERNEL, OUTPUT_NAMES, OUTPUTS
from ..ir.attributes import ArrayAttr, Attribute, DictAttr, StringAttr
from ..ir.builder import Builder
from ..ir.core import Operation
from ..ir.diagnostics import PassError
from ..ir.passes import Pass, PassContext
from ..ir.syntax.parser import parse_module
from ..ir.types import FunctionType, MemRefType, TensorType, i64

TIMES = "nnc.times"
"""The name of the new output."""
_CLOCK = "nnc_clock"

# The clock of POSIX that only goes forward: nanoseconds since some moment.
_SOURCE = """
func.func private @clock_gettime(i32, memref<2xi64>) -> i32
func.func private @nnc_clock() -> i64 {
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

    Runs after lower-to-linalg and before plan-memory. Units: nanoseconds.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        """Entry functions without kernels stay as they are, and those that have a clock already."""
        clocked = False
        for entry in [f for f in op.body_block if isinstance(f, func.FuncOp)]:
            calls = kernel_calls(entry, op) if ENTRY in entry.attributes else []
            if calls and not _has_clock(entry):
                _instrument(entry, calls)
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


def _instrument(entry: func.FuncOp, calls: list[func.Call]) -> None:
    type = MemRefType((len(calls) + 1,), i64)
    old = entry.function_type
    if entry.arg_attrs is not None:
        entry.arg_attrs = ArrayAttr((*entry.arg_attrs, DictAttr(())))
    entry.function_type = FunctionType((*old.inputs, type), old.results)
    times = entry.body.block.add_arg(type, entry.loc)
    times.name_hint = "times"
    _append(entry, OUTPUTS, TensorType((len(calls) + 1,), i64))
    _append(entry, OUTPUT_NAMES, StringAttr(TIMES))
    for i, builder in enumerate([Builder.before_op(calls[0]), *map(Builder.after_op, calls)]):
        now = builder.insert(func.Call(_CLOCK, [], outs=[i64])).results[0]
        at = builder.insert(arith.Constant.index(i)).result
        builder.insert(memref.Store(now, times, [at]))


def _append(entry: func.FuncOp, name: str, value: Attribute) -> None:
    known = entry.attributes.get(name)
    if not isinstance(known, ArrayAttr):
        raise PassError(f"an entry function needs the array '{name}'", entry.loc)
    entry.attributes[name] = ArrayAttr((*known, value))

"""Runs one function for nn-run: finds it, reads its arguments, calls it, collects results."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ..dialects import func, gpu, llvm
from ..ir.core import Operation, Value
from ..ir.diagnostics import NncError
from ..ir.passes import PassManager, Pipeline
from ..ir.symbols import lookup_symbol, symbol_name
from ..ir.types import FunctionType, MemRefType, Type
from ..numerics.checking.running import Runner, without_entry
from ..numerics.checking.subjects import Subject, is_function, special_arguments
from ..numerics.checking.trace import buffers_written, is_view
from ..numerics.interpreter import Interpreter
from ..numerics.isolated import run_isolated
from ..numerics.native_functions import NativeFunctions
from ..numerics.options import NumericsOptions
from .command import Streams
from .run_arguments import read_arguments, split_arguments
from .run_printing import summary_text, type_text

SECONDS = 600.0


def find_function(module: Operation, name: str | None) -> Operation:
    """The function of that name, else @main, else the only public one. Raises NncError."""
    functions = {str(symbol_name(op)): op for op in module.body_block if is_function(op)}
    listed = ", ".join(f"@{n}" for n in functions) or "none"
    if name is not None:
        found = functions.get(name.removeprefix("@"))
        if found is None:
            raise NncError(f"nn-run: there is no function '@{name}'; there are {listed}")
        return found
    if "main" in functions:
        return functions["main"]
    public = [op for op in functions.values() if not _is_private(op)] or list(functions.values())
    if len(public) != 1:
        raise NncError(f"nn-run: name the function with --entry; there are {listed}")
    return public[0]


def _is_private(op: Operation) -> bool:
    if isinstance(op, llvm.Func):
        return op.linkage != "external"
    return op.sym_visibility == "private"  # type: ignore[attr-defined]


def run_function(
    module: Operation, function: Operation, args: argparse.Namespace, streams: Streams
) -> dict[str, Any]:
    """The results by name, then the buffers that the function may write."""
    texts = split_arguments(args.args)
    name = str(symbol_name(function))
    types = plain_types(function)
    inputs = read_arguments(texts, types, name, streams.directory, args.seed)
    if isinstance(function, llvm.Func):
        if args.interpret or args.trace:
            raise NncError("nn-run: functions of the llvm dialect are executed, not interpreted")
        return _run_llvm(module, function, inputs, streams)
    assert isinstance(function, func.FuncOp)
    subject = Subject(name, FunctionType(tuple(types), function.function_type.results))
    if args.compile:
        if args.trace:
            raise NncError("nn-run: --trace needs --interpret")
        values = _run_compiled(module, subject, inputs, streams)
    else:
        values = _run_interpreted(module, subject, inputs, args, streams)
    return _named(function, subject, values)


def plain_types(function: Operation) -> list[Type]:
    """The types of the parameters that the caller gives: no arena, weights, scratch or pool."""
    types = function.function_type.inputs  # type: ignore[attr-defined]
    if isinstance(function, llvm.Func):
        return list(types)
    assert isinstance(function, func.FuncOp)
    marks = special_arguments(function)
    return [t for i, t in enumerate(types) if i not in marks]


def _named(function: func.FuncOp, subject: Subject, values: list[Any]) -> dict[str, Any]:
    """Results, and the memref arguments that may have been written, by name."""
    count = len(subject.type.results)
    named = {f"result #{i}": value for i, value in enumerate(values[:count])}
    rest = iter(values[count:])
    plain = _plain_arguments(function)
    for i, type in enumerate(subject.type.inputs):
        if isinstance(type, MemRefType):
            value = next(rest)
            if may_be_written(plain[i]):
                named[f"argument #{i}"] = value
    return named


def _plain_arguments(function: func.FuncOp) -> list[Value]:
    marks = special_arguments(function)
    return [arg for i, arg in enumerate(function.args) if i not in marks]


def may_be_written(value: Value, callers: tuple[Operation, ...] = ()) -> bool:
    """Whether an operation may write to the buffer, through views and calls too."""
    seen: set[Value] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        for user, i in one.uses:
            if is_view(user):
                waiting += [r for r in user.results if isinstance(r.type, MemRefType)]
            elif isinstance(user, func.Call | gpu.LaunchFunc):
                if _callee_writes(user, i, callers):
                    return True
            elif i in buffers_written(user):
                if not _only_reads(user, i):
                    return True
            elif (user.regions or user.successors) and not hasattr(user, "outputs"):
                return True
    return False


def _callee_writes(
    call: func.Call | gpu.LaunchFunc, i: int, callers: tuple[Operation, ...]
) -> bool:
    if isinstance(call, gpu.LaunchFunc):
        module = call.enclosing_module()
        callee = gpu.find_kernel(module, call.kernel) if module is not None else None
        i -= call.first_argument
    else:
        callee = lookup_symbol(call, call.callee)
    if not isinstance(callee, func.FuncOp | gpu.GPUFuncOp) or not callee.args or callee in callers:
        return True
    return may_be_written(callee.args[i], (*callers, callee))


def _only_reads(op: Operation, i: int) -> bool:
    """Whether an operation with writes only reads operand `i`: the source of a copy."""
    return getattr(op, "source", None) is op.operands[i] and len(op.operands) > 1


# -- the ways to run ----------------------------------------------------------------------------


def _run_interpreted(
    module: Operation, subject: Subject, inputs: list[Any], args: Any, streams: Streams
) -> list[Any]:
    convention = Runner(module, NumericsOptions()).convention(subject)
    arguments = convention.arguments(inputs)

    def show(op: Operation, results: list[Any]) -> None:
        made = ", ".join(f"{type_text(v)} {summary_text(v)}" for v in results) or "nothing"
        print(f"{op.loc.describe()}: {op.name} -> {made}", file=streams.stdout)

    interpreter = Interpreter(
        module,
        on_value=show if args.trace else None,
        max_steps=args.max_steps,
        write=streams.stdout.write,
    )
    with np.errstate(all="ignore"):
        results = interpreter.call(subject.name, arguments)
    return convention.outputs(arguments, results)


def _run_compiled(
    module: Operation, subject: Subject, inputs: list[Any], streams: Streams
) -> list[Any]:
    lowered = without_entry(module)
    for op in lowered.body_block:
        if isinstance(op, func.FuncOp) and op.sym_name == subject.name:
            op.sym_visibility = None
    _lower_to_loops(lowered)

    def work() -> list[Any]:
        return Runner(lowered, NumericsOptions()).compiled(subject)(inputs)

    done = run_isolated(work, seconds=SECONDS)
    streams.stdout.write(done.printed)
    return done.value


def _lower_to_loops(module: Operation) -> None:
    """Lower to the last stage before the llvm dialect, which has another calling convention."""
    from ..lowering.pipelines import passes_to, pipeline
    from ..targets.llvm.target import llvm_target_of

    names = [p for p in passes_to(llvm_target_of(module)) if p != "lower-to-llvm"]
    steps: Pipeline = pipeline(f"builtin.module({','.join(names)})")
    PassManager(steps).run(module)


def _run_llvm(
    module: Operation, function: llvm.Func, inputs: list[Any], streams: Streams
) -> dict[str, Any]:

    name = function.sym_name
    pairs = list(zip(inputs, function.function_type.inputs, strict=True))

    def work() -> tuple[list[Any], list[Any]]:
        native = NativeFunctions(module, [name])
        flat = [v.ctypes.data if isinstance(t, llvm.PointerType) else v for v, t in pairs]
        results = native.call(name, flat)
        return results, [v for v, t in pairs if isinstance(t, llvm.PointerType)]

    done = run_isolated(work, seconds=SECONDS)
    streams.stdout.write(done.printed)
    results, written = done.value
    named = {f"result #{i}": v for i, v in enumerate(_flat(results))}
    places = [i for i, (_, t) in enumerate(pairs) if isinstance(t, llvm.PointerType)]
    return named | {f"argument #{i}": v for i, v in zip(places, written, strict=True)}


def _flat(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _flat(inner)]
    return [value]

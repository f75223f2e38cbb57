"""Run a function of a module of any level: interpreted if possible, else executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...dialects import func, llvm
from ...dialects.marks import ENTRY, INPUTS, USED_WEIGHTS
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.symbols import symbol_name
from ...ir.types import MemRefType, Type
from ...ir.undefined import watch
from ...runtime.memory import aligned_buffer
from ...targets.attribute import target_of
from ..buffer_functions import BufferFunctions, call_flat
from ..interpreter import CannotInterpretError, Interpreter, TooManyStepsError
from ..isolated import run_isolated
from ..native_functions import NativeFunctions
from ..options import NumericsOptions
from .inputs import Sample, aligned_copy
from .subjects import CONSTANTS, Convention, Subject, converted, special_arguments


@dataclass
class Outcome:
    """The values that a run gave, or its error. `notes` name undefined results."""

    values: list[Any] | None
    error: NncError | None = None
    executed: bool = False
    too_long: bool = False
    """Whether the interpreter stopped because there were too many operations."""
    notes: frozenset[str] = frozenset()

    @property
    def comparable(self) -> bool:
        """Whether another run can be compared with this one.

        It can if the run gave values, or if the program failed; not if the interpreter gave up.
        """
        return self.values is not None or not isinstance(self.error, CannotInterpretError)


@dataclass
class Runner:
    """Runs functions of one module, which must not change meanwhile.

    `known` are the functions as they were before they were converted to the llvm dialect.
    """

    module: Operation
    options: NumericsOptions
    known: Mapping[str, func.FuncOp] = field(default_factory=dict)
    symbols: dict[str, Operation] = field(init=False)

    def __post_init__(self) -> None:
        self.symbols = {
            name: op for op in self.module.body_block if (name := symbol_name(op)) is not None
        }

    def defines(self, subject: Subject) -> bool:
        """Whether the module has the function, or the C entry in its place.

        A function that makes a weight does not count once it is machine code: only `nnc_prepare`
        can call it, and the entry's results show its effect.
        """
        op = self.symbols.get(subject.name)
        if isinstance(op, llvm.Func) and USED_WEIGHTS in op.attributes:
            return False
        return self._is_lowered_entry(subject) or (op is not None and not op.is_declaration)  # type: ignore[attr-defined]

    def _is_lowered_entry(self, subject: Subject) -> bool:
        return subject.is_entry and self.module.attribute(INPUTS) is not None

    def run_all(
        self, subject: Subject, samples: Sequence[Sample], interpret: bool = True
    ) -> list[Outcome]:
        """An outcome for each sample; machine code runs in a process of its own."""
        inputs: list[Callable[[], list[Any]]] = [s.values for s in samples]
        return self.run_inputs(subject, inputs, interpret)

    def run_inputs(
        self,
        subject: Subject,
        inputs: Sequence[Callable[[], list[Any]]],
        interpret: bool = True,
    ) -> list[Outcome]:
        """As `run_all`, with inputs that the functions in `inputs` make."""
        outcomes: list[Outcome | None] = [None] * len(inputs)
        obstacle: NncError | None = None
        if interpret and isinstance(self.symbols.get(subject.name), func.FuncOp):
            for i, make in enumerate(inputs):
                outcome = self.interpret(subject, make())
                if not outcome.comparable:
                    obstacle = outcome.error
                    break
                outcomes[i] = outcome
        left = [i for i, outcome in enumerate(outcomes) if outcome is None]
        if left:
            executed = self._execute(subject, [inputs[i] for i in left], obstacle)
            for i, outcome in zip(left, executed, strict=True):
                outcomes[i] = outcome
        return outcomes  # type: ignore[return-value]

    # -- interpreting ------------------------------------------------------------------------

    def convention(self, subject: Subject) -> Convention:
        """How the function is called in this state of the module."""
        op = self.symbols[subject.name]
        assert isinstance(op, func.FuncOp)
        return Convention.of(subject, op, self._weights(op))

    def _weights(self, op: func.FuncOp) -> dict[str, np.ndarray]:
        """{mark: contents} of the arguments that are blocks of constants."""
        from ...driver.weights import fill_weights

        found: dict[str, np.ndarray] = {}
        for i, mark in special_arguments(op).items():
            if mark in CONSTANTS:
                size = op.function_type.inputs[i].num_bytes
                found[mark] = aligned_buffer(size)
                fill_weights(self.module, found[mark], mark)
        return found

    def interpret(self, subject: Subject, inputs: list[Any]) -> Outcome:
        """The outcome of interpreting the function on NumPy values."""
        with watch() as notes:
            try:
                convention = self.convention(subject)
                arguments = convention.arguments(inputs)
                interpreter = Interpreter(
                    self.module, max_steps=self.options.max_steps, write=lambda text: None
                )
                with np.errstate(all="ignore"):
                    results = interpreter.call(subject.name, arguments)
                values = convention.outputs(arguments, results)
            except NncError as error:
                return Outcome(None, error, notes=frozenset(notes))
        return Outcome(values, notes=frozenset(notes))

    # -- executing ---------------------------------------------------------------------------

    def _execute(
        self,
        subject: Subject,
        inputs: Sequence[Callable[[], list[Any]]],
        obstacle: NncError | None,
    ) -> list[Outcome]:
        """The outcomes of machine code, which is run because of an obstacle to interpreting."""
        too_long = isinstance(obstacle, TooManyStepsError)
        is_lowered = not isinstance(self.symbols.get(subject.name), func.FuncOp)
        must_run = is_lowered and target_of(self.module).obstacle() is None

        def work() -> list[Any] | str:
            try:
                run = self.compiled(subject)
            except NncError as error:
                if must_run:
                    raise
                return error.message
            return [run(make()) for make in inputs]

        try:
            found = run_isolated(work, seconds=self.options.seconds).value
        except NncError as error:
            return [Outcome(None, error, executed=True, too_long=too_long)] * len(inputs)
        if isinstance(found, str):
            reasons = [*([obstacle.message] if obstacle else []), f"as machine code: {found}"]
            cannot = CannotInterpretError("; ".join(dict.fromkeys(reasons)))
            return [Outcome(None, cannot, executed=True, too_long=too_long)] * len(inputs)
        return [Outcome(values, executed=True) for values in found]

    def compiled(self, subject: Subject) -> Callable[[list[Any]], list[Any]]:
        """The function compiled into this process, as a Python function from inputs to outputs."""
        op = self.symbols.get(subject.name)
        if isinstance(op, func.FuncOp):
            return self._compiled_buffers(subject)
        if self._is_lowered_entry(subject):
            return self._compiled_entry(subject)
        assert isinstance(op, llvm.Func)
        return self._compiled_llvm(subject, op)

    def _compiled_buffers(self, subject: Subject) -> Callable[[list[Any]], list[Any]]:
        convention = self.convention(subject)
        functions = BufferFunctions(without_entry(self.module), [subject.name])

        def run(inputs: list[Any]) -> list[Any]:
            arguments = convention.arguments(inputs)
            return convention.outputs(arguments, functions.call(subject.name, arguments))

        return run

    def _compiled_entry(self, subject: Subject) -> Callable[[list[Any]], list[Any]]:
        from ...driver.program import compile_module

        executable = compile_module(self.module)
        types, count = executable.output_types, len(executable.input_types)

        def run(inputs: list[Any]) -> list[Any]:
            pairs = zip(inputs[:count], executable.input_types, strict=True)
            found = executable(*[converted(value, type) for value, type in pairs])
            outputs = list(found) if isinstance(found, tuple) else [found]
            if any(isinstance(t, MemRefType) for t in subject.type.inputs):
                # Seen first on buffers: results, then what the arguments hold.
                made = [v for v, t in zip(outputs, types, strict=True) if not t.has_static_shape]
                written = [v for v, t in zip(outputs, types, strict=True) if t.has_static_shape]
                return [*made, *inputs[:count], *written][: _observed(subject)]
            wanted = zip(outputs, subject.type.results, strict=False)
            return [converted(value, type) for value, type in wanted]

        return run

    def _compiled_llvm(self, subject: Subject, op: llvm.Func) -> Callable[[list[Any]], list[Any]]:

        native = NativeFunctions(self.module, [subject.name])
        known = self.known.get(subject.name)
        if known is not None:
            convention = Convention.of(subject, known)

            def run(inputs: list[Any]) -> list[Any]:
                arguments = convention.arguments(inputs)
                results = call_flat(native, subject.name, convention.type, arguments)
                return convention.outputs(arguments, results)

            return run

        def run_directly(inputs: list[Any]) -> list[Any]:
            flat = [
                v.ctypes.data if isinstance(v, np.ndarray) and t is llvm.ptr else v
                for v, t in zip(inputs, subject.type.inputs, strict=True)
            ]
            results = native.call(subject.name, flat)
            written = [v for v, t in zip(inputs, subject.type.inputs, strict=True) if t is llvm.ptr]
            output = subject.type.results[0] if subject.type.results else None
            return [*(leaf for r in results for leaf in _leaves(r, output)), *written]

        return run_directly


def _observed(subject: Subject) -> int:
    """The number of values that are compared: results, and buffers among the arguments."""
    buffers = sum(isinstance(t, MemRefType) for t in subject.type.inputs)
    return len(subject.type.results) + buffers


def _leaves(value: Any, type: Type | None) -> list[Any]:
    """The parts of a result that can be compared: all but addresses."""
    match type:
        case llvm.StructType(elements):
            parts = zip(value, elements, strict=True)
            return [leaf for part, t in parts for leaf in _leaves(part, t)]
        case llvm.ArrayType(_, element):
            return [leaf for part in value for leaf in _leaves(part, element)]
        case llvm.PointerType():
            return []
    return [value]


def without_entry(module: Operation) -> Operation:
    """A copy of the module in which no function is marked as the entry."""
    copy = module.clone()
    for op in copy.body_block:
        op.attributes.pop(ENTRY, None)
    return copy


def functions_of(module: Operation) -> dict[str, func.FuncOp]:
    """{name: function} with the types by which the llvm functions made of them can
    still be called.
    """
    found = [op for op in module.body_block if isinstance(op, func.FuncOp)]
    return {op.sym_name: op for op in found if not op.is_declaration}


class CallRecorder(Interpreter):
    """An interpreter that keeps copies of the arguments of every call that a function makes."""

    def __init__(self, module: Operation, **options: Any) -> None:
        super().__init__(module, **options)
        self.calls: list[tuple[str, list[Any]]] = []
        self.instead: Callable[[str, list[Any]], list[Any]] | None = None
        self._depth = 0

    def run_function(self, name: str, function: Operation, values: list[Any]) -> list[Any]:
        """Note the call if the outermost function makes it; then run the function or its
        substitute.
        """
        if self._depth == 1:
            self.calls.append((name, [aligned_copy(v) for v in values]))
            if self.instead is not None:
                return self.instead(name, values)
        self._depth += 1
        try:
            return super().run_function(name, function, values)
        finally:
            self._depth -= 1

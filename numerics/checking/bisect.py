"""Find the function, and in it the operation, because of which a function's result differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...dialects import func, llvm
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.passes import Pass
from ...lowering.to_llvm import LowerToLlvm
from ..buffer_functions import BufferFunctions
from ..isolated import run_isolated
from .compare import Tolerance, find_difference
from .inputs import aligned_copy
from .llvm_trace import trace_llvm
from .locate import Place, first_difference
from .running import CallRecorder, Runner, without_entry
from .single_ops import first_wrong_op
from .subjects import Subject, special_arguments, type_of
from .trace import Event, trace

PATIENCE = 20
"""By what the usual limit of interpreted operations is multiplied to find the fault."""
DEEPEST = 16

Inputs = Callable[[], list[Any]]


@dataclass(frozen=True)
class Fault:
    """The function at fault and, if it was found, the operation.

    `lowering` is the pass at fault if the code is right and only its execution is wrong.
    """

    function: str
    place: Place | None
    lowering: Pass | None = None


@dataclass
class Bisection:
    """A search in the states of a module before and after a pass."""

    before: Runner
    after: Runner
    origin: Mapping[Operation, Operation]
    tolerance: Tolerance
    one: Pass
    executed: bool = False
    """Whether the state after the pass was lowered and executed for the comparison."""

    def find(self, subject: Subject, inputs: Inputs) -> Fault:
        """The fault that shows on these inputs."""
        for _ in range(DEEPEST):
            found = self._differing_callee(subject, inputs)
            if found is None:
                break
            subject, inputs = found
        if self.executed and self._interpreted_agree(subject, inputs):
            _, events = self._traced(self.after, subject, inputs)
            lowering = LowerToLlvm()
            place = self._wrong_op(self.after, events, lowering)
            return Fault(_function_around(place, subject), place, lowering)
        place = self._place(subject, inputs)
        return Fault(_function_around(place, subject), place)

    def _interpreted_agree(self, subject: Subject, inputs: Inputs) -> bool:
        """Whether both states give the same results when interpreted with a higher limit of
        operations.
        """
        found = []
        for runner in (self.before, self.after):
            if not isinstance(runner.symbols.get(subject.name), func.FuncOp):
                return False
            steps = PATIENCE * runner.options.max_steps
            patient = replace(runner, options=replace(runner.options, max_steps=steps))
            found.append(patient.interpret(subject, inputs()).values)
        before, after = found
        return before is not None and after is not None and self._equal(before, after)

    # -- functions ---------------------------------------------------------------------------

    def _differing_callee(self, subject: Subject, inputs: Inputs) -> tuple[Subject, Inputs] | None:
        """The first function that is called with results that differ between the states, and its
        arguments.
        """
        if not isinstance(self.before.symbols.get(subject.name), func.FuncOp):
            return None
        for name, arguments in self._calls(subject, inputs):
            op = self.before.symbols[name]
            callee = Subject(name, type_of(op))
            if not self.after.defines(callee):
                continue
            marks = special_arguments(op) if isinstance(op, func.FuncOp) else {}
            plain = [a for i, a in enumerate(arguments) if i not in marks]

            def copies(plain: list[Any] = plain) -> list[Any]:
                return [aligned_copy(a) for a in plain]

            if self._differs(callee, copies):
                return callee, copies
        return None

    def _differs(self, subject: Subject, inputs: Inputs) -> bool:
        try:
            (before,) = self.before.run_inputs(subject, [inputs])
            (after,) = self.after.run_inputs(subject, [inputs], not self.executed)
        except NncError:
            return False
        if before.values is None:
            return False
        if after.values is None:
            return after.comparable
        return not self._equal(before.values, after.values)

    def _equal(self, before: list[Any], after: list[Any]) -> bool:
        pairs = zip(before, after, strict=True)
        return all(find_difference(a, b, self.tolerance) is None for a, b in pairs)

    def _calls(self, subject: Subject, inputs: Inputs) -> list[tuple[str, list[Any]]]:
        """The calls that the function makes in the state before the pass, with their arguments."""
        module, options = self.before.module, self.before.options
        try:
            convention = self.before.convention(subject)
            recorder = CallRecorder(module, max_steps=options.max_steps, write=lambda text: None)
            with np.errstate(all="ignore"):
                recorder.call(subject.name, convention.arguments(inputs()))
            return recorder.calls
        except NncError:
            pass
        try:
            return run_isolated(
                lambda: self._executed_calls(subject, inputs), seconds=options.seconds
            ).value
        except NncError:
            return []

    def _executed_calls(self, subject: Subject, inputs: Inputs) -> list[tuple[str, list[Any]]]:
        """As `_calls`, but called functions run as machine code."""
        module = self.before.module
        functions = BufferFunctions(without_entry(module))
        recorder = CallRecorder(module, write=lambda text: None)
        recorder.instead = functions.call
        with np.errstate(all="ignore"):
            recorder.call(subject.name, self.before.convention(subject).arguments(inputs()))
        return recorder.calls

    # -- operations --------------------------------------------------------------------------

    def _place(self, subject: Subject, inputs: Inputs) -> Place | None:
        if not isinstance(self.before.symbols.get(subject.name), func.FuncOp):
            before = trace_llvm(self.before, subject, inputs)
            after = trace_llvm(self.after, subject, inputs)
            return first_difference(before, after, self.origin, self.tolerance)
        _, before = self._traced(self.before, subject, inputs)
        place = None
        if isinstance(self.after.symbols.get(subject.name), func.FuncOp):
            is_whole, after = self._traced(self.after, subject, inputs)
            if is_whole:
                place = first_difference(before, after, self.origin, self.tolerance)
        else:
            place = self._wrong_op(self.before, before, self.one)
        return place or _returned(self.before.symbols[subject.name])

    def _wrong_op(self, runner: Runner, events: list[Event], one: Pass) -> Place | None:
        return first_wrong_op(runner.module, events, one, self.tolerance, runner.options.seconds)

    def _traced(self, runner: Runner, subject: Subject, inputs: Inputs) -> tuple[bool, list[Event]]:
        """(whether the run finished, its events)."""
        try:
            arguments = runner.convention(subject).arguments(inputs())
        except NncError:
            return False, []
        steps = PATIENCE * runner.options.max_steps
        return trace(runner.module, subject.name, arguments, steps)


def _function_around(place: Place | None, subject: Subject) -> str:
    """The name of the function that contains the operation."""
    op = place.op if place is not None else None
    while op is not None and not isinstance(op, func.FuncOp | llvm.Func):
        op = op.parent_op
    return subject.name if op is None else str(op.sym_name)


def _returned(function: Operation) -> Place | None:
    """The operation that computes the function's only result, or None."""
    last = function.regions[0].blocks[-1].last if function.regions[0].blocks else None
    if last is None or not last.operands:
        return None
    definer = last.operands[0].defining_op
    return Place(definer, None, None) if definer is not None else None

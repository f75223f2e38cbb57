"""From a function whose result differs down to the called function, and the operation, at fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects import func, llvm
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.passes import Pass
from ...runtime.isolated import run_isolated
from ..buffer_functions import BufferFunctions
from .compare import Tolerance, find_difference
from .inputs import aligned_copy
from .llvm_trace import trace_llvm
from .locate import Place, first_difference
from .running import CallRecorder, Runner, without_entry
from .single_ops import first_wrong_op
from .subjects import Subject, special_arguments, type_of
from .trace import Event, trace

PATIENCE = 20
"""How many times the usual number of operations may be interpreted to find the fault."""
DEEPEST = 16

Inputs = Callable[[], list[Any]]


@dataclass(frozen=True)
class Fault:
    """The function at fault and, where it could be found, the operation."""

    function: str
    place: Place | None


@dataclass
class Bisection:
    """A search between two states of a module."""

    before: Runner
    after: Runner
    origin: Mapping[Operation, Operation]
    tolerance: Tolerance
    one: Pass

    def find(self, subject: Subject, inputs: Inputs) -> Fault:
        """The fault that shows on the inputs."""
        for _ in range(DEEPEST):
            found = self._differing_callee(subject, inputs)
            if found is None:
                break
            subject, inputs = found
        place = self._place(subject, inputs)
        return Fault(_function_around(place, subject), place)

    # -- functions ---------------------------------------------------------------------------

    def _differing_callee(self, subject: Subject, inputs: Inputs) -> tuple[Subject, Inputs] | None:
        """The first called function that gives something else on the same arguments."""
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
            (after,) = self.after.run_inputs(subject, [inputs])
        except NncError:
            return False
        if before.values is None:
            return False
        if after.values is None:
            return after.comparable
        pairs = zip(before.values, after.values, strict=True)
        return any(find_difference(a, b, self.tolerance) is not None for a, b in pairs)

    def _calls(self, subject: Subject, inputs: Inputs) -> list[tuple[str, list[Any]]]:
        """The calls that the function makes, with their arguments, before the pass."""
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
        """The same, called functions being executed."""
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
        before = self._trace(self.before, subject, inputs)
        if isinstance(self.after.symbols.get(subject.name), func.FuncOp):
            after = self._trace(self.after, subject, inputs)
            place = first_difference(before, after, self.origin, self.tolerance)
        else:
            place = first_wrong_op(
                self.before.module, before, self.one, self.tolerance, self.before.options.seconds
            )
        return place or _returned(self.before.symbols[subject.name])

    def _trace(self, runner: Runner, subject: Subject, inputs: Inputs) -> list[Event]:
        try:
            arguments = runner.convention(subject).arguments(inputs())
        except NncError:
            return []
        steps = PATIENCE * runner.options.max_steps
        return trace(runner.module, subject.name, arguments, steps)[0]


def _function_around(place: Place | None, subject: Subject) -> str:
    """The function that the operation stands in."""
    op = place.op if place is not None else None
    while op is not None and not isinstance(op, func.FuncOp | llvm.Func):
        op = op.parent_op
    return subject.name if op is None else str(op.sym_name)


def _returned(function: Operation) -> Place | None:
    """The operation that makes the function's only result."""
    last = function.regions[0].blocks[-1].last if function.regions[0].blocks else None
    if last is None or not last.operands:
        return None
    definer = last.operands[0].defining_op
    return Place(definer, None, None) if definer is not None else None

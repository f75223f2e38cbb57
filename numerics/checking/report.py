"""The report on a pass that changes numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ir.core import Operation
from ...ir.diagnostics import Diagnostic, NncError
from ...ir.passes import Pass
from ...ir.syntax.printer import print_op
from ..options import NumericsOptions
from .bisect import Bisection, Fault
from .compare import Difference, Tolerance
from .inputs import Sample
from .running import Runner
from .subjects import Subject

LONGEST_OP = 240
SHOWN = 8


class NumericsError(NncError):
    """A pass has changed what a function computes; `finding` has the details."""

    def __init__(self, finding: Finding, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        self.finding = finding


@dataclass
class Finding:
    """A comparison that failed: pass, function, input, and how the outcomes differ."""

    one: Pass
    subject: Subject
    sample: Sample
    output: int | None
    difference: Difference | None
    error: NncError | None
    since: tuple[str, ...] = ()
    fault: Fault | None = None
    reproducer: str | None = field(default=None)
    executed_after: Pass | None = None
    """The pass after which the module was executed when the fault of the lowering showed."""

    @property
    def op(self) -> Operation | None:
        """The first operation, before the pass, whose value differs."""
        return self.fault.place.op if self.fault is not None and self.fault.place else None

    def locate(
        self,
        before: Runner,
        after: Runner,
        origin: Mapping[Operation, Operation],
        tolerance: Tolerance,
        executed: bool,
    ) -> None:
        """Find the function and the operation at fault.

        If the code after the pass is right but was `executed`, find the pass at fault in its
        lowering.
        """
        search = Bisection(before, after, origin, tolerance, self.one, executed)
        self.fault = search.find(self.subject, self.sample.values)
        if self.fault.lowering is not None:
            self.one, self.executed_after = self.fault.lowering, self.one

    def raised(self, options: NumericsOptions) -> NumericsError:
        """The error to raise."""
        return NumericsError(self, self.diagnostic(options))

    def diagnostic(self, options: NumericsOptions) -> Diagnostic:
        """The whole report."""
        notes = [*self._place_notes(), *self._value_notes(options)]
        if self.executed_after is not None:
            notes.append(
                f"found when the code after '{self.executed_after.text()}' was lowered and "
                "executed, as there is too much to interpret; interpreted, it gives what it gave"
            )
        if self.since:
            notes.append(
                f"'@{self.subject.name}' could not be run after {', '.join(self.since)}, so these "
                "may be at fault too"
            )
        if self.reproducer:
            notes.append(f"the module before the pass is in {self.reproducer}")
        what = "changes what" if self.error is None else "breaks what"
        return Diagnostic(
            "error",
            f"pass '{self.one.text()}' {what} '@{self.subject.name}' computes",
            self.op.loc if self.op is not None else None,
            tuple(
                note if isinstance(note, Diagnostic) else Diagnostic("note", note) for note in notes
            ),
        )

    def _place_notes(self) -> list[Diagnostic | str]:
        if self.fault is None:
            return []
        function = f"'@{self.fault.function}'"
        place = self.fault.place
        if place is None:
            return [f"in {function}; which operation is at fault could not be found"]
        text = f"the first operation whose value differs is '{place.op.name}' in {function}:"
        notes: list[Diagnostic | str] = [f"{text}\n  {op_text(place.op)}"]
        if place.after is not None:
            notes.append(f"after the pass, in its place:\n  {op_text(place.after)}")
        if place.difference is not None:
            notes.append(f"its value: {place.difference}")
        return notes

    def _value_notes(self, options: NumericsOptions) -> list[str]:
        count = len(self.subject.type.results)
        if self.error is not None:
            found = f"after the pass it fails: {self.error.message}"
        elif self.output is not None and self.output < count:
            found = f"result {self.output} of '@{self.subject.name}': {self.difference}"
        else:
            number = 0 if self.output is None else self.output - count
            found = f"written buffer {number} of '@{self.subject.name}': {self.difference}"
        lines = [f"on {self.sample.kind} values, {options.text()} input {self.sample.seed[1]}:"]
        lines += [
            f"  argument {i}: {summary(value)}" for i, value in enumerate(self.sample.values())
        ]
        return [found, "\n".join(lines)]


def op_text(op: Operation) -> str:
    """The first line of the operation's text, cut if it is long."""
    line = print_op(op).strip().split("\n", 1)[0]
    return line if len(line) <= LONGEST_OP else line[:LONGEST_OP] + " .."


def summary(value: Any) -> str:
    """The type, shape and first elements of a value as text."""
    array = np.asarray(value)
    kind = f"{array.dtype}[{'x'.join(map(str, array.shape))}]" if array.ndim else str(array.dtype)
    flat = array.reshape(-1)
    shown = ", ".join(str(v) for v in flat[:SHOWN])
    return f"{kind} {shown}{', ..' if flat.size > SHOWN else ''}"

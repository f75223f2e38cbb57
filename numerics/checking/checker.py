"""The instrumentation that runs functions before and after each pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from ...dialects import func
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.passes import Instrumentation, Pass
from ...ir.types import IndexType, IntegerType, ShapedType, element_type
from ..options import NumericsOptions
from .compare import Tolerance, find_difference, tolerance_of
from .inputs import KINDS, LADDER, OVERFLOWING, Sample
from .report import Finding
from .running import Outcome, Runner, functions_of
from .subjects import Subject, find_subjects

SECONDS_PER_ATTEMPT = 5.0
"""The time limit of a run on an input that can be replaced by another one."""
EXECUTED_ATTEMPTS = 8
"""How many inputs are tried in vain, at most, if each is executed as machine code."""


@dataclass
class _Checked:
    """A function that is checked, its inputs, and the outcomes in the last state of the module."""

    subject: Subject
    samples: list[Sample]
    outcomes: list[Outcome]
    undefined: list[bool]
    slow: bool = False
    """Whether interpreting it takes too long."""
    since: list[str] = field(default_factory=list)
    """Passes after which the function could not be run."""


class CheckNumerics(Instrumentation):
    """Raises NumericsError at the first pass that changes what a function computes.

    After the run, `notes` says what could not be compared.
    """

    def __init__(
        self,
        options: NumericsOptions | None = None,
        write_reproducer: Callable[[Operation, Pass], str | None] | None = None,
    ) -> None:
        self.options = options or NumericsOptions()
        self.write_reproducer = write_reproducer
        self.notes: list[str] = []
        self.compared = 0
        self._before: Operation | None = None
        self._origin: dict[Operation, Operation] = {}
        self._checked: dict[str, _Checked] = {}
        self._root: Operation | None = None
        self._known: dict[str, func.FuncOp] = {}

    @staticmethod
    def writing(options: NumericsOptions, path: Path, name: str) -> CheckNumerics:
        """A checker that writes a reproducer to `path`; the report calls it `name`."""

        def write(module: Operation, one: Pass) -> str:
            from ...ir.reproducer import write_reproducer

            write_reproducer(path, module, f"{module.name}({one.text()})", True)
            return name

        return CheckNumerics(options, write)

    def print_notes(self, stream: TextIO) -> None:
        """Print what could not be compared, and why."""
        for note in self.notes:
            print(f"remark: --check-numerics: {note}", file=stream)

    # -- around a pass -----------------------------------------------------------------------

    def before_pass(self, one: Pass, op: Operation) -> None:
        """Keep a copy of the module, and the results of its functions."""
        root = op.outermost
        starts = root is not self._root
        if starts:
            self._root = root
            self._checked = {}
            self._known = {}
        self._before = root.clone()
        self._origin = dict(zip(self._before.walk(), root.walk(), strict=True))
        self._known.update(functions_of(self._before))
        for subject in find_subjects(self._before):
            appeared = subject.name in self._known and subject.name not in self._checked
            if starts or appeared:
                self._checked[subject.name] = self._start(subject, self._before)

    def after_pass(self, one: Pass, op: Operation) -> None:
        """Run the functions again and compare."""
        assert self._before is not None
        after = op.outermost
        runner = Runner(after, self.options, self._known)
        tolerance = tolerance_of(one, self.options, self._before)
        for checked in list(self._checked.values()):
            if not checked.samples:
                continue
            if not runner.defines(checked.subject):
                del self._checked[checked.subject.name]
                continue
            self._check(checked, runner, one, tolerance)

    # -- one function -------------------------------------------------------------------------

    def _start(self, subject: Subject, module: Operation) -> _Checked:
        """Choose inputs on which the function runs in the present state."""
        runner = Runner(module, self.options, self._known)
        checked = _Checked(subject, [], [], [])
        reasons: dict[str, list[str]] = {}
        for number in range(self.options.samples):
            found = self._runnable(runner, subject, number)
            if isinstance(found, NncError):
                reasons.setdefault(found.message, []).append(KINDS[number % len(KINDS)])
                continue
            sample, outcome = found
            checked.samples.append(sample)
            checked.outcomes.append(outcome)
            checked.undefined.append(bool(outcome.notes))
        for reason, kinds in reasons.items():
            on = "" if len(kinds) == self.options.samples else f" on {', '.join(kinds)} values"
            self.notes.append(f"'@{subject.name}' was not compared{on}: {reason}")
        return checked

    def _runnable(
        self, runner: Runner, subject: Subject, number: int
    ) -> tuple[Sample, Outcome] | NncError:
        """The first input of the ladder on which all results are defined, or else on
        which it runs.
        """
        kind = KINDS[number % len(KINDS)]
        patience = dataclasses.replace(
            self.options, seconds=min(self.options.seconds, SECONDS_PER_ATTEMPT)
        )
        best: tuple[Sample, Outcome] | None = None
        first: NncError | None = None
        executions = 0
        for attempt in LADDER:
            seed = (self.options.seed, number)
            sample = Sample(tuple(subject.type.inputs), kind, seed, attempt)
            if not _is_fixed(subject, sample):
                runner = dataclasses.replace(runner, options=patience)
            try:
                (outcome,) = runner.run_all(subject, [sample])
            except NncError as error:
                return error
            if outcome.values is not None and not outcome.notes:
                return sample, outcome
            if outcome.values is not None and best is None:
                best = sample, outcome
            first = first or outcome.error
            hopeless = not outcome.comparable and not outcome.too_long
            executions += outcome.executed
            if hopeless or executions == EXECUTED_ATTEMPTS or _is_fixed(subject, sample):
                break
        if best is not None:
            return best
        assert first is not None
        return first

    def _check(self, checked: _Checked, runner: Runner, one: Pass, tolerance: Tolerance) -> None:
        try:
            outcomes = runner.run_all(checked.subject, checked.samples, not checked.slow)
        except NncError as error:
            outcomes = [Outcome(None, error)] * len(checked.samples)
        counts = {len(o.values) for o in (*outcomes, *checked.outcomes) if o.values is not None}
        if len(counts) > 1 or any(not after.comparable for after in outcomes):
            error = next((o.error for o in outcomes if not o.comparable), None)
            self.notes.append(
                f"'@{checked.subject.name}' was not compared after '{one.name}': "
                f"{error.message if error else 'it gives another number of values'}"
            )
            checked.since.append(one.name)
            return
        for i, after in enumerate(outcomes):
            self._compare(checked, i, after, runner, one, tolerance)
        checked.outcomes = outcomes
        checked.slow = any(o.executed for o in outcomes)
        checked.since = []

    def _compare(
        self,
        checked: _Checked,
        i: int,
        after: Outcome,
        runner: Runner,
        one: Pass,
        tolerance: Tolerance,
    ) -> None:
        before, sample = checked.outcomes[i], checked.samples[i]
        assert before.values is not None
        self.compared += 1
        changed_mode = before.executed != after.executed or after.executed
        if changed_mode and tolerance.strictness == "exact" and not self.options.exact:
            tolerance = Tolerance("rounding", tolerance.relative)
        place, difference = None, None
        if after.values is not None:
            for k, (a, b) in enumerate(zip(before.values, after.values, strict=True)):
                difference = find_difference(a, b, tolerance, sample.kind in OVERFLOWING)
                if difference is not None:
                    place = k
                    break
            if difference is None:
                return
        if checked.undefined[i]:
            self.notes.append(
                f"'@{checked.subject.name}' differs after '{one.name}' on {sample.kind} values, on "
                f"which its result is not defined: {', '.join(sorted(before.notes)) or 'see above'}"
            )
            return
        assert self._before is not None
        finding = Finding(
            one, checked.subject, sample, place, difference, after.error, tuple(checked.since)
        )
        before_runner = Runner(self._before, self.options, self._known)
        executed = after.executed and isinstance(
            runner.symbols.get(checked.subject.name), func.FuncOp
        )
        finding.locate(before_runner, runner, self._origin, tolerance, executed)
        if self.write_reproducer is not None:
            try:
                finding.reproducer = self.write_reproducer(self._before, one)
            except NncError as error:
                self.notes.append(f"no reproducer: {error.message}")
        raise finding.raised(self.options)


def _is_fixed(subject: Subject, sample: Sample) -> bool:
    """Whether the input has no integers and no unknown extents that could be varied."""

    def varies(type: Any) -> bool:
        if isinstance(type, ShapedType) and not type.has_static_shape:
            return True
        element = element_type(type)
        return isinstance(element, IndexType) or (
            isinstance(element, IntegerType) and element.width > 1
        )

    return not any(varies(type) for type in sample.types)

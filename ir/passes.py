"""Passes, their options and statistics, pipelines as data, and the manager that runs them.

    @dataclass(frozen=True)
    class Split(Pass, name="loop-split", anchor="func.func"):
        '''Split a loop in two nested loops. ..'''

        factor: int = option(16, help="iterations of the inner loop")

        def run(self, op: Operation, context: PassContext) -> None: ...

A pipeline's text is upstream's, see `pipeline_text.py`.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from .collection import paused_collection
from .core import Operation
from .decisions import Decision, Decisions
from .diagnostics import Diagnostic, NncError, PassError, SizeError, VerifyError
from .dialect import registry
from .docstrings import HAS_DOCSTRINGS
from .location import UNKNOWN, Location
from .traits import IsolatedFromAbove

if TYPE_CHECKING:
    from .rewriting import RewriteTrace

PASSES: dict[str, type[Pass]] = {}
"""Every pass class declared so far, by name."""


def option(
    default: Any,
    *,
    help: str,
    choices: Sequence[str] = (),
    least: int | None = None,
    alias: str = "",
) -> Any:
    """A field of a pass that is an option of its command line and of pipeline text.

    `choices` are the words allowed, `least` is the smallest number allowed, `alias` is an older
    name that is still read.
    """
    metadata = {"help": help, "choices": tuple(choices), "least": least, "alias": alias}
    return field(default=default, metadata=metadata)


class Pass(ABC):
    """A transformation of the operation it is anchored on, or of any operation.

    Subclasses are frozen dataclasses. A pass anchored on `func.func` inside a module runs on
    each function. `statistics` maps the names of what it counts to what they mean; `title` is
    the name in dumps and reports, where upstream's differs from the class's. Raises NncError
    where it cannot do its work, the IR then being undefined.
    """

    name: ClassVar[str] = ""
    anchor: ClassVar[str | None] = None
    title: ClassVar[str] = ""
    statistics: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(
        cls,
        name: str = "",
        anchor: str | None = None,
        title: str = "",
        statistics: Mapping[str, str] | None = None,
    ) -> None:
        super().__init_subclass__()
        if not name:
            return
        if not (cls.__doc__ or "").strip() and HAS_DOCSTRINGS:
            raise TypeError(f"pass '{name}' needs a docstring, which is its help")
        if name in PASSES and PASSES[name].__qualname__ != cls.__qualname__:
            raise TypeError(f"pass '{name}' is declared twice")
        cls.name = name
        cls.anchor = anchor
        cls.title = title or cls.__name__
        cls.statistics = statistics or {}
        PASSES[name] = cls

    def __post_init__(self) -> None:
        for one in self.options():
            least = one.metadata["least"]
            value = getattr(self, one.name)
            if least is not None and value < least:
                name = one.name.replace("_", "-")
                raise NncError(f"option '{name}' is at least {least}; found '{value}'")

    @abstractmethod
    def run(self, op: Operation, context: PassContext) -> None:
        """Transform `op` in place."""

    @classmethod
    def summary(cls) -> str:
        return (cls.__doc__ or "").strip().split("\n", 1)[0]

    @classmethod
    def options(cls) -> list[dataclasses.Field]:
        return [f for f in dataclasses.fields(cls) if "help" in f.metadata]  # type: ignore[arg-type]

    def text(self, defaults: bool = False) -> str:
        """The pass as pipeline text, `fuse{limit=4}`; with `defaults`, all options."""
        given = []
        for f in self.options():
            value = getattr(self, f.name)
            if value != f.default or (defaults and value != ()):
                given.append(f"{f.name.replace('_', '-')}={option_text(value)}")
        return self.name + (f"{{{' '.join(given)}}}" if given else "")


def option_text(value: Any) -> str:
    """The value of an option as it stands in a pipeline."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        listed = ",".join(option_text(v) for v in value)
        return listed if len(value) == 1 else f"{{{listed}}}"
    text = str(value)
    return f'"{text}"' if not text or any(c in text for c in ' ,{}"') else text


@dataclass
class PassContext:
    """What a pass may use besides the IR: statistics, remarks, decisions, progress, tracing."""

    statistics: dict[str, dict[str, int]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    progress: Callable[[str], None] | None = None
    trace: RewriteTrace | None = None
    current: str = ""
    decisions: Decisions = field(default_factory=Decisions)

    def statistic(self, name: str, count: int = 1) -> None:
        """Add to a counter of the running pass."""
        counters = self.statistics.setdefault(self.current, {})
        counters[name] = counters.get(name, 0) + count

    def remark(self, message: str, location: Location | None = None) -> None:
        """Report something that the user asked a pass to show."""
        self.diagnostics.append(Diagnostic("remark", message, location))

    def decide(self, decision: Decision) -> Decision:
        """Record a decision. Returns the one to carry out, which the user may have overridden."""
        return self.decisions.add(decision)

    def report(self, message: str) -> None:
        """Report the progress of long work to the user."""
        if self.progress is not None:
            self.progress(message)


# -- pipelines -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pipeline:
    """Passes and nested pipelines, run in order on operations named `anchor` (or on any)."""

    steps: tuple[Pass | Pipeline, ...]
    anchor: str | None = None

    def text(self) -> str:
        inner = ",".join(step.text() for step in self.steps)
        return f"{self.anchor or 'any'}({inner})"

    def passes(self) -> Iterator[Pass]:
        """All passes in order, nested ones included."""
        for step in self.steps:
            if isinstance(step, Pass):
                yield step
            else:
                yield from step.passes()


# -- running ---------------------------------------------------------------------------------------


class Instrumentation:
    """Callbacks of the pass manager; tools subclass it to print, time, trace or check.

    Those for verification are called only with `PassManager.verify_each`.
    """

    def before_pipeline(self, pipeline: Pipeline, op: Operation) -> None: ...
    def after_pipeline(self, pipeline: Pipeline, op: Operation) -> None: ...
    def before_pass(self, one: Pass, op: Operation) -> None: ...
    def after_pass(self, one: Pass, op: Operation) -> None: ...
    def after_failed_pass(self, one: Pass, op: Operation, error: NncError) -> None: ...
    def before_verify(self, op: Operation) -> None: ...
    def after_verify(self, op: Operation) -> None: ...


@dataclass
class PassManager:
    """Runs a pipeline on an operation, verifying after each pass."""

    pipeline: Pipeline
    context: PassContext = field(default_factory=PassContext)
    instrumentations: Sequence[Instrumentation] = ()
    verify_each: bool = True

    def run(self, op: Operation) -> None:
        """Run the pipeline on `op` in place. Raises the NncError of a failing pass."""
        anchor = self.pipeline.anchor
        if anchor is not None and anchor != op.name:
            raise PassError(f"can't run '{anchor}' pass manager on '{op.name}' op", op.loc)
        with paused_collection():
            self._steps(self.pipeline.steps, op)

    def _steps(self, steps: Iterable[Pass | Pipeline], op: Operation) -> None:
        for step in steps:
            if isinstance(step, Pipeline):
                for inner in _children(op, step.anchor):
                    self._nested(step, inner)
            elif step.anchor is None or step.anchor == op.name:
                self._run_pass(step, op)
            else:
                for inner in _children(op, step.anchor):
                    self._run_pass(step, inner)

    def _nested(self, pipeline: Pipeline, op: Operation) -> None:
        for watcher in self.instrumentations:
            watcher.before_pipeline(pipeline, op)
        self._steps(pipeline.steps, op)
        for watcher in self.instrumentations:
            watcher.after_pipeline(pipeline, op)

    def _run_pass(self, one: Pass, op: Operation) -> None:
        if op.name in registry.ops and not op.has_trait(IsolatedFromAbove):
            message = "trying to schedule a pass on an operation not marked as 'IsolatedFromAbove'"
            raise PassError(message, op.loc)
        self.context.current = one.name
        for watcher in self.instrumentations:
            watcher.before_pass(one, op)
        try:
            self._run_whole(one, op)
        except NncError as error:
            for watcher in self.instrumentations:
                watcher.after_failed_pass(one, op, error)
            raise
        for watcher in self.instrumentations:
            watcher.after_pass(one, op)

    def _run_whole(self, one: Pass, op: Operation) -> None:
        try:
            one.run(op, self.context)
        except NncError as error:
            if error.location not in (None, UNKNOWN):
                raise
            # What a pass made itself may have no place; the operation it ran on has one.
            raise PassError(dataclasses.replace(error.diagnostic, location=op.loc)) from error
        except RecursionError:
            message = f"the IR is nested too deeply for pass '{one.name}'"
            raise PassError(message, op.loc) from None
        except MemoryError:
            message = f"pass '{one.name}' needs more memory than there is"
            raise PassError(message, op.loc) from None
        if self.verify_each:
            self._verify(one, op)

    def _verify(self, one: Pass, op: Operation) -> None:
        for watcher in self.instrumentations:
            watcher.before_verify(op)
        try:
            op.verify()
        except SizeError as error:
            raise PassError(error.diagnostic) from error
        except VerifyError as error:
            found = error.diagnostic
            note = Diagnostic("note", f"found after pass '{one.name}': this is a defect of nnc")
            raise PassError(dataclasses.replace(found, notes=(*found.notes, note))) from error
        for watcher in self.instrumentations:
            watcher.after_verify(op)


def _children(op: Operation, anchor: str | None) -> list[Operation]:
    return [
        inner
        for region in op.regions
        for inner in region.ops
        if (inner.has_trait(IsolatedFromAbove) if anchor is None else inner.name == anchor)
    ]

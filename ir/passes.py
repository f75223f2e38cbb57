"""Passes, their options, pipelines as data, and the manager that runs them.

    @dataclass(frozen=True)
    class Split(Pass, name="loop-split", anchor="func.func"):
        '''Split a loop in two nested loops. ..'''

        factor: int = option(16, help="iterations of the inner loop")

        def run(self, op: Operation, context: PassContext) -> None: ...

A pipeline's text is upstream's: `builtin.module(func.func(canonicalize,cse),fuse{limit=4})`.
"""

from __future__ import annotations

import dataclasses
import gc
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, get_type_hints

from .core import Operation
from .diagnostics import Diagnostic, NncError, PassError, VerifyError
from .location import Location

PASSES: dict[str, type[Pass]] = {}
"""Every pass class declared so far, by name."""


def option(default: Any, *, help: str, choices: Sequence[str] = ()) -> Any:
    """A field of a pass that is an option of its command line and of pipeline text."""
    return field(default=default, metadata={"help": help, "choices": tuple(choices)})


class Pass(ABC):
    """A transformation of the operation it is anchored on, or of any operation.

    Subclasses are frozen dataclasses. A pass anchored on `func.func` inside a module runs on
    each function. Raises NncError where it cannot do its work, the IR then being undefined.
    """

    name: ClassVar[str] = ""
    anchor: ClassVar[str | None] = None

    def __init_subclass__(cls, name: str = "", anchor: str | None = None) -> None:
        super().__init_subclass__()
        if not name:
            return
        if not (cls.__doc__ or "").strip():
            raise TypeError(f"pass '{name}' needs a docstring, which is its help")
        if name in PASSES and PASSES[name].__qualname__ != cls.__qualname__:
            raise TypeError(f"pass '{name}' is declared twice")
        cls.name = name
        cls.anchor = anchor
        PASSES[name] = cls

    @abstractmethod
    def run(self, op: Operation, context: PassContext) -> None:
        """Transform `op` in place."""

    @classmethod
    def summary(cls) -> str:
        return (cls.__doc__ or "").strip().split("\n", 1)[0]

    @classmethod
    def options(cls) -> list[dataclasses.Field]:
        return [f for f in dataclasses.fields(cls) if "help" in f.metadata]  # type: ignore[arg-type]

    def text(self) -> str:
        """As it stands in a pipeline: `fuse{limit=4}`, options at their default left out."""
        given = []
        for f in self.options():
            value = getattr(self, f.name)
            if value != f.default:
                given.append(f"{f.name.replace('_', '-')}={_option_text(value)}")
        return self.name + (f"{{{' '.join(given)}}}" if given else "")


def _option_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(_option_text(v) for v in value)
    text = str(value)
    return f'"{text}"' if not text or any(c in text for c in ' ,{}"') else text


@dataclass
class PassContext:
    """What a pass may use besides the IR: statistics, warnings, progress, rewrite tracing."""

    statistics: dict[str, dict[str, int]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    progress: Callable[[str], None] | None = None
    trace: Callable[[str, Operation], None] | None = None
    current: str = ""

    def statistic(self, name: str, count: int = 1) -> None:
        """Add to a counter of the running pass."""
        counters = self.statistics.setdefault(self.current, {})
        counters[name] = counters.get(name, 0) + count

    def warn(self, message: str, location: Location | None = None) -> None:
        self.diagnostics.append(Diagnostic("warning", message, location))

    def report(self, message: str) -> None:
        """Progress of long work, for a person who waits."""
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


Lookup = Callable[[str], "type[Pass] | Sequence[Pass | Pipeline] | None"]
"""From a name to a pass class, to the steps of a named pipeline, or None."""


def parse_pipeline(text: str, lookup: Lookup) -> Pipeline:
    """A pipeline from its text. Raises NncError that names the place."""
    parser = _PipelineParser(text, lookup)
    steps = parser.steps(top=True)
    match steps:
        case [Pipeline() as only]:
            return only
    return Pipeline(tuple(steps), "builtin.module")


class _PipelineParser:
    def __init__(self, text: str, lookup: Lookup) -> None:
        self.text = text
        self.lookup = lookup
        self.at = 0

    def error(self, message: str, at: int | None = None) -> NncError:
        column = self.at if at is None else at
        return NncError(
            Diagnostic(
                "error", f"pass pipeline: {message}", None, (), self.text, (column, column + 1)
            )
        )

    def skip(self) -> str:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text[self.at : self.at + 1]

    def steps(self, top: bool) -> list[Pass | Pipeline]:
        steps: list[Pass | Pipeline] = []
        while (char := self.skip()) not in ("", ")"):
            if char == ",":
                self.at += 1
                continue
            steps += self.step()
        if top and self.skip():
            raise self.error(f"unexpected '{self.text[self.at]}'")
        return steps

    def step(self) -> list[Pass | Pipeline]:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in ",(){}= \t\n":
            self.at += 1
        name = self.text[start : self.at]
        if not name:
            raise self.error(f"expected a pass name, found '{self.text[self.at]}'")
        if self.skip() == "(":
            opening = self.at
            self.at += 1
            inner = self.steps(top=False)
            if self.skip() != ")":
                raise self.error("this '(' is never closed", opening)
            self.at += 1
            return [Pipeline(tuple(inner), None if name == "any" else name)]
        options = self.options() if self.skip() == "{" else {}
        found = self.lookup(name)
        if found is None:
            raise self.error(f"no pass or pipeline is named '{name}'", start)
        if isinstance(found, type):
            try:
                return [make_pass(found, options)]
            except NncError as error:
                raise self.error(error.message, start) from None
        if options:
            raise self.error(f"pipeline '{name}' takes no options", start)
        return list(found)

    def options(self) -> dict[str, str]:
        opening = self.at
        self.at += 1
        options: dict[str, str] = {}
        while (char := self.skip()) != "}":
            if not char:
                raise self.error("this '{' is never closed", opening)
            start = self.at
            while self.at < len(self.text) and self.text[self.at] not in "= }\t\n":
                self.at += 1
            key = self.text[start : self.at]
            if self.skip() != "=":
                options[key] = "true"
                continue
            self.at += 1
            options[key] = self.value()
        self.at += 1
        return options

    def value(self) -> str:
        quote = self.text[self.at : self.at + 1]
        if quote in ("'", '"'):
            end = self.text.find(quote, self.at + 1)
            if end < 0:
                raise self.error("this quote is never closed")
            value, self.at = self.text[self.at + 1 : end], end + 1
            return value
        start, depth = self.at, 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if depth == 0 and (char.isspace() or char == "}"):
                break
            depth += (char in "{[(") - (char in ")]}")
            self.at += 1
        return self.text[start : self.at]


def make_pass(pass_class: type[Pass], options: dict[str, str]) -> Pass:
    """A pass from its options as text. Raises NncError for unknown names and wrong values."""
    hints = get_type_hints(pass_class)
    fields = {f.name: f for f in pass_class.options()}
    values: dict[str, Any] = {}
    for key, text in options.items():
        name = key.replace("-", "_")
        if name not in fields:
            known = ", ".join(n.replace("_", "-") for n in fields) or "none"
            raise NncError(f"pass '{pass_class.name}' has no option '{key}'; it has: {known}")
        choices = fields[name].metadata["choices"]
        if choices and text not in choices:
            raise NncError(f"option '{key}' is one of {', '.join(choices)}; found '{text}'")
        try:
            values[name] = _option_value(text, hints[name])
        except ValueError:
            wanted = getattr(hints[name], "__name__", str(hints[name]))
            raise NncError(f"option '{key}' takes {wanted}; found '{text}'") from None
    return pass_class(**values)


def _option_value(text: str, kind: Any) -> Any:
    if kind is bool:
        if text.lower() not in ("true", "false", "1", "0"):
            raise ValueError(text)
        return text.lower() in ("true", "1")
    if kind in (int, float):
        return kind(text)
    if str(kind).startswith("tuple"):
        inner = kind.__args__[0]
        return tuple(_option_value(part.strip(), inner) for part in text.split(",") if part.strip())
    return text


# -- running ---------------------------------------------------------------------------------------


class Instrumentation:
    """Is told before and after each pass; tools subclass it to print, time or check."""

    def before_pass(self, one: Pass, op: Operation) -> None: ...
    def after_pass(self, one: Pass, op: Operation) -> None: ...
    def after_failed_pass(self, one: Pass, op: Operation, error: NncError) -> None: ...


@dataclass
class PassManager:
    """Runs a pipeline on an operation, verifying after each pass."""

    pipeline: Pipeline
    context: PassContext = field(default_factory=PassContext)
    instrumentations: Sequence[Instrumentation] = ()
    verify_each: bool = True
    seconds: dict[str, float] = field(default_factory=dict)

    def run(self, op: Operation) -> None:
        """Raises NncError of the failing pass, with the pass named in a note."""
        anchor = self.pipeline.anchor
        if anchor is not None and anchor != op.name:
            raise PassError(f"can't run '{anchor}' pass pipeline on '{op.name}' op", op.loc)
        with _collector_paused():
            self._steps(self.pipeline.steps, op)

    def _steps(self, steps: Iterable[Pass | Pipeline], op: Operation) -> None:
        for step in steps:
            if isinstance(step, Pipeline):
                for inner in _children(op, step.anchor):
                    self._steps(step.steps, inner)
            elif step.anchor is None or step.anchor == op.name:
                self._run_pass(step, op)
            else:
                for inner in _children(op, step.anchor):
                    self._run_pass(step, inner)

    def _run_pass(self, one: Pass, op: Operation) -> None:
        self.context.current = one.name
        for watcher in self.instrumentations:
            watcher.before_pass(one, op)
        start = time.perf_counter()
        try:
            one.run(op, self.context)
            if self.verify_each:
                self._verify(one, op)
        except NncError as error:
            for watcher in self.instrumentations:
                watcher.after_failed_pass(one, op, error)
            raise
        finally:
            spent = time.perf_counter() - start
            self.seconds[one.name] = self.seconds.get(one.name, 0.0) + spent
        for watcher in self.instrumentations:
            watcher.after_pass(one, op)

    @staticmethod
    def _verify(one: Pass, op: Operation) -> None:
        try:
            op.verify()
        except VerifyError as error:
            found = error.diagnostic
            note = Diagnostic("note", f"found after pass '{one.name}': this is a defect of nnc")
            raise PassError(dataclasses.replace(found, notes=(*found.notes, note))) from error


@contextmanager
def _collector_paused() -> Iterator[None]:
    """No garbage collection meanwhile: walking the many objects of the IR again and again
    costs more than all passes.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _children(op: Operation, anchor: str | None) -> list[Operation]:
    return [
        inner
        for region in op.regions
        for inner in region.ops
        if anchor is None or inner.name == anchor
    ]

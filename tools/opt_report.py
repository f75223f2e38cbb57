"""nn-opt's reports on a run's passes: their times and statistics."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.passes import Instrumentation, Pass, PassContext, Pipeline

_LINE = f"===-{'-' * 71}-==="


def _heading(title: str) -> str:
    return f"{_LINE}\n{' ' * 25}{title}\n{_LINE}\n"


@dataclass
class _Scope:
    """The time of a scope and of those nested in it, in the order of their first use."""

    name: str
    seconds: float = 0.0
    inner: dict[object, _Scope] = field(default_factory=dict)

    def nested(self, key: object, name: str) -> _Scope:
        return self.inner.setdefault(key, _Scope(name))


class Timing(Instrumentation):
    """Wall-clock time of named scopes and of passes; `--mlir-timing` prints it.

    A pass that occurs several times in a pipeline is separate in the tree and summed in the list.
    """

    def __init__(self) -> None:
        self._root = _Scope("root")
        self._stack: list[tuple[_Scope, float]] = [(self._root, time.perf_counter())]

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Measure the time of the block under a name."""
        depth = len(self._stack)
        self._enter(name, name)
        try:
            yield
        finally:
            while len(self._stack) > depth:
                self._leave()

    def _enter(self, key: object, name: str) -> None:
        self._stack.append((self._stack[-1][0].nested(key, name), time.perf_counter()))

    def _leave(self) -> None:
        scope, start = self._stack.pop()
        scope.seconds += time.perf_counter() - start

    def before_pipeline(self, pipeline: Pipeline, op: Operation) -> None:
        self._enter(id(pipeline), f"'{pipeline.anchor or op.name}' Pipeline")

    def after_pipeline(self, pipeline: Pipeline, op: Operation) -> None:
        self._leave()

    def before_pass(self, one: Pass, op: Operation) -> None:
        self._enter(id(one), one.title)

    def after_pass(self, one: Pass, op: Operation) -> None:
        self._leave()

    def before_verify(self, op: Operation) -> None:
        self._enter("(V)", "(V) Verifier")

    def after_verify(self, op: Operation) -> None:
        self._leave()

    def report(self, display: str) -> str:
        """The table, as a `tree` or as a `list` sorted by time."""
        root, start = self._stack[0]
        total = time.perf_counter() - start
        known = sum(scope.seconds for scope in root.inner.values())
        rows = list(_tree(root, 0)) if display == "tree" else _sorted(root, total)
        rows += [("Rest", total - known), ("Total", total)]
        lines = [
            _heading("... Execution time report ..."),
            f"  Total Execution Time: {total:.4f} seconds\n\n",
            "  ----Wall Time----  ----Name----\n",
        ]
        for name, seconds in rows:
            share = 100 * seconds / (total or 1e-9)
            lines.append(f"  {seconds:8.4f} ({share:5.1f}%)  {name}\n")
        return "".join(lines)


def _tree(scope: _Scope, depth: int) -> Iterator[tuple[str, float]]:
    for inner in scope.inner.values():
        yield "  " * depth + inner.name, inner.seconds
        yield from _tree(inner, depth + 1)


def _sorted(root: _Scope, total: float) -> list[tuple[str, float]]:
    seconds: dict[str, float] = {}
    for name, spent in _tree(root, 0):
        seconds[name.strip()] = seconds.get(name.strip(), 0.0) + spent
    return [("root", total), *sorted(seconds.items(), key=lambda row: -row[1])]


# -- statistics ------------------------------------------------------------------------------------


class Statistics(Instrumentation):
    """The statistics of each pass of a pipeline, by its position."""

    def __init__(self, pipeline: Pipeline, context: PassContext) -> None:
        self.pipeline = pipeline
        self.context = context
        self._counts: dict[int, dict[str, int]] = {}
        self._before: dict[str, int] = {}

    def before_pass(self, one: Pass, op: Operation) -> None:
        self._before = dict(self.context.statistics.get(one.name, {}))

    def after_pass(self, one: Pass, op: Operation) -> None:
        counts = self._counts.setdefault(id(one), {})
        for name, count in self.context.statistics.get(one.name, {}).items():
            counts[name] = counts.get(name, 0) + count - self._before.get(name, 0)

    def after_failed_pass(self, one: Pass, op: Operation, error: NncError) -> None:
        self.after_pass(one, op)

    def report(self, display: str) -> str:
        """Upstream's table, by position in the `pipeline` or as a `list` by pass."""
        title = _heading("... Pass statistics report ...")
        if display == "pipeline":
            return title + "".join(self._pipeline(self.pipeline, 0))
        found: dict[str, tuple[Pass, dict[str, int]]] = {}
        for one in self.pipeline.passes():
            counts = found.setdefault(one.title, (one, {}))[1]
            for name, count in self._counts.get(id(one), {}).items():
                counts[name] = counts.get(name, 0) + count
        return title + "".join(
            text for title in sorted(found) for text in _counters(*found[title], 0)
        )

    def _pipeline(self, pipeline: Pipeline, depth: int) -> Iterator[str]:
        for step in pipeline.steps:
            if isinstance(step, Pass):
                yield from _counters(step, self._counts.get(id(step), {}), depth)
            else:
                yield f"{'  ' * depth}'{step.anchor or 'any'}' Pipeline\n"
                yield from self._pipeline(step, depth + 1)


def _counters(one: Pass, counts: dict[str, int], depth: int) -> Iterator[str]:
    indent = "  " * depth
    yield f"{indent}{one.title}\n"
    shown = {name: counts.get(name, 0) for name in (*one.statistics, *counts)}
    if not shown:
        return
    digits = max(len(str(count)) for count in shown.values())
    width = max(map(len, shown))
    for name, count in shown.items():
        meaning = one.statistics.get(name, "")
        said = f" - {meaning}" if meaning else ""
        yield f"{indent}  (S) {count:>{digits}} {name:<{width}}{said}".rstrip() + "\n"

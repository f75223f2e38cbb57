"""Reproducers: a module, and at its end the pipeline that fails on it, in one file.

    module { .. }

    {-#
      external_resources: {
        mlir_reproducer: {
          pipeline: "builtin.module(canonicalize,cse)",
          disable_threading: false,
          verify_each: true
        }
      }
    #-}

The format is upstream's: mlir-opt reads it, and `--run-reproducer` of both tools runs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .core import Operation
from .diagnostics import Diagnostic, NncError, SourceFile
from .location import FileLineColLoc
from .passes import Instrumentation, Pass, Pipeline
from .syntax.printer import print_op, quote

FAILED = "Failures have been detected while processing an MLIR pass pipeline"
"""Upstream's message for a pass that failed."""


def reproducer_text(module: Operation, pipeline: str, verify_each: bool) -> str:
    """The module's text, then the pipeline as a resource; resources of other tools are left out."""
    text = print_op(module.clone())
    resources = text.endswith("\n#-}")
    head = text.removesuffix("\n#-}") + "," if resources else f"{text}\n\n{{-#"
    return (
        f"{head}\n  external_resources: {{\n    mlir_reproducer: {{\n"
        f"      pipeline: {quote(pipeline)},\n"
        "      disable_threading: true,\n"
        f"      verify_each: {str(verify_each).lower()}\n"
        "    }\n  }\n#-}\n"
    )


def write_reproducer(path: Path, module: Operation, pipeline: str, verify_each: bool) -> None:
    """Write module and pipeline, and weights beside them, whole or not at all."""
    from .weights_file import write_module

    write_module(module, path, print=lambda m: reproducer_text(m, pipeline, verify_each))


class CrashReproducer(Instrumentation):
    """Keeps the module that a run started from, and writes it if the run fails.

    With `local`, it is the module before the last pass that began, not before the whole run.
    """

    def __init__(
        self, path: Path, name: str, pipeline: Pipeline, verify_each: bool, local: bool
    ) -> None:
        self.path = path
        self.name = name
        self.pipeline = pipeline
        self.verify_each = verify_each
        self.local = local
        self._kept: Operation | None = None
        self._anchors: list[str] = []
        self._text = pipeline.text()
        self._last: tuple[Pass, Operation] | None = None

    def start(self, module: Operation) -> None:
        """The run begins on this module."""
        self._anchors = [self.pipeline.anchor or "any"]
        if not self.local:
            self._kept = module.clone()

    def before_pipeline(self, pipeline: Pipeline, op: Operation) -> None:
        self._anchors.append(pipeline.anchor or "any")

    def after_pipeline(self, pipeline: Pipeline, op: Operation) -> None:
        self._anchors.pop()

    def before_pass(self, one: Pass, op: Operation) -> None:
        self._last = one, op
        if self.local:
            self._kept = op.outermost.clone()
            text = one.text()
            for anchor in reversed(self._anchors):
                text = f"{anchor}({text})"
            self._text = text

    def failed(self) -> list[Diagnostic]:
        """Write the file and return notes about it; does nothing if no pass has begun."""
        if self._kept is None or self._last is None:
            return []
        one, op = self._last
        symbol = op.properties.get("sym_name")
        named = f": @{symbol.value}" if symbol is not None else ""  # type: ignore[attr-defined]
        where = f"`{one.title}` on '{op.name}' operation{named}"
        place = where if self.local else f"[{where}]"
        try:
            write_reproducer(self.path, self._kept, self._text, self.verify_each)
            done = f"reproducer generated at `{self.name}`"
        except NncError as error:
            done = f"no reproducer: {error.message}"
        location = self._kept.loc
        note = Diagnostic("note", f"Pipeline failed while executing {place}: {done}", location)
        return [Diagnostic("error", FAILED, location, (note,))]


# -- reading one -----------------------------------------------------------------------------------

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}:,]|[\w$.-]+|//[^\n]*|\s+|.', re.S)


def stored_pipeline(source: SourceFile) -> tuple[str, bool | None] | None:
    """The pipeline in a text's reproducer section and its `verify_each`; None without one."""
    start = source.text.rfind("{-#")
    if start < 0:
        return None
    tokens = _tokens(source.text[start + 3 :])
    found = _entries(tokens).get("external_resources")
    entries = found.get("mlir_reproducer") if isinstance(found, dict) else None
    if not isinstance(entries, dict):
        return None
    pipeline, verify = entries.get("pipeline"), entries.get("verify_each")
    if not isinstance(pipeline, str) or not pipeline.startswith('"'):
        line, column = source.position(start)
        place = FileLineColLoc(source.name, line, column)
        raise NncError("'mlir_reproducer' has no pipeline, a string", place)
    return _unquoted(pipeline), None if verify is None else verify == "true"


def _tokens(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        token = match.group()
        if not token.isspace() and not token.startswith("//"):
            yield token


def _entries(tokens: Iterator[str]) -> dict[str, str | dict]:
    """`key: value, ..` up to a closing brace; values are tokens or entries in braces."""
    found: dict[str, str | dict] = {}
    key = ""
    for token in tokens:
        match token:
            case "}" | "#":
                break
            case "{":
                found[key] = _entries(tokens)
            case ":" | ",":
                pass
            case _ if key and key not in found:
                found[key] = token
                key = ""
                continue
            case _:
                key = _unquoted(token)
                continue
        if token == "{" or token == ",":
            key = ""
    return found


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    return re.sub(
        r"\\(?:([0-9A-Fa-f]{2})|(.))",
        lambda m: chr(int(m[1], 16)) if m[1] else {"n": "\n", "t": "\t"}.get(m[2], m[2]),
        text[1:-1],
    )

"""A compilation with its text after every stage, and the origins of each line.

After a stage, the line of each operation is added to its location, beside the names of the model's
nodes; passes keep and fuse locations, so that those of the next stage tell which lines of this one
an operation was made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from ..ir.core import Operation
from ..ir.diagnostics import Diagnostic, NncError
from ..ir.location import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    Location,
    NameLoc,
    fuse_locations,
)
from ..ir.syntax.lines import lines_of
from ..ir.visible import visible

IMPORT = "import"
"""The name of the first stage: the model as it was read."""

_FILE = "\0stage"
"""Stands in locations for the text of the previous stage; no file has this name."""

MOST_CHARACTERS = 1200
"""The most characters of a line that are shown."""


@dataclass(frozen=True)
class StageText:
    """The text of a stage.

    `parents` has for each line its origins, lines of the previous stage; it is empty for the first
    stage. `functions` has the half-open range of lines of each symbol of the module.
    """

    name: str
    lines: list[str]
    parents: list[tuple[int, ...]]
    functions: dict[str, tuple[int, int]]


class Trace:
    """Records the stages of one module, each after it has ended.

    `line_of` has the line of each operation in the last stage.
    """

    def __init__(self, module: Operation) -> None:
        self.stages: list[StageText] = []
        self.line_of: dict[Operation, int] = {}
        self.add(IMPORT, module)

    def add(self, name: str, module: Operation) -> None:
        """Record the text of a module after a stage, and mark its operations."""
        found = lines_of(module)
        parents: list[dict[int, None]] = [{} for _ in found.lines]
        for op, line in found.line_of.items():
            parents[line].update(dict.fromkeys(marked_lines(op.loc)))
        rows = [tuple(sorted(one)) for one in parents] if self.stages else []
        functions = _functions(module, found.line_of, len(found.lines))
        self.stages.append(StageText(name, list(map(_shortened, found.lines)), rows, functions))
        self.line_of = found.line_of
        for op, line in found.line_of.items():
            op.loc = _marked(unmarked(op.loc), FileLineColLoc(_FILE, line + 1, 0))


def without_marks(error: NncError) -> NncError:
    """The error without the marks that a trace has added to its locations."""

    def clean(one: Diagnostic) -> Diagnostic:
        place = unmarked(one.location) if one.location is not None else None
        return replace(one, location=place, notes=tuple(map(clean, one.notes)))

    found = clean(error.diagnostic)
    return NncError(found.message, found.location, found.notes)


def marked_lines(loc: Location) -> Iterator[int]:
    """The lines, from 0, of the previous stage that a location refers to."""
    match loc:
        case FileLineColLoc(file, line, _) if file == _FILE:
            yield line - 1
        case NameLoc(_, child):
            yield from marked_lines(child)
        case CallSiteLoc(callee, caller):
            yield from marked_lines(callee)
            yield from marked_lines(caller)
        case FusedLoc(locations):
            for one in locations:
                yield from marked_lines(one)


def _marked(loc: Location, mark: FileLineColLoc) -> Location:
    """The location with a mark added, and the same nodes."""
    match loc:
        case NameLoc(name, child):
            return NameLoc(name, CallSiteLoc(child, mark))
        case FusedLoc(locations, metadata):
            return FusedLoc(tuple(_marked(one, mark) for one in locations), metadata)
        case CallSiteLoc(callee, caller):
            return CallSiteLoc(_marked(callee, mark), caller)
    return CallSiteLoc(loc, mark)


def unmarked(loc: Location) -> Location:
    """The location without marks."""
    match loc:
        case NameLoc(name, child):
            return NameLoc(name, unmarked(child))
        case CallSiteLoc(callee, FileLineColLoc(file)) if file == _FILE:
            return unmarked(callee)
        case CallSiteLoc(callee, caller):
            return CallSiteLoc(unmarked(callee), unmarked(caller))
        case FusedLoc(locations, metadata):
            return fuse_locations(map(unmarked, locations), metadata)
    return loc


def _functions(
    module: Operation, line_of: dict[Operation, int], end: int
) -> dict[str, tuple[int, int]]:
    """The line ranges of a module's symbols; a schedule belongs to its kernel."""
    found: dict[str, tuple[int, int]] = {}
    tops = [op for region in module.regions for op in region.ops if op in line_of]
    starts = [line_of[op] for op in tops]
    for op, (start, after) in zip(tops, pairwise([*starts, end - 1]), strict=True):
        name = _symbol(op)
        first = found[name][0] if name in found else start
        found[name] = (first, after)
        if op.name == "gpu.module":
            found |= _functions(op, line_of, after)
    return found


def _symbol(op: Operation) -> str:
    for key in ("sym_name", "kernel", "callee"):
        value = op.properties.get(key) or op.attributes.get(key)
        name = getattr(value, "value", None) or getattr(value, "root", None)
        if isinstance(name, str):
            return name
    return ""


def _shortened(line: str) -> str:
    line = visible(line)
    return line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + " ..."

"""`--split-input-file`: the parts of a text between marks, each read by itself."""

from __future__ import annotations

from ..ir.diagnostics import Diagnostic, SourceFile
from ..ir.location import FileLineColLoc

_CHECKED = 2
"""How many characters at the end of a separator may differ for it to count as misspelt."""


def split(source: SourceFile, mark: str) -> tuple[list[SourceFile], list[Diagnostic]]:
    """The parts, padded to keep the file's lines and columns; warnings about near misses of marks.

    A mark counts wherever it stands. Source: upstream's splitAndProcessBuffer.
    """
    text = source.text
    if len(mark) <= _CHECKED:
        return [source], []
    head = mark[:-_CHECKED]
    parts: list[SourceFile] = []
    missed: list[Diagnostic] = []
    start = at = 0
    while (at := text.find(head, at)) >= 0:
        end = at + len(mark)
        if text.startswith(mark, at) and end < len(text):
            parts.append(_part(source, start, at))
            start = end
        else:
            line, column = source.position(at + len(head))
            place = FileLineColLoc(source.name, line, column)
            missed.append(Diagnostic("warning", "near miss with file split marker", place))
        at += len(head)
    parts.append(_part(source, start, len(text)))
    return parts, missed


def _part(source: SourceFile, start: int, end: int) -> SourceFile:
    line, column = source.position(start)
    padding = "\n" * (line - 1) + " " * (column - 1)
    return SourceFile(source.name, padding + source.text[start:end])

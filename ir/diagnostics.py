"""Messages to users: diagnostics, and the errors that carry them."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from .location import Location

Severity: TypeAlias = Literal["error", "warning", "remark", "note"]


@dataclass(frozen=True)
class Diagnostic:
    """One message: severity, text, location, and notes.

    `source` is the text line at the location where it is known, `span` the
    half-open range of columns (0-based) that the caret underlines.
    """

    severity: Severity
    message: str
    location: Location | None = None
    notes: tuple[Diagnostic, ...] = ()
    source: str | None = None
    span: tuple[int, int] | None = None

    def __str__(self) -> str:
        place = f"{self.location.describe()}: " if self.location is not None else ""
        lines = [f"{place}{self.severity}: {self.message}"]
        if self.source is not None and self.span is not None:
            source, (start, end) = _part_of(self.source.replace("\t", " "), self.span)
            lines.append(source)
            lines.append(" " * start + "^" + "~" * max(0, end - start - 1))
        lines += [str(note) for note in self.notes]
        return "\n".join(lines)


_WIDTH = 200
"""The most columns of a line that are shown."""
_BEFORE = 60
"""The columns before the error that are shown of a longer line."""


def _part_of(line: str, span: tuple[int, int]) -> tuple[str, tuple[int, int]]:
    """(the excerpt of a line that is shown, the span within the excerpt)."""
    if len(line) <= _WIDTH:
        return line, span
    first = min(max(0, span[0] - _BEFORE), max(0, len(line) - _WIDTH))
    last = first + _WIDTH
    before, after = ".." if first else "", ".." if last < len(line) else ""
    shift = first - len(before)
    end = max(min(span[1], last), span[0] + 1)
    return f"{before}{line[first:last]}{after}", (span[0] - shift, end - shift)


@dataclass(frozen=True)
class SourceFile:
    """A text and its name; turns character offsets into lines and columns."""

    name: str
    text: str
    _starts: list[int] = field(default_factory=list, repr=False)

    @property
    def line_starts(self) -> list[int]:
        """Offsets at which the lines begin, found once."""
        if not self._starts:
            self._starts.append(0)
            find, at = self.text.find, 0
            while (at := find("\n", at) + 1) > 0:
                self._starts.append(at)
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column of a character offset."""
        from bisect import bisect_right

        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its end."""
        starts = self.line_starts
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r")


class NncError(Exception):
    """An error that a user caused or can mend; every tool prints it and exits with 1.

    Anything else that leaves a tool as an exception is a defect of nnc.
    """

    def __init__(
        self,
        message: str | Diagnostic,
        location: Location | None = None,
        notes: Iterable[Diagnostic] = (),
    ) -> None:
        if isinstance(message, Diagnostic):
            self.diagnostic = message
        else:
            self.diagnostic = Diagnostic("error", message, location, tuple(notes))
        super().__init__(str(self.diagnostic))

    @property
    def message(self) -> str:
        return self.diagnostic.message

    @property
    def location(self) -> Location | None:
        return self.diagnostic.location


class ParseError(NncError):
    """The text does not follow the grammar, or names something that does not exist."""


class VerifyError(NncError):
    """The IR breaks a rule of an operation, a type or SSA form."""


class SizeError(VerifyError):
    """A tensor has more bytes than an index can count: a fault of the model."""


class DeclarationError(NncError):
    """A faulty declaration of an operation, found when its class is made."""


class PassError(NncError):
    """A pass cannot do its work on this IR; the message says on which op and why."""


def signal_name(number: int) -> str:
    """What messages call the signal that ended a process: `SIGSEGV`, or `signal 99`."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

"""`--verify-diagnostics`: diagnostics that a test expects, written beside the faulty line.

    // expected-error@+1 {{'x' op must be last}}
    "x"() : () -> ()

`@+N`, `@-N`, `@above`, `@below` and `@unknown` move the place; `expected-note`,
`expected-warning`, `expected-remark` likewise; `expected-error-re` has `{{..}}` parts that
are regular expressions inside the double braces. Source: upstream's SourceMgrDiagnosticVerifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..ir.diagnostics import Diagnostic, SourceFile
from ..ir.location import FileLineColLoc
from .command import file_place

_EXPECTED = re.compile(
    r"expected-(error|note|remark|warning)(-re)? *(@([+-][0-9]+|above|below|unknown))? *"
    r"\{\{(.*?)\}\}\s*$"
)


@dataclass
class Expected:
    """An expected diagnostic: its message, its line (None for no location), its own position."""

    severity: str
    line: int | None
    pattern: re.Pattern[str]
    text: str
    written_at: tuple[int, int]
    met: bool = False

    def fits(self, line: int | None, message: str) -> bool:
        """Whether it is unmet and expects this message at this line, with any severity."""
        return not self.met and self.line == line and bool(self.pattern.search(message))


def find_expected(source: SourceFile) -> tuple[list[Expected], list[Diagnostic]]:
    """All expectations in a text, with their lines resolved, and diagnostics for malformed ones."""
    found: list[Expected] = []
    faults: list[Diagnostic] = []
    last_plain = 0
    pending: list[Expected] = []
    for number, line in enumerate(source.text.split("\n"), 1):
        match = _EXPECTED.search(line) if "expected-" in line else None
        if match is None or line[: match.start()].strip(" /"):
            for waiting in pending:
                waiting.line = number
            pending = []
        if match is None:
            last_plain = number
            continue
        severity, regex, _, place, text = match.groups()
        at = number, match.start() + 1
        try:
            pattern = _regex(text) if regex else re.compile(re.escape(text))
        except (ValueError, re.error) as error:
            faults.append(_diagnostic(source, at, str(error), len(text)))
            continue
        expected = Expected(severity, number, pattern, text, at)
        match place:
            case None:
                pass
            case "unknown":
                expected.line = None
            case "above":
                expected.line = last_plain
            case "below":
                expected.line = 0  # no line, unless one follows
                pending.append(expected)
            case _:
                expected.line = number + int(place)
        found.append(expected)
    return found, faults


def _regex(text: str) -> re.Pattern[str]:
    if len(re.findall(r"\{\{", text)) > len(re.findall(r"\}\}", text)):
        raise ValueError("found start of regex with no end '}}'")
    parts = re.split(r"\{\{(.*?)\}\}", text)
    for part in parts[1::2]:
        try:
            re.compile(part)
        except re.error as error:
            raise ValueError(f"invalid regex: {error.msg}") from None
    return re.compile(
        "".join(re.escape(p) if i % 2 == 0 else f"({p})" for i, p in enumerate(parts))
    )


def check_expected(
    source: SourceFile, seen: Iterable[Diagnostic], only_expected: bool = False
) -> list[Diagnostic]:
    """The complaints: unexpected diagnostics, and unmet expectations.

    With `only_expected`, unexpected diagnostics are allowed.
    """
    expectations, complaints = find_expected(source)
    for diagnostic in _flatten(seen):
        complaint = _judge(source, diagnostic, expectations)
        if complaint is not None and not only_expected:
            complaints.append(complaint)
    complaints += [
        _diagnostic(
            source,
            e.written_at,
            f'expected {e.severity} "{e.text}" was not produced',
            len(e.text),
        )
        for e in expectations
        if not e.met
    ]
    return complaints


def _judge(
    source: SourceFile, diagnostic: Diagnostic, expectations: list[Expected]
) -> Diagnostic | None:
    """Mark the expectation that the diagnostic meets; returns a complaint if there is none."""
    place = file_place(diagnostic.location)
    line = place.line or None if place is not None else None
    fitting = [e for e in expectations if e.fits(line, diagnostic.message)]
    for expected in fitting:
        if expected.severity == diagnostic.severity:
            expected.met = True
            return None
    if fitting:
        said = (
            f"'{diagnostic.severity}' diagnostic emitted when expecting a '{fitting[0].severity}'"
        )
    else:
        said = f"unexpected {diagnostic.severity}: {diagnostic.message}"
    return Diagnostic("error", said, diagnostic.location)


def _diagnostic(source: SourceFile, at: tuple[int, int], message: str, width: int) -> Diagnostic:
    line, column = at
    place = FileLineColLoc(source.name, line, column)
    span = (column - 1, column - 1 + max(width, 1))
    return Diagnostic("error", message, place, (), source.line(line), span)


def _flatten(seen: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    for diagnostic in seen:
        yield diagnostic
        yield from _flatten(diagnostic.notes)

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

_EXPECTED = re.compile(
    r"expected-(error|note|remark|warning)(-re)? *(@([+-][0-9]+|above|below|unknown))? *"
    r"\{\{(.*?)\}\}\s*$"
)


@dataclass
class Expected:
    """One expectation: what, and on which line (None: a place without a line)."""

    severity: str
    line: int | None
    pattern: re.Pattern[str]
    text: str
    written_at: int
    met: bool = False


def find_expected(source: SourceFile) -> list[Expected]:
    """All expectations in a text, their lines resolved."""
    found: list[Expected] = []
    lines = source.text.split("\n")
    last_code = 0
    pending: list[Expected] = []
    for number, line in enumerate(lines, 1):
        match = _EXPECTED.search(line)
        is_comment = line.lstrip().startswith("//")
        if line.strip() and not is_comment:
            last_code = number
            for waiting in pending:
                waiting.line = number
            pending = []
        if match is None:
            continue
        severity, regex, _, place, text = match.groups()
        pattern = _regex(text) if regex else re.compile(re.escape(text))
        expected = Expected(severity, number, pattern, text, number)
        match place:
            case None:
                pass
            case "unknown":
                expected.line = None
            case "above":
                expected.line = last_code
            case "below":
                pending.append(expected)
            case _:
                expected.line = number + int(place)
        found.append(expected)
    return found


def _regex(text: str) -> re.Pattern[str]:
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return re.compile(
        "".join(re.escape(p) if i % 2 == 0 else f"({p})" for i, p in enumerate(parts))
    )


def check_expected(source: SourceFile, seen: Iterable[Diagnostic]) -> list[str]:
    """The complaints: unexpected diagnostics, and expectations that nothing met."""
    expectations = find_expected(source)
    complaints: list[str] = []
    for diagnostic in _flatten(seen):
        line = _line(diagnostic)
        for expected in expectations:
            if (
                not expected.met
                and expected.severity == diagnostic.severity
                and expected.line == line
                and expected.pattern.search(diagnostic.message)
            ):
                expected.met = True
                break
        else:
            if diagnostic.severity != "note":
                complaints.append(
                    f"{source.name}:{line or 0}: unexpected {diagnostic.severity}: "
                    f"{diagnostic.message}"
                )
    complaints += [
        f'{source.name}:{e.written_at}: expected {e.severity} "{e.text}" was not produced'
        for e in expectations
        if not e.met
    ]
    return complaints


def _flatten(seen: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    for diagnostic in seen:
        yield diagnostic
        yield from _flatten(diagnostic.notes)


def _line(diagnostic: Diagnostic) -> int | None:
    location = diagnostic.location
    return location.line or None if isinstance(location, FileLineColLoc) else None

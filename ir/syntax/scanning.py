"""Finding where things end in the text: strings, balanced brackets, whole types."""

from __future__ import annotations

import re

# Atomic groups stand for possessive groups: up to Python 3.11.4 these keep what a repetition that
# fails has read (github.com/python/cpython/issues/106052).

SKIP = re.compile(r"(?>(?:[ \t\r\n]++|//[^\n\0]*+)*)").match
STRING = re.compile(r'"((?>(?:[^"\\\n]++|\\[^\n])*))"').match
WORD = re.compile(r"[A-Za-z_][\w$.]*+", re.ASCII).match
VALUE = re.compile(r"%(?:\d++|[A-Za-z_$.-][\w$.-]*+)(?:#\d++)?", re.ASCII).match
NAMES = re.compile(r"%[\w$.#-]++", re.ASCII).findall
VALUES = re.compile(r"%[\w$.#-]++(?>(?:\s*+,\s*+%[\w$.#-]++)*)", re.ASCII).match
PAREN_VALUES = re.compile(
    r"\(\s*+(?>(?:%[\w$.#-]++(?>(?:\s*+,\s*+%[\w$.#-]++)*)\s*+)?)\)", re.ASCII
).match
RESULTS = re.compile(
    r"(%[\w$.-]++(?>(?::\d++)?)(?>(?:\s*+,\s*+%[\w$.-]++(?>(?::\d++)?))*))\s*+=", re.ASCII
).match
BLOCK = re.compile(r"\^[\w$.-]++", re.ASCII).match
SYMBOL = re.compile(
    r'@(?:[A-Za-z_][\w$.]*+|"(?>(?:[^"\\\n]++|\\[^\n])*)")'
    r'(?>(?:::@(?:[A-Za-z_][\w$.]*+|"(?>(?:[^"\\\n]++|\\[^\n])*)"))*)',
    re.ASCII,
).match
NUMBER = re.compile(
    r"-?(?:(0x[0-9A-Fa-f]++)|(\d++\.\d*+(?>(?:[eE][+-]?\d++)?))|(\d++))", re.ASCII
).match
DIMS = re.compile(r"(?>(?:(?:\d++|\?|\[\s*+\d++\s*+\])\s*+x\s*+)+)|\*\s*+x", re.ASCII).match
ALIAS = re.compile(r"[!#](?:[A-Za-z_][\w$.]*+(?>(?:-(?!>)[\w$.]*+)*)|\d++)", re.ASCII).match
SIMPLE_DICT = re.compile(
    r'\{\s*+(?:[A-Za-z_][\w$.]*+|"[^"\\\n]*+")\s*+=(?!=)'
    r'(?>(?:[^{}<>"/]++|"(?>(?:[^"\\\n]++|\\[^\n])*)"|<[^{}<>"/]*+>)*)\}',
    re.ASCII,
).match
SIMPLE_PROPERTIES = re.compile(
    r'<\{(?>(?:[^{}<>"/]++|"(?>(?:[^"\\\n]++|\\[^\n])*)"|<[^{}<>"/]*+>)*)\}>', re.ASCII
).match
SIMPLE_TYPE = re.compile(r"[A-Za-z!][\w$.]*+(?>(?:<[^<>()\"{}/]*+>)?)", re.ASCII).match
SIMPLE_FUNCTION = re.compile(
    r'\([^()"/]*+\)\s*+->\s*+(?:\([^()"/]*+\)|[A-Za-z!][\w$.]*+(?>(?:<[^<>()"{}/]*+>)?))', re.ASCII
).match
SCALAR_TYPE = re.compile(r"[su]?i\d+\Z", re.ASCII).match

# Arrows and comparisons contain angle brackets that are none.
_BRACKETS = re.compile(r'"(?>(?:[^"\\\n]++|\\[^\n])*)"|//[^\n]*+|->|>=|<=|[<>(){}\[\]"]').finditer
_PARAMETRIC = frozenset(("tensor", "memref", "vector", "complex", "tuple"))
CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}


class UnbalancedError(Exception):
    """The bracket at the offset `opening` is not closed.

    `found` is the offset of a closing bracket of another kind, None at the end of the text.
    """

    def __init__(self, opening: int, bracket: str, found: int | None) -> None:
        self.opening = opening
        self.bracket = bracket
        self.found = found
        super().__init__(bracket)


def balanced(text: str, start: int, end: int) -> int:
    """The end of the bracketed text that starts at `start`. Raises UnbalancedError."""
    stack: list[tuple[str, int]] = []
    for match in _BRACKETS(text, start, end):
        found = match[0]
        if found in CLOSING:
            stack.append((CLOSING[found], match.start()))
        elif len(found) == 1 and found != '"':
            expected, opening = stack.pop()
            if found != expected:
                raise UnbalancedError(opening, text[opening], match.start())
            if not stack:
                return match.end()
    opening = stack[-1][1] if stack else start
    raise UnbalancedError(opening, text[opening], None)


def type_end(text: str, start: int, end: int) -> int | None:
    """The end of the type that starts at `start`; None if there is none. Raises UnbalancedError."""
    if text[start] != "(":
        found = SIMPLE_TYPE(text, start, end)
        if found is None:
            return None
        if found[0][-1] != ">" and text[found.end()] == "<":
            return balanced(text, found.end(), end)
        if found[0] in _PARAMETRIC:  # there may be spaces before its bracket
            at = SKIP(text, found.end()).end()  # type: ignore[union-attr]
            return balanced(text, at, end) if text[at] == "<" else found.end()
        return found.end()
    at = SKIP(text, balanced(text, start, end)).end()  # type: ignore[union-attr]
    if not text.startswith("->", at):
        return None
    at = SKIP(text, at + 2).end()  # type: ignore[union-attr]
    return balanced(text, at, end) if text[at] == "(" else type_end(text, at, end)

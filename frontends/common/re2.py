"""Regular expressions of RE2 in Python's notation.

RE2's classes are of ASCII, its `$` is the very end, and it has classes by names and by Unicode's
categories. Source: https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

_PERL = {
    "d": "0-9",
    "D": "\0-/:-\U0010ffff",
    "s": r"\t\n\f\r ",
    "S": "\0-\x08\x0b\x0e-\x1f!-\U0010ffff",
    "w": "0-9A-Za-z_",
    "W": "\0-/:-@\\[-\\^`{-\U0010ffff",
}
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\0-\x7f",
    "blank": r"\t ",
    "cntrl": "\0-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_ANCHORS = {"A": r"\A", "z": r"\Z", "b": r"(?a:\b)", "B": r"(?a:\B)"}
_FLAGS = re.compile(r"\(\?([imsU]*)(-[imsU]+)?([:)])")
_PROPERTY = re.compile(r"\\([pP])(?:([A-Z])|\{(\^?)(\w+)\})")
_POSIX_CLASS = re.compile(r"\[:(\^?)(\w+):\]")
_HEX = re.compile(r"\\x\{([0-9A-Fa-f]{1,6})\}")
_OCTAL = re.compile(r"\\([0-7]{2,3}|0)")
_OPEN_REPEAT = re.compile(r"\{,\d*\}")


def python_pattern(pattern: str) -> str:
    """The pattern in Python's notation. Raises ValueError for what that cannot express."""
    return _Reader(pattern).read()


def python_rewrite(rewrite: str) -> str:
    """A replacement text of RE2 in Python's notation. Raises ValueError if it is not valid."""

    def one(match: re.Match) -> str:
        if match[1].isdigit():
            return rf"\g<{match[1]}>"
        if match[1] == "\\":
            return r"\\"
        raise ValueError(f"'{match[0]}' in a rewriting")

    return re.sub(r"\\(.?)", one, rewrite, flags=re.DOTALL)


class _Reader:
    """Translates a pattern; `groups` has each open group's flags, and how many more end with it."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0
        self.groups: list[tuple[str, int]] = [("", 0)]
        self.found: list[str] = []

    def read(self) -> str:
        while self.at < len(self.text):
            self.found.append(self.next())
        if len(self.groups) != 1:
            raise ValueError("a group does not end")
        return "".join(self.found) + ")" * self.groups[0][1]

    def take(self, regex: re.Pattern) -> re.Match | None:
        """The match of a regex at the current position, which then moves past it; None if none."""
        match = regex.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def next(self) -> str:
        """The translation of the next part of the pattern, outside of a class."""
        text = self.text
        if match := self.take(_FLAGS):
            return self.flags(*match.groups())
        if self.take(_OPEN_REPEAT):
            return re.escape(text[text.rindex("{", 0, self.at) : self.at])
        c = text[self.at]
        if c == "\\":
            return self.escape(False)
        if c == "[":
            return self.klass()
        self.at += 1
        if c == "(":
            self.groups.append((self.groups[-1][0], 0))
            if text.startswith("?<", self.at):
                self.at += 2
                return "(?P<"
        elif c == ")":
            _, more = self.groups.pop()
            if not self.groups:
                raise ValueError("a group ends that has not begun")
            return ")" * (more + 1)
        elif c == "$" and "m" not in self.groups[-1][0]:
            return r"\Z"
        return c

    def flags(self, on: str, off: str | None, end: str) -> str:
        """The translation of flags for a group, or for the rest of one."""
        own, more = self.groups[-1]
        without = (off or "")[1:]
        if "U" in on + without:
            raise ValueError("the flag 'U'")
        flags = "".join(sorted((set(own) | set(on)) - set(without)))
        letters = on + (f"-{without}" if without else "")
        if end == ":":
            self.groups.append((flags, 0))
        else:
            depth = 0
            for c in self.text[self.at :]:
                depth += (c == "(") - (c == ")")
                if depth < 0:
                    break
                if c == "|" and depth == 0 and self.found and self.found[-1][-1:] != "(":
                    raise ValueError("flags in the middle of alternatives")
            self.groups[-1] = (flags, more + 1)
        return f"(?{letters}:"

    def klass(self) -> str:
        """The translation of a character class in brackets."""
        found = ["["]
        self.at += 1
        if self.text.startswith("^", self.at):
            found.append("^")
            self.at += 1
        first = True
        while first or not self.text.startswith("]", self.at):
            if self.at >= len(self.text):
                raise ValueError("a class does not end")
            first = False
            if match := self.take(_POSIX_CLASS):
                if match[2] not in _POSIX:
                    raise ValueError(f"the class '{match[0]}'")
                found.append(_complement(_POSIX[match[2]]) if match[1] else _POSIX[match[2]])
            elif self.text[self.at] == "\\":
                found.append(self.escape(True))
            else:
                c = self.text[self.at]
                found.append("\\" + c if c in "[]&|~" else c)
                self.at += 1
        self.at += 1
        return "".join(found) + "]"

    def escape(self, in_class: bool) -> str:
        """The translation of a backslash sequence."""
        if match := self.take(_PROPERTY):
            negative = (match[1] == "P") != bool(match[3])
            ranges = _property(match[2] or match[4], negative)
            return ranges if in_class else f"[{ranges}]"
        if match := self.take(_HEX):
            if int(match[1], 16) > sys.maxunicode:
                raise ValueError(f"'{match[0]}'")
            return re.escape(chr(int(match[1], 16)))
        if match := self.take(_OCTAL):
            return re.escape(chr(int(match[1], 8)))
        if self.text.startswith("\\Q", self.at):
            literal, _, _ = self.text[self.at + 2 :].partition("\\E")
            self.at = min(self.at + len(literal) + 4, len(self.text))
            return re.escape(literal)
        c = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if c in _PERL and c:
            return _PERL[c] if in_class else f"[{_PERL[c]}]"
        if c in _ANCHORS and c and not in_class:
            return _ANCHORS[c]
        if not c or (c.isalnum() and c not in "afnrtvx"):
            raise ValueError(f"'\\{c}'")
        return "\\" + c


def _complement(ranges: str) -> str:
    """The characters that are not in a class, as ranges."""
    inside = re.compile(f"[{ranges}]")
    return _ranges(tuple(i for i in range(256) if not inside.match(chr(i)))) + "\u0100-\U0010ffff"


@cache
def _property(name: str, negative: bool) -> str:
    """The characters of one of Unicode's categories, or of all others if `negative`, as ranges."""
    if name == "Any":
        return "" if negative else "\0-\U0010ffff"
    numbers = range(sys.maxunicode + 1)
    category = unicodedata.category
    found = tuple(i for i in numbers if category(chr(i)).startswith(name) != negative)
    if not found or len(found) == len(numbers) or len(name) > 2:
        raise ValueError(f"the class '{name}'")
    return _ranges(found)


def _ranges(numbers: tuple[int, ...]) -> str:
    """Characters as ranges of a class."""
    found, begin = [], 0
    for i in range(1, len(numbers) + 1):
        if i == len(numbers) or numbers[i] != numbers[i - 1] + 1:
            found.append(f"{re.escape(chr(numbers[begin]))}-{re.escape(chr(numbers[i - 1]))}")
            begin = i
    return "".join(found)

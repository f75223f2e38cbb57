"""Protocol buffers in their text form, by the same tables of fields as the binary one.

    graph = read_text(schema, "Graph", 'node { name: "a" input: ["b", "c"] mode: FAST }')

Fields that the table lacks are skipped, as projects extend each other's messages, and named by
`unknown`.

Source: https://protobuf.dev/reference/protobuf/textformat-spec
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from .protobuf import DEEPEST, FIXED, Field, Record, Schema

_TOKEN = re.compile(
    r"""(?P<space>[\s\ufeff]+|\#[^\n]*)
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<number>[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fF]?(?![\w.]))
    |(?P<name>-?[A-Za-z_][\w.]*|\[[\w./-]+\])
    |(?P<mark>[{}<>:;,\[\]])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(rb"\\([abfnrtv\\'\"?]|[0-7]{1,3}|[xX][0-9a-fA-F]{1,2})")
_ESCAPES = dict(zip(b"abfnrtv", b"\a\b\f\n\r\t\v", strict=True))
_CLOSING = {"{": "}", "<": ">"}


class TextError(ValueError):
    """The text is not a valid message; `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def read_text(schema: Schema, message: str, text: str) -> Record:
    """The message in a text. Raises TextError."""
    return _Parser(schema, text).message(message, "", 0)


class _Parser:
    def __init__(self, schema: Schema, text: str) -> None:
        self.schema = schema
        self.text = text
        self.at = self.start = 0
        self.kind = self.token = ""
        self.next()

    def next(self) -> str:
        """Return the current token and advance."""
        read = self.token
        while True:
            self.start = self.at
            found = _TOKEN.match(self.text, self.at)
            if found is None:
                if self.at < len(self.text):
                    raise self.error(f"unexpected character {self.text[self.at]!r}")
                self.kind = self.token = ""
                return read
            self.at = found.end()
            if found.lastgroup != "space":
                self.kind, self.token = found.lastgroup or "", found.group()
                return read

    def error(self, message: str) -> TextError:
        """An error at the current token."""
        line = self.text.count("\n", 0, self.start) + 1
        column = self.start - (self.text.rfind("\n", 0, self.start) + 1) + 1
        return TextError(message, line, column)

    def found(self) -> str:
        """The current token, in words."""
        return f"'{self.token[:40]}'" if self.token else "the end of the text"

    def take(self, mark: str) -> bool:
        """If the current token is this mark, skip it; returns whether it was."""
        if self.kind == "mark" and self.token == mark:
            self.next()
            return True
        return False

    def message(self, name: str, end: str, depth: int) -> Record:
        """The fields up to a closing mark, or to the end of the text."""
        if depth > DEEPEST:
            raise self.error(f"messages are nested more than {DEEPEST} deep")
        record = Record(self.schema, name)
        while not (self.take(end) if end else not self.token):
            if self.kind not in ("name", "number") or self.token[0] == "-":
                raise self.error(f"expected the name of a field, found {self.found()}")
            field = self.schema.find(name, self.token)
            if field is None:
                record.add_unknown(self.token)
            self.next()
            colon = self.take(":")
            if self.take("["):
                for value in self.several(field, depth):
                    put(record, field, value)
            else:
                put(record, field, self.value(field, colon, depth))
            if not self.take(","):
                self.take(";")
        for one in self.schema.messages.get(name, {}).values():
            if one.repeated and one.kind in FIXED and record.has(one.name):
                record.__dict__[one.name] = np.array(record.__dict__[one.name], FIXED[one.kind])
        return record

    def several(self, field: Field | None, depth: int) -> list[Any]:
        """The values of a bracketed list."""
        values: list[Any] = []
        while not self.take("]"):
            if values and not self.take(","):
                raise self.error(f"expected ',' or ']', found {self.found()}")
            values.append(self.value(field, True, depth))
        return values

    def value(self, field: Field | None, colon: bool, depth: int) -> Any:
        """A value of a field; None for a field that the table lacks."""
        mark = self.token
        if self.kind == "mark" and mark in _CLOSING:
            if field is not None and field.kind not in self.schema.messages and not field.key:
                raise self.error(f"field '{field.name}' is of kind {field.kind}, found a message")
            self.next()
            if field is not None and field.key:
                return self.entry(field, _CLOSING[mark], depth)
            kind = "" if field is None else field.kind
            return self.message(kind, _CLOSING[mark], depth + 1)
        if not colon:
            raise self.error(f"expected ':' or '{{', found {self.found()}")
        if self.kind not in ("string", "number", "name"):
            raise self.error(f"expected a value, found {self.found()}")
        if field is None:
            kind = self.kind
            self.next()
            while kind == self.kind == "string":
                self.next()
            return None
        if field.kind in self.schema.messages or field.key:
            raise self.error(f"field '{field.name}' is a message, found {self.found()}")
        if field.kind in ("string", "bytes"):
            return self.string(field)
        number = self.number(field)
        self.next()
        return number

    def entry(self, field: Field, end: str, depth: int) -> tuple[Any, Any]:
        """The key and the value of a map's entry."""
        parts = {"key": Field("key", field.key, False), "value": Field("value", field.kind, False)}
        found: dict[str, Any] = {}
        while not self.take(end):
            name = self.next()
            if name not in parts:
                raise self.error(f"expected 'key' or 'value' of a map before {self.found()}")
            found[name] = self.value(parts[name], self.take(":"), depth)
            self.take(",")
        for name, part in parts.items():
            if name not in found:
                found[name] = self.schema.empty(part)
        return found["key"], found["value"]

    def string(self, field: Field) -> Any:
        """A string, concatenated from adjacent literals."""
        if self.kind != "string":
            raise self.error(f"field '{field.name}' is a string, found {self.found()}")
        whole = b""
        while self.kind == "string":
            whole += _ESCAPE.sub(_unescaped, self.next()[1:-1].encode())
        if field.kind == "bytes":
            return np.frombuffer(whole, np.uint8)
        return whole.decode("utf-8", "replace")

    def number(self, field: Field) -> Any:
        token = self.token
        if field.kind == "enum":
            if self.kind == "number":
                return field.names.get(_int(token) or 0, token)
            return token
        if field.kind == "bool":
            if token in ("true", "True", "t", "1", "false", "False", "f", "0"):
                return token in ("true", "True", "t", "1")
        elif field.kind in ("float", "double"):
            word = token.lower().lstrip("+-")
            if self.kind == "number":
                integer = _int(token)
                return float(token.rstrip("fF")) if integer is None else float(integer)
            if word in ("inf", "infinity", "nan"):
                value = math.nan if word == "nan" else math.inf
                return -value if token[0] == "-" else value
        elif self.kind == "number":
            integer = _int(token)
            if integer is not None and -(1 << 63) <= integer < 1 << 64:
                return integer
        raise self.error(f"field '{field.name}' is of kind {field.kind}, found {self.found()}")


def put(record: Record, field: Field | None, value: Any) -> None:
    """Set a field of a record, or append to a repeated one; nothing for an unknown field."""
    if field is None:
        return
    if field.key:
        record.__dict__.setdefault(field.name, {}).update([value])
    elif field.repeated:
        record.__dict__.setdefault(field.name, []).append(value)
    else:
        record.__dict__[field.name] = value


def _int(token: str) -> int | None:
    if len(token) > 40:
        return None
    try:
        digits = token.lstrip("+-")
        if len(digits) > 1 and digits.isdigit() and digits[0] == "0":
            return int(token, 8)
        return int(token, 0)
    except ValueError:
        return None


def _unescaped(found: re.Match[bytes]) -> bytes:
    text = found.group(1)
    if text[:1] in b"xX":
        return bytes([int(text[1:], 16)])
    if text[:1].isdigit():
        return bytes([int(text, 8) & 255])
    return bytes([_ESCAPES.get(text[0], text[0])])

"""Helpers to tell protocol buffers apart by their first fields."""

from __future__ import annotations

import re

from ..common.source import Source

_TEXT = re.compile(rb"(?:\s|#[^\n]*\n)*(name|input|layers?|op|state)\s*[:{]")


def suffix_of(source: Source) -> str:
    """The suffix of a source's path; "" without one."""
    return "" if source.path is None else source.path.suffix.lower()


def folder_has(source: Source, pattern: str) -> bool:
    """Whether a source is a folder with a file that matches the pattern."""
    assert source.path is not None
    return next(source.path.glob(pattern), None) is not None


def text_of(source: Source) -> bytes | None:
    """The begin of the file if it is a protobuf message in text form, else None."""
    return source.head if _TEXT.match(source.head) and b"\0" not in source.head else None


def fields_of(source: Source, inside: int = 0) -> dict[int, int]:
    """The wire types of a message's fields, or of those of a nested message."""
    from ..wire.protobuf import kinds_of_fields

    return kinds_of_fields(source.data, inside) if source.head else {}

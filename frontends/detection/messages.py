"""Protocol buffers look alike: what their first fields tell."""

from __future__ import annotations

import re

from ..common.source import Source

_TEXT = re.compile(rb"(?:\s|#[^\n]*\n)*(name|input|layers?|op|state)\s*[:{]")


def suffix_of(source: Source) -> str:
    """The suffix of its path, "" where there is none."""
    return "" if source.path is None else source.path.suffix.lower()


def folder_has(source: Source, pattern: str) -> bool:
    """Whether a folder has a file of such a name."""
    assert source.path is not None
    return next(source.path.glob(pattern), None) is not None


def text_of(source: Source) -> bytes | None:
    """The begin of the file where that is such a message as text."""
    return source.head if _TEXT.match(source.head) and b"\0" not in source.head else None


def fields_of(source: Source, inside: int = 0) -> dict[int, int]:
    """The kinds of a message's fields, or of the first one that it has of some number."""
    from ..wire.protobuf import kinds_of_fields

    return kinds_of_fields(source.data, inside) if source.head else {}

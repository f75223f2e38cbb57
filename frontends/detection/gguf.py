"""GGUF: one file, which begins with its name."""

from __future__ import annotations

from ..common.source import Source


def is_it(source: Source) -> bool:
    """Whether it begins so."""
    return source.head[:4] == b"GGUF"

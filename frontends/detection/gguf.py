"""GGUF: one file, which begins with the magic "GGUF"."""

from __future__ import annotations

from ..common.source import Source


def is_it(source: Source) -> bool:
    """Whether a source begins with GGUF's magic."""
    return source.head[:4] == b"GGUF"

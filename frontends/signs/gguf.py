"""Signs of GGUF's files."""

from __future__ import annotations

from ..common.source import Source


def is_it(source: Source) -> bool:
    """A file that begins with the format's name."""
    return source.head[:4] == b"GGUF"

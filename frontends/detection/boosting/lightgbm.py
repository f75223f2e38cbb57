"""Detection of LightGBM models."""

from __future__ import annotations

from ...common.source import Source


def is_it(source: Source) -> bool:
    """Whether a source is a text of LightGBM."""
    words = source.head[:64].split()
    return words[:1] == [b"tree"] and len(words) > 1 and words[1].startswith(b"version=")

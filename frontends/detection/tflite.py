"""TensorFlow Lite: flatbuffers with its identifier."""

from __future__ import annotations

from ..common.source import Source


def is_it(source: Source) -> bool:
    """Whether the file has TensorFlow Lite's identifier."""
    return source.head[4:8] == b"TFL3"

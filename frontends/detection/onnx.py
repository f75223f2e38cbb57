"""ONNX: what no other format knows, so that its reader says what a file is instead."""

from __future__ import annotations

from ..common.source import Source


def is_it(source: Source) -> bool:
    """All that is asked for: it is the last in the list."""
    return True

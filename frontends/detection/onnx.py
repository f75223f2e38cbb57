"""ONNX: the fallback, so that its reader's error describes unknown files."""

from __future__ import annotations

from ..common.source import Source


def is_it(source: Source) -> bool:
    """Always True, as ONNX is the last format in the list."""
    return True

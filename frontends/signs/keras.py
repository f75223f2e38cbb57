"""Keras: archives with its weights, and HDF5."""

from __future__ import annotations

from ..common.source import Source


def is_it(source: Source) -> bool:
    """Whether it is a `.keras` archive or an HDF5 file."""
    head = source.head
    if head.startswith(b"PK\x03\x04"):
        return b"model.weights.h5" in source.data[-65536:].tobytes()
    return head.startswith(b"\x89HDF\r\n")

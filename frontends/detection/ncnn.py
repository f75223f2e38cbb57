"""ncnn: layers as text or in binary, beside their weights."""

from __future__ import annotations

from ..common.source import Source


def is_it(source: Source) -> bool:
    """Whether a source begins with the magic number of `.param`, as text or four bytes."""
    return source.head.startswith((b"7767517", b"\xdd\x85\x76\x00"))

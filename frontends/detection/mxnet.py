"""MXNet: a symbol in JSON, or its parameters."""

from __future__ import annotations

from ..common.source import Source

_PARAMETERS = b"\x12\x01" + bytes(14)


def is_it(source: Source) -> bool:
    """Whether a source is a symbol or parameters of MXNet."""
    head = source.head
    return head[:16] == _PARAMETERS or (
        head.lstrip()[:1] == b"{" and b'"nodes"' in head and b'"op"' in head
    )

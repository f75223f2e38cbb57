"""PaddlePaddle: a program as JSON or as a message, beside its parameters."""

from __future__ import annotations

from ..common.source import Source

_MAIN_BLOCK = b"\x08\x00\x10\xff\xff\xff\xff"
"""The first block has the number 0 and no parent, which is -1."""


def is_it(source: Source) -> bool:
    """Whether a source is a program of either version."""
    head = source.head
    if head[:1] == b"{":
        return b'"magic":"pir"' in head.replace(b" ", b"")
    return head[:1] == b"\n" and _MAIN_BLOCK in head[1:16]

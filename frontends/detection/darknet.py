"""Darknet: sections as text, beside their weights."""

from __future__ import annotations

from ..common.source import Source


def is_it(source: Source) -> bool:
    """Whether a source's first section is `[net]` or the like."""
    lines = source.head.decode("latin1").splitlines()
    words = (line.split("#")[0].strip() for line in lines)
    first = next((word for word in words if word and word[0] not in "#;"), "")
    return first in ("[net]", "[network]")

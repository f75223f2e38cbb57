"""Text without invisible and control characters."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that are shown escaped: control characters except tabs and line ends, direction marks,
surrogates."""


def visible(text: str) -> str:
    """The text with escapes for characters that a terminal obeys instead of showing."""
    return _HIDDEN.sub(lambda m: m[0].encode("unicode_escape").decode(), text)

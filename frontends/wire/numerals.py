"""Numbers that files have as text."""

from __future__ import annotations

MOST_DIGITS = 40
"""Python takes quadratic time for many, or raises ValueError."""


def whole_number(text: str) -> int | None:
    """The number that decimal digits stand for; None where the text is none, or a longer one."""
    is_one = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return int(text) if is_one else None

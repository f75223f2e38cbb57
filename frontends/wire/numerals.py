"""Numbers that files store as text."""

from __future__ import annotations

MOST_DIGITS = 40
"""The most digits of an integer: Python takes quadratic time for more, or raises ValueError."""


def whole_number(text: str) -> int | None:
    """The integer in a text of decimal digits; None if it is not one, or too long."""
    is_one = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return int(text) if is_one else None

"""Named contexts around work, so that callers can measure how long it takes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Timed = Callable[[str], AbstractContextManager[None]]
"""A function from the name of a piece of work to a context that times it."""


def untimed(name: str) -> AbstractContextManager[None]:
    """A context that measures nothing."""
    return nullcontext()

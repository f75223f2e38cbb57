"""Notes of results that the semantics leave open, taken while a program is interpreted.

    with watch() as seen:
        Interpreter(module).call("main", args)
    seen    # {"'arith.fptosi' op: a value has no integer of the type"}

Poison and the like must not stop the interpreter: a program may compute it and not use it.
Who compares two runs asks for the notes, and knows then which inputs say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .lazy import np

_SEEN: ContextVar[set[str] | None] = ContextVar("undefined results", default=None)


@contextmanager
def watch() -> Iterator[set[str]]:
    """The notes taken meanwhile, in this thread."""
    seen: set[str] = set()
    token = _SEEN.set(seen)
    try:
        yield seen
    finally:
        _SEEN.reset(token)


def note_where(condition: Callable[[], Any], message: str) -> None:
    """Note the message if somebody watches and the condition holds for any element."""
    seen = _SEEN.get()
    if seen is None or message in seen:
        return
    with np.errstate(all="ignore"):
        if np.any(condition()):
            seen.add(message)

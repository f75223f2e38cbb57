"""Notes of undefined results, taken while a program is interpreted.

    with watch() as seen:
        Interpreter(module).call("main", args)
    seen    # {"'arith.fptosi' op: a value has no integer of the type"}

Poison and the like must not stop the interpreter, since a program may never use it. A comparison
of two runs reads the notes to know for which inputs results may differ.
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
    """A context that gives the set of notes that this thread takes inside it."""
    seen: set[str] = set()
    token = _SEEN.set(seen)
    try:
        yield seen
    finally:
        _SEEN.reset(token)


def note_where(condition: Callable[[], Any], message: str) -> None:
    """Note the message, inside a `watch`, if the condition holds for any element."""
    seen = _SEEN.get()
    if seen is None or message in seen:
        return
    with np.errstate(all="ignore"):
        if np.any(condition()):
            seen.add(message)

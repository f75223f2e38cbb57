"""Python's garbage collector, which would search what is built and kept again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collection() -> Iterator[None]:
    """Keeps the garbage collector off while much is made of which most stays.

    Afterwards that counts as old, which is searched rarely, without having been searched as new.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # What is frozen and released again belongs to the oldest generation.
            gc.freeze()
            gc.unfreeze()
        gc.enable()


_NEW_OBJECTS = 10_000
"""How many more objects are made than freed between two searches of the garbage collector. With
Python's 700 these take 7 % of a command's start, in which all that is made stays."""


def collect_rarely() -> None:
    """Has the garbage collector of this process search less often; for the start of a command."""
    gc.set_threshold(_NEW_OBJECTS)

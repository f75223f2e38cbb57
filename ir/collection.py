"""Python's garbage collector, kept from searching long-lived objects again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collection() -> Iterator[None]:
    """Disable the garbage collector while many objects are made, most of which stay alive.

    Afterwards they belong to the oldest generation, which is rarely searched.
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
"""The net number of new objects after which the garbage collector runs. With Python's 700 it takes
7 % of a command's start, in which all new objects stay alive."""


def collect_rarely() -> None:
    """Make this process's garbage collector run less often; called when a command starts."""
    gc.set_threshold(_NEW_OBJECTS)

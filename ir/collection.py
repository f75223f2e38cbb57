"""Python's garbage collector, kept from searching long-lived objects again and again."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_GROWTH = 1_000_000
"""The least growth in blocks of memory, about 80 MB, after which garbage is searched for."""
_kept = 0
"""The number of allocated blocks of memory after the last search; 0 before the first pause."""


@contextmanager
def paused_collection() -> Iterator[None]:
    """Disable the garbage collector while many objects are made, most of which stay alive.

    Afterwards they belong to the oldest generation, which Python searches only when many objects
    have come to it through the younger ones. These have not, and IR is full of cycles: a process
    that compiles many models would keep the IR of all. So a pause begins with a search if memory
    has doubled since the last one.
    """
    if not gc.isenabled():
        yield
        return
    _collect_if_grown()
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # What is frozen and released again belongs to the oldest generation.
            gc.freeze()
            gc.unfreeze()
        gc.enable()


def _collect_if_grown() -> None:
    """Search all objects for garbage if memory has doubled since the last search."""
    global _kept
    blocks = sys.getallocatedblocks()
    if _kept and blocks - _kept > max(_GROWTH, _kept):
        gc.collect()
        _kept = sys.getallocatedblocks()
    _kept = _kept or blocks


_NEW_OBJECTS = 10_000
"""The net number of new objects after which the garbage collector runs. With Python's 700 it takes
7 % of a command's start, in which all new objects stay alive."""


def collect_rarely() -> None:
    """Make this process's garbage collector run less often; called when a command starts."""
    gc.set_threshold(_NEW_OBJECTS)

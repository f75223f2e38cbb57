"""Building without Python's garbage collector, which would search what is built again and again."""

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

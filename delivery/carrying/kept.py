"""Compiled defaults of models, kept from one job that tries a schedule to the next.

They are files that commands have written, who may have been taken over by a hostile model: so what
was kept of a model is given to jobs of the same model alone, whose user it belongs to, and is read
by confined commands only.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from ...driver.cache import ModelCache
from ...ir.diagnostics import NncError
from .results import remove, take

LIMIT = 4 << 30
"""Bytes that are kept at most; what was not used for longest goes first."""
_MOST_FILES = 100
_CACHE = ".cache/nnc/models"
"""Of a job's folder: where commands keep compiled models."""


class Kept:
    """A folder of what is kept, by models."""

    def __init__(self, folder: Path, limit_bytes: int = LIMIT) -> None:
        self._cache = ModelCache(folder, limit_bytes)

    def give(self, model: str, home: Path) -> None:
        """Move what is kept of a model, if anything is, to a job's folder."""
        place = home / _CACHE
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            os.rename(self._place(model), place)

    def take(self, model: str, home: Path) -> None:
        """Move it back, with what a job's commands have added; keep nothing of what is no plain
        file or too much. No command may run in the folder any more.
        """
        to = self._place(model)
        new = to.with_name(f".new-{to.name}")
        files, left = _files(home), self._cache.limit
        with suppress(OSError, NncError):
            remove(new)
            for name in files if len(files) <= _MOST_FILES else ():
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                left -= take(home, f"{_CACHE}/{name}", new / name, left).stat().st_size
            remove(to)
            os.rename(new, to)
            self._cache.trim()
        with suppress(NncError):
            remove(new)

    def drop(self, model: str) -> None:
        """Delete what is kept of a model. Raises NncError."""
        remove(self._place(model))

    def sweep(self, models: set[str]) -> None:
        """Delete what is kept of other models than these. Raises NncError."""
        known = {self._place(model) for model in models}
        for entry in self._cache.entries():
            if entry.path not in known:
                remove(entry.path)

    def _place(self, model: str) -> Path:
        return self._cache.folder / sha256(model.encode()).hexdigest()


def _files(home: Path) -> list[str]:
    """The files in a job's cache, by paths in it."""
    place = home / _CACHE
    found = [Path(folder) / name for folder, _, names in os.walk(place) for name in names]
    return [str(path.relative_to(place)) for path in found]

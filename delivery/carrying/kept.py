"""Models compiled with their default schedules, kept from one experiment to the next.

The files were written by commands that a hostile model may have taken over. So the files of a model
are given only to jobs of the same model, and are read only by confined commands.
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
"""The most bytes that are kept; the least recently used models are removed first."""
_MOST_FILES = 100
_CACHE = ".cache/nnc/models"
"""The path, in a job's folder, at which commands keep compiled models."""


class Kept:
    """A folder that keeps, for each model, what was compiled of it with default schedules."""

    def __init__(self, folder: Path, limit_bytes: int = LIMIT) -> None:
        self._cache = ModelCache(folder, limit_bytes)

    def give(self, model: str, home: Path) -> None:
        """Move what is kept of a model, if anything is, to a job's folder."""
        place = home / _CACHE
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            os.rename(self._place(model), place)

    def take(self, model: str, home: Path) -> None:
        """Move the files that `give` has moved back, with those that a job's commands have added.

        Nothing is kept if a file is not plain, or if they are too many or too large. No command may
        run in the job's folder any more.
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

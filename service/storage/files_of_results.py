"""Results on their way into the store, before the database knows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

from ...ir.diagnostics import NncError
from .blobs import Blobs, translated
from .database import new_id


@dataclass(frozen=True)
class Result:
    """A file in the store."""

    name: str
    id: str
    bytes: int
    sha256: str


class Results:
    """Files that were stored together; those not kept are deleted again."""

    def __init__(self, all: list[Result]) -> None:
        self.all = all
        self.bytes = sum(result.bytes for result in all)
        self._kept: set[str] = set()

    def keep(self, some: Iterable[Result]) -> None:
        """Mark files as known to the database."""
        self._kept.update(result.id for result in some)

    def unwanted(self) -> list[str]:
        """The identifiers of files that were not kept."""
        return [result.id for result in self.all if result.id not in self._kept]


@contextmanager
def stored_results(blobs: Blobs, files: Mapping[str, Path]) -> Iterator[Results]:
    """Store files by name; those not kept by the end of the block are deleted. Raises NncError.

    After an exception in the block, it is unknown whether the database has them: they stay, and
    `Files.sweep` deletes them later if it has not.
    """
    stored: list[Result] = []
    try:
        for name, path in files.items():
            with translated("read a result"), path.open("rb") as file:
                sha256 = file_digest(file, "sha256").hexdigest()
                size = path.stat().st_size
            stored.append(Result(name, new_id(), size, sha256))
            blobs.put(stored[-1].id, path)
    except BaseException:
        _delete(blobs, [result.id for result in stored])
        raise
    results = Results(stored)
    yield results
    _delete(blobs, results.unwanted())


def _delete(blobs: Blobs, ids: list[str]) -> None:
    for id in ids:
        with suppress(NncError):  # `Files.sweep` finds it later
            blobs.delete(id)

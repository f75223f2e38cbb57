"""Contents of files by identifier: in a folder, or in an S3 store."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from ...ir.diagnostics import NncError
from ..errors import StoreFullError

CHUNK = 1 << 18
"""The bytes of a file that are in memory while it is read or copied."""


class Blobs(Protocol):
    """A store of files that are written once and never changed.

    The database knows the owner, purpose and size of each blob; a store only knows identifiers. A
    blob exists completely or not at all.
    """

    def put(self, id: str, file: Path) -> None:
        """Store a file's content under an id; the file itself may be moved away.

        Storing the same content again changes nothing.
        Raises StoreFullError if there is no room, NncError if the store cannot be reached.
        """
        ...

    def read(self, id: str) -> Iterator[bytes]:
        """The content, part by part. Raises NncError if it does not exist."""
        ...

    def size(self, id: str) -> int | None:
        """The size in bytes; None if there is no such blob."""
        ...

    def delete(self, id: str) -> None:
        """Delete a blob; no error if there is none."""
        ...

    def identifiers(self) -> Iterator[tuple[str, float]]:
        """The identifier and the time of storage, in seconds since 1970, of each blob."""
        ...


def copy_to(blobs: Blobs, id: str, path: Path) -> None:
    """Write a blob's content to a file, and create the file's folder. Raises NncError."""
    with translated(f"write '{path.name}'"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for part in blobs.read(id):
                file.write(part)


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn an OSError into an NncError that says what was being done."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFullError(f"cannot {doing}: the disk of the service is full") from error
        raise NncError(f"cannot {doing}: {error.strerror or error}") from error

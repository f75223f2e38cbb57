"""Contents of files, each under an identifier: in a folder, or in a store that speaks S3."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from ...ir.diagnostics import NncError
from ..errors import StoreFullError

CHUNK = 1 << 18
"""Bytes that are held of a file while it is read or copied."""


class Blobs(Protocol):
    """A store of files that are written once and never changed.

    What a blob is, whose, and how large, is in the database; a store knows identifiers alone. A
    blob is there whole or not at all.
    """

    def put(self, id: str, file: Path) -> None:
        """Store a file's content; the file itself may be moved away. Doing it again is no error.

        Raises StoreFullError where there is no room, NncError where the store cannot be reached.
        """
        ...

    def read(self, id: str) -> Iterator[bytes]:
        """The content, part by part. Raises NncError where it is not there."""
        ...

    def size(self, id: str) -> int | None:
        """The size in bytes; None where there is no such blob."""
        ...

    def delete(self, id: str) -> None:
        """Forget a blob; no error where there is none."""
        ...

    def identifiers(self) -> Iterator[tuple[str, float]]:
        """Each blob and when it was stored, in seconds since 1970."""
        ...


def copy_to(blobs: Blobs, id: str, path: Path) -> None:
    """Write a blob's content to a file, and make the file's folder. Raises NncError."""
    with translated(f"write '{path.name}'"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for part in blobs.read(id):
                file.write(part)


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn what the system refuses into an error that says what was being done."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFullError(f"cannot {doing}: the disk of the service is full") from error
        raise NncError(f"cannot {doing}: {error.strerror or error}") from error

"""Blobs as files of a folder."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ...ir.diagnostics import NncError
from .blobs import CHUNK, translated


class FolderBlobs:
    """A file per blob, in folders by the first two characters; see `Blobs`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with translated(f"use '{folder}'"):
            folder.mkdir(parents=True, exist_ok=True)

    def put(self, id: str, file: Path) -> None:
        path = self._path(id)
        with translated("store a file"):
            path.parent.mkdir(exist_ok=True)
            try:
                os.utime(file)  # `identifiers` says when it came here
                _flush(file)
                os.replace(file, path)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                self._copy(file, path)
            _flush(path.parent)

    def _copy(self, file: Path, path: Path) -> None:
        part = path.with_suffix(".part")
        try:
            shutil.copyfile(file, part)
            _flush(part)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)

    def read(self, id: str) -> Iterator[bytes]:
        try:
            file = self._path(id).open("rb")
        except FileNotFoundError:
            raise NncError(f"the store has lost the file {id}") from None
        return _parts(file)

    def size(self, id: str) -> int | None:
        try:
            return self._path(id).stat().st_size
        except FileNotFoundError:
            return None

    def delete(self, id: str) -> None:
        with translated("delete a file"):
            self._path(id).unlink(missing_ok=True)

    def identifiers(self) -> Iterator[tuple[str, float]]:
        for folder in self.folder.iterdir():
            for file in folder.iterdir():
                try:
                    yield file.name, file.stat().st_mtime
                except FileNotFoundError:  # deleted meanwhile
                    continue

    def _path(self, id: str) -> Path:
        return self.folder / id[:2] / id


def _parts(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while part := file.read(CHUNK):
            yield part


def _flush(path: Path) -> None:
    """Flush a file's content, or a folder's list of names, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

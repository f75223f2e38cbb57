"""Writes a package whole or not at all, as a folder or as one archive."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from ..ir.diagnostics import NncError
from ..ir.files import check_folder, encoded, folder_beside, unwritable, write_together

ARCHIVE = ".zip"
"""The suffix of an output that is an archive instead of a folder."""


def check_output(path: Path) -> None:
    """Raise NncError, before any work, for a path that no package can be written to."""
    check_folder(path)
    if path.suffix == ARCHIVE:
        if path.is_dir():
            raise NncError(f"cannot write '{path}': it is a folder")
    elif path.exists() and not path.is_dir():
        raise NncError(f"cannot write '{path}': it is a file; an archive ends in {ARCHIVE}")
    elif path.is_dir() and any(path.iterdir()):
        raise NncError(f"cannot write '{path}': the folder is not empty")


@contextmanager
def new_package(path: Path) -> Iterator[Path]:
    """An empty folder that becomes the package at the end of the block. Raises NncError."""
    check_output(path)
    with folder_beside(path.parent / f"{path.name}.new") as folder:
        content = folder / "content"
        content.mkdir()
        try:
            yield content
            if path.suffix == ARCHIVE:
                made = folder / "archive"
                _pack(content, made, encoded(path.stem).decode())
                write_together({path: made})
            else:
                os.replace(content, path)
        except OSError as error:
            raise unwritable(path, error) from None


def _pack(content: Path, archive: Path, top: str) -> None:
    """Put all files of a folder into an archive, below a folder named `top`."""
    with ZipFile(archive, "w", ZIP_DEFLATED) as made:
        for path in sorted(content.rglob("*")):
            if path.is_file():
                made.write(path, f"{top}/{path.relative_to(content).as_posix()}")

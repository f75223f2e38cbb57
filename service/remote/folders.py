"""A model that is a folder, packed into an archive with reproducible bytes.

So an interrupted upload of a folder can resume, by the digest of the archive. Nothing is
compressed: weights hardly get smaller, and other versions of a library would give other bytes.
"""

from __future__ import annotations

import os
import shutil
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ...ir.diagnostics import NncError

MOST_FILES = 10_000
"""The most files of a model that is a folder: frameworks write hundreds; more is a mistake."""


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """The path itself for a file; for a folder, the path of a temporary archive of it.

    Raises NncError.
    """
    if not path.is_dir():
        yield path
        return
    try:
        with TemporaryDirectory(prefix="nnc-upload-") as folder:
            archive = Path(folder) / "model.zip"
            write_archive(path, archive)
            yield archive
    except OSError as error:
        raise NncError(f"cannot pack '{path}': {error.strerror or error}") from None


def write_archive(folder: Path, archive: Path) -> None:
    """Pack all files below a folder, with paths that begin with its name. Raises NncError."""
    top = folder.resolve().name  # whose suffix may say what it is, as in `net.mlpackage`
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
        for name in sorted(_files(folder)):
            about = zipfile.ZipInfo(f"{top}/{name}", (1980, 1, 1, 0, 0, 0))
            about.external_attr = (stat.S_IFREG | 0o644) << 16
            about.create_system = 3  # Unix, wherever it is made
            about.file_size = (folder / name).stat().st_size  # above 4 GiB it is written otherwise
            with (folder / name).open("rb") as file, packed.open(about, "w") as part:
                shutil.copyfileobj(file, part, 1 << 20)


def _files(folder: Path) -> list[str]:
    """The paths of files below a folder, relative to it and with `/`. Raises NncError.

    Links to files are followed, as hub caches have them; links to folders are not, as they may be
    cyclic.
    """
    found: list[str] = []
    for place, folders, files in os.walk(folder, onerror=_raise):
        for name in (*folders, *files):
            path = Path(place) / name
            if name in folders:
                _check_name(path)
                if path.is_symlink():
                    raise NncError(f"'{path}' is a link to a folder, which is not followed")
                continue
            if not path.is_file():
                raise NncError(f"'{path}' is not a file, but a device, a pipe or a broken link")
            found.append(path.relative_to(folder).as_posix())
            if len(found) > MOST_FILES:
                raise NncError(f"'{folder}' has more than {MOST_FILES} files: is it a model?")
            _check_name(path)
    if not found:
        raise NncError(f"'{folder}' has no files")
    return found


def _check_name(path: Path) -> None:
    try:
        path.name.encode()
    except UnicodeEncodeError:
        raise NncError(f"'{path}': the file's name is not UTF-8") from None


def _raise(error: OSError) -> None:
    raise error

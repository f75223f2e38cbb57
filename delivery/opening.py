"""Extracts some files of an archive.

    python -m nnc.delivery.opening package.zip FOLDER NAME..

writes them to a new folder under the last parts of their names.
"""

from __future__ import annotations

import shutil
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile

from ..ir.diagnostics import NncError


def take_out(archive: Path, folder: Path, names: Iterable[str]) -> None:
    """Write the named files of an archive to a new folder. Raises NncError."""
    try:
        folder.mkdir()
        with ZipFile(archive) as opened:
            for name in names:
                with (
                    opened.open(name) as source,
                    (folder / PurePosixPath(name).name).open("wb") as target,
                ):
                    shutil.copyfileobj(source, target)
    except (OSError, BadZipFile, KeyError, NotImplementedError, RuntimeError, zlib.error) as error:
        raise NncError(f"{archive.name} cannot be opened: {error}") from None


def main() -> None:
    """Run the command line."""
    archive, folder, *names = sys.argv[1:]
    try:
        take_out(Path(archive), Path(folder), names)
    except NncError as error:
        sys.exit(f"error: {error.message}")


if __name__ == "__main__":
    main()

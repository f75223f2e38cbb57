"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .diagnostics import NncError


def write_whole(path: Path, *parts: str | bytes | memoryview) -> None:
    """Write a file whole or not at all: to a temporary name beside it, then renamed."""
    import tempfile

    raw = [part.encode() if isinstance(part, str) else part for part in parts]
    try:
        if path.exists() and not path.is_file():  # a device such as /dev/null, or a pipe
            path.write_bytes(b"".join(raw))
            return
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(raw)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise NncError(f"cannot write '{path}': {error.strerror or error}") from None


@contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """A temporary folder on the file system of a file to be written. Raises NncError."""
    import tempfile

    try:
        device = path.exists() and not path.is_file()
        home = None if device else path.parent
        with tempfile.TemporaryDirectory(dir=home, prefix=f".{path.name}.") as name:
            yield Path(name)
    except OSError as error:
        raise NncError(f"cannot write '{path}': {error.strerror or error}") from None

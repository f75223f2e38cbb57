"""The temporary files of a worker, which the next worker removes if it was killed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_PREFIX = "nnc-worker-"
_LOCK = "lock"


@contextmanager
def worker_scratch() -> Iterator[Path]:
    """Give this process, and those that it starts, a temporary folder of their own.

    Models lie there, so the folders of workers that ended without removing theirs are removed.
    """
    before, variable = tempfile.tempdir, os.environ.get("TMPDIR")
    _remove_left(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o711)  # commands that are confined read code there as another user
        with (folder / _LOCK).open("w") as lock:
            _locked(lock)
            try:
                tempfile.tempdir = os.environ["TMPDIR"] = name
                yield folder
            finally:
                tempfile.tempdir = before
                os.environ.pop("TMPDIR")
                if variable is not None:
                    os.environ["TMPDIR"] = variable


def _remove_left(parent: Path) -> None:
    """Remove the folders of workers that no longer run."""
    for folder in parent.glob(f"{_PREFIX}*"):
        # Without a lock it is one that just starts; one of another user cannot be opened.
        with suppress(OSError), (folder / _LOCK).open("r+") as lock:
            if _locked(lock):
                shutil.rmtree(folder, ignore_errors=True)


def _locked(file: IO[str]) -> bool:
    """Lock a file until it is closed. False where another process has, or locks are unknown."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

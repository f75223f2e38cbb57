"""A folder for what tests, and processes that they kill, leave in the system's temporary folder.

`tmp_path` stays where it is, for one looks into it after a test has failed. What is kept from run
to run lies beside it, see `lasting`.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_OWN = "PYTEST_DEBUG_TEMPROOT"
"""The variable by which pytest is told where `tmp_path` is."""


_PREFIX = "nnc-tests-"


class Scratch:
    """`TMPDIR` of this process and of those that it starts, until it is removed.

    That of a run that was killed is removed by the next.
    """

    def __init__(self) -> None:
        os.environ.setdefault(_OWN, tempfile.gettempdir())
        for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            with suppress(OSError), (left / "lock").open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = (self.path / "lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.path.chmod(0o755)  # confined commands read code there, as another user
        os.environ["TMPDIR"] = str(self.path)
        tempfile.tempdir = None

    def remove(self) -> None:
        """Remove all that is there."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


def lasting(name: str) -> Path:
    """A folder that the next run finds again."""
    folder = Path(os.environ.get(_OWN) or tempfile.gettempdir()) / name
    folder.mkdir(exist_ok=True)
    return folder

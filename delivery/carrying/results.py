"""Takes files that confined commands wrote out of their folder, without trusting them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from ...ir.diagnostics import NncError

MOST_JSON = 8 << 20
"""The most bytes of JSON that is read."""
_DEEPEST = 40


def take(home: Path, name: str, to: Path, most: int) -> Path:
    """Move a file out of a command's folder. Raises NncError if it is missing, special or too
    large.

    No command may run in the folder any more. Links are not followed, and a file with several hard
    links is refused.
    """
    *folders, last = name.split("/")
    with ExitStack() as opened:
        try:
            where = os.open(home, os.O_PATH | os.O_DIRECTORY)
            opened.callback(os.close, where)
            for part in folders:
                where = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=where)
                opened.callback(os.close, where)
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            handle = os.open(last, flags, dir_fd=where)
            opened.callback(os.close, handle)
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1:
                raise NncError(f"the result '{name}' is not a plain file")
            if about.st_size > most:
                raise NncError(f"the result '{name}' has {about.st_size:,} bytes, of {most:,}")
            if os.geteuid() == 0:
                os.fchown(handle, os.geteuid(), os.getegid())
            os.fchmod(handle, 0o600)
            os.rename(last, to, src_dir_fd=where)
        except OSError as error:
            raise NncError(f"there is no result '{name}': {error.strerror or error}") from None
    return to


def read_json(data: bytes, what: str) -> Any:
    """Parse JSON that a command wrote. Raises NncError if it is invalid, too large or too deep."""
    if len(data) > MOST_JSON:
        raise NncError(f"{what}: more than {MOST_JSON:,} bytes")
    try:
        found = json.loads(data)
        if _depth(found) <= _DEEPEST:
            return found
    except (ValueError, RecursionError):
        pass
    raise NncError(f"{what}: no JSON that can be read")


def _depth(value: Any) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, parts), default=0)


def remove(folder: Path) -> None:
    """Delete a command's folder with all contents, however deep and unwritable.

    Raises NncError if something remains.
    """
    for command in (["rm", "-rf", "--"], ["chmod", "-R", "u+rwX", "--"], ["rm", "-rf", "--"]):
        if not os.path.lexists(folder):
            return
        with suppress(OSError):
            subprocess.run([*command, str(folder)], stderr=subprocess.DEVNULL, check=False)
    if os.path.lexists(folder):
        raise NncError(f"cannot remove '{folder}'")

"""What commands call a user's file: its own name, as far as every program and shell takes it."""

from __future__ import annotations

import re
from pathlib import PurePath

INPUTS = "inputs.npz"
"""What commands call a file of inputs."""

_STRANGE = re.compile(r"[^\w.+() -]")
_LONGEST = 120
"""Bytes of a name; file systems take 255."""
_LONGEST_SUFFIX = 20


def file_name(name: str) -> str:
    """The name of a file in a job's folder for the name that a user's file has.

    Letters, digits, spaces and `_.+-()` stay, all else becomes `_`; it never begins with `-` or
    `.`, and is at most 120 bytes long, of which the extension stays. A name that this gives stays
    as it is.
    """
    found = _STRANGE.sub("_", name).lstrip("-. ").rstrip() or "model"
    if len(found.encode()) <= _LONGEST:
        return found
    suffix = PurePath(found).suffix
    suffix = suffix if len(suffix.encode()) <= _LONGEST_SUFFIX else ""
    stem = found.encode()[: _LONGEST - len(suffix.encode())].decode(errors="ignore")
    return stem.rstrip() + suffix

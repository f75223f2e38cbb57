"""Safe file names: a user's file keeps its name as far as every program and shell accepts it."""

from __future__ import annotations

import re
from pathlib import PurePath

INPUTS = "inputs.npz"
"""The name of the file of inputs in commands."""

_STRANGE = re.compile(r"[^\w.+() -]")
_LONGEST = 120
"""The most bytes of a name; file systems allow 255."""
_LONGEST_SUFFIX = 20


def file_name(name: str) -> str:
    """A safe name in a job's folder for a user's file name.

    Letters, digits, spaces and `_.+-()` stay, all else becomes `_`; it never begins with `-` or
    `.`, and has at most 120 bytes, including the whole extension. A safe name is returned
    unchanged.
    """
    found = _STRANGE.sub("_", name).lstrip("-. ").rstrip() or "model"
    if len(found.encode()) <= _LONGEST:
        return found
    suffix = PurePath(found).suffix
    suffix = suffix if len(suffix.encode()) <= _LONGEST_SUFFIX else ""
    stem = found.encode()[: _LONGEST - len(suffix.encode())].decode(errors="ignore")
    return stem.rstrip() + suffix

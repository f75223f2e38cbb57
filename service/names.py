"""Checks of names, identifiers and texts that come from outside."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

from .errors import InvalidError, NotFoundError

_ID = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)
_LONGEST_NAME = 200


def checked_id(id: str, what: str) -> str:
    """The identifier `id`. Raises NotFoundError for text that cannot be one."""
    if not _ID.fullmatch(id):
        raise NotFoundError(f"there is no such {what}")
    return id


def checked_name(name: str, what: str) -> str:
    """A name that is shown and never used as a path. Raises InvalidError."""
    if not name or len(name) > _LONGEST_NAME:
        raise InvalidError(f"{what} has 1 to {_LONGEST_NAME} characters, not {len(name)}")
    kinds = {unicodedata.category(character) for character in name}
    if any(kind.startswith("C") or kind in ("Zl", "Zp") for kind in kinds):
        raise InvalidError(f"{what} has a character that cannot be seen")
    return name


def checked_file_name(name: str) -> str:
    """The name of a file without a folder. Raises InvalidError."""
    checked_name(name, "the name of a file")
    if "/" in name or "\\" in name or name in (".", ".."):
        raise InvalidError(
            "the name of a file names no folder: it has no / or \\, and is not . or .."
        )
    return name


def storable(value: Any) -> Any:
    """JSON that every database accepts: no NUL in texts, and null for NaN and infinities."""
    match value:
        case str():
            return value.replace("\0", "").encode("utf-8", "replace").decode()
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {storable(str(key)): storable(part) for key, part in value.items()}
        case list() | tuple():
            return [storable(part) for part in value]
        case _:
            return value

"""JSON with a digest, so that changes after writing are noticed."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any


def sealed(about: dict[str, Any], indent: int | None = None) -> str:
    """The JSON text of `about` and of its digest."""
    return json.dumps({"about": about, "digest": digest(about)}, indent=indent)


def unsealed(text: bytes | str) -> dict[str, Any]:
    """The value given to `sealed`. Raises ValueError if the text was changed since."""
    found = json.loads(text)
    if not isinstance(found, dict) or not isinstance(found.get("about"), dict):
        raise ValueError("it is not JSON with a digest")
    if digest(found["about"]) != found.get("digest"):
        raise ValueError("its JSON was changed after it was written")
    return found["about"]


def digest(about: dict[str, Any]) -> str:
    """The SHA-256 of a value's JSON."""
    return sha256(json.dumps(about).encode()).hexdigest()

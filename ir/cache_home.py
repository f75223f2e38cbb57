"""Where nnc keeps what it can make again: grammar tables, compiled models."""

from __future__ import annotations

import os
from pathlib import Path


def cache_home() -> Path:
    """`$XDG_CACHE_HOME/nnc`, or `~/.cache/nnc`; it may not exist yet."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(home) if home and os.path.isabs(home) else Path(os.path.expanduser("~/.cache"))
    return base / "nnc"

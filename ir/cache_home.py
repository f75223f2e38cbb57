"""The user's folders for nnc's files: caches, data worth keeping, and settings."""

from __future__ import annotations

import os
from pathlib import Path


def cache_home() -> Path:
    """`$XDG_CACHE_HOME/nnc`, or `~/.cache/nnc`: compiled models and grammar tables, which nnc can
    make again. It may not exist yet.
    """
    return _home("XDG_CACHE_HOME", "~/.cache")


def data_home() -> Path:
    """`$XDG_DATA_HOME/nnc`, or `~/.local/share/nnc`: data that is costly to lose, such as the
    calibration of machines. It may not exist yet.
    """
    return _home("XDG_DATA_HOME", "~/.local/share")


def config_home() -> Path:
    """`$XDG_CONFIG_HOME/nnc`, or `~/.config/nnc`: what users have set. It may not exist yet."""
    return _home("XDG_CONFIG_HOME", "~/.config")


def _home(variable: str, usual: str) -> Path:
    home = os.environ.get(variable, "")
    base = Path(home) if home and os.path.isabs(home) else Path(os.path.expanduser(usual))
    return base / "nnc"

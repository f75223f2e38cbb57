"""Darknet: a `.cfg` file, with its weights in a `.weights` file beside it."""

from __future__ import annotations

from pathlib import Path

from ..common.front_end import FrontEnd
from .layer import DarknetLayer, rows


def _read(source):
    from .model import read

    return read(source)


def _files(path: Path) -> list[Path]:
    beside = path.with_suffix(".weights")
    return [path, beside] if beside.is_file() else [path]


FRONT_END = FrontEnd("Darknet", _read, rows, DarknetLayer, _files)

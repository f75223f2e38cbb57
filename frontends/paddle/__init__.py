"""PaddlePaddle's inference models: `.json` or `.pdmodel`, with `.pdiparams` beside it."""

from __future__ import annotations

from pathlib import Path

from ..common.front_end import FrontEnd
from .layer import PaddleLayer, rows


def _read(source):
    from .model import read

    return read(source)


def _files(path: Path) -> list[Path]:
    beside = path.with_suffix(".pdiparams")
    return [path, beside] if beside.is_file() else [path]


FRONT_END = FrontEnd("PaddlePaddle", _read, rows, PaddleLayer, _files)

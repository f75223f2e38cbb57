"""ncnn: a `.param` file, as text or binary, with its weights in a `.bin` file beside it."""

from __future__ import annotations

from pathlib import Path

from ..common.front_end import FrontEnd
from .layer import NcnnLayer, rows


def _read(source):
    from .model import read

    return read(source)


def _files(path: Path) -> list[Path]:
    from .model import weights_name

    beside = path.with_name(weights_name(path.name))
    return [path, beside] if beside.is_file() else [path]


FRONT_END = FrontEnd("ncnn", _read, rows, NcnnLayer, _files)

"""OpenVINO's intermediate representation in, a module of `nn` ops out: `NAME.xml` and `NAME.bin`.

`model` reads the graph, `constants` the weights, `layer` is what converters see, and `ops/` has
the operations of the opsets 1 to 16. Source: OpenVINO 2026.
"""

from __future__ import annotations

from pathlib import Path

from ..common.front_end import FrontEnd
from .layer import OpenvinoLayer, rows
from .model import read


def _files(path: Path) -> list[Path]:
    beside = path.with_suffix(".bin")
    return [path, beside] if beside.is_file() else [path]


FRONT_END = FrontEnd("OpenVINO", read, rows, OpenvinoLayer, _files)

__all__ = ["FRONT_END"]

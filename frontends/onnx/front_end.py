"""The front end of ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...ir.core import Operation
from ..common.front_end import Examination
from ..common.source import Source
from .examine import examine_model
from .importer import import_model
from .model import needs_other_files


class OnnxFrontEnd:
    """Models of ONNX: unlike other formats, nodes have schemas, versions and function bodies."""

    name = "ONNX"

    def import_model(self, source: Source, **choices: Any) -> Operation:
        """The module of nn ops for a model. Raises NncError."""
        return import_model(source, **choices)

    def examine_model(self, source: Source, **choices: Any) -> Examination:
        """The operators of a model, and its faults. Raises NncError for an invalid model."""
        return examine_model(source, **choices)

    def files(self, path: Path) -> Sequence[Path]:
        """The model's file; tensors may be in further files."""
        return [path]

    def needs_other_files(self, path: Path) -> bool:
        """Whether tensors are in files beside the model's own."""
        return needs_other_files(path)

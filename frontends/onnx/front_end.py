"""ONNX as one of the formats."""

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
    """Models of ONNX; its nodes have schemas, versions and function bodies that others lack."""

    name = "ONNX"

    def import_model(self, source: Source, **choices: Any) -> Operation:
        """The module of a model. Raises NncError."""
        return import_model(source, **choices)

    def examine_model(self, source: Source, **choices: Any) -> Examination:
        """What is in a model. Raises NncError where it is no valid one."""
        return examine_model(source, **choices)

    def files(self, path: Path) -> Sequence[Path]:
        """The model's file; tensors may lie in others."""
        return [path]

    def needs_other_files(self, path: Path) -> bool:
        """Whether tensors lie in files beside the model's own."""
        return needs_other_files(path)

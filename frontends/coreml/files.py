"""The files of a model: where errors point to, and where weights lie."""

from __future__ import annotations

import numpy as np

from ...ir.diagnostics import NncError
from ..common.source import Source

_ALIGNED = 64
_MARK = 0xDEADBEEF


class Files:
    """A model's files: where errors and weights are."""

    def __init__(self, source: Source, file: Source) -> None:
        self.source = source
        self._file = file
        self._weights: dict[str, np.ndarray] = {}

    def error(self, message: str) -> NncError:
        """An error that names the model."""
        return self.source.error(message)

    def bytes_at(self, name: str, offset: int) -> np.ndarray:
        """The bytes of a constant in a weights file, from the header at this offset.

        Source: apple/coremltools, mlmodel/src/MILBlob/Blob/StorageFormat.hpp
        """
        if name not in self._weights:
            self._weights[name] = self._file.beside(name.removeprefix("@model_path/")).data
        data = self._weights[name]
        if offset < 0 or offset % _ALIGNED or offset + _ALIGNED > data.size:
            raise self.error(f"a constant lies at byte {offset} of '{name}', which has no such")
        head = data[offset : offset + _ALIGNED]
        size, begin = (int(v) for v in head[8:24].view("<u8"))
        if int(head[:4].view("<u4")[0]) != _MARK or begin + size > data.size:
            raise self.error(f"'{name}' has no constant at byte {offset}")
        return data[begin : begin + size]

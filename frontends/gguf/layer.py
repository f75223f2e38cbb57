"""The table of the converters of GGUF's nodes, which the files of `ops/` fill."""

from __future__ import annotations

from ..common.rows import Rows

rows = Rows(__package__ or "")

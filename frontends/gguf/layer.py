"""The table of converters."""

from __future__ import annotations

from ..common.rows import Rows

rows = Rows(__package__ or "")

"""The table of the layers."""

from __future__ import annotations

from ..common.rows import Rows

rows = Rows(__package__ or "")

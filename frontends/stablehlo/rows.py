"""The table of StableHLO's operators."""

from ..common.rows import Rows

rows = Rows(__package__ or "")

"""The patterns of `--canonicalize` on the graph level."""

from __future__ import annotations

from . import narrow_parts, simplify_algebra, simplify_control, simplify_movement

PATTERNS = (
    *simplify_algebra.PATTERNS,
    *simplify_control.PATTERNS,
    *simplify_movement.PATTERNS,
    *narrow_parts.PATTERNS,
)

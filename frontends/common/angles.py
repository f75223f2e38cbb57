"""The angles of points."""

from __future__ import annotations

import math

from ...dialects import nn
from .terms import Term


def atan2(y: Term, x: Term) -> Term:
    """The angle of the point (x, y), of the origin 0."""
    angle = (y / x).function(nn.Atan)
    half = (y < 0.0).choose(y * 0.0 - math.pi, y * 0.0 + math.pi)
    upright = x.equals(0.0).choose(half * 0.5, angle + (x < 0.0).choose(half, 0.0))
    return (x.equals(0.0) & y.equals(0.0)).choose(0.0, upright)

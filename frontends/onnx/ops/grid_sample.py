"""GridSample, which reads an image at positions that a tensor gives, and AffineGrid: such tensors.

Source: ONNX GridSample-22, AffineGrid-20.
"""

from __future__ import annotations

from ....ir.core import Value
from ...common import grids
from ..node import Node
from ..registry import converter

_MODES = {"nearest": "nearest", "linear": "linear", "cubic": "cubic"}
_OLD_MODES = {"nearest": "nearest", "bilinear": "linear", "bicubic": "cubic"}


@converter("GridSample")
def grid_sample(n: Node, x: Value, grid: Value) -> Value:
    names = _MODES if n.opset >= 20 else _OLD_MODES
    default = "linear" if n.opset >= 20 else "bilinear"
    mode = names[n.string("mode", default, tuple(names))]
    padding = n.string("padding_mode", "zeros", grids.PADDINGS)
    corners = bool(n.int("align_corners"))
    return grids.grid_sample(n, x, grid, mode=mode, padding=padding, corners=corners)


@converter("AffineGrid")
def affine_grid(n: Node, theta: Value, size: Value) -> Value:
    rank = _spatial_rank(n, theta, size)
    return grids.affine_grid(n, theta, size, rank, bool(n.int("align_corners")))


def _spatial_rank(n: Node, theta: Value, size: Value) -> int:
    """2 or 3, from whatever tells it."""
    known, declared = theta.type.shape[1], n.declared_rank(0)
    if known is None and size.type.shape[0] is not None:
        known = size.type.shape[0] - 2
    if known is None and declared is not None:
        known = declared - 2
    if theta.type.rank != 3 or known not in (2, 3):
        raise n.error("the number of spatial dimensions must be known, and 2 or 3")
    return known

"""Functions of square matrices."""

from __future__ import annotations

from ....dialects import nn
from ....ir.core import Value
from ..node import Node
from ..registry import converter


@converter("Det")
def det(n: Node, x: Value) -> Value:
    return n(nn.Determinant(x))

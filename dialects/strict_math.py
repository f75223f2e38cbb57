"""Strict math: whether a module wants floats computed exactly as its operations are written."""

from __future__ import annotations

from .vocabulary import *

STRICT_MATH = "nn.strict_math"
"""A module with this attribute keeps its floating-point operations and their order.
Convolutions are not computed by algorithms with other operations, weights are not multiplied in
advance, sums are added in order, and floats of 16 bits are rounded after each operation. So the
results are those of the model's operations as they are written.
"""


def is_strict(op: Operation) -> bool:
    """Whether the outermost operation around `op` has the attribute."""
    while (parent := op.parent_op) is not None:
        op = parent
    return STRICT_MATH in op.attributes

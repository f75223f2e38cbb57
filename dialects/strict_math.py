"""Whether a module asks for floating-point results as written, operation by operation."""

from __future__ import annotations

from .vocabulary import *

STRICT_MATH = "nn.strict_math"
"""A module with this attribute keeps the order of its floating-point operations.

No algorithm with other operations takes the place of a convolution, no weights are multiplied
ahead, sums are added up in their order, and numbers of 16 bits are rounded after each operation;
results are then those of the operations as the model states them.
"""


def is_strict(op: Operation) -> bool:
    """Whether the outermost operation around `op` has the attribute."""
    while (parent := op.parent_op) is not None:
        op = parent
    return STRICT_MATH in op.attributes

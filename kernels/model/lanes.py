"""Stages that cannot be vectorized."""

from __future__ import annotations

from ...dialects import arith, linalg, memref
from ...ir.core import Operation
from ...ir.traits import ConstantLike, Elementwise
from .stages import Stage

_INTEGER_DIVISIONS = (
    arith.DivSI, arith.DivUI, arith.RemSI, arith.RemUI,
    arith.CeilDivSI, arith.CeilDivUI, arith.FloorDivSI,
)  # fmt: skip


def unvectorizable(stage: Stage) -> Operation | None:
    """An operation of the body that cannot work on lanes, or None.

    Integer divisions cannot: no processor has them on vectors, and idle lanes could divide
    by zero.
    """
    for op in stage.body_ops():
        if isinstance(op, _INTEGER_DIVISIONS):
            return op
        known = op.has_trait(Elementwise) or op.has_trait(ConstantLike)
        if not known and not isinstance(op, linalg.Index | memref.Load):
            return op
    return None

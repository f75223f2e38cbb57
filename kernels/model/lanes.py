"""Stages that cannot be vectorized."""

from __future__ import annotations

from ...dialects import arith, linalg, memref
from ...ir.core import Operation
from ...ir.traits import ConstantLike, Elementwise
from ...targets.processor import Processor
from .stages import Stage


def unvectorizable(stage: Stage, machine: Processor) -> Operation | None:
    """An operation of the body that cannot work on lanes, or None.

    An integer division cannot if the machine divides scalars only, or if a lane that is not used
    could divide by zero.
    """
    for op in stage.body_ops():
        if isinstance(op, arith.IntDivision):
            if not (machine.divides_lanes and op.is_speculatable()):
                return op
            continue
        known = op.has_trait(Elementwise) or op.has_trait(ConstantLike)
        if not known and not isinstance(op, linalg.Index | memref.Load):
            return op
    return None

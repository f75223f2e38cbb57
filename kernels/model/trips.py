"""How often operations run, as far as their loops tell."""

from __future__ import annotations

from ...dialects import scf
from ...ir.core import Operation
from ...ir.rewriting import constant_int
from .stages import UNKNOWN_EXTENT


def trips(op: Operation, inside: Operation | None) -> int:
    """How often an operation runs each time another one around it does."""
    count, around = 1, op.parent_op
    while around is not None and around is not inside:
        if isinstance(around, scf.For):
            lower, upper, step = (constant_int(v) for v in list(around.operands)[:3])
            known = lower is not None and upper is not None and step
            count *= max(1, -(-(upper - lower) // step)) if known else UNKNOWN_EXTENT  # type: ignore[operator]
        around = around.parent_op
    return count

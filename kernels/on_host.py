"""Kernels of a device's program that the host carries out, and why."""

from __future__ import annotations

from ..dialects import func, linalg, memref
from ..dialects.marks import ON_HOST
from ..ir.attributes import StringAttr
from ..ir.core import Operation, Value
from ..ir.traits import is_pure
from ..ir.types import MemRefType
from ..targets.attribute import TARGET, to_attribute
from ..targets.base import Target

VALUES_DECIDE = "values decide how much there is to do"


def keep_on_host(function: func.FuncOp, target: Target) -> None:
    """Mark a function of linalg operations that only the host can carry out: it is for the
    processor that launches the others, and gets a schedule of that.
    """
    reason = _reason(function)
    if reason is not None and target.caller is not target:
        function.attributes[ON_HOST] = StringAttr(reason)
        function.attributes[TARGET] = to_attribute(target.caller)


def _reason(function: func.FuncOp) -> str | None:
    decided = (
        value
        for op in function.walk()
        if isinstance(op, memref.Alloc) or _has_stages(op)
        for value in op.operands
    )
    return VALUES_DECIDE if any(map(comes_from_memory, decided)) else None


def _has_stages(op: Operation) -> bool:
    """Whether it is a loop or a branch around linalg operations."""
    return not isinstance(op, linalg.StructuredOp | func.FuncOp) and any(
        isinstance(inner, linalg.StructuredOp) for inner in op.walk()
    )


def comes_from_memory(value: Value) -> bool:
    """Whether a value was read from a buffer, or computed in loops that may do so."""
    seen: set[Value] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        op = one.defining_op
        if op is None or one in seen or isinstance(one.type, MemRefType):
            continue
        seen.add(one)
        if not is_pure(op) or op.regions:
            return True
        waiting += op.operands
    return False

"""Kernels of a device's program that must run on the host."""

from __future__ import annotations

from collections.abc import Iterator

from ..dialects import func, linalg, memref
from ..dialects.marks import KERNEL, ON_HOST
from ..ir.attributes import StringAttr
from ..ir.builder import Builder
from ..ir.core import Operation, Value
from ..ir.traits import is_pure
from ..ir.types import MemRefType
from ..targets.attribute import TARGET, to_attribute
from ..targets.base import Target

VALUES_DECIDE = "how much it computes depends on data"


def keep_on_host(function: func.FuncOp, target: Target) -> None:
    """Mark a function of linalg operations that only the host can run, if the device has a host. It
    then gets a schedule for the host's processor.
    """
    if target.caller is target:
        return
    reason = _reason(function, target)
    if reason is not None:
        function.attributes[ON_HOST] = StringAttr(reason)
        function.attributes[TARGET] = to_attribute(target.caller)


def copy_at_once(function: func.FuncOp, device: Target) -> None:
    """Make one operation of each copy of a whole buffer, in functions that call a device's kernels.

    Lowered to loops, such a copy would run on the host, element by element, over the device's
    memory.
    """
    if device.caller is device or KERNEL in function.attributes:
        return
    for op in list(function.body.blocks[0]):
        if isinstance(op, linalg.Copy):
            source, target = op.operands
            if source.type.element_type == target.type.element_type:  # type: ignore[attr-defined]
                Builder.before_op(op).insert(memref.Copy(source, target))
                op.erase()


def _reason(function: func.FuncOp, target: Target) -> str | None:
    decided = (
        value
        for op in function.walk()
        if isinstance(op, memref.Alloc) or _has_stages(op)
        for value in op.operands
    )
    if any(host_reads(value) is None for value in decided):
        return VALUES_DECIDE
    missing = next(filter(None, map(target.lacks, _in_kernels(function))), None)
    return f"'{target.name}' has no {missing}" if missing is not None else None


def _in_kernels(function: func.FuncOp) -> Iterator[Operation]:
    """The operations of a function without those by which the host computes sizes."""
    body = function.body.blocks[0]
    for op in function.walk():
        if op is not function and not (op.parent is body and is_pure(op) and not op.regions):
            yield op


def _has_stages(op: Operation) -> bool:
    """Whether an operation is a loop or branch around linalg operations."""
    return not isinstance(op, linalg.StructuredOp | func.FuncOp) and any(
        isinstance(inner, linalg.StructuredOp) for inner in op.walk()
    )


def comes_from_memory(value: Value) -> bool:
    """Whether a value was read from a buffer, or computed in loops that may do so."""
    return host_reads(value) != set()


def host_reads(value: Value) -> set[Operation] | None:
    """The reads by which the host of a device gets to know a value; None if it cannot.

    It may read a buffer of one element that the function itself has made, such as the number of
    elements that its kernels have found. What else is in memory stays where it is.
    """
    reads: set[Operation] = set()
    seen: set[Value] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        op = one.defining_op
        if op is None or one in seen or isinstance(one.type, MemRefType):
            continue
        seen.add(one)
        if _is_read_of_own_number(op):
            reads.add(op)
        elif not is_pure(op) or op.regions:
            return None
        waiting += op.operands
    return reads


def _is_read_of_own_number(op: Operation) -> bool:
    if not isinstance(op, memref.Load):
        return False
    made = op.memref.defined_by(memref.Alloc)
    return made is not None and made.memref.type.rank == 0

"""The buffers that a kernel takes as arguments, for calling it alone."""

from __future__ import annotations

from dataclasses import dataclass

from ..dialects import func, memref
from ..dialects.marks import PREPARED, WEIGHTS
from ..ir.core import BlockArgument, Value
from ..ir.types import FloatType, IntegerType, MemRefType

FLOATS = ("f16", "bf16", "f32", "f64")
SMALL = 8
"""Integers of at most this many bits are data; wider ones may be indices."""


@dataclass(frozen=True)
class Argument:
    """A buffer: its type as text, its size in bytes, how to fill it when its kernel is timed, and
    whether it holds weights.

    `fill` is the element type for floats (random numbers), `bytes` for small integers, and `zeros`
    for all others, which may be indices: 0 is always a valid one.
    """

    type: str
    bytes: int
    fill: str
    is_weight: bool


def arguments_of(kernel: func.FuncOp, call: func.Call | None) -> tuple[Argument, ...] | None:
    """The buffers of a kernel in the order of its arguments; `call` tells which hold weights. None
    if an argument is no buffer, or its size is unknown.
    """
    found = []
    given = call.operands if call is not None else [None] * len(kernel.function_type.inputs)
    for type, value in zip(kernel.function_type.inputs, given, strict=True):
        size = _bytes(type) if isinstance(type, MemRefType) else None
        if size is None:
            return None
        found.append(Argument(str(type), size, _fill(type), _is_weight(value)))
    return tuple(found)


def _bytes(type: MemRefType) -> int | None:
    """The bytes from the first to the end of the last element; None if unknown."""
    if not type.has_static_shape:
        return None
    found = type.strides_and_offset()
    if found is None or found[1] is None or None in found[0]:
        return None
    steps = zip(type.shape, found[0], strict=True)
    last = sum((extent - 1) * stride for extent, stride in steps)  # type: ignore[operator]
    return (last + 1) * type.element_type.byte_width if all(type.shape) else 0


def _fill(type: MemRefType) -> str:
    match type.element_type:
        case FloatType() as element if str(element) in FLOATS:
            return str(element)
        case IntegerType() as element if 1 < element.width <= SMALL:
            return "bytes"
    return "zeros"


def _is_weight(value: Value | None) -> bool:
    """Whether a buffer is a constant of the model, or a view of one, or of the weights' memory."""
    while value is not None:
        if isinstance(value, BlockArgument):
            return _is_marked(value)
        op = value.defining_op
        if isinstance(op, memref.GetGlobal):
            return True
        is_view = op is not None and op.name.startswith("memref.") and len(op.operands) > 0
        value = op.operands[0] if is_view and op is not None else None
    return False


def _is_marked(value: BlockArgument) -> bool:
    """Whether an argument of the entry is the weights' memory."""
    entry = value.owner.parent_op
    return isinstance(entry, func.FuncOp) and any(
        entry.arg_attribute(value.index, mark) is not None for mark in (WEIGHTS, PREPARED)
    )

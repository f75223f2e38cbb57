"""Making rows of elements of other rows, or of scalars."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import llvm
from ...ir.attributes import DenseArrayAttr, DenseElements, FloatAttr, IntegerAttr
from ...ir.core import Value
from ...ir.types import VectorType, i32, lane_type
from .conversion import FunctionLowering

ANY = -1
"""In a mask, the number of an element that may be anything."""


def shuffle(f: FunctionLowering, a: Value, b: Value | None, mask: Sequence[int]) -> Value:
    """A row of the elements whose indices `mask` lists; b's elements are counted after a's."""
    made = VectorType((len(mask),), lane_type(a.type))
    second = f.poison(a.type) if b is None else b
    properties = {"mask": DenseArrayAttr(i32, tuple(mask))}
    return f.emit(llvm.ShuffleVector, [a, second], made, properties)


def insert(f: FunctionLowering, row: Value, scalar: Value, at: Value) -> Value:
    """The row with its element `at` replaced by the scalar."""
    return f.emit(llvm.InsertElement, [row, scalar, at], row.type)


def splat(f: FunctionLowering, scalar: Value, size: int) -> Value:
    """A vector of `size` elements that all are the scalar; made once in a region."""
    type = VectorType((size,), scalar.type)
    op = scalar.defining_op
    if isinstance(op, llvm.Constant):
        value = op.properties["value"]
        if isinstance(value, (IntegerAttr, FloatAttr)):
            return f.constant(DenseElements.splat(value.value, type), type)
    computed = f.scopes[-1].computed
    key = ("splat", scalar, size)
    known = computed.get(key)
    if known is None:
        one = VectorType((1,), scalar.type) if size == 1 else type
        first = insert(f, f.poison(one), scalar, f.integer(0))
        known = first if size == 1 else shuffle(f, first, None, [0] * size)
        computed[key] = known
    return known


def element(f: FunctionLowering, row: Value, lane: int | Value) -> Value:
    """An element of a row."""
    at = f.integer(lane) if isinstance(lane, int) else lane
    return f.emit(llvm.ExtractElement, [row, at], lane_type(row.type))


def from_scalars(f: FunctionLowering, scalars: Sequence[Value]) -> Value:
    """A row of these scalars."""
    if len(scalars) > 1 and all(s is scalars[0] for s in scalars):
        return splat(f, scalars[0], len(scalars))
    type = VectorType((len(scalars),), scalars[0].type)
    row = f.poison(type)
    for i, scalar in enumerate(scalars):
        row = insert(f, row, scalar, f.integer(i))
    return row

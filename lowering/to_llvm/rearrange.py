"""Rows from the elements of others, or from scalars."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import llvm
from ...ir.attributes import DenseArrayAttr, DenseElements, FloatAttr, IntegerAttr
from ...ir.core import Value
from ...ir.types import Type, VectorType, bf16, i16, i32
from .conversion import FunctionLowering, element_of

ANY = -1
"""An element of which the value does not matter."""


def shuffle(f: FunctionLowering, a: Value, b: Value | None, mask: Sequence[int]) -> Value:
    """Elements of one or two vectors of the same type; those of the second count on."""
    of = element_of(a.type)
    first, other = as_bits(f, a), None if b is None else as_bits(f, b)
    made = VectorType((len(mask),), element_of(first.type))
    second = f.poison(first.type) if other is None else other
    properties = {"mask": DenseArrayAttr(i32, tuple(mask))}
    return from_bits(f, f.emit(llvm.ShuffleVector, [first, second], made, properties), of)


def as_bits(f: FunctionLowering, value: Value) -> Value:
    """The value as it is moved: bf16 as integers.

    LLVM 22 moves a bf16 of a vector by way of f32 on x86 without AVX-512, and calls a function of
    compilers' libraries for the way back, which a process need not have.
    """
    return f.cast(llvm.Bitcast, value, i16) if element_of(value.type) is bf16 else value


def from_bits(f: FunctionLowering, value: Value, element: Type) -> Value:
    """What was moved, as of its element type again."""
    return f.cast(llvm.Bitcast, value, bf16) if element is bf16 else value


def insert(f: FunctionLowering, row: Value, scalar: Value, at: Value) -> Value:
    """A row with another element at a place."""
    bits = as_bits(f, row)
    made = f.emit(llvm.InsertElement, [bits, as_bits(f, scalar), at], bits.type)
    return from_bits(f, made, scalar.type)


def splat(f: FunctionLowering, scalar: Value, size: int) -> Value:
    """A vector of `size` times the scalar; made once in a region."""
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
    bits = as_bits(f, row)
    found = f.emit(llvm.ExtractElement, [bits, at], element_of(bits.type))
    return from_bits(f, found, element_of(row.type))


def from_scalars(f: FunctionLowering, scalars: Sequence[Value]) -> Value:
    """A row of scalars."""
    if len(scalars) > 1 and all(s is scalars[0] for s in scalars):
        return splat(f, scalars[0], len(scalars))
    type = VectorType((len(scalars),), scalars[0].type)
    row = f.poison(type)
    for i, scalar in enumerate(scalars):
        row = insert(f, row, scalar, f.integer(i))
    return row

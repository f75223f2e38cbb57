"""How types of the loop level are represented at the llvm level.

A scalar is one LLVM value, and so is a vector of rank 0 or 1. A vector of higher rank is a
list of its innermost rows, in row-major order. A memref is a pointer to its first element
(index 0, .., 0) and those sizes and strides that its type does not say; so a static memref is
a bare pointer, in functions and everywhere else. See docs/decisions/ on memrefs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ...dialects import llvm
from ...ir.core import Value
from ...ir.diagnostics import NncError
from ...ir.types import (
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    Type,
    VectorType,
    i1,
    i8,
    i64,
    size_fault,
)

Size = int | Value
"""A size or stride: known, or an i64 value."""


@dataclass(frozen=True, slots=True)
class MemRef:
    """A memref in parts: the address of its first element, sizes and strides in elements."""

    pointer: Value
    sizes: tuple[Size, ...]
    strides: tuple[Size, ...]


@cache
def scalar_type(type: Type) -> Type:
    """The LLVM type of a scalar. Raises NncError for one that is not representable."""
    match type:
        case IndexType():
            return i64
        case IntegerType(width):
            return IntegerType(width)
        case FloatType("f16" | "bf16" | "f32" | "f64"):
            return type
        case FloatType():
            return IntegerType(8 * type.byte_width)
        case llvm.PointerType():
            return type
        case FunctionType():
            return llvm.ptr
    raise NncError(f"type {type} has no form in the llvm dialect")


@cache
def storage_type(type: Type) -> Type:
    """The type that an element has in memory: whole bytes."""
    scalar = scalar_type(type)
    if isinstance(scalar, IntegerType) and scalar.width % 8:
        return IntegerType(8 * scalar.byte_width)
    return scalar


def byte_width(type: Type) -> int:
    """Units: bytes of an element in memory."""
    return storage_type(type).byte_width  # type: ignore[attr-defined]


@cache
def row_type(type: VectorType) -> VectorType:
    """The 1-d vector type of the innermost rows; of one element for rank 0."""
    if type.scalable:
        raise NncError(f"scalable vectors are not supported: {type}")
    return VectorType(type.shape[-1:] or (1,), scalar_type(type.element_type))


def row_count(type: VectorType) -> int:
    """How many rows a vector has; 1 for rank 0 and 1."""
    return math.prod(type.shape[:-1])  # type: ignore[arg-type]


def is_rows(type: Type) -> bool:
    """Whether the type is a vector that is kept as a list of rows."""
    return isinstance(type, VectorType) and len(type.shape) > 1


@cache
def flat_types(type: Type) -> tuple[Type, ...]:
    """The LLVM types of the values that represent one of the type."""
    match type:
        case MemRefType():
            return llvm.ptr, *[i64] * len(dynamic_parts(type))
        case VectorType():
            return (row_type(type),) * row_count(type)
    return (scalar_type(type),)


@cache
def memref_layout(type: MemRefType) -> tuple[tuple[int | None, ...], int | None]:
    """Strides and offset in elements. Raises NncError for a layout without strides."""
    found = type.strides_and_offset()
    if found is None:
        raise NncError(f"layout of {type} is not strided, so it has no form in the llvm dialect")
    if not isinstance(type.element_type, (IntegerType, FloatType, IndexType)):
        raise NncError(f"elements of type {type.element_type} cannot be in memory")
    if fault := size_fault(type):
        raise NncError(fault)
    return found


@cache
def dynamic_parts(type: MemRefType) -> tuple[tuple[str, int], ...]:
    """What a memref carries beside its pointer: ("size", dim) and ("stride", dim).

    The strides of a contiguous memref follow from its sizes, so it carries none.
    """
    strides, _ = memref_layout(type)
    parts = [("size", i) for i, extent in enumerate(type.shape) if extent is None]
    if type.layout is not None:
        parts += [("stride", i) for i, stride in enumerate(strides) if stride is None]
    return tuple(parts)


def function_results(types: Sequence[Type]) -> Type | None:
    """The LLVM result of a function with these results: none, the only one, or a struct."""
    flat = [t for type in types for t in flat_types(type)]
    if not flat:
        return None
    return flat[0] if len(flat) == 1 else llvm.StructType(tuple(flat))


def mask_storage(type: VectorType) -> VectorType:
    """How a row of a vector lies in memory: i1 takes a byte."""
    if type.element_type is i1:
        return VectorType(type.shape, i8)
    return type

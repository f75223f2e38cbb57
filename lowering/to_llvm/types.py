"""How types of the loop level are represented at the llvm level.

A scalar is one LLVM value, and so is a vector of rank 0 or 1. A vector of higher rank is a list of
its innermost rows, in row-major order. A memref is a pointer to its first element (index 0, .., 0),
and its dynamic sizes and strides; so a static memref is a bare pointer, in functions and everywhere
else. See docs/decisions/0004-memrefs-are-pointers.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ...dialects import amx, llvm
from ...dialects.memref.layouts import open_parts
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
    i64,
    lane_type,
    size_fault,
)
from ...runtime.abi import ALIGNMENT

Size = int | Value
"""A size or stride: a number, or a value of the index type."""


@dataclass(frozen=True, slots=True)
class MemRef:
    """The parts of a memref: the address of its first element, its sizes, and its strides in
    elements.
    """

    pointer: Value
    sizes: tuple[Size, ...]
    strides: tuple[Size, ...]


@dataclass(frozen=True)
class TypeConverter:
    """The LLVM types of the loop level's types. `index` has the width of a pointer.

    See docs/decisions/0015-an-index-is-as-wide-as-a-pointer.md.
    """

    index: IntegerType

    def scalar(self, type: Type) -> Type:
        """The LLVM type of a scalar. Raises NncError for a type without one."""
        return _scalar_type(type, self.index)

    def row(self, type: VectorType) -> VectorType:
        """The type of a vector's innermost rows, a vector of rank 1; for rank 0 it
        has one element.
        """
        return _row_type(type, self.index)

    def element(self, type: Type) -> Type:
        """The LLVM type of a scalar, or of a vector's elements."""
        return self.scalar(lane_type(type))

    def scalar_or_row(self, type: Type) -> Type:
        """The LLVM type of a scalar, or of each row of a vector."""
        return self.row(type) if isinstance(type, VectorType) else self.scalar(type)

    def flat(self, type: Type) -> tuple[Type, ...]:
        """The LLVM types of the values that together represent a value of the type."""
        return _flat_types(type, self.index)

    def function_results(self, types: Sequence[Type]) -> Type | None:
        """The LLVM result of a function with these results: none, the only one, or a struct."""
        flat = [t for type in types for t in self.flat(type)]
        if not flat:
            return None
        return flat[0] if len(flat) == 1 else llvm.StructType(tuple(flat))

    def check_size(self, type: MemRefType) -> None:
        """Raise NncError for a buffer so large that offsets in it exceed a signed index."""
        _check_size(type, self.index)


@cache
def _check_size(type: MemRefType, index: IntegerType) -> None:
    most = 2 ** (index.width - 1) - ALIGNMENT
    if fault := size_fault(type, most):
        raise NncError(f"{fault}, which is what {index.width} bits can address")


@cache
def _scalar_type(type: Type, index: IntegerType) -> Type:
    match type:
        case IndexType():
            return index
        case IntegerType(width):
            return IntegerType(width)
        case FloatType("f16" | "f32" | "f64"):
            return type
        case FloatType():  # bf16 too: LLVM 22 moves it by way of f32 on x86 without AVX-512
            return IntegerType(8 * type.byte_width)
        case llvm.PointerType():
            return type
        case FunctionType():
            return llvm.ptr
    raise NncError(f"type {type} has no form in the llvm dialect")


@cache
def storage_type(type: Type) -> Type:
    """The type of an element in memory: whole bytes. An index has 8 bytes on every target."""
    scalar = _scalar_type(type, i64)
    if isinstance(scalar, IntegerType) and scalar.width % 8:
        return IntegerType(8 * scalar.byte_width)
    return scalar


def byte_width(type: Type) -> int:
    """The size of an element in memory. Units: bytes."""
    return storage_type(type).byte_width  # type: ignore[attr-defined]


@cache
def _row_type(type: VectorType, index: IntegerType) -> VectorType:
    if type.scalable:
        raise NncError(f"scalable vectors are not supported: {type}")
    return VectorType(row_shape(type), _scalar_type(type.element_type, index))


def row_shape(type: VectorType) -> tuple[int, ...]:
    """The shape of a vector's innermost rows."""
    return type.shape[-1:] or (1,)


def row_count(type: VectorType) -> int:
    """The number of a vector's rows; 1 for rank 0 and 1."""
    return math.prod(type.shape[:-1])


def is_rows(type: Type) -> bool:
    """Whether the type is a vector that is kept as a list of rows."""
    return isinstance(type, VectorType) and len(type.shape) > 1


@cache
def _flat_types(type: Type, index: IntegerType) -> tuple[Type, ...]:
    match type:
        case amx.TileType():  # in a register that its function chooses
            return ()
        case MemRefType():
            _check_size(type, index)
            return llvm.ptr, *[index] * len(dynamic_parts(type))
        case VectorType():
            return (_row_type(type, index),) * row_count(type)
    return (_scalar_type(type, index),)


@cache
def memref_layout(type: MemRefType) -> tuple[tuple[int | None, ...], int | None]:
    """The strides and the offset, in elements. Raises NncError for a layout without strides."""
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
    """The values that represent a memref besides its pointer: ("size", dim) and ("stride", dim)."""
    memref_layout(type)
    return open_parts(type)

"""Constant matrices of 8-bit integers by which only a few rows are multiplied.

    w = mul(sub(cast(bytes), zero), scale)    [K, N], or the transpose of such [N, K]
    x @ w                                     x of few rows

The time of such a product is that of reading the matrix, and bytes are a fourth of f32. Scale and
zero point are one number for the matrix, or one for each column.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ...dialects import nn
from ...ir.builder import Builder
from ...ir.core import Value
from ...ir.types import FloatType, IntegerType, TensorType, f32, i32
from ...targets.machine import Machine
from .building import cast, element_of, is_arranged_constant, reshape, scalar, shape_of
from .integer_products import behind

BYTE = IntegerType(8, "u")


@dataclass
class ByteMatrix:
    """A matrix (q - zero) * scale, with integers q [K, N], or [N, K] if `is_transposed`."""

    integers: Value
    scale: Value | None = None
    zero: Value | None = None
    is_transposed: bool = False


def byte_matrix(value: Value) -> ByteMatrix | None:
    """The constant integers, with scale and zero point, from which a matrix is dequantized; None
    for another matrix.
    """
    found = ByteMatrix(value)
    while True:
        op = found.integers.defining_op
        match op:
            case nn.Transpose() if op.permutation == (1, 0):
                found.integers, found.is_transposed = op.x, not found.is_transposed
            case nn.Mul() if found.scale is None and found.zero is None:
                sides = (op.lhs, op.rhs), (op.rhs, op.lhs)
                side = next(
                    (s for s in sides if _is_per_column(s[1], s[0], found.is_transposed)), None
                )
                if side is None:
                    return None
                found.integers, found.scale = side
            case nn.Sub() if found.zero is None and _is_per_column(
                op.rhs, op.lhs, found.is_transposed
            ):
                found.integers, found.zero = op.lhs, op.rhs
            case nn.Cast():
                found.integers = op.x
                return found if _is_bytes(op.x) and _is_wide(op.out) else None
            case _:
                return None


def _is_bytes(value: Value) -> bool:
    element = element_of(value)
    whole = isinstance(element, IntegerType) and element.width == 8
    return whole and len(shape_of(value)) == 2 and is_arranged_constant(value)


def _is_wide(value: Value) -> bool:
    return isinstance(element_of(value), FloatType)


def _is_per_column(parameter: Value, matrix: Value, is_transposed: bool) -> bool:
    """Whether a constant is one number for the matrix, or one for each column."""
    shape, of = shape_of(parameter), shape_of(matrix)
    made = parameter.defined_by(nn.Cast)
    if (
        not is_arranged_constant(parameter if made is None else made.x)
        or len(of) != 2
        or len(shape) > 2
    ):
        return False
    padded = (*(1,) * (2 - len(shape)), *shape)
    column = 0 if is_transposed else 1
    return padded[1 - column] == 1 and padded[column] in (1, of[column])


def byte_columns(product: nn.Matmul, machine: Machine) -> nn.Dequantize | None:
    """The right-hand side of a product, dequantized from bytes in one group for each column.

    None unless few rows are multiplied with a matrix that is too large for the near caches.
    """
    rows, matrix = shape_of(product.lhs)[:-1], shape_of(product.rhs)
    if len(matrix) != 2 or not rows or None in (*rows, *matrix) or not _is_wide(product.out):
        return None
    count, size = prod(e for e in rows if e is not None), prod(e for e in matrix if e is not None)
    is_near = size * f32.byte_width <= machine.private_memory.bytes
    if not 0 < count <= machine.costs.loops.stream_readers or is_near:
        return None
    found = byte_matrix(product.rhs)
    if found is None or byte_matrix(product.lhs) is not None:
        return None
    return _grouped(Builder.before_op(product), found)


def _grouped(b: Builder, found: ByteMatrix) -> nn.Dequantize:
    """The integers as bytes [N, 1, K], with K filled up with zeros to whole words."""
    rows = found.integers
    if not found.is_transposed:
        rows = b.insert(nn.Transpose(rows, permutation=(1, 0))).result
    N, K = shape_of(rows)
    assert N is not None and K is not None
    middle = 0
    if element_of(rows) is not BYTE:
        middle = 128
        wide = cast(b, rows, i32)
        rows = cast(b, b.insert(nn.Add(wide, scalar(b, middle, i32))).result, BYTE)
    rows = behind(b, rows, (0, -K % 4))
    rows = reshape(b, rows, (N, 1, K + -K % 4))
    scale = _of_columns(b, found.scale, N)
    if found.zero is None:
        return b.insert(nn.Dequantize(rows, scale, None, bits=8, middle=middle))
    zero = _of_columns(b, found.zero, N)
    moved = b.insert(nn.Add(zero, scalar(b, float(middle), f32))).result
    offset = b.insert(nn.Neg(b.insert(nn.Mul(moved, scale)).result)).result
    return b.insert(nn.Dequantize(rows, scale, offset, bits=8, middle=0))


def _of_columns(b: Builder, parameter: Value | None, N: int) -> Value:
    """A parameter as [N, 1], a number for each of N columns; ones if there is no parameter."""
    number = scalar(b, 1.0, f32) if parameter is None else cast(b, parameter, f32)
    count = prod(e for e in shape_of(number) if e is not None)
    if count != 1 or N == 1:
        return reshape(b, number, (N, 1))
    return b.insert(nn.BroadcastTo(reshape(b, number, (1, 1)), out=TensorType((N, 1), f32))).result

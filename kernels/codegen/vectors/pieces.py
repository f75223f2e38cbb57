"""Pieces: the target's values into which an n-dimensional vector is divided.

A piece is one of
    a scalar Value      the same in all lanes; repeated where a vector is needed
    Strided             a scalar plus the lane's number times a constant
    Leading             a mask of the first lanes, as many as `count`
    a vector Value      anything else
"""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import arith
from ....ir.core import Operation, Value
from ....ir.rewriting import constant_int
from ....ir.types import VectorType
from ..addresses.walk import Walk


@dataclass(frozen=True, eq=False, slots=True)
class Strided:
    """`base + step * lane`, of index type."""

    base: Value | int
    step: int


@dataclass(frozen=True, eq=False, slots=True)
class Leading:
    """True in the first `count` lanes, a number or a value of index type."""

    count: Value | int


Piece = Value | Strided | Leading


def is_vector(piece: Piece) -> bool:
    """Whether the lanes of a piece differ."""
    return not isinstance(piece, Value) or isinstance(piece.type, VectorType)


def as_vector(code: Walk, piece: Piece, width: int) -> Value:
    """A piece as a vector of `width` lanes."""
    if isinstance(piece, Value):
        return piece if isinstance(piece.type, VectorType) else code.splat(piece, width)
    if isinstance(piece, Leading):
        return code.mask(piece.count, width)
    start = code.splat(code.as_value(piece.base), width)
    return code.binary(arith.AddI, start, code.lane_numbers(piece.step, width))


def index_piece(code: Walk, op_class: type[Operation], a: Piece, b: Piece) -> Piece | None:
    """The sum, difference or product of index pieces that do not need vectors, else None."""
    if isinstance(a, Value) and isinstance(b, Value):
        if isinstance(a.type, VectorType) or isinstance(b.type, VectorType):
            return None
        if op_class is arith.SubI:
            return code.binary(op_class, a, b)
        return code.as_value(_scalar(code, op_class, a, b))
    if op_class is arith.MulI:
        if isinstance(b, Strided):
            a, b = b, a
        factor = constant_int(b) if isinstance(b, Value) else None
        if not isinstance(a, Strided) or factor is None:
            return None
        return Strided(code.multiply(a.base, factor), a.step * factor)
    one, two = _as_strided(a), _as_strided(b)
    if one is None or two is None:
        return None
    if op_class is arith.SubI:
        first, second = code.as_value(one.base), code.as_value(two.base)
        base: Value | int = code.binary(op_class, first, second)
        step = one.step - two.step
    else:
        base, step = code.add(one.base, two.base), one.step + two.step
    return Strided(base, step) if step else code.as_value(base)


def _scalar(code: Walk, op_class: type[Operation], a: Value, b: Value) -> Value | int:
    numbers = constant_int(a), constant_int(b)
    x = a if numbers[0] is None else numbers[0]
    y = b if numbers[1] is None else numbers[1]
    return code.add(x, y) if op_class is arith.AddI else code.multiply(x, y)


def _as_strided(piece: Piece) -> Strided | None:
    if isinstance(piece, Strided):
        return piece
    if isinstance(piece, Value) and not isinstance(piece.type, VectorType):
        return Strided(piece, 0)
    return None

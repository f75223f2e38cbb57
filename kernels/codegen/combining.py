"""The operation that each kind of reduction combines with, and its identity element."""

from __future__ import annotations

import math

from ...dialects import arith
from ...ir.core import Operation
from ...ir.types import FloatType, IndexType, IntegerType, Type, f32, f64
from ..model.stages import COMBINERS

FUSED_TYPES = (f32, f64)
"""The element types that targets multiply and add in one step."""

_ON_FLOATS = frozenset(
    (arith.AddF, arith.MulF, arith.MaximumF, arith.MinimumF, arith.MaxNumF, arith.MinNumF)
)

_COMBINERS = {(name, cls in _ON_FLOATS): cls for cls, name in COMBINERS.items()}


def combiner_op(kind: str, type: Type) -> type[Operation]:
    """The operation of a kind of reduction on this element type."""
    return _COMBINERS[kind, isinstance(type, FloatType)]


def identity(kind: str, type: Type) -> float | int:
    """The e with x op e = x for a kind of reduction; an index has 64 bits, as it has in memory."""
    match kind:
        case "add" | "or" | "xor" | "maxui":
            return 0
        case "mul":
            return 1
        case "and" | "minui":
            return -1
        case "maximumf" | "maxnumf":
            return -math.inf
        case "minimumf" | "minnumf":
            return math.inf
    assert isinstance(type, IntegerType | IndexType)
    width = type.width if isinstance(type, IntegerType) else 8 * type.byte_width
    low = -(1 << (width - 1))
    return low if kind == "maxsi" else -1 - low

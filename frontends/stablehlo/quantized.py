"""Quantized tensors, whose values in the import are integers.

An operation that only moves elements of one type moves the integers. Any other is computed on the
real numbers that its operands stand for, and its results are quantized, as the specification of
StableHLO says. In the regions of such an operation, all numbers are real.
"""

from __future__ import annotations

from typing import Any

from ...dialects.quant import UniformType
from ...ir.core import Operation
from ...ir.types import TensorType, Type

_OF_INTEGERS = """
    func.call func.return stablehlo.bitcast_convert stablehlo.case stablehlo.composite
    stablehlo.constant stablehlo.custom_call stablehlo.get_tuple_element stablehlo.if
    stablehlo.optimization_barrier stablehlo.return stablehlo.tuple stablehlo.while
"""
ON_INTEGERS = frozenset(_OF_INTEGERS.split())
"""Operations that always work on the integers of quantized tensors."""

_MOVERS = """
    broadcast broadcast_in_dim concatenate dynamic_broadcast_in_dim dynamic_gather dynamic_pad
    dynamic_reshape dynamic_slice dynamic_update_slice gather pad real_dynamic_slice reshape reverse
    slice torch_index_select transpose
"""
MOVERS = frozenset(f"stablehlo.{name}" for name in _MOVERS.split())
"""Operations that only move elements."""


def quantized(type: Type) -> UniformType | None:
    """The type of the elements of a quantized tensor, None for other types."""
    element = getattr(type, "element_type", None)
    return element if isinstance(element, UniformType) else None


def stored(type: Any) -> Any:
    """The type of a tensor's integers; any other type itself."""
    kind = quantized(type)
    return type if kind is None else TensorType(type.shape, kind.storage)


def expressed(type: Any) -> Any:
    """The type of the real numbers that a quantized tensor stands for; any other type itself."""
    kind = quantized(type)
    return type if kind is None else TensorType(type.shape, kind.expressed)


def works_on_integers(op: Operation) -> bool:
    """Whether an operation with quantized operands or results works on their integers."""
    kinds = {kind for type in (*op.operand_types, *op.result_types) if (kind := quantized(type))}
    if not kinds or op.name in ON_INTEGERS:
        return True
    (first, *others) = kinds
    return op.name in MOVERS and not others and first.axis is None

"""Type promotion of `keras.ops`.

Types form a lattice, in which a Python number has its own position below the types of its kind; a
result has the least type above all of its operands (Keras 3, `keras.backend.result_type`, which is
JAX's rule with 64 bits where TensorFlow has them).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from ...ir.core import Value
from ...ir.numpy_types import numpy_to_type, type_to_numpy
from ...ir.types import FloatType, Type, f32, f64, i1, i32, i64
from .structures import TYPES

ABOVE: Mapping[str, str] = {
    "bool": "int", "int": "uint8 int8", "uint8": "int16 uint16", "uint16": "int32 uint32",
    "uint32": "int64 uint64", "uint64": "float", "int8": "int16", "int16": "int32",
    "int32": "int64", "int64": "float", "float": "bfloat16 float16", "bfloat16": "float32",
    "float16": "float32", "float32": "float64", "float64": "",
}  # fmt: skip
"""The type lattice: the next larger types of each type; `int` and `float` are Python's numbers."""
NAMES = {element: name for name, element in TYPES.items()}


@cache
def _bounds(name: str) -> frozenset[str]:
    """A type and all types above it."""
    return frozenset({name}).union(*(_bounds(one) for one in ABOVE[name].split()))


def result_type(*operands: Type | type) -> Type:
    """The promoted type of element types, and of `bool`, `int` and `float` for Python numbers."""
    names = {one.__name__ if isinstance(one, type) else NAMES[one] for one in operands}
    if len(names) == 1 and not names & {"int", "float"}:
        return TYPES[names.pop()]  # also one that is not in the lattice
    common = frozenset.intersection(*(_bounds(name) for name in names))
    least = max(common, key=lambda name: len(_bounds(name) & common))
    return {"int": i32, "float": f32}.get(least) or TYPES[least]


def type_of(operand: Any, is_weak: bool) -> Type | type:
    """The type of an operand (a tensor, number or array) in promotion.

    A number `is_weak` if the operation gives it the other operand's type; else it counts as a
    tensor of 32 bits.
    """
    if isinstance(operand, Value):
        return operand.type.element_type
    if isinstance(operand, np.ndarray):
        return numpy_to_type(operand.dtype)
    if is_weak and isinstance(operand, int | float):
        return type(operand)
    kind = np.asarray(operand).dtype.kind
    return {"b": i1, "f": f32}.get(kind, i32)


def wide_floating(element: Type) -> Type:
    """Floats unchanged; 64-bit integers as f64, all others as f32."""
    if isinstance(element, FloatType):
        return element
    return f64 if element is i64 else f32


def greatest(element: FloatType) -> float:
    """The largest finite number of a float type."""
    import ml_dtypes  # slow to import

    return float(ml_dtypes.finfo(type_to_numpy(element)).max)

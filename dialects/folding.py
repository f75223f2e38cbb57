"""Folding elementwise operations on constant attributes, exactly as their types compute.

The numbers are Python's: ints in the signed range of their type (i1 as 0 or 1) and floats.
NumPy is not needed, and any width works.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from .ub import POISON, PoisonAttr
from .vocabulary import *

Number = int | float

LARGEST_FOLDED = 1024
"""The most elements of a dense constant that folding makes: larger ones make the IR and the
compiler slow."""


@lru_cache(1024)
def width_of(type: Type) -> int:
    """The bits of an integer or index type, or of the elements of a shaped type."""
    element = element_type(type)
    return 64 if isinstance(element, IndexType) else element.width  # type: ignore[attr-defined]


def wrap(value: int, type: Type) -> int:
    """The value modulo 2 to the width, as attributes keep it."""
    return _AS_INT64.wrap(value) if isinstance(type, IndexType) else type.wrap(value)  # type: ignore[attr-defined]


def unsigned(value: int, width: int) -> int:
    """The bits of a value read as an unsigned number."""
    return value & ((1 << width) - 1)


def signed(value: int, width: int) -> int:
    """The bits of a value read as a signed number; differs from the attribute's for i1 only."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


_AS_INT64 = IntegerType(64)


def number_attribute(value: Number, type: Type) -> Attribute | None:
    """A constant of the type with this value, a splat if it is shaped; None for other types."""
    element = element_type(type)
    match element:
        case IndexType() | IntegerType():
            value = wrap(int(value), element)
        case FloatType():
            value = element.round(value if isinstance(value, float) else float(value))
        case _:
            return None
    if isinstance(type, ShapedType):
        return DenseElements.splat(value, type) if type.has_static_shape else None
    if type is not element:
        return None
    return FloatAttr(value, type) if isinstance(type, FloatType) else IntegerAttr(int(value), type)


def numbers_of(attribute: Attribute | None) -> list[Any] | None:
    """The elements of a constant (one for a scalar or splat); None if unknown or too many."""
    match attribute:
        case IntegerAttr(value) | FloatAttr(value):
            return [value]
        case DenseElements(type) if attribute.strings is None:
            if attribute.is_splat or type.num_elements <= LARGEST_FOLDED:
                return attribute.values()
    return None


def fold_elementwise(
    compute: Callable[..., Number | None],
    constants: Sequence[Attribute | None],
    type: Type,
) -> Attribute | None:
    """The constant that `compute` gives for the elements of scalar, splat or small dense constants.

    None if a constant is unknown, or `compute` returns None because the result is undefined or
    better computed at run time. If an operand is poison, so is the result.
    """
    if all(c.__class__ is IntegerAttr for c in constants) and not isinstance(type, FloatType):
        # By far the most common, and with nothing to spread out.
        value = compute(*[c.value for c in constants])  # type: ignore[union-attr]
        return None if value is None else number_attribute(value, type)
    if any(isinstance(c, PoisonAttr) for c in constants):
        return POISON
    if any(c is None for c in constants):
        return None  # before the elements of the others are looked at
    columns = [numbers_of(c) for c in constants]
    element = element_type(type)
    if any(c is None for c in columns) or _is_inexact(element, constants):
        return None
    if isinstance(type, ShapedType) and not type.has_static_shape:
        return None
    count = max(len(c) for c in columns)  # type: ignore[arg-type]
    rows = zip(*[c * count if len(c) != count else c for c in columns], strict=True)  # type: ignore[operator,arg-type]
    results = [compute(*row) for row in rows]
    values = [v for v in results if v is not None]
    if len(values) != len(results):
        return None
    if count == 1:
        return number_attribute(values[0], type)  # type: ignore[arg-type]
    if isinstance(element, FloatType):
        rounded = [element.round(v if isinstance(v, float) else float(v)) for v in values]
        return DenseElements.from_list(rounded, type)  # type: ignore[arg-type]
    return DenseElements.from_list([wrap(int(v), element) for v in values], type)  # type: ignore[arg-type]


def _is_inexact(element: Type, constants: Sequence[Attribute | None]) -> bool:
    """Whether a Python float cannot hold every value of a type."""
    types = [element, *(element_type(c.type) for c in constants)]  # type: ignore[union-attr]
    return any(isinstance(t, FloatType) and t.kind in ("f80", "f128") for t in types)


def is_constant_number(attribute: Attribute | None, wanted: Callable[[Any], bool]) -> bool:
    """Whether an attribute is a scalar or splat constant for which `wanted` is true."""
    match attribute:
        case IntegerAttr(value) | FloatAttr(value):
            return wanted(value)
        case DenseElements() if attribute.strings is None and attribute.is_splat:
            return wanted(attribute.values()[0])
    return False


def same_number(value: float, wanted: float) -> bool:
    """Whether two floats are equal, where -0.0 and 0.0 differ and NaN equals NaN."""
    if math.isnan(wanted):
        return math.isnan(value)
    return value == wanted and math.copysign(1.0, value) == math.copysign(1.0, wanted)


def round_exactly(value: Fraction, type: FloatType) -> float:
    """An exact number rounded once to the type, ties to even.

    Rounding to f64 first would round twice. So f64 gets 53 bits rounded to odd, after which the
    rounding to a narrower type is still right. Source: Boldo and Melquiond, "Emulation of a
    FMA and correctly rounded sums: proved algorithms using rounding to odd" (2008).
    """
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    if type.kind == "f64" or math.isinf(nearest) or Fraction(nearest) == value:
        return type.round(nearest)
    mantissa, _ = math.frexp(nearest)
    if int(math.ldexp(mantissa, 53)) % 2 == 0:
        toward = math.inf if Fraction(nearest) < value else -math.inf
        nearest = math.nextafter(nearest, toward)
    return type.round(nearest)

"""Type constraints of operands and results: what is allowed, and what can be inferred.

A constraint describes itself in words, checks a type, and may derive a missing type from
the types of other fields of the same op, which lets text leave those types out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .types import (
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    TensorType,
    Type,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
    element_type,
)


@dataclass(frozen=True)
class Constraint:
    """A predicate on a type and its description: `lhs must be floating-point-like, but got i32`."""

    description: str
    allows: Callable[[Type], bool]

    def __or__(self, other: Constraint) -> Constraint:
        return Constraint(
            f"{self.description} or {other.description}",
            lambda t: self.allows(t) or other.allows(t),
        )


@dataclass(frozen=True)
class Exactly(Constraint):
    """One single type, which text need not give."""

    type: Type

    def __init__(self, type: Type, description: str) -> None:
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "description", description)
        object.__setattr__(self, "allows", lambda t: t is type)


@dataclass(frozen=True)
class Same(Constraint):
    """The same type as another field's; either one can be inferred from the other."""

    field: str

    def __init__(self, field: str) -> None:
        object.__setattr__(self, "field", field)
        object.__setattr__(self, "description", f"the same type as {field}")
        object.__setattr__(self, "allows", lambda t: True)


@dataclass(frozen=True)
class Derived(Constraint):
    """A type computed from another field's type, such as a memref's element type.

    `derive` returns None where the other type does not determine this one.
    """

    field: str
    derive: Callable[[Type], Type | None]

    def __init__(self, field: str, derive: Callable[[Type], Type | None], description: str) -> None:
        object.__setattr__(self, "field", field)
        object.__setattr__(self, "derive", derive)
        object.__setattr__(self, "description", description)
        object.__setattr__(self, "allows", lambda t: True)


def element_of(field: str) -> Derived:
    """The element type of another field's shaped type."""
    return Derived(field, element_type, f"the element type of {field}")


def _is(*classes: type) -> Callable[[Type], bool]:
    return lambda t: isinstance(t, classes)


def _scalar_of(allows: Callable[[Type], bool]) -> Callable[[Type], bool]:
    """A test for scalar types that satisfy `allows`, and for vectors and tensors of them."""
    shaped = (VectorType, TensorType, UnrankedTensorType)
    return lambda t: allows(t) or (isinstance(t, shaped) and allows(t.element_type))


_signless = lambda t: isinstance(t, IntegerType) and t.is_signless  # noqa: E731

AnyType = Constraint("any type", lambda t: True)
AnyInteger = Constraint("integer", _is(IntegerType))
Index = Exactly(IndexType(), "index")
I1 = Exactly(IntegerType(1), "1-bit signless integer")
SignlessIntegerOrIndex = Constraint(
    "signless integer or index", lambda t: _signless(t) or isinstance(t, IndexType)
)
FloatLike = Constraint("floating-point-like", _scalar_of(_is(FloatType)))
SignlessIntegerLike = Constraint("signless-integer-like", _scalar_of(SignlessIntegerOrIndex.allows))
SignlessFixedWidthIntegerLike = Constraint(
    "signless-fixed-width-integer-like", _scalar_of(_signless)
)
BoolLike = Constraint("bool-like", _scalar_of(lambda t: t is IntegerType(1)))
AnyVector = Constraint("vector of any type values", _is(VectorType))
AnyVectorOfNonZeroRank = Constraint(
    "vector of any type values", lambda t: isinstance(t, VectorType) and t.rank > 0
)
AnyRankedTensor = Constraint("ranked tensor of any type values", _is(TensorType))
AnyTensor = Constraint("tensor of any type values", _is(TensorType, UnrankedTensorType))
AnyMemRef = Constraint("memref of any type values", _is(MemRefType))
AnyRankedOrUnrankedMemRef = Constraint(
    "ranked or unranked memref of any type values", _is(MemRefType, UnrankedMemRefType)
)
AnyFunction = Constraint("function type", _is(FunctionType))

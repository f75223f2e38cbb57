"""Complex numbers as two tensors, which `nn` has no elements for.

An input or output of complex elements is one of real ones with a last dimension of two, the real
and the imaginary part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from ...ir.core import Value
from ...ir.types import ComplexType, TensorType, Type
from .layer import Layer
from .terms import Term, joined


@dataclass(frozen=True)
class Pair:
    """A complex tensor."""

    real: Value
    imag: Value

    @property
    def type(self) -> TensorType:
        """The type of either part."""
        return self.real.type  # type: ignore[return-value]


def is_complex(type: Type) -> bool:
    """Whether a type is that of a complex tensor."""
    return isinstance(type, TensorType) and isinstance(type.element_type, ComplexType)


def outside(type: Type) -> Type:
    """The type that an input or output has outside."""
    if not is_complex(type):
        return type
    assert isinstance(type, TensorType)
    return TensorType((*type.shape, 2), type.element_type.element_type)


def by_parts(convert: Callable[..., Any]) -> Callable[..., Any]:
    """A converter that moves elements, for complex operands too: each part goes its own way."""

    @wraps(convert)
    def converted(n: Layer, *values: Any) -> Any:
        if not any(isinstance(v, Pair) for v in values):
            return convert(n, *values)
        parts = [
            convert(n, *(getattr(v, part) if isinstance(v, Pair) else v for v in values))
            for part in ("real", "imag")
        ]
        return Pair(*parts)

    return converted


def flat(values: Sequence[Any]) -> list[Value]:
    """The tensors of values, those of a complex one after each other."""
    found: list[Value] = []
    for value in values:
        found += [value.real, value.imag] if isinstance(value, Pair) else [value]
    return found


def like(values: Sequence[Value], pattern: Sequence[Any]) -> list[Any]:
    """What `flat` made of values as those of the pattern, put together again."""
    rest = iter(values)
    return [Pair(next(rest), next(rest)) if isinstance(p, Pair) else next(rest) for p in pattern]


def split(n: Layer, x: Value) -> Pair:
    """An input of two parts as a complex tensor."""
    term = Term(n, x)
    return Pair(term.column(0).value, term.column(1).value)


def together(n: Layer, x: Pair) -> Value:
    """A complex tensor as an output of two parts."""
    return joined([Term(n, part).spread(0, 1) for part in (x.real, x.imag)], -1).value


def terms(n: Layer, x: Pair) -> tuple[Term, Term]:
    """Both parts for formulas."""
    return Term(n, x.real), Term(n, x.imag)


def product(a: tuple[Term, Term], b: tuple[Term, Term]) -> tuple[Term, Term]:
    """The product of two complex numbers."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def pair(real: Term, imag: Term) -> Pair:
    """Terms as a complex tensor."""
    return Pair(real.value, imag.value)

"""Kinds of attributes: what an op's attribute field allows, and its Python form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from .types import FloatType, FunctionType, IntegerType, Type, i32, i64, index

T = TypeVar("T")


@dataclass(frozen=True)
class AttrKind(Generic[T]):
    """A kind of attribute: its description, what is allowed, and its Python form both ways.

    Most other fields say how assembly formats print `$attr`: `bare` is a type that is implied and
    so left out; `cases` are the words of an integer enumeration, printed as a bare word; `dense` is
    the element type of a dense array, printed as `[1, 2]`; `is_symbol_name` marks a string that is
    printed as `@name`; `parameter` prints an attribute with parameters, without its name. `cls` is
    the class given to `instance`.
    """

    description: str
    allows: Callable[[Attribute], bool]
    to_python: Callable[[Any], T]
    from_python: Callable[[Any], Any]  # gives an Attribute; None for an absent unit
    bare: Type | None = None
    cases: Mapping[str, int] | None = None
    dense: Type | None = None
    cls: type[Attribute] | None = None
    is_symbol_name: bool = False
    parameter: Any = None

    def word_of(self, attribute: Any) -> str:
        """The word of an integer enumeration's attribute."""
        assert self.cases is not None
        return next(word for word, number in self.cases.items() if number == attribute.value)


def _self(x: Any) -> Any:
    return x


def _array(element: Type) -> AttrKind[tuple]:
    return AttrKind(
        f"array<{element}>",
        lambda a: isinstance(a, DenseArrayAttr) and a.element_type is element,
        lambda a: a.values,
        lambda values: DenseArrayAttr(element, tuple(values)),
        dense=element,
    )


def _integer(type: Type) -> AttrKind[int]:
    return AttrKind(
        f"{type} integer attribute",
        lambda a: isinstance(a, IntegerAttr) and a.type is type,
        lambda a: a.value,
        lambda value: IntegerAttr(int(value), type),
        bare=type,
    )


ANY = AttrKind[Any]("any attribute", lambda a: True, _self, _self)
UNIT = AttrKind[bool](
    "unit attribute", lambda a: isinstance(a, UnitAttr), bool, lambda v: UnitAttr() if v else None
)
BOOL = AttrKind[bool](
    "bool attribute",
    lambda a: isinstance(a, IntegerAttr) and a.type is IntegerType(1),
    lambda a: bool(a.value),
    lambda value: BoolAttr(bool(value)),
    bare=IntegerType(1),
)
I32, I64, INDEX = _integer(i32), _integer(i64), _integer(index)
INT_ARRAY: AttrKind[tuple[int, ...]] = _array(i64)
I32_ARRAY: AttrKind[tuple[int, ...]] = _array(i32)
STRING = AttrKind[str](
    "string attribute", lambda a: isinstance(a, StringAttr), lambda a: a.value, StringAttr
)
SYMBOL_NAME = AttrKind[str](
    "string attribute",
    lambda a: isinstance(a, StringAttr),
    lambda a: a.value,
    StringAttr,
    is_symbol_name=True,
)
SYMBOL = AttrKind[str](
    "flat symbol reference attribute",
    lambda a: isinstance(a, SymbolRefAttr),
    lambda a: a.root,
    SymbolRefAttr,
)
TYPE = AttrKind[Any]("type attribute", lambda a: isinstance(a, Type), _self, _self)
FUNCTION_TYPE = AttrKind[FunctionType](
    "type attribute of function type", lambda a: isinstance(a, FunctionType), _self, _self
)
ARRAY = AttrKind[tuple](
    "array attribute",
    lambda a: isinstance(a, ArrayAttr),
    lambda a: a.elements,
    lambda elements: ArrayAttr(tuple(elements)),
)


def array_of(description: str, allows: Callable[[Attribute], bool]) -> AttrKind[tuple]:
    """The kind of an array whose elements all satisfy `allows`."""
    return AttrKind(
        description,
        lambda a: isinstance(a, ArrayAttr) and all(map(allows, a.elements)),
        ARRAY.to_python,
        ARRAY.from_python,
    )


def _is_i64(attribute: Attribute) -> bool:
    return isinstance(attribute, IntegerAttr) and attribute.type is i64


I64_ARRAYS = array_of(
    "Array of 64-bit integer array attributes",
    lambda a: isinstance(a, ArrayAttr) and all(map(_is_i64, a.elements)),
)


def float_kind(type: FloatType) -> AttrKind[float]:
    """The kind of a float attribute of one type; its Python form is a float."""
    return AttrKind(
        f"{type} float attribute",
        lambda a: isinstance(a, FloatAttr) and a.type is type,
        lambda a: a.value,
        lambda value: FloatAttr(float(value), type),
        bare=type,
    )


F32 = float_kind(FloatType("f32"))


def int_enum(
    description: str, cases: Sequence[str] | Mapping[str, int], type: IntegerType = i64
) -> AttrKind[str]:
    """The kind of an integer that stands for a word, such as a predicate; Python and text have
    the word.
    """
    numbers = dict(cases) if isinstance(cases, Mapping) else {c: i for i, c in enumerate(cases)}
    names = {number: case for case, number in numbers.items()}
    return AttrKind(
        description,
        lambda a: isinstance(a, IntegerAttr) and a.type is type and a.value in names,
        lambda a: names[a.value],
        lambda case: IntegerAttr(numbers[case], type),
        cases=numbers,
    )


def instance(attribute_class: type[Attribute], description: str = "") -> AttrKind[Any]:
    """The kind of attributes of a class; an enumeration's Python form is the name of its case."""
    description = description or f"{attribute_class.name or attribute_class.__name__} attribute"
    if issubclass(attribute_class, EnumAttr):
        return AttrKind(
            description,
            lambda a: isinstance(a, attribute_class),
            lambda a: a.value,
            attribute_class,
            cls=attribute_class,
        )
    allows = lambda a: isinstance(a, attribute_class)  # noqa: E731
    return AttrKind(description, allows, _self, _self, cls=attribute_class)

"""The fields of an op declaration: typed descriptors that read and set an operation's parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar, overload

from .attribute_kinds import ANY, UNIT, AttrKind
from .attributes import Attribute
from .constraints import AnyType, Constraint
from .core import Block, Operation, OpResult, Region, Value
from .types import Type

T = TypeVar("T")
ValueLike = Value | Operation


def as_value(value: ValueLike) -> Value:
    """The value itself, or the only result of an operation."""
    return value.result if isinstance(value, Operation) else value


class Field:
    """A named part of an op declaration."""

    name: str = ""
    doc: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name


class ValueField(Field):
    """Operands and results: a type constraint, and whether there may be none or many."""

    variadic = False
    optional = False
    position = 0  # among the operands, or among the results
    at: int | None = None
    """The index of a single value; negative if it follows a group of variable size."""
    after: int | None = None
    """The number of values after a variadic or optional field; None if segment sizes tell."""

    def __init__(self, constraint: Constraint, doc: str = "") -> None:
        self.constraint = constraint
        self.doc = doc

    @property
    def is_single(self) -> bool:
        return not (self.variadic or self.optional)

    def place(self, position: int, group: tuple[ValueField, ...]) -> None:
        """Set the position of the field's values among those of its group."""
        self.position = position
        loose = [i for i, part in enumerate(group) if not part.is_single]
        if len(loose) > 1:
            return
        if not self.is_single:
            self.after = len(group) - 1 - position
        elif not loose or position < loose[0]:
            self.at = position
        else:
            self.at = position - len(group)


class Operand(ValueField):
    """One operand; reads as a Value, may be set to a Value or a one-result operation."""

    @overload
    def __get__(self, op: None, owner: type) -> Operand: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> Value: ...
    def __get__(self, op: Operation | None, owner: type) -> Any:
        if op is None:
            return self
        at = self.at
        if at is None:
            at, _ = op.definition.operand_range(op, self.position)
        return op._operands[at]

    def __set__(self, op: Operation, value: ValueLike) -> None:
        start, _ = op.definition.operand_range(op, self.position)
        op.set_operand(start, as_value(value))


class Operands(ValueField):
    """Any number of operands, read as a tuple of Values."""

    variadic = True

    @overload
    def __get__(self, op: None, owner: type) -> Operands: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> tuple[Value, ...]: ...
    def __get__(self, op: Operation | None, owner: type) -> Any:
        if op is None:
            return self
        values = op._operands
        if self.after is not None:
            return tuple(values[self.position : len(values) - self.after])
        start, end = op.definition.operand_range(op, self.position)
        return tuple(values[start:end])

    def __set__(self, op: Operation, values: Iterable[ValueLike]) -> None:
        op.definition.set_operand_group(op, self.position, [as_value(v) for v in values])


class OptionalOperand(ValueField):
    """One operand or none, read as a Value or None."""

    optional = True

    @overload
    def __get__(self, op: None, owner: type) -> OptionalOperand: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> Value | None: ...
    def __get__(self, op: Operation | None, owner: type) -> Any:
        if op is None:
            return self
        start, end = op.definition.operand_range(op, self.position)
        return op._operands[start] if end > start else None

    def __set__(self, op: Operation, value: ValueLike | None) -> None:
        values = [] if value is None else [as_value(value)]
        op.definition.set_operand_group(op, self.position, values)


class Result(ValueField):
    """One result; reads as an OpResult, is constructed from its Type."""

    @overload
    def __get__(self, op: None, owner: type) -> Result: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> OpResult: ...
    def __get__(self, op: Operation | None, owner: type) -> Any:
        if op is None:
            return self
        at = self.at
        if at is None:
            at, _ = op.definition.result_range(op, self.position)
        return op.results[at]

    def __set__(self, op: Operation, value: Type) -> None:
        raise AttributeError("a result cannot be set; make a new operation")


class Results(ValueField):
    """Any number of results, read as a tuple, constructed from their Types."""

    variadic = True

    @overload
    def __get__(self, op: None, owner: type) -> Results: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> tuple[OpResult, ...]: ...
    def __get__(self, op: Operation | None, owner: type) -> Any:
        if op is None:
            return self
        values = op.results
        if self.after is not None:
            return values[self.position : len(values) - self.after]
        start, end = op.definition.result_range(op, self.position)
        return values[start:end]

    def __set__(self, op: Operation, value: Sequence[Type]) -> None:
        raise AttributeError("results cannot be set; make a new operation")


class OptionalResult(ValueField):
    """One result or none."""

    optional = True

    @overload
    def __get__(self, op: None, owner: type) -> OptionalResult: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> OpResult | None: ...
    def __get__(self, op: Operation | None, owner: type) -> Any:
        if op is None:
            return self
        start, end = op.definition.result_range(op, self.position)
        return op.results[start] if end > start else None

    def __set__(self, op: Operation, value: Type | None) -> None:
        raise AttributeError("a result cannot be set; make a new operation")


class Attr(Field, Generic[T]):
    """An inherent attribute, kept in `properties`; reads and is set in its Python form."""

    def __init__(
        self, kind: AttrKind[T], default: Any, optional: bool, doc: str, key: str | None = None
    ) -> None:
        self.kind = kind
        self.optional = optional
        self.doc = doc
        self.key = key
        self.shows_default = False
        self.default: Attribute | None = None
        if default is not None:
            self.default = default if isinstance(default, Attribute) else kind.from_python(default)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.key or name

    @overload
    def __get__(self, op: None, owner: type) -> Attr[T]: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> T: ...
    def __get__(self, op: Operation | None, owner: type) -> Any:
        if op is None:
            return self
        value = op.properties.get(self.name, self.default)
        if value is None:
            return False if self.kind is UNIT else None
        return self.kind.to_python(value)

    def __set__(self, op: Operation, value: T | Attribute | None) -> None:
        attribute = self.to_attribute(value)
        if attribute is None:
            op.properties.pop(self.name, None)
        else:
            op.properties[self.name] = attribute

    def to_attribute(self, value: Any) -> Attribute | None:
        if value is None or isinstance(value, Attribute):
            return value
        return self.kind.from_python(value)


class RegionField(Field):
    """A region; `variadic` takes any number of them (last field only)."""

    def __init__(self, doc: str = "", variadic: bool = False) -> None:
        self.doc = doc
        self.variadic = variadic
        self.position = 0

    @overload
    def __get__(self, op: None, owner: type) -> RegionField: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> Region: ...
    def __get__(self, op: Operation | None, owner: type) -> Any:
        if op is None:
            return self
        return op.regions[self.position :] if self.variadic else op.regions[self.position]

    def __set__(self, op: Operation, value: Region | Sequence[Region]) -> None:
        raise AttributeError("a region cannot be set; move blocks instead")


class SuccessorField(Field):
    """A block that a terminator may branch to; `variadic` takes any number (last field only)."""

    def __init__(self, doc: str = "", variadic: bool = False) -> None:
        self.doc = doc
        self.variadic = variadic
        self.position = 0

    @overload
    def __get__(self, op: None, owner: type) -> SuccessorField: ...
    @overload
    def __get__(self, op: Operation, owner: type) -> Block: ...
    def __get__(self, op: Operation | None, owner: type) -> Any:
        if op is None:
            return self
        return op.successors[self.position :] if self.variadic else op.successors[self.position]

    def __set__(self, op: Operation, value: Block) -> None:
        op.successors[self.position] = value


def operand(constraint: Constraint = AnyType, *, doc: str = "") -> Any:
    """One operand."""
    return Operand(constraint, doc)


def operands(constraint: Constraint = AnyType, *, doc: str = "") -> Any:
    """Any number of operands."""
    return Operands(constraint, doc)


def optional_operand(constraint: Constraint = AnyType, *, doc: str = "") -> Any:
    """One operand or none."""
    return OptionalOperand(constraint, doc)


def result(constraint: Constraint = AnyType, *, doc: str = "", kw_only: bool = True) -> Any:
    """One result."""
    return Result(constraint, doc)


def results(constraint: Constraint = AnyType, *, doc: str = "", kw_only: bool = True) -> Any:
    """Any number of results."""
    return Results(constraint, doc)


def optional_result(
    constraint: Constraint = AnyType, *, doc: str = "", kw_only: bool = True
) -> Any:
    """One result or none."""
    return OptionalResult(constraint, doc)


def attribute(
    kind: AttrKind[Any] = ANY,
    *,
    default: Any = None,
    optional: bool = False,
    doc: str = "",
    key: str | None = None,
    shows_default: bool = False,
) -> Any:
    """An inherent attribute; with a default it may be left out and text elides it.

    With `shows_default`, text has the default too, as upstream's has for some ops.

    `key` is its name in text and in `properties` where Python needs another one for the
    accessor, such as `name`, which every Operation has.
    """
    made = Attr(kind, default, optional, doc, key)
    made.shows_default = shows_default
    return made


def region(*, doc: str = "", variadic: bool = False) -> Any:
    """A region; `variadic` for any number of them."""
    return RegionField(doc, variadic)


def successor(*, doc: str = "", variadic: bool = False) -> Any:
    """A successor block; `variadic` for any number of them."""
    return SuccessorField(doc, variadic)

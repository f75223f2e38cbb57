"""Declaring an operation once, as a typed class.

    class Matmul(Op, name="nn.matmul", traits=(Pure,)):
        '''Batched matrix product. ..'''

        lhs: Operand = operand(AnyTensor)
        rhs: Operand = operand(AnyTensor)
        out: Result = result(AnyTensor)

        format = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)"
        example = "%c = nn.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>"

Fields in their order are the constructor's parameters: operands, attributes, regions and
successors by position or keyword, results by keyword as types where they cannot be
inferred: `Matmul(a, b)`, `Cast(x, out=f16_tensor)`. A faulty declaration raises
DeclarationError when the class is made.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from .attribute_kinds import *
from .attributes import Attribute
from .constraints import Derived, Same
from .core import Block, Operation, Region, Value
from .definition import OpDefinition
from .diagnostics import DeclarationError, NncError
from .dialect import registry
from .docstrings import HAS_DOCSTRINGS
from .fields import *
from .fields import (
    Attr,
    Field,
    Operand,
    Operands,
    OptionalOperand,
    OptionalResult,
    RegionField,
    Result,
    Results,
    SuccessorField,
    ValueField,
    as_value,
)
from .location import UNKNOWN, Location
from .types import Type


class OpMeta(type):
    """Makes every op class slotted, reads its declaration and registers it."""

    def __new__(
        mcs,
        cls_name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        name: str | None = None,
        traits: Sequence[Any] = (),
    ):
        namespace.setdefault("__slots__", ())
        cls: Any = super().__new__(mcs, cls_name, bases, namespace)
        inherited = frozenset().union(*(getattr(b, "traits", frozenset()) for b in bases))
        cls.traits = inherited | frozenset(traits)
        if name is not None:
            cls.name = name
            if cls.example is not None:
                cls.example = cls.example.replace("{name}", name)
            if isinstance(cls.body, str):
                cls.body = cls.body.replace("{word}", name.partition(".")[2])
            cls.definition = _define(cls)
            registry.register_op(cls)
        return cls

    def __init__(cls, cls_name, bases, namespace, name=None, traits=()) -> None:
        super().__init__(cls_name, bases, namespace)


# Views of the same things as the generic members, so a field may take their names.
_MAY_HIDE = ("result", "region")


def _own_fields(cls: Any) -> dict[str, Field]:
    """The fields of an op, in the order of its constructor; inherited ones are copies."""
    fields: dict[str, Field] = {}
    for base in reversed(cls.__mro__):
        for key, value in vars(base).items() if isinstance(base, OpMeta) else ():
            if isinstance(value, Field):
                fields[key] = value
            elif key in fields:
                del fields[key]
    # Optional attributes of a shared base come last in the constructor.
    inherited = {k: f for k, f in fields.items() if k not in vars(cls)}
    for key in [k for k, f in inherited.items() if isinstance(f, Attr) and f.optional]:
        fields[key] = fields.pop(key)
    # A field inherited from a shared base belongs to several ops: each gets its own copy.
    for key, value in list(fields.items()):
        if key not in vars(cls):
            own = copy.copy(value)
            own.__set_name__(cls, key)
            type.__setattr__(cls, key, own)
            fields[key] = own
    return fields


def _define(cls: Any) -> OpDefinition:
    name = cls.name

    def fault(text: str) -> DeclarationError:
        return DeclarationError(f"op '{name}' ({cls.__module__}.{cls.__qualname__}): {text}")

    doc = (cls.__doc__ or "").strip()
    if "." not in name:
        raise fault("the name must be 'dialect.op'")
    missing = not doc or "__doc__" not in vars(cls) or vars(cls)["__doc__"] is None
    if missing and HAS_DOCSTRINGS:
        raise fault("a docstring is missing")
    fields = _own_fields(cls)
    clash = [key for key in fields if hasattr(Operation, key) and key not in _MAY_HIDE]
    if clash:
        raise fault(f"field '{clash[0]}' hides a member of Operation; choose another name")

    def of(kind: type | tuple[type, ...]) -> tuple[Any, ...]:
        return tuple(f for f in fields.values() if isinstance(f, kind))

    operand_fields = of((Operand, Operands, OptionalOperand))
    result_fields = of((Result, Results, OptionalResult))
    for part in (*operand_fields, *result_fields):
        if isinstance(part.constraint, (Same, Derived)) and part.constraint.field not in fields:
            raise fault(
                f"'{part.name}' refers to field '{part.constraint.field}', which it has not"
            )
    definition = OpDefinition(
        name=name,
        cls=cls,
        summary=doc.split("\n", 1)[0],
        fields=tuple(fields.values()),
        operands=operand_fields,
        results=result_fields,
        attributes={f.name: f for f in of(Attr)},
        regions=of(RegionField),
        successors=of(SuccessorField),
        format_text=cls.format,
        example=cls.example,
    )
    if cls.example is None:
        raise fault("an example is missing")
    if not _is_checked(cls):
        _check(cls, definition, fault)
    return definition


def _is_checked(cls: Any) -> bool:
    """Whether the class was checked before, when the stored language was made."""
    if not registry.is_ours(cls.__module__):
        return False
    from .syntax.stored import stored_language

    return stored_language() is not None


def _check(cls: Any, definition: OpDefinition, fault: Any) -> None:
    """Compile the format and read the comprehension; DeclarationError where they are faulty."""
    _ = definition.format
    if isinstance(cls.body, str):
        from .comprehension_bind import check_body

        try:
            check_body(cls.body, definition)
        except NncError as error:
            raise fault(error.message) from None


class Op(Operation, metaclass=OpMeta):
    """Base of declared operations; see the module's text."""

    format: ClassVar[str | None] = None
    """The assembly format; None prints the generic form."""
    example: ClassVar[str | None] = None
    """One or more lines of text that parse, verify and print back unchanged.

    `{name}` stands for the op's name, so that a base may give the example of all its ops.
    """
    body: ClassVar[str | None] = None
    """The tensor comprehension, where the op is one (`comprehension.py`).

    `{word}` stands for the op's name without the dialect.
    """

    def __init__(
        self,
        *args: Any,
        loc: Location = UNKNOWN,
        attributes: Mapping[str, Attribute] | None = None,
        **named: Any,
    ) -> None:
        definition = self.definition
        given = self._bind(args, named)
        operand_groups = [_values(f, given.get(f.name)) for f in definition.operands]
        properties = dict(definition.defaults)
        for part in definition.attributes.values():
            value = part.to_attribute(given.get(part.name))
            if value is not None:
                properties[part.name] = value
        regions = _flat(definition.regions, given)
        successors = _flat(definition.successors, given)
        flat = [v for group in operand_groups for v in group]
        types = self._result_types(given, operand_groups, flat, properties, regions)
        properties.update(
            definition.segment_properties([len(g) for g in operand_groups], [len(t) for t in types])
        )
        self._init(
            flat, [t for g in types for t in g], attributes, properties, regions, successors, loc
        )

    @classmethod
    def create(
        cls,
        operands: Sequence[Value] = (),
        result_types: Sequence[Type] = (),
        attributes: Mapping[str, Attribute] | None = None,
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        successors: Sequence[Block] = (),
        loc: Location = UNKNOWN,
    ) -> Self:
        """An operation from its parts, its properties at their defaults unless given."""
        if defaults := cls.definition.defaults:
            properties = {**defaults, **properties} if properties else defaults
        op = cls.__new__(cls)
        op._init(operands, result_types, attributes, properties, regions, successors, loc)
        return op

    @classmethod
    def _bind(cls, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        positional, names = cls.definition.positional, cls.definition.names
        if len(args) > len(positional):
            raise TypeError(f"{cls.name}: {len(args)} positional arguments for {len(positional)}")
        given = dict(zip(positional, args, strict=False))
        for key, value in named.items():
            if key not in names or key in given:
                raise TypeError(f"{cls.name}: unexpected argument '{key}'")
            given[key] = value
        return given

    def _result_types(
        self, given, operand_groups, operands, properties, regions
    ) -> list[list[Type]]:
        """A list of types for each result field: as given, else inferred."""
        definition = self.definition
        groups: list[Any] = []  # of list[Type], or None where the types are to be inferred
        for part in definition.results:
            value = given.get(part.name)
            if part.variadic:
                groups.append(list(value) if value is not None else None)
            elif part.optional:
                groups.append([value] if value is not None else [])
            else:
                groups.append([value] if value is not None else None)
        if None in groups:
            inferred = self.infer_result_types([v.type for v in operands], properties, regions)
            if inferred is not None:
                if len(groups) == 1:
                    return [list(inferred)]
                return [[t] for t in inferred]
            known = {
                f.name: g[0].type
                for f, g in zip(definition.operands, operand_groups, strict=True)
                if f.is_single
            }
            for part, group in zip(definition.results, groups, strict=True):
                if group is not None and part.is_single:
                    known[part.name] = group[0]
            definition.infer_missing(known)
            for i, part in enumerate(definition.results):
                if groups[i] is None:
                    if part.name not in known:
                        raise TypeError(f"{self.name}: give the type of result '{part.name}'")
                    groups[i] = [known[part.name]]
        return groups

    @classmethod
    def infer_result_types(
        cls,
        operand_types: Sequence[Any],
        properties: Mapping[str, Any],
        regions: Sequence[Region] = (),
    ) -> Sequence[Type] | None:
        """The types of all results from those of the operands, or None to use the constraints.

        Raises NncError where the operands do not fit together.
        """
        return None

    def is_speculatable(self) -> bool:
        """Whether an op without effects is defined for these operands; see NoMemoryEffect."""
        return True

    def verify_op(self) -> None:
        """The op's own rules, beyond fields and traits. Raise self.error(..)."""


def _values(part: ValueField, value: Any) -> list[Value]:
    if part.variadic:
        return [as_value(v) for v in value or ()]
    if value is None:
        if part.optional:
            return []
        raise TypeError(f"operand '{part.name}' is missing")
    return [as_value(value)]


def _flat(group: tuple[Any, ...], given: dict[str, Any]) -> list[Any]:
    out: list[Any] = []
    for part in group:
        value = given.get(part.name)
        if part.variadic:
            out += list(value or ())
        elif value is not None:
            out.append(value)
        elif isinstance(part, RegionField):
            out.append(Region())
        else:
            raise TypeError(f"successor '{part.name}' is missing")
    return out

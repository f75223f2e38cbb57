"""The standard elements of assembly formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..attribute_kinds import FUNCTION_TYPE, STRING, SYMBOL, TYPE
from ..attributes import (
    DenseArrayAttr,
    EnumAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from ..fields import Attr, RegionField, SuccessorField, ValueField
from .directive import Element, Grammar


class Literal(Element):
    """A word or punctuation."""

    reads = False

    def __init__(self, text: str) -> None:
        self.text = text

    def grammar(self, grammar: Grammar) -> str:
        return grammar.literal(self.text)

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(" " + self.text if self.space else self.text)


class Space(Element):
    """`` ` ` `` writes a space, `` `` `` nothing; neither reads anything."""

    reads = False

    def __init__(self, text: str) -> None:
        self.text = text

    def grammar(self, grammar: Grammar) -> str:
        return ""

    def write(self, op: Any, printer: Any) -> None:
        if self.text:
            printer.out.append(self.text)


def fixed_position(field: ValueField, group: tuple[ValueField, ...]) -> int | None:
    """The index of the field's only value among the group's values; None if that varies."""
    if all(part.is_single for part in group[: field.position + 1]):
        return field.position
    return None


class OperandElement(Element):
    """`$operand`: one value, at most one, or a comma-separated list."""

    def __init__(self, field: ValueField, position: int | None = None) -> None:
        self.field = field
        self.name = field.name
        self.position = position

    def grammar(self, grammar: Grammar) -> str:
        if self.field.is_single:
            return "VALUE"
        return "value_opt" if self.field.optional else "values_opt"

    def read(self, child: Any, state: Any) -> None:
        if self.field.is_single:
            state.operands[self.name] = [child]
        elif self.field.optional:
            state.operands[self.name] = [] if child is None else [child]
        else:
            state.operands[self.name] = child

    def write(self, op: Any, printer: Any) -> None:
        names = printer.names
        if self.position is not None:
            text = names[op._operands[self.position]]
            printer.out.append(" " + text if self.space else text)
            return
        value = getattr(op, self.name)
        if self.field.is_single:
            text = names[value]
        elif self.field.variadic:
            text = ", ".join([names[v] for v in value])
        else:
            text = "" if value is None else names[value]
        printer.out.append(" " + text if self.space else text)

    def present(self, op: Any) -> bool:
        value = getattr(op, self.name)
        return bool(value) if self.field.variadic else value is not None

    def fields(self) -> Iterator[tuple[str, str]]:
        yield "value", self.name


class OperandRun(Element):
    """Operands in a row, `$a`, `$b`, .., which the parser reads as one list.

    It only reads: the elements of the operands print them.
    """

    def __init__(self, operands: list[OperandElement]) -> None:
        self.operands = operands
        self.least = sum(o.field.is_single for o in operands)
        self.most = None if operands[-1].field.variadic else len(operands)

    def grammar(self, grammar: Grammar) -> str:
        return "values"

    def read(self, child: Any, state: Any) -> None:
        if len(child) < self.least or (self.most is not None and len(child) > self.most):
            state.wrong_operand_count(child, self.least, self.most)
        for i, part in enumerate(self.operands):
            field = part.field
            state.operands[field.name] = child[i:] if field.variadic else child[i : i + 1]


class AllOperands(Element):
    """`operands`"""

    def grammar(self, grammar: Grammar) -> str:
        return "values_opt"

    def read(self, child: Any, state: Any) -> None:
        state.all_operands = child

    def write(self, op: Any, printer: Any) -> None:
        names = printer.names
        text = ", ".join([names[v] for v in op._operands])
        printer.out.append(" " + text if self.space else text)

    def fields(self) -> Iterator[tuple[str, str]]:
        yield "value", "operands"


def attribute_rule(kind: Any, whole: bool, grammar: Grammar) -> str:
    """The rule or terminal that reads `$attr` of a kind; see `OpState.typed_attribute`."""
    if whole:
        return "attribute"
    if kind.cases:
        return "bare_word"
    if kind.bare is not None:
        return "bare_number"
    if kind is SYMBOL or kind.is_symbol_name:
        return "SYMBOL"
    if kind is STRING:
        return "STRING"
    if kind is TYPE or kind is FUNCTION_TYPE:
        return "type"
    if kind.dense is not None:
        return "bare_array"
    if kind.parameter is not None:
        return "parameter"
    if kind.cls is not None and issubclass(kind.cls, EnumAttr):
        return "enum_case"
    return "attribute"


class AttributeElement(Element):
    """`$attribute`, without the type where its kind implies it."""

    def __init__(self, field: Attr, whole: bool = False) -> None:
        self.field = field
        self.name = field.name
        self.whole = whole
        self.unit = field.kind.description == "unit attribute"
        self.reads = not self.unit

    def grammar(self, grammar: Grammar) -> str:
        if self.unit:
            return ""
        self.rule = attribute_rule(self.field.kind, self.whole, grammar)
        return self.rule

    def read(self, child: Any, state: Any) -> None:
        state.properties[self.name] = state.typed_attribute(self.rule, self.field.kind, child)

    def write(self, op: Any, printer: Any) -> None:
        if self.unit:
            return
        value = op.properties.get(self.name, self.field.default)
        text = "" if value is None else self.text(value, printer)
        printer.out.append(" " + text if self.space else text)

    def text(self, value: Any, printer: Any) -> str:
        kind = self.field.kind
        if self.whole:
            return printer.attribute(value)
        if kind.cases and isinstance(value, IntegerAttr):
            return kind.word_of(value)
        if kind.is_symbol_name and isinstance(value, StringAttr):
            return printer.attribute(SymbolRefAttr(value.value))
        if kind.bare is not None or isinstance(value, DenseArrayAttr):
            return printer.bare_attribute(value)
        if isinstance(value, EnumAttr) and kind.cls is not None:
            return value.parameters_text()
        if kind.parameter is not None:
            return kind.parameter.write(value, printer)
        return printer.attribute(value)

    def present(self, op: Any) -> bool:
        value = op.properties.get(self.name)
        return value is not None and value is not self.field.default

    def mark_present(self, state: Any) -> None:
        """Set a unit attribute, since the text has the group or clause that it stands for."""
        state.properties[self.name] = UnitAttr()

    def fields(self) -> Iterator[tuple[str, str]]:
        yield "attribute", self.name


class RegionElement(Element):
    """`$region`"""

    def __init__(self, field: RegionField) -> None:
        self.field = field
        self.name = field.name

    def grammar(self, grammar: Grammar) -> str:
        return "regions_opt" if self.field.variadic else "region"

    def read(self, child: Any, state: Any) -> None:
        state.regions[self.name] = child if self.field.variadic else [child]

    def write(self, op: Any, printer: Any) -> None:
        if self.space:
            printer.out.append(" ")
        regions = getattr(op, self.name) if self.field.variadic else [getattr(op, self.name)]
        printer.regions(op, regions)

    def present(self, op: Any) -> bool:
        value = getattr(op, self.name)
        return bool(value) if self.field.variadic else bool(value.blocks)

    def fields(self) -> Iterator[tuple[str, str]]:
        yield "region", self.name


class AllRegions(Element):
    """`regions`"""

    def grammar(self, grammar: Grammar) -> str:
        return "regions_opt"

    def read(self, child: Any, state: Any) -> None:
        state.all_regions = child

    def write(self, op: Any, printer: Any) -> None:
        if self.space:
            printer.out.append(" ")
        printer.regions(op, op.regions)

    def fields(self) -> Iterator[tuple[str, str]]:
        yield "region", "regions"


class SuccessorElement(Element):
    """`$successor`"""

    def __init__(self, field: SuccessorField) -> None:
        self.field = field
        self.name = field.name

    def grammar(self, grammar: Grammar) -> str:
        return "blocks_opt" if self.field.variadic else "BLOCK"

    def read(self, child: Any, state: Any) -> None:
        state.successors[self.name] = child if self.field.variadic else [child]

    def write(self, op: Any, printer: Any) -> None:
        value = getattr(op, self.name)
        blocks = value if self.field.variadic else [value]
        text = ", ".join([printer.block_name(b) for b in blocks])
        printer.out.append(" " + text if self.space else text)

    def present(self, op: Any) -> bool:
        return not self.field.variadic or bool(getattr(op, self.name))

    def fields(self) -> Iterator[tuple[str, str]]:
        yield "successor", self.name


class AllSuccessors(Element):
    """`successors`"""

    def grammar(self, grammar: Grammar) -> str:
        return "blocks_opt"

    def read(self, child: Any, state: Any) -> None:
        state.all_successors = child

    def write(self, op: Any, printer: Any) -> None:
        text = ", ".join([printer.block_name(b) for b in op.successors])
        printer.out.append(" " + text if self.space else text)

    def fields(self) -> Iterator[tuple[str, str]]:
        yield "successor", "successors"


class TypeElement(Element):
    """`type($x)`, `type(operands)`, `type(results)`"""

    def __init__(
        self, field: ValueField | None, name: str, position: int | None = None, result: bool = False
    ) -> None:
        self.field = field
        self.name = name
        self.position = position
        self.result = result

    def grammar(self, grammar: Grammar) -> str:
        if self.field is None or self.field.variadic:
            return "types_opt"
        return "type" if self.field.is_single else "type_opt"

    def read(self, child: Any, state: Any) -> None:
        if self.field is None:
            state.set_all_types(self.name, child)
        elif self.field.variadic:
            state.types[self.name] = child
        elif self.field.is_single:
            state.types[self.name] = [child]
        else:
            state.types[self.name] = [] if child is None else [child]

    def write(self, op: Any, printer: Any) -> None:
        if self.position is not None:
            values = op.results if self.result else op._operands
            text = printer.type(values[self.position].type)
        else:
            values = values_of(op, self.field, self.name)
            text = ", ".join([printer.type(v.type) for v in values])
        printer.out.append(" " + text if self.space else text)

    def present(self, op: Any) -> bool:
        return bool(values_of(op, self.field, self.name))

    def fields(self) -> Iterator[tuple[str, str]]:
        yield "type", self.name


def values_of(op: Any, field: ValueField | None, name: str) -> Any:
    """The values of a field as a sequence, or all operands or results of the op."""
    if field is None:
        return op._operands if name == "operands" else op.results
    value = getattr(op, name)
    if field.variadic:
        return value
    return () if value is None else (value,)


class FunctionalType(Element):
    """`functional-type(operands|$x, results|$y)`"""

    def __init__(self, inputs: TypeElement, outputs: TypeElement) -> None:
        self.inputs = inputs
        self.outputs = outputs

    def grammar(self, grammar: Grammar) -> str:
        return "function_type"

    def read(self, child: Any, state: Any) -> None:
        for part, types in ((self.inputs, child.inputs), (self.outputs, child.results)):
            if part.field is None:
                state.set_all_types(part.name, types)
            else:
                state.types[part.name] = list(types)

    def write(self, op: Any, printer: Any) -> None:
        inputs = values_of(op, self.inputs.field, self.inputs.name)
        outputs = values_of(op, self.outputs.field, self.outputs.name)
        text = printer.function_type([v.type for v in inputs], [v.type for v in outputs])
        printer.out.append(" " + text if self.space else text)

    def fields(self) -> Iterator[tuple[str, str]]:
        yield from self.inputs.fields()
        yield from self.outputs.fields()


class AttrDict(Element):
    """`attr-dict` and `attr-dict-with-keyword`: attributes that no other element writes."""

    def __init__(self, keyword: bool) -> None:
        self.keyword = keyword
        self.elided: frozenset[str] = frozenset()
        self.inherent = True
        self.covers_all = False
        """Whether other elements print all attributes that the op declares."""

    def grammar(self, grammar: Grammar) -> str:
        if self.keyword:
            grammar.literal("attributes")
            return "keyword_dict_opt"
        return "dict_opt"

    def read(self, child: Any, state: Any) -> None:
        if child:
            state.add_attributes(child)

    def write(self, op: Any, printer: Any) -> None:
        if op.attributes or (self.inherent and op.properties):
            entries = printer.free_attributes(op, self.elided, self.inherent)
            if entries:
                head = " attributes {" if self.keyword else " {"
                printer.out.append(head + printer.entries(entries) + "}")


class PropDict(Element):
    """`prop-dict`: the inherent attributes as `<{..}>`."""

    def __init__(self) -> None:
        self.elided: frozenset[str] = frozenset()

    def grammar(self, grammar: Grammar) -> str:
        return "properties_opt"

    def read(self, child: Any, state: Any) -> None:
        if child:
            state.add_properties(child)

    def write(self, op: Any, printer: Any) -> None:
        entries = printer.inherent_attributes(op, self.elided)
        if entries:
            printer.out.append(" <{" + printer.entries(entries) + "}>")

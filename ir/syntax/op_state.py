"""The parts of an operation in custom form, collected while its text is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..attributes import (
    Attribute,
    DenseArrayAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
)
from ..constraints import Derived, Exactly, Same
from ..diagnostics import NncError, ParseError
from ..types import FloatType, Type, i1
from ..verifier import check_before_inference
from .actions_attributes import enum_from
from .literals import number_of

if TYPE_CHECKING:
    from ..core import Operation, Region
    from ..declare import OpDefinition
    from .session import Session

Name = tuple[str, int]
"""(name of a value such as `%x`, its offset)."""


class OpState:
    """The parts of an operation, filled in by the elements of its format.

    `operands` has for each field the names of its values; `types` for operand and result
    fields a list of types; `regions` for each field what the grammar made of regions;
    `entry_args` for a region field the (name, type, location) of arguments that the op's
    own syntax declares; `successors` the names of blocks. The functions in `finish` are called
    with the operation when it has been made, before its regions are read; those in
    `at_region_end`, by field, with a region when it has been read.
    """

    __slots__ = (
        "all_operands",
        "all_regions",
        "all_successors",
        "at_region_end",
        "attributes",
        "definition",
        "entry_args",
        "finish",
        "flat_types",
        "operands",
        "pos",
        "properties",
        "regions",
        "session",
        "successors",
        "types",
    )

    def __init__(self, session: Session, definition: OpDefinition, pos: int) -> None:
        self.session = session
        self.definition = definition
        self.pos = pos
        self.operands: dict[str, list[Name]] = {}
        self.types: dict[str, list[Type]] = {}
        self.properties: dict[str, Attribute] = dict(definition.defaults)
        self.attributes: dict[str, Attribute] = {}
        self.regions: dict[str, list[Any]] = {}
        self.entry_args: dict[str, list[tuple[Name, Type, Any]]] = {}
        self.successors: dict[str, list[Name]] = {}
        self.all_operands: list[Name] | None = None
        self.all_regions: list[Any] | None = None
        self.all_successors: list[Name] | None = None
        self.flat_types: dict[str, list[Type]] = {}
        self.finish: list[Callable[[Operation], None]] = []
        self.at_region_end: dict[str, Callable[[Region], None]] = {}

    # -- saying what is wrong ------------------------------------------------------------------

    def error(self, message: str, pos: int | None = None) -> ParseError:
        """An error at an offset, or at the operation's name."""
        return self.session.error(message, self.pos if pos is None else pos)

    def fail(self, message: str, pos: int | None = None) -> None:
        raise self.error(message, pos)

    def wrong_operand_count(self, names: list[Name], least: int, most: int | None) -> None:
        wanted = (
            str(least) if most == least else f"{least} to {most}" if most else f"{least} or more"
        )
        raise self.error(f"expected {wanted} operands, found {len(names)}", names[0][1])

    # -- what elements give ----------------------------------------------------------------------

    def set_all_types(self, what: str, types: Any) -> None:
        """The types of all operands or all results, in order."""
        self.flat_types[what] = list(types)

    def add_attributes(self, entries: dict[str, Attribute]) -> None:
        """An attribute dictionary; names that the op declares become properties."""
        is_inherent = self.definition.is_inherent
        for name, value in entries.items():
            if is_inherent(name):
                self.properties[name] = value
            else:
                self.attributes[name] = value

    def add_properties(self, entries: dict[str, Attribute]) -> None:
        """The content of `<{..}>`."""
        for name, value in entries.items():
            if not self.definition.is_inherent(name):
                raise self.error(f"'{self.definition.name}' has no property '{name}'")
            self.properties[name] = value

    def typed_attribute(self, rule: str, kind: Any, child: Any) -> Attribute:
        """The attribute of this kind for a match of `rule`; see `elements.attribute_rule`."""
        session = self.session
        match rule:
            case "bare_word":
                word, pos = child
                if word not in kind.cases:
                    raise self.error(
                        f"expected one of {', '.join(kind.cases)}; found '{word}'", pos
                    )
                return kind.from_python(word)
            case "bare_number":
                number = number_of(session, child, kind.bare)
                make = FloatAttr if isinstance(kind.bare, FloatType) else IntegerAttr
                return make(number, kind.bare)
            case "bare_array":
                values = [number_of(session, token, kind.dense) for token in child]
                if kind.dense is i1:
                    values = [bool(v) for v in values]
                return DenseArrayAttr(kind.dense, tuple(values))
            case "enum_case":
                return enum_from(session, kind.cls, child)
            case "STRING":
                return StringAttr(child[0])
            case "parameter":
                return kind.parameter.read(child)
            case "SYMBOL" if kind.is_symbol_name:
                return self.symbol_name(child)
        if not kind.allows(child):
            raise self.error(f"expected {kind.description}, found '{child}'")
        return child

    def symbol_name(self, symbol: SymbolRefAttr) -> StringAttr:
        """The name that `@name` defines."""
        if symbol.nested:
            raise self.error(f"expected a plain symbol name, found '{symbol}'")
        return StringAttr(symbol.root)

    # -- putting it together ---------------------------------------------------------------------

    def operand_names(self) -> list[tuple[Any, list[Name]]]:
        """Each operand field with the names of its values."""
        fields = self.definition.operands
        if self.all_operands is None:
            return [(part, self.operands.get(part.name, [])) for part in fields]
        names = self.all_operands
        spare = len(names) - sum(part.is_single for part in fields)
        loose = [part for part in fields if not part.is_single]
        if spare < 0 or (spare and not loose) or len(loose) > 1:
            raise self.error(f"expected {len(fields)} operands, found {len(names)}")
        found, at = [], 0
        for part in fields:
            count = 1 if part.is_single else spare
            found.append((part, names[at : at + count]))
            at += count
        return found

    def resolve_types(self, groups: list[tuple[Any, list[Name]]], lookup: Any) -> list[list[Type]]:
        """Types for each operand group: given, or inferred, or else those of the values.

        `lookup` gives the type of a named value. Inferred result types go into `types`.
        """
        known: dict[str, Any] = {}
        if "operands" in self.flat_types:
            self._spread_operand_types(groups)
        if "results" in self.flat_types:
            self._spread_result_types()
        for name, types in self.types.items():
            if len(types) == 1:
                known[name] = types[0]
        self._infer(known)
        resolved = []
        for part, names in groups:
            types = self.types.get(part.name)
            if types is None:
                one = known.get(part.name)
                if one is None:
                    one = _by_constraint(part.constraint, known)
                types = [one] * len(names) if one is not None else [lookup(n) for n in names]
            elif len(types) != len(names):
                raise self._count_mismatch(part, names, types)
            resolved.append(types)
        for part in self.definition.results:
            if part.name not in self.types and part.name in known:
                self.types[part.name] = [known[part.name]]
        return resolved

    def _infer(self, known: dict[str, Any]) -> None:
        """Add the types that follow from those known, by a plan that is cached by their names."""
        plans = self.definition.format.plans
        key = tuple(known)
        plan = plans.get(key)
        if plan is None:
            plan = plans[key] = inference_plan(self.definition, key)
        for name, source, derive in plan:
            if source is None:
                known[name] = derive
                continue
            type = known.get(source)
            if type is not None and derive is not None:
                type = derive(type)
            if type is not None:
                known[name] = type

    def _count_mismatch(self, part: Any, names: list[Name], types: list[Type]) -> ParseError:
        pos = names[0][1] if names else self.pos
        return self.error(
            f"number of operands and types do not match: got {len(names)} operands and "
            f"{len(types)} types",
            pos,
        )

    def _spread_operand_types(self, groups: list[tuple[Any, list[Name]]]) -> None:
        types = self.flat_types["operands"]
        count = sum(len(names) for _, names in groups)
        if count != len(types):
            raise self.error(f"{count} operands present, but expected {len(types)}")
        at = 0
        for part, names in groups:
            self.types[part.name] = types[at : at + len(names)]
            at += len(names)

    def _spread_result_types(self) -> None:
        types, fields = self.flat_types["results"], self.definition.results
        spare = len(types) - sum(part.is_single for part in fields)
        loose = [part for part in fields if not part.is_single]
        if spare < 0 or (spare and len(loose) != 1):
            raise self.error(f"expected {len(fields)} result types, found {len(types)}")
        at = 0
        for part in fields:
            count = 1 if part.is_single else spare
            self.types[part.name] = types[at : at + count]
            at += count

    def result_types(self, operand_types: list[list[Type]], regions: list[Any]) -> list[list[Type]]:
        """The types of each result field, given or inferred from those of each operand field."""
        fields = self.definition.results
        groups = [self.types.get(part.name) for part in fields]
        typed = self.definition.format.typed
        missing = [
            part
            for part, group in zip(fields, groups, strict=True)
            if group is None and (part.is_single or not (part.name in typed or "results" in typed))
        ]
        if not missing:
            return [group or [] for group in groups]
        try:
            check_before_inference(self.definition, operand_types, self.properties)
            flat = [type for group in operand_types for type in group]
            inferred = self.definition.cls.infer_result_types(flat, self.properties, regions)
        except NncError as fault:
            raise self.error(fault.message) from None
        if inferred is None and not any(part.is_single for part in missing):
            return [group or [] for group in groups]
        if inferred is None:
            raise self.error(f"the type of result '{missing[0].name}' cannot be inferred")
        if len(fields) == 1:
            return [list(inferred)]
        return [[one] for one in inferred]


def _by_constraint(constraint: Any, known: dict[str, Any]) -> Type | None:
    """The type of each value of a field if its constraint determines it, else None."""
    match constraint:
        case Exactly(type=type):
            return type
        case Same(field=other):
            return known.get(other)
        case Derived(field=other) if known.get(other) is not None:
            return constraint.derive(known[other])
    return None


def _derive_allowed(derive: Any, allows: Any) -> Any:
    """`derive`, but None for types that are not allowed; the verifier reports those."""
    return lambda type: derive(type) if allows(type) else None


Step = tuple[str, str | None, Any]
"""(field, source, derive): the field has the type of `source`, or `derive` of that type.

Without a source, `derive` is the type itself.
"""


def inference_plan(definition: OpDefinition, given: tuple[str, ...]) -> list[Step]:
    """The steps that complete the types of single fields from those given."""
    parts = (*definition.operands, *definition.results)
    allows = {part.name: part.constraint.allows for part in parts}
    known = set(given)
    plan: list[Step] = []

    def add(name: str, source: str | None, derive: Any) -> None:
        known.add(name)
        plan.append((name, source, derive))

    before = -1
    while len(known) > before:
        before = len(known)
        for part in parts:
            constraint = part.constraint
            if part.name not in known and part.is_single:
                match constraint:
                    case Exactly(type=type):
                        add(part.name, None, type)
                    case Same(field=other) if other in known:
                        add(part.name, other, None)
                    case Derived(field=other) if other in known:
                        add(part.name, other, _derive_allowed(constraint.derive, allows[other]))
            if part.name in known and isinstance(constraint, Same):
                unknown = (x for x in parts if x.name not in known and x.is_single)
                if other := next((x for x in unknown if x.name == constraint.field), None):
                    add(other.name, part.name, None)
    return plan

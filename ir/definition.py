"""The definition of a declared op: its fields, and the positions of their values in the op."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import services
from .attributes import Attribute, DenseArrayAttr
from .constraints import Derived, Exactly, Same
from .core import Operation, Value
from .fields import Attr, Field, RegionField, SuccessorField, ValueField
from .types import Type, i32


@dataclass
class OpDefinition:
    """All that is known of an op class; everything else is derived from it."""

    name: str
    cls: Any  # the class of the op
    summary: str
    fields: tuple[Field, ...]
    operands: tuple[ValueField, ...]
    results: tuple[ValueField, ...]
    attributes: dict[str, Attr]
    regions: tuple[RegionField, ...]
    successors: tuple[SuccessorField, ...]
    format_text: str | None
    example: str | None
    defaults: dict[str, Attribute] = field(default_factory=dict)
    _format: Any = None

    def __post_init__(self) -> None:
        for group in (self.operands, self.results):
            for i, part in enumerate(group):
                part.place(i, group)
        for group in (self.regions, self.successors):
            for i, part in enumerate(group):
                part.position = i
        self.defaults = {
            a.name: a.default
            for a in self.attributes.values()
            if a.default is not None and not a.optional
        }
        self.positional = tuple(f.name for f in self.fields if f not in self.results)
        """The names of the constructor's positional arguments, in order."""
        self.names = frozenset(f.name for f in self.fields)
        self.sized_operands = sum(not f.is_single for f in self.operands) > 1
        self.sized_results = sum(not f.is_single for f in self.results) > 1

    @property
    def format(self) -> Any:
        """The `syntax.format.AssemblyFormat`, or None where the op has no text of its own."""
        if self._format is None and self.format_text is not None:
            self._format = services.compile_format(self.format_text, self)
        return self._format

    @property
    def dialect(self) -> str:
        return self.name.partition(".")[0]

    def is_inherent(self, name: str) -> bool:
        return (
            name in self.attributes
            or (self.sized_operands and name == "operandSegmentSizes")
            or (self.sized_results and name == "resultSegmentSizes")
        )

    # Where the operands of one field lie in the flat list.

    def operand_range(self, op: Operation, position: int) -> tuple[int, int]:
        if self.sized_operands:
            return _segment(op, "operandSegmentSizes", position)
        return _range(self.operands, len(op._operands), position)

    def result_range(self, op: Operation, position: int) -> tuple[int, int]:
        if self.sized_results:
            return _segment(op, "resultSegmentSizes", position)
        return _range(self.results, len(op.results), position)

    def set_operand_group(self, op: Operation, position: int, values: list[Value]) -> None:
        start, end = self.operand_range(op, position)
        op.operands = [*op._operands[:start], *values, *op._operands[end:]]
        if self.sized_operands:
            sizes = list(op.properties["operandSegmentSizes"].values)  # type: ignore[attr-defined]
            sizes[position] = len(values)
            op.properties["operandSegmentSizes"] = DenseArrayAttr(i32, tuple(sizes))

    def segment_properties(
        self, operand_sizes: Sequence[int], result_sizes: Sequence[int]
    ) -> dict[str, Attribute]:
        """The properties that say how many operands, or results, each field of the op has.

        `operandSegmentSizes` is there if several operand fields are variadic or optional, so that
        the total does not determine the numbers; `resultSegmentSizes` likewise.
        """
        properties: dict[str, Attribute] = {}
        if self.sized_operands:
            properties["operandSegmentSizes"] = DenseArrayAttr(i32, tuple(operand_sizes))
        if self.sized_results:
            properties["resultSegmentSizes"] = DenseArrayAttr(i32, tuple(result_sizes))
        return properties

    # Types that text or the constructor leaves out.

    def infer_missing(self, known: dict[str, Any]) -> dict[str, Any]:
        """Complete {field: type, or tuple of types for variadic} by the fields' constraints.

        Fields that stay undetermined are absent from the result.
        """
        fields_by_name = {f.name: f for f in (*self.operands, *self.results)}
        progress = True
        while progress and len(known) < len(fields_by_name):
            progress = False
            for name, part in fields_by_name.items():
                if name in known:
                    continue
                found = self._infer_one(part, known, fields_by_name)
                if found is not None:
                    known[name] = found
                    progress = True
        return known

    def _infer_one(self, part: ValueField, known: dict, by_name: dict) -> Type | None:
        constraint = part.constraint
        match constraint:
            case Exactly():
                return constraint.type if part.is_single else None
            case Same(field=other) if isinstance(known.get(other), Type) and part.is_single:
                return known[other]
            case Derived(field=other) if isinstance(known.get(other), Type) and part.is_single:
                return constraint.derive(known[other])
        for other in by_name.values():
            tied = isinstance(other.constraint, Same) and other.constraint.field == part.name
            if tied and part.is_single and isinstance(known.get(other.name), Type):
                return known[other.name]
        return None


def _segment(op: Operation, name: str, position: int) -> tuple[int, int]:
    sizes = op.properties[name].values  # type: ignore[attr-defined]
    start = sum(sizes[:position])
    return start, start + sizes[position]


def _range(group: tuple[ValueField, ...], count: int, position: int) -> tuple[int, int]:
    """(start, end) of the values of field `position` among `count` of its group.

    At most one field of the group is not single; it takes the values that the others leave.
    """
    spare = count - (len(group) - 1)
    start = position
    for earlier in group[:position]:
        if not earlier.is_single:
            start = position - 1 + spare
    return start, start + (1 if group[position].is_single else spare)

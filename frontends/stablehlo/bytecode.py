"""From MLIR bytecode to a module: StableHLO in its dialect's encoding, and VHLO.

VHLO encodes attributes differently: one of StableHLO may be several, lists are tensors, names of
functions are strings, and default values are written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects import builtin, chlo, func, stablehlo  # noqa: F401 - declares their operations
from ...dialects.stablehlo.attributes import (
    DotAlgorithm,
    DotDims,
    GatherDims,
    ResultAccuracy,
    ResultAccuracyMode,
    ScatterDims,
)
from ...ir.attribute_kinds import SYMBOL, UNIT
from ...ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DenseElements,
    DictAttr,
    IntegerAttr,
    OpaqueAttr,
    StringAttr,
    SymbolRefAttr,
)
from ...ir.core import Block, Operation, Region, UnregisteredOp, Value
from ...ir.diagnostics import NncError
from ...ir.dialect import registry
from ...ir.location import UNKNOWN, FileLineColLoc
from ...ir.parameters import ParameterError
from ...ir.syntax.parser import parse_attribute, parse_type
from ...ir.types import NoneType, Type, i1
from ..wire.mlir_bytecode import BlockRecord, Bytecode, BytecodeError, Cursor, Record, Span
from .encodings import ENCODINGS, checked, conv_dims, location_of

CAST = "builtin.unrealized_conversion_cast"
"""The operation around operations of other dialects in VHLO that converts between its types and
theirs."""

BROKEN = (AttributeError, ParameterError, TypeError, ValueError)
"""The errors raised by making an attribute from the wrong parts."""

CONV = [
    f"{of}_{which}"
    for of, first, second in (
        ("input", "batch", "feature"),
        ("kernel", "input_feature", "output_feature"),
        ("output", "batch", "feature"),
    )
    for which in (f"{first}_dimension", f"{second}_dimension", "spatial_dimensions")
]

PARTS = {
    **{
        (op, "dimension_numbers"): (CONV, lambda **given: conv_dims(*given.values()))
        for op in ("convolution", "dynamic_conv")
    },
    **{
        key: (list(made.parameters), made)
        for key, made in {
            ("gather", "dimension_numbers"): GatherDims,
            ("dynamic_gather", "dimension_numbers"): GatherDims,
            ("scatter", "scatter_dimension_numbers"): ScatterDims,
            ("dot_general", "dot_dimension_numbers"): DotDims,
            ("dot_general", "algorithm"): DotAlgorithm,
        }.items()
    },
}
"""StableHLO's attributes that VHLO stores in several attributes: the names of those in VHLO, and a
function that makes the attribute from their values."""

UNDECLARED = {
    "custom_call": "api_version backend_config called_computations has_side_effect "
    "operand_layouts output_operand_aliases result_layouts result_tilings",
}
"""Optional attributes that this package's operations do not declare."""

ABSENT = {
    "call_v1": "arg_attrs no_inline res_attrs",
    "custom_call_v1": "result_tilings",
    "dot_general_v1": " ".join(DotAlgorithm.parameters),
    "dynamic_conv_v2": "padding",
    "dynamic_gather_v1": "operand_batching_dims start_indices_batching_dims",
    "func_v1": "no_inline",
    "gather_v1": "operand_batching_dims start_indices_batching_dims",
    "scatter_v1": "input_batching_dims scatter_indices_batching_dims",
}
"""Attributes that a version of a VHLO operation lacks."""

DEFAULTS: dict[str, Any] = {
    "api_version": 1,
    "backend_config": "",
    "compare_type": "NOTYPE",
    "composite_attributes": None,
    "dimension": -1,
    "has_side_effect": 0,
    "indices_are_sorted": 0,
    "is_stable": 0,
    "padding": 0,
    "precision_config": "DEFAULT",
    "result_accuracy": ResultAccuracy(mode=ResultAccuracyMode("DEFAULT")),
    "sym_visibility": "",
    "unique_indices": 0,
    "version": 0,
    "window_reversal": 0,
    **dict.fromkeys(("arg_attrs", "called_computations", "operand_layouts", "res_attrs")),
    **dict.fromkeys(("known_expanding_dimensions", "known_nonexpanding_dimensions")),
    **dict.fromkeys(("output_operand_aliases", "result_layouts", "result_tilings")),
    **dict.fromkeys(("base_dilations", "lhs_dilation", "rhs_dilation"), 1),
    **dict.fromkeys(("window_dilations", "window_strides"), 1),
}
"""The defaults that VHLO stores and StableHLO omits: the value, or the value of each element."""


def read_module(data: Any, name: str) -> Operation:
    """The module in bytecode. Raises NncError, which names the byte."""
    try:
        file = Bytecode(data, _decoded)
        root = _Builder(file).op(file.root(), {}, "")
    except BytecodeError as fault:
        raise NncError(f"broken MLIR bytecode: {fault}", FileLineColLoc(name, 0, 0)) from None
    if root.name != "builtin.module" or [len(r.blocks) for r in root.regions] != [1]:
        raise NncError(f"it holds '{root.name}', not a module", FileLineColLoc(name, 0, 0))
    return root


def _decoded(kind: str, span: Span, at: Cursor) -> Any:
    """The attribute or type of a span."""
    try:
        made = _coded(kind, span, at) if span.coded else _from_text(kind, at)
        return checked(made, Type if kind == "type" else Attribute, f"an {kind}")
    except (*BROKEN, NncError) as fault:
        if str(fault).startswith("byte "):
            raise
        raise at.error(f"{kind} of '{span.dialect}': {fault}") from None


def _coded(kind: str, span: Span, at: Cursor) -> Any:
    rows = ENCODINGS.get((span.dialect, kind), {})
    if not rows and kind == "attribute":  # such as marks of what devices share
        return OpaqueAttr(span.dialect, f'<"{bytes(at.data[at.at : at.end]).hex()}">')
    row = rows.get(code := at.number())
    if row is None:
        raise at.error(f"{kind} {code} of dialect '{span.dialect}' is not known")
    if callable(row):
        return row(at)
    fields, make = row
    return make(*at.fields(fields))


def _from_text(kind: str, at: Cursor) -> Any:
    text = bytes(at.data[at.at : at.end]).rstrip(b"\0").decode("utf-8")
    parse = parse_type if kind == "type" else parse_attribute
    return parse(text, allow_unregistered=True)


class _Builder:
    """Makes operations from records."""

    def __init__(self, file: Bytecode) -> None:
        self.file = file
        self.rows: dict[str, list[tuple[str, bool]]] = {}

    def op(self, record: Record, values: dict[int, Value], parent: str) -> Operation:
        """The operation of a record, nested in one named `parent`, with everything inside."""
        file = self.file
        name = our_name(record.name, parent)
        cls = registry.find_op(name)
        entries = self.entries(record, cls)
        if record.name.startswith("vhlo."):
            try:
                entries = _plain(name, cls, entries)
            except BROKEN as fault:
                raise BytecodeError(f"byte {record.at}: '{record.name}': {fault}") from None
        inherent = cls.definition.is_inherent if cls is not None else lambda key: False
        properties = dict(cls.definition.defaults) if cls is not None else {}
        properties |= {key: value for key, value in entries.items() if inherent(key)}
        given = (
            [self.value(record, number, values) for number in record.operands],
            [file.type(number) for number in record.results],
            {key: value for key, value in entries.items() if not inherent(key)},
            properties,
            [self.region(blocks, record, values, name) for blocks in record.regions],
            (),
            location_of(file.attribute(record.location)),
        )
        op = UnregisteredOp.named(name, *given) if cls is None else cls.create(*given)
        values.update(zip(record.values, op.results, strict=True))
        return op

    def value(self, record: Record, number: int, values: dict[int, Value]) -> Value:
        """The value with this number."""
        if number not in values:
            raise BytecodeError(f"byte {record.at}: value {number} is not defined before its use")
        return values[number]

    def region(
        self, blocks: Sequence[BlockRecord], record: Record, values: dict[int, Value], name: str
    ) -> Region:
        """A region; values of an isolated one are its own."""
        values = {} if record.is_isolated else dict(values)
        return Region([self.block(block, values, name) for block in blocks])

    def block(self, record: BlockRecord, values: dict[int, Value], name: str) -> Block:
        """A block and its operations."""
        block = Block()
        for type, place in record.arguments:
            loc = UNKNOWN if place is None else location_of(self.file.attribute(place))
            block.add_arg(self.file.type(type), loc)
        values.update(zip(record.values, block.args, strict=True))
        for op in record.ops:
            if op.name == CAST and len(op.operands) == len(op.values):
                inner = [self.value(op, number, values) for number in op.operands]
                values.update(zip(op.values, inner, strict=True))
            else:
                block.append(self.op(op, values, name))
        return block

    def entries(self, record: Record, cls: Any) -> dict[str, Attribute]:
        """Attributes and properties, as the file has them."""
        entries: dict[str, Attribute] = {}
        if record.attributes is not None:
            found = self.file.attribute(record.attributes)
            entries |= checked(found, DictAttr, "a dictionary of attributes").items()
        if record.properties is None or cls is None:
            return entries
        at = Cursor(self.file, *record.properties)
        if record.name not in self.rows:
            self.rows[record.name] = property_names(record.name, cls.definition)
        for name, may_miss in self.rows[record.name]:
            if at.at == at.end and may_miss:
                break  # written before the operation had the attribute
            (value,) = at.fields("o" if may_miss else "a")
            if value is not None:
                entries[name] = value
        return entries


def our_name(name: str, parent: str) -> str:
    """The StableHLO name of a VHLO operation, whose name ends in a version."""
    if not name.startswith("vhlo."):
        return name
    base = name[len("vhlo.") :].rpartition("_v")[0]
    if base in ("func", "call") or (base == "return" and parent == "func.func"):
        return f"func.{base}"
    return f"stablehlo.{base}"


def property_names(name: str, definition: Any) -> list[tuple[str, bool]]:
    """The attributes in an operation's encoding, in order, and whether each is optional."""
    base = definition.name.partition(".")[2]
    names = {
        key: attribute.optional or attribute.default is not None or attribute.kind is UNIT
        for key, attribute in definition.attributes.items()
    }
    names |= dict.fromkeys(UNDECLARED.get(base, "").split(), True)
    if name.startswith("vhlo."):
        parts = {key: PARTS[base, key][0] for key in names if (base, key) in PARTS}
        spelled = [part for key in names for part in parts.get(key, [key])]
        absent = ABSENT.get(name.removeprefix("vhlo."), "").split()
        names = {key: False for key in spelled if key not in absent}
    return sorted(names.items())


# -- from VHLO to StableHLO ------------------------------------------------------------------------


def _plain(name: str, cls: Any, entries: dict[str, Attribute]) -> dict[str, Attribute]:
    """VHLO's attributes converted to those of the StableHLO operation."""
    base = name.partition(".")[2]
    for (op, key), (parts, make) in PARTS.items():
        if op == base:
            given = {part: _part(part, entries.pop(part)) for part in parts if part in entries}
            if given and None not in given.values():
                entries[key] = make(**given)
    declared = cls.definition.attributes if cls is not None else {}
    return {
        key: _of_kind(key, value, declared.get(key))
        for key, value in entries.items()
        if not (_may_miss(declared.get(key)) and key in DEFAULTS and _is(value, DEFAULTS[key]))
    }


def _may_miss(attribute: Any) -> bool:
    return attribute is None or attribute.optional


def _is(value: Any, default: Any) -> bool:
    """Whether a value, or each of its elements, equals the default."""
    match value:
        case DenseElements():
            return all(element == default for element in value.values())
        case DenseArrayAttr() | ArrayAttr():
            return all(_is(element, default) for element in value)
        case DictAttr(entries):
            return not entries
    return value == default or getattr(value, "value", value) == default


def _of_kind(key: str, value: Any, attribute: Any) -> Attribute:
    """A tensor converted to an array, or a string to a symbol, as the attribute requires."""
    kind = attribute.kind if attribute is not None else None
    dense = i1 if key == "window_reversal" else kind and kind.dense
    if isinstance(value, DenseElements) and dense:
        return DenseArrayAttr(dense, tuple(value.to_numpy().reshape(-1).tolist()))
    if isinstance(value, StringAttr) and (key == "called_computations" or kind is SYMBOL):
        return SymbolRefAttr(value.value)
    if isinstance(value, ArrayAttr) and key == "called_computations":
        return ArrayAttr(tuple(_of_kind(key, name, None) for name in value))
    return value


def _part(name: str, value: Any) -> Any:
    """A part of an attribute as a number, a list of them, or a type; None for no type."""
    if name.endswith(("dims", "dimensions", "map")):
        value = checked(value, DenseElements, f"a tensor as {name}")
        return tuple(value.to_numpy().reshape(-1).tolist())
    if isinstance(value, IntegerAttr):
        return bool(value.value) if value.type is i1 else value.value
    return None if isinstance(value, NoneType) else checked(value, Type, f"a type as {name}")

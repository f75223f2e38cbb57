"""Dimensions that are known at run time only, and where they come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...dialects import nn
from ...dialects.func import FuncOp
from ...dialects.marks import ENTRY, INPUT_DIMS, INPUT_NAMES, OUTPUT_DIMS, OUTPUT_NAMES
from ...ir.attributes import ArrayAttr
from ...ir.core import BlockArgument, Operation, Value
from ...ir.diagnostics import NncError
from ...ir.location import node_of
from ...ir.types import IntegerType, TensorType, Type
from ..hosting import entry_of


@dataclass(frozen=True)
class NamedTensor:
    """An input or output: its name in the model, and its type, such as `f32[batch, 3, ?]`."""

    name: str
    type: str


def inputs_of(entry: FuncOp) -> list[NamedTensor]:
    """A model's inputs, in order."""
    return _named(entry.function_type.inputs, input_names(entry), input_dims(entry))


def outputs_of(entry: FuncOp) -> list[NamedTensor]:
    """A model's outputs, in order."""
    types = entry.function_type.results
    names = [one.value for one in entry.attributes[OUTPUT_NAMES]]  # type: ignore[attr-defined]
    return _named(types, names, _dims(entry, OUTPUT_DIMS, types))


def _named(
    types: Sequence[Type], names: Sequence[str], dims: Sequence[Sequence[str]]
) -> list[NamedTensor]:
    return [
        NamedTensor(name, _type_text(type, own) if isinstance(type, TensorType) else str(type))
        for name, type, own in zip(names, types, dims, strict=True)
    ]


@dataclass(frozen=True)
class OpenDimension:
    """The origin of unknown extents: an input, or a node whose operands' values decide them.

    `type` is that of the input or of the node's result, with names of dimensions if there are any;
    `because` says what decides the extents.
    """

    place: str
    type: str
    because: str


def open_dimensions(module: Operation) -> list[OpenDimension]:
    """Inputs with unknown extents, then the nodes that introduce new ones."""
    entry = entry_of(module)
    if entry is None:
        return []
    found = []
    for name, argument, dims in zip(
        input_names(entry), entry.body.block.args, input_dims(entry), strict=True
    ):
        if has_open(argument):
            text = _type_text(argument.type, dims)
            found.append(OpenDimension(f"input '{name}'", text, "given by the caller"))
    for op in entry.walk():
        because = introduced_by(op)
        if because:
            results = ", ".join(_type_text(v.type) for v in op.results if has_open(v))
            found.append(OpenDimension(node_of(op.loc) or f"'{op.name}'", results, because))
    return list(dict.fromkeys(found))


def _type_text(type: TensorType, names: Sequence[str] = ()) -> str:
    """The type as text: `f32[batch, 3, ?]`."""
    extents = [
        (names[i] if i < len(names) and names[i] else "?") if extent is None else str(extent)
        for i, extent in enumerate(type.shape)
    ]
    return f"{type.element_type}[{', '.join(extents)}]"


def input_names(entry: FuncOp) -> list[str]:
    """The names of a model's inputs."""
    return [one.value for one in entry.attributes[INPUT_NAMES]]  # type: ignore[attr-defined]


def input_dims(entry: FuncOp) -> list[list[str]]:
    """The names of each input's dimensions, "" for unnamed ones."""
    return _dims(entry, INPUT_DIMS, entry.function_type.inputs)


def _dims(entry: FuncOp, mark: str, types: Sequence[Type]) -> list[list[str]]:
    named = entry.attributes.get(mark)
    if isinstance(named, ArrayAttr):
        return [[dim.value for dim in dims] for dims in named]  # type: ignore[attr-defined]
    return [[""] * len(getattr(t, "shape", ())) for t in types]


def has_open(value: Value) -> bool:
    """Whether a value is a tensor with an unknown extent."""
    return isinstance(value.type, TensorType) and None in value.type.shape


def introduced_by(op: Operation) -> str | None:
    """What decides an op's unknown result extents, if not the operands' extents; else None."""
    if not any(map(has_open, op.results)):
        return None
    match op:
        case nn.If():
            branches = [region.block.last for region in op.regions]
            types = [last.operand_types for last in branches if last is not None]
            closed = all(None not in t.shape for given in types for t in given)
            return "the branch taken" if closed else None
        case nn.While():
            stacked = op.results[len(op.before.block.args) :]
            return "the number of iterations" if any(map(has_open, stacked)) else None
        case nn.NnOp():
            deciding = _deciding_operands(op)
            names = list(dict.fromkeys(n for v in deciding for n in _sources(v)))
            return f"values of {' and '.join(names)}" if names else None
    return None


def _deciding_operands(op: nn.NnOp) -> list[Value]:
    """The operands whose values (not extents) may decide result extents."""
    operands = list(op.operands)
    if not all(isinstance(v.type, TensorType) for v in operands):
        return []
    # With all extents known, are those of the results?
    fixed = [
        TensorType(tuple(1 if d is None else d for d in v.type.shape), v.type.element_type)
        for v in operands
    ]
    try:
        inferred = op.inferred(fixed, op.properties)
    except NncError:  # 1 does not fit: extents follow from each other
        return []
    closed = inferred is not None and all(None not in type.shape for type in inferred)  # type: ignore[attr-defined]
    if closed:
        return []
    # Sizes, conditions and positions are integers, mostly behind what they are said of.
    integers = [v for v in operands if isinstance(v.type.element_type, IntegerType)]
    behind = [v for v in integers if v is not operands[0]]
    if behind or inferred is not None:
        return behind or operands
    return [] if has_open(operands[0]) else integers


def _sources(value: Value) -> Iterator[str]:
    """The names of the inputs and nodes whose elements a value is computed from."""
    seen: set[Value] = set()
    work = [value]
    while work:
        at = work.pop()
        if at in seen:
            continue
        seen.add(at)
        op = at.defining_op
        if op is None:
            yield _argument_name(at)
        elif isinstance(op, nn.If | nn.While):
            yield node_of(op.loc) or f"'{op.name}'"
        elif not isinstance(op, nn.ShapeOf):
            work += op.operands


def _argument_name(value: Value) -> str:
    function = value.owner.parent_op if isinstance(value, BlockArgument) else None
    if isinstance(function, FuncOp) and ENTRY in function.attributes:
        return f"input '{input_names(function)[value.index]}'"  # type: ignore[attr-defined]
    return "the loop's state"

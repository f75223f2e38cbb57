"""PaddlePaddle 2's form: a ProgramDesc of blocks, whose variables may be assigned repeatedly.

Each operator becomes one of PIR, with operands in PIR's order: attributes that are operands in PIR
become constants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ir.types import TensorType
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.source import Source
from ..wire.protobuf import Record, Schema, WireError
from .operators import OPERATORS, Operator, Slot
from .params import TYPES

_SCHEMA = Schema("""
Program
  1 blocks Block*
  4 version Version
Version
  1 version int
Block
  1 idx int
  2 parent int
  3 vars Var*
  4 ops Op*
Slot
  1 parameter string
  2 arguments string*
Op
  1 inputs Slot*
  2 outputs Slot*
  3 type string
  4 attrs Attr*
Attr
  1 name string
  2 type int
  3 i int
  4 f float
  5 s string
  6 ints int*
  7 floats float*
  8 strings string*
  10 b bool
  11 bools bool*
  12 block_idx int
  13 l int
  15 longs int*
  16 float64s double*
  19 float64 double
  20 scalar Scalar
  21 scalars Scalar*
Scalar
  1 type int
  2 b bool
  3 i int
  4 r double
Var
  1 name string
  2 type Type
  3 persistable bool
Type
  1 type int
  3 lod_tensor Tensor
Tensor
  1 tensor Shape
Shape
  1 data_type int
  2 dims int*
""")

_FIELDS = {
    0: "i",
    1: "f",
    2: "s",
    3: "ints",
    4: "floats",
    5: "strings",
    6: "b",
    7: "bools",
    8: "block_idx",
    9: "l",
    11: "longs",
    12: "float64s",
    15: "float64",
}
_TENSOR = 7


def read_program(source: Source) -> tuple[Graph, list[str]]:
    """The graph, and the names of its parameters. Raises NncError."""
    try:
        program = _SCHEMA.read("Program", source.data)
    except WireError as error:
        raise source.error(f"no program of PaddlePaddle: {error}") from None
    if not program.blocks:
        raise source.error("no program of PaddlePaddle: it has no block")
    reader = _Reader(source, program.blocks)
    try:
        graph = reader.main()
    except (KeyError, ValueError, IndexError, StopIteration, TypeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise source.error(f"no program of PaddlePaddle: {what}") from None
    version = program.version.version if program.has("version") else 0
    if version:
        graph.producer = f"{version // 1000000}.{version // 1000 % 1000}.{version % 1000}"
    return graph, reader.stored


@dataclass
class _Op:
    """An operator, with its inputs, outputs and attributes by name."""

    record: Record
    attributes: dict[str, Any]
    inputs: Mapping[str, Sequence[str]]
    outputs: Mapping[str, Sequence[str]]


class _Reader:
    def __init__(self, source: Source, blocks: Sequence[Record]) -> None:
        self.source = source
        self.blocks = blocks
        self.variables = {v.name: v for block in blocks for v in block.vars}
        self.stored = [
            v.name
            for v in blocks[0].vars
            if v.persistable and v.type is not None and v.type.type == _TENSOR
        ]
        self.constants: dict[str, np.ndarray] = {}
        self.inputs: dict[int, Input] = {}
        self.outputs: dict[int, tuple[str, str]] = {}
        """By their places: the operators that feed inputs stand in the reverse order."""
        self.writes: dict[str, int] = {}
        self.depth = 0

    def main(self) -> Graph:
        current = {name: name for name in self.stored}
        nodes = self.block(0, current)
        inputs = [self.inputs[i] for i in sorted(self.inputs)]
        outputs = [self.outputs[i] for i in sorted(self.outputs)]
        return Graph(inputs, nodes, outputs, self.constants)

    def block(self, index: int, current: dict[str, str]) -> list[Node]:
        """The nodes of a block; `current` maps variables to their current values."""
        if not 0 <= index < len(self.blocks) or self.depth > 50:
            raise self.source.error(f"there is no block {index}, or it is inside of itself")
        self.depth += 1
        nodes: list[Node] = []
        for record in self.blocks[index].ops:
            self.operator(record, current, nodes)
        self.depth -= 1
        return nodes

    def operator(self, record: Record, current: dict[str, str], nodes: list[Node]) -> None:
        attributes = {a.name: _value(a) for a in record.attrs}
        inputs: dict[str, Sequence[str]] = {
            s.parameter: [current.get(v) or v for v in s.arguments] for s in record.inputs
        }
        outputs = {s.parameter: s.arguments for s in record.outputs}
        op = _Op(record, attributes, inputs, outputs)
        if record.type == "feed":
            (name,) = outputs["Out"]
            current[name] = name
            self.inputs[attributes.get("col", len(self.inputs))] = self.input(name)
        elif record.type == "fetch":
            name = inputs["X"][0]
            number = attributes.get("col", len(self.outputs))
            self.outputs[number] = f"fetch_name_{number}", name
        elif record.type in ("while", "conditional_block"):
            nodes.append(self.control(op, current))
        else:
            self.plain(op, current, nodes)

    def input(self, name: str) -> Input:
        variable = self.variables.get(name)
        found = variable and variable.type and variable.type.lod_tensor
        tensor = found and found.tensor
        if not tensor or tensor.data_type not in TYPES:
            raise self.source.error(f"input '{name}' is not a tensor of numbers")
        shape = tuple(None if d < 0 else d for d in tensor.dims)
        return Input(name, TensorType(shape, TYPES[tensor.data_type]))

    def written(self, name: str, current: dict[str, str]) -> str:
        """The name of a new value that a variable gets."""
        count = self.writes.get(name, 0)
        self.writes[name] = count + 1
        current[name] = f"{name}@{count}" if count or name in self.stored else name
        return current[name]

    def plain(self, op: _Op, current: dict[str, str], nodes: list[Node]) -> None:
        kind = op.record.type
        result = "out" if "out" in op.outputs else "Out"  # newer operators have small letters
        rule = OPERATORS.get(kind, Operator(kind, (Slot("X|x"),), (result,), {}))
        name = next((v for names in op.outputs.values() for v in names), kind)
        inputs = [self.operand(op, slot, name, nodes) for slot in rule.inputs]
        while inputs and not inputs[-1]:
            inputs.pop()
        attributes = {rule.renamed.get(k, k): v for k, v in op.attributes.items()}
        taken = {name for slot in rule.inputs for name in slot.names}
        attributes |= {
            f"input {slot}": ", ".join(names)
            for slot, names in op.inputs.items()
            if names and slot not in taken
        }
        outputs: list[str] = []
        for slot in rule.outputs:
            many = slot.startswith("*")
            given = op.outputs.get(slot.lstrip("*"), [])
            values = [self.written(v, current) for v in given]
            if many:
                outputs.append(f"{name}.{slot}")
                if values:
                    nodes.append(Node("builtin.split", name, [outputs[-1]], values))
            else:
                outputs.append(values[0] if values else "")
        nodes.append(Node(rule.kind, name, inputs, outputs, attributes))

    def operand(self, op: _Op, slot: Slot, name: str, nodes: list[Node]) -> str:
        """The value of an operand: a variable, a vector of several, or a constant."""
        for choice in slot.names:
            given = op.inputs.get(choice, [])
            if given and slot.many:
                vector = f"{name}.{choice}"
                nodes.append(Node("builtin.combine", vector, given, [vector]))
                return vector
            if given:
                return given[0]
        if slot.attribute and (value := op.attributes.get(slot.attribute)) is not None:
            array = np.array(value)
            if array.dtype.kind not in "biuf":
                array = np.array([float(v) for v in np.ravel(value)])
            element = {"f": np.float32, "b": np.bool_}.get(array.dtype.kind, np.int64)
            label = f"{name}.{slot.attribute}"
            self.constants[label] = array.astype(element)
            return label
        return ""

    def control(self, op: _Op, current: dict[str, str]) -> Node:
        """A loop, or a conditional block."""
        kind = op.record.type
        names = [v for v in op.outputs.get("Out", []) if v]
        label = names[0] if names else kind
        inner = dict(current)
        index = op.attributes.get("sub_block", -1)
        if kind == "conditional_block":
            nodes = self.block(index, inner)
            outputs = [(v, inner.get(v, v)) for v in names]
            graph = Graph([], nodes, outputs)
            values = [self.written(v, current) for v in names]
            return Node("conditional_block", label, [], values, {}, {"0": graph})
        (condition,) = op.inputs["Condition"]
        own = next(s for s in op.record.inputs if s.parameter == "Condition").arguments[0]
        names = [v for v in names if v != own and v in current]
        inputs = [current[v] for v in names]
        arguments = [Input(self.written(v, inner), TensorType((), TYPES[5])) for v in names]
        nodes = self.block(index, inner)
        outputs = [(v, inner.get(v, v)) for v in (own, *names)]
        graph = Graph(arguments, nodes, outputs)
        values = [self.written(v, current) for v in names]
        return Node("while", label, [condition, *inputs], values, {}, {"0": graph})


def _value(attribute: Record) -> Any:
    if attribute.type == 16:
        return _scalar(attribute.scalar)
    if attribute.type == 17:
        return [_scalar(one) for one in attribute.scalars]
    value = getattr(attribute, _FIELDS[attribute.type]) if attribute.type in _FIELDS else None
    return value.tolist() if isinstance(value, np.ndarray) else value


def _scalar(record: Record | None) -> Any:
    if record is None:
        return 0
    return {1: record.b, 2: record.i}.get(record.type, record.r)

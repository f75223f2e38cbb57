"""Reads a MIL program into a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.types import TensorType, f32
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.shapes import product
from ..wire.protobuf import Record
from .files import Files
from .layer import inputs_of
from .types import bytes_of, elements, immediate, shape_of, tensor_type


def program_graph(files: Files, model: Record, notes: dict[str, str]) -> Graph:
    """The graph of a model's program; of several functions, the one that the user or the model
    names.
    """
    functions = model.mlProgram.functions
    name = files.source.signature or model.part("description").defaultFunctionName or "main"
    function = functions.get(name)
    if function is None:
        raise files.error(f"the program has no function '{name}'; it has {sorted(functions)}")
    blocks = function.block_specializations
    block = blocks.get(function.opset) or next(iter(blocks.values()), None)
    if block is None:
        raise files.error(f"function '{name}' has no body")
    if len(functions) > 1:
        notes["functions"] = ", ".join(functions)
    reader = _Reader(files)
    inputs = [(one.name, one.part("type")) for one in function.inputs]
    reader.states = {name: name for name, type in inputs if type.stateType is not None}
    graph = reader.block(block, [Input(name, tensor_type(files, type)) for name, type in inputs])
    states = [(f"{name}_out", value) for name, value in reader.states.items()]
    if states:
        notes["states"] = ", ".join(reader.states)
    return Graph(
        graph.inputs,
        graph.nodes,
        [*graph.outputs, *states],
        reader.constants,
        producer=f"CoreML specification {model.specificationVersion}, {function.opset}",
        notes=notes,
        starts=dict.fromkeys(reader.states, 0.0),
    )


class _Reader:
    def __init__(self, files: Files) -> None:
        self.files = files
        self.constants: dict[str, np.ndarray] = {}
        self.values: dict[str, Any] = {}
        """The values known at import by name: constants, text and lists."""
        self.lists_grow = False
        """Whether writing behind the end of a list makes it longer."""
        self.states: dict[str, str] = {}
        """The current value of each state."""

    def block(self, block: Record, inputs: Sequence[Input]) -> Graph:
        nodes: list[Node] = []
        for operation in block.operations:
            self.operation(operation, nodes)
        return Graph(inputs, nodes, [(name, name) for name in block.outputs])

    def operation(self, op: Record, nodes: list[Node]) -> None:
        outputs = [one.name for one in op.outputs]
        given = {name: self.value(value) for name, value in op.attributes.items()}
        if op.type == "const":
            self.keep(outputs[0] if outputs else "", given.get("val"))
            return
        bound: dict[str, list[str]] = {}
        for name, argument in op.inputs.items():
            names = [self.binding(one, f"{outputs[:1]} {name}") for one in argument.arguments]
            bound[name] = names
            known = [self.values.get(one) for one in names]
            if all(one is not None for one in known) and known:
                given[name] = known[0] if len(known) == 1 else known
        if op.type == "make_list":  # types tell lengths at first only
            self.lists_grow |= bool(given.get("dynamic_length", True))
        elif op.type.startswith("list_"):
            given["grows"] = np.array(self.lists_grow)
        title = given.pop("name", "")
        title = title if isinstance(title, str) and title else (outputs[0] if outputs else "")
        if op.type in ("write_state", "coreml_update_state"):
            self.write(bound, outputs, title, nodes)
            return
        for name in bound.get("input", ()):
            if op.type == "read_state" and name in self.states:
                bound["x"] = [self.states[name]]
        inputs: list[str] = []
        taken = inputs_of(op.type)
        given |= {
            f"{name}(computed)": ", ".join(names)
            for name, names in bound.items()
            if name not in given and (name, True) not in taken and (name, False) not in taken
        }
        for name, is_list in taken:
            if name not in bound and name in given and isinstance(given[name], np.ndarray):
                key = f"{title}.{name}"
                self.keep(key, given[name])
                bound[name] = [key]
            inputs += bound.get(name, [] if is_list else [""])
        while inputs and not inputs[-1]:
            inputs.pop()
        before = dict(self.states)
        graphs = {str(i): self.block(one, self.inputs(one)) for i, one in enumerate(op.blocks)}
        for state, value in self.states.items():
            if value != before.get(state):
                raise self.files.error(
                    f"operation '{title}' ({op.type}) writes state '{state}' inside, which is not "
                    "supported"
                )
        nodes.append(Node(op.type, title, inputs, outputs, given, graphs))

    def write(
        self, bound: dict[str, list[str]], outputs: list[str], title: str, nodes: list[Node]
    ) -> None:
        """Set a state to the value of an operand, which is also the operation's result."""
        state, value = (
            (bound.get(a) or bound.get(b) or [""])[0]
            for a, b in (("input", "state"), ("data", "value"))
        )
        if state not in self.states:
            raise self.files.error(f"operation '{title}' writes '{state}', which is not a state")
        self.states[state] = value
        if outputs:
            nodes.append(Node("identity", title, [value], outputs, {}))

    def inputs(self, block: Record) -> list[Input]:
        """The inputs of a nested block, whose types follow from what it is called with."""
        return [Input(one.name, TensorType((), f32)) for one in block.inputs]

    def keep(self, name: str, value: Any) -> None:
        """Record a constant under its name."""
        if value is None:
            raise self.files.error(f"constant '{name}' has no value")
        self.values[name] = value
        if isinstance(value, np.ndarray):
            self.constants[name] = value

    def binding(self, binding: Record, place: str) -> str:
        """The name of the value or constant that an input is bound to; an unnamed constant gets a
        name.
        """
        if binding.value is None:
            return binding.name
        name = f"{place} {len(self.values)}"
        self.keep(name, self.value(binding.value))
        return name

    def value(self, value: Record) -> Any:
        blob = value.blobFileValue
        if blob is None:
            return immediate(self.files, value) if value.immediateValue is not None else None
        type = value.part("type").part("tensorType")
        shape = shape_of(type)
        data = self.files.bytes_at(blob.fileName, blob.offset)
        if None not in shape:
            data = data[: bytes_of(type.dataType, product(shape) or 0)]
        return elements(self.files, data, type.dataType, shape)

"""States of a model, which become inputs and outputs: `ReadValue` reads one, `Assign` sets it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ir.types import Dim, TensorType
from ..common.graph import Node
from ..common.inputs import Input
from ..common.source import Source
from .constants import TYPES


@dataclass
class States:
    """The states that nodes of a graph read and set."""

    source: Source
    inputs: list[Input] = field(default_factory=list)
    firsts: dict[str, str] = field(default_factory=dict)
    """The value that a state has at first, if the model computes one."""
    values: dict[str, str] = field(default_factory=dict)
    """The value that a state is set to."""
    starts: dict[str, Any] = field(default_factory=dict)
    makers: dict[str, Node] = field(default_factory=dict)
    """The nodes that make values."""

    @property
    def outputs(self) -> list[tuple[str, str]]:
        """For each state, its next value."""
        return [(f"{name}_out", value) for name, value in self.values.items()]

    @property
    def notes(self) -> dict[str, str]:
        """What callers are told."""
        return {"states": ", ".join(self.values)} if self.values else {}

    def node(self, node: Node, data: Mapping[str, Any]) -> Node:
        """The node, or what stands for it where it reads or sets a state."""
        self.makers.update(dict.fromkeys(node.outputs, node))
        if node.kind not in ("ReadValue", "Assign"):
            return node
        name = data["variable_id"]
        if node.kind == "Assign":
            self.values[name] = node.inputs[0]
            return Node("Identity", node.name, node.inputs, node.outputs, {})
        if all(one.name != name for one in self.inputs):
            self.inputs.append(Input(name, self.type(node, name, data)))
            self.values.setdefault(name, name)
        if node.inputs:
            self.firsts[name] = node.inputs[0]
        return Node("Identity", node.name, [name], node.outputs, {})

    def type(self, node: Node, name: str, data: Mapping[str, Any]) -> TensorType:
        """The type of a state."""
        kind, shape = data.get("variable_type", ""), data.get("variable_shape")
        if kind not in TYPES or shape is None or shape == "...":
            raise self.source.error(f"{node.label}: state '{name}' has no known type")
        return TensorType(tuple(_dim(word) for word in shape.split(",") if word), TYPES[kind])

    def finish(self, constants: Mapping[str, np.ndarray]) -> None:
        """Find what each state has at first; where that depends on inputs, callers give it."""
        for one in self.inputs:
            first = self.firsts.get(one.name)
            if first is None:
                self.starts[one.name] = 0.0
                continue
            while first not in constants:
                node = self.makers.get(first)
                if node is None or node.kind not in ("Broadcast", "Convert"):
                    break
                first = node.inputs[0]
            else:
                start = np.asarray(constants[first])
                same = start.size and (start == start.reshape(-1)[0]).all()
                if same:
                    self.starts[one.name] = start.reshape(-1)[0]
                elif isinstance(one.type, TensorType) and start.shape == one.type.shape:
                    self.starts[one.name] = start


def _dim(text: str) -> Dim:
    text = text.strip()
    return int(text) if text.isdigit() else None

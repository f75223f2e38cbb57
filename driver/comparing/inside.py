"""The graphs inside of a node: the branch of an If, one iteration of a Loop or Scan."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper

from ...frontends.onnx.cutting import CutGraph
from .sides import Side

Part = tuple[onnx.ModelProto, dict[str, np.ndarray]]
"""(a model, its inputs by name)."""

Differ = Callable[[onnx.ModelProto, Mapping[str, np.ndarray]], bool]

_NONE = np.empty(0)


@dataclass(frozen=True)
class Inside:
    """A graph nested in a node as a model of its own, and its name in messages."""

    words: str
    graph: CutGraph
    inputs: dict[str, np.ndarray]


def inside(
    graph: CutGraph, at: int, values: Mapping[str, Any], reference: Side, differ: Differ
) -> Inside | None:
    """The first nested graph of a node that may differ, as a model; None for a node without graphs.

    `values` has the reference's values of the node's operands; `differ` tells of a model and inputs
    whether the two sides differ.
    """
    node = graph.nodes[at]
    if node.op_type not in ("If", "Loop", "Scan") or graph.opset < 9:
        return None
    constants = [name for name in node.input if name and name not in values]
    if constants:
        values = {**values, **reference.run(*graph.part(0, 0, constants, values))}
    if not all(isinstance(values.get(name, _NONE), np.ndarray) for name in graph.used(node)):
        return None  # sequences are no inputs of a model
    if node.op_type == "If":
        taken = np.asarray(values[node.input[0]]).all()
        branch = _graph(node, "then_branch" if taken else "else_branch")
        return _inside(graph, branch, values, "in its branch")
    loop = (_Loop if node.op_type == "Loop" else _Scan)(graph, node, values)
    count = loop.count(reference)
    if not count:
        return None
    first = loop.first(count, differ)
    state = loop.before(first, reference)
    if not all(isinstance(value, np.ndarray) for value in state.values()):
        return None
    return _inside(graph, loop.body, {**values, **state}, f"in iteration {first}")


def _inside(graph: CutGraph, body: Any, values: Mapping[str, Any], words: str) -> Inside:
    made = {name for node in body.node for name in node.output}
    outputs = [value.name for value in body.output if value.name in made]
    proto, inputs = graph.inner(body, outputs, values)
    return Inside(words, CutGraph(proto, outputs), inputs)


def _graph(node: Any, name: str) -> Any:
    return next(one.g for one in node.attribute if one.name == name)


class _Iterated(ABC):
    """A loop that can be stopped after some iterations."""

    def __init__(self, graph: CutGraph, node: Any, values: Mapping[str, Any]) -> None:
        self.graph, self.node, self.values = graph, node, values
        self.body = _graph(node, "body")
        self.outputs = [f"{node.name}.output{i}" for i in range(len(node.output))]

    @abstractmethod
    def count(self, reference: Side) -> int:
        """The number of iterations."""

    @abstractmethod
    def stopped(self, count: int) -> Part:
        """The loop with only `count` iterations, and its outputs."""

    @abstractmethod
    def before(self, iteration: int, reference: Side) -> dict[str, Any]:
        """The reference's values of the body's inputs in an iteration, counted from 0."""

    def first(self, count: int, differ: Differ) -> int:
        """The first iteration after which results differ, if they do after all `count`."""
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if differ(*self.stopped(middle)) else (middle, high)
        return low

    def changed(self, inputs: Mapping[int, str], body: Any = None) -> Any:
        """The node with other inputs and outputs, and perhaps another body."""
        node = onnx.NodeProto()
        node.CopyFrom(self.node)
        for i, name in inputs.items():
            node.input[i] = name
        node.output[:] = self.outputs
        if body is not None:
            _graph(node, "body").CopyFrom(body)
        return node


class _Loop(_Iterated):
    """ONNX's Loop: trip count, condition, states -> states, stacked outputs."""

    trips = "the iterations before"

    def count(self, reference: Side) -> int:
        body = onnx.GraphProto()
        body.CopyFrom(self.body)
        number, counted = body.input[0].name, "the iteration"
        body.node.append(helper.make_node("Identity", [number], [counted]))
        body.output.append(helper.make_tensor_value_info(counted, onnx.TensorProto.INT64, []))
        node = self.changed({}, body)
        node.output.append(counted)
        found = reference.run(*self.graph.instead(node, [counted], self.values))
        return len(found[counted])

    def stopped(self, count: int) -> Part:
        values = {**self.values, self.trips: np.array(count, np.int64)}
        return self.graph.instead(self.changed({0: self.trips}), self.outputs, values)

    def before(self, iteration: int, reference: Side) -> dict[str, Any]:
        number, condition, *names = (value.name for value in self.body.input)
        states: list[Any] = [self.values[name] for name in self.node.input[2:]]
        if iteration:
            found = reference.run(*self.stopped(iteration))
            states = [found[name] for name in self.outputs[: len(states)]]
        fixed = {number: np.array(iteration, np.int64), condition: np.array(True)}
        return fixed | dict(zip(names, states, strict=True))


class _Scan(_Iterated):
    """ONNX's Scan: states, sequences -> states, stacked outputs."""

    def __init__(self, graph: CutGraph, node: Any, values: Mapping[str, Any]) -> None:
        super().__init__(graph, node, values)
        found = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        scanned = int(found["num_scan_inputs"])
        self.states = len(node.input) - scanned
        self.axes = [int(n) for n in found.get("scan_input_axes", [0] * scanned)]
        self.backwards = [bool(n) for n in found.get("scan_input_directions", [0] * scanned)]

    def _sequences(self) -> list[np.ndarray]:
        """The scanned operands, in the order of iterations along dimension 0."""
        operands = (self.values[name] for name in self.node.input[self.states :])
        moved = (np.moveaxis(x, axis, 0) for x, axis in zip(operands, self.axes, strict=True))
        return [x[::-1] if b else x for x, b in zip(moved, self.backwards, strict=True)]

    def count(self, reference: Side) -> int:
        return len(self._sequences()[0])

    def stopped(self, count: int) -> Part:
        names = {i: f"the first of input {i}" for i in range(self.states, len(self.node.input))}
        rows = zip(names.values(), self._sequences(), self.axes, self.backwards, strict=True)
        first = {
            name: np.moveaxis(x[:count][::-1] if backwards else x[:count], 0, axis)
            for name, x, axis, backwards in rows
        }
        return self.graph.instead(self.changed(names), self.outputs, {**self.values, **first})

    def before(self, iteration: int, reference: Side) -> dict[str, Any]:
        states: list[Any] = [self.values[name] for name in self.node.input[: self.states]]
        if iteration:
            found = reference.run(*self.stopped(iteration))
            states = [found[name] for name in self.outputs[: self.states]]
        values = [*states, *(np.ascontiguousarray(x[iteration]) for x in self._sequences())]
        return dict(zip((value.name for value in self.body.input), values, strict=True))

"""Extracts parts of a model's graph as models of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import onnx.inliner
from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from ...ir.diagnostics import NncError
from ..common.order import needed_nodes, used_names
from .graph import node_of, subgraphs
from .model import Model, read_model
from .tensors import TensorReader

MOST_INTEGERS = 64
"""The most integers of a part's input that become constants: they are shapes mostly, which are
known in the whole model."""


class CutGraph:
    """A model's main graph as a list of nodes, each range of which can be made a model.

    Constants, and values computed from them only, are repeated in each part. `given` are fixed
    values of inputs.
    """

    def __init__(
        self, source: Any, outputs: Iterable[str], given: Mapping[str, np.ndarray] | None = None
    ) -> None:
        self.model = _inlined(read_model(source))
        graph = self.model.proto.graph
        self.given = dict(given or {})
        self.initializers = {
            tensor.name: tensor for tensor in graph.initializer if tensor.name not in self.given
        }
        self.inputs = {
            value.name: value
            for value in graph.input
            if value.name not in self.initializers and value.name not in self.given
        }
        self.outputs = list(outputs)
        sparse = {tensor.values.name for tensor in graph.sparse_initializer}
        known = {*self.inputs, *self.given, *self.initializers, *sparse}
        try:
            nodes = (node_of(self.model, node) for node in graph.node)
            order = [one.attributes for one in needed_nodes(nodes, known, self.outputs)]
        except NncError as error:
            raise self.model.error(error.message) from None
        varying = set(self.inputs)
        self.nodes: list[Any] = []
        self._constant: list[Any] = []
        for node in order:
            depends = any(name in varying for name in self.used(node)) or not _is_fixed(node)
            (self.nodes if depends else self._constant).append(node)
            if depends:
                varying.update(name for name in node.output if name)
        self.makers = {name: i for i, one in enumerate(self.nodes) for name in one.output if name}
        self._last = {name: len(self.nodes) for name in self.outputs}
        for i, node in enumerate(self.nodes):
            for name in self.used(node):
                self._last[name] = max(self._last.get(name, 0), i)

    def frontier(self, at: int) -> list[str]:
        """The values that the first `at` nodes make and that later nodes or the caller use."""
        return [
            name
            for name, maker in self.makers.items()
            if maker < at and self._last.get(name, -1) >= at
        ]

    def label(self, at: int) -> str:
        """The name of node `at` in messages."""
        return node_of(self.model, self.nodes[at]).label

    def used(self, node: Any) -> list[str]:
        """The names that a node uses, also in its nested graphs."""
        return used_names(node_of(self.model, node))

    @property
    def opset(self) -> int:
        """The version of ONNX's operators."""
        versions = {one.domain: one.version for one in self.model.proto.opset_import}
        return versions.get("", versions.get("ai.onnx", 1))

    def inner(
        self, graph: Any, outputs: Sequence[str], values: Mapping[str, Any]
    ) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
        """A graph nested in a node as a model, and the model's inputs, taken from `values`, which
        also has the inputs of the graph.
        """
        return self._model([*self._constant, *graph.node], graph, outputs, values)

    def instead(
        self, node: Any, outputs: Sequence[str], values: Mapping[str, Any]
    ) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
        """A model of one node, which the caller has changed, and its inputs, from `values`."""
        return self._model([*self._constant, node], None, outputs, values)

    def part(
        self, first: int, last: int, outputs: Sequence[str], values: Mapping[str, Any]
    ) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
        """The nodes [first, last) as a model with these outputs, and the model's inputs, taken from
        `values`, which has the results of earlier nodes.
        """
        return self._model([*self._constant, *self.nodes[first:last]], None, outputs, values)

    def _model(
        self, nodes: Sequence[Any], branch: Any, outputs: Sequence[str], values: Mapping[str, Any]
    ) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
        """A model of the nodes that the outputs need, and its inputs."""
        made = {name for node in nodes for name in node.output}
        needed = self._needed(nodes, outputs)
        used = dict.fromkeys(name for node in needed for name in self.used(node))
        used |= dict.fromkeys(outputs)
        initializers = self.initializers
        if branch is not None:
            initializers = initializers | {tensor.name: tensor for tensor in branch.initializer}
        proto = onnx.ModelProto()
        # From version 4 on, initializers need not be inputs.
        proto.ir_version = max(self.model.proto.ir_version, 4)
        proto.opset_import.extend(self.model.proto.opset_import)
        proto.functions.extend(self.model.proto.functions)
        graph = proto.graph
        graph.name = "part"
        graph.node.extend(_with_data(node, self.model.tensors) for node in needed)
        graph.sparse_initializer.extend(self.model.proto.graph.sparse_initializer)
        inputs: dict[str, np.ndarray] = {}
        for name in used:
            if name in initializers:
                tensor = self.model.tensors.with_data(initializers[name])
                graph.initializer.append(tensor)
            elif name in self.given:
                graph.initializer.append(numpy_helper.from_array(self.given[name], name))
            elif name not in made and name in values:
                self._give(name, values[name], graph, inputs)
        graph.output.extend(ValueInfoProto(name=name) for name in outputs)
        return proto, inputs

    def _needed(self, nodes: Sequence[Any], outputs: Sequence[str]) -> list[Any]:
        """The nodes, in order, that the outputs depend on."""
        wanted, found = set(outputs), []
        for node in reversed(nodes):
            if any(name in wanted for name in node.output if name):
                wanted.update(self.used(node))
                found.append(node)
        return found[::-1]

    def _give(self, name: str, value: Any, graph: Any, inputs: dict[str, np.ndarray]) -> None:
        """Add an outside value to a graph: as an input, or a constant if it is a few integers."""
        if name in self.inputs:
            graph.input.append(self.inputs[name])
            inputs[name] = value
        elif value.dtype.kind in "iub" and value.size <= MOST_INTEGERS:
            graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        else:
            code = helper.np_dtype_to_tensor_dtype(value.dtype)
            graph.input.append(helper.make_tensor_value_info(name, code, value.shape))
            inputs[name] = value


def model_tensors(source: Any) -> list[str]:
    """The names of the tensors that the nodes of a model's main graph make."""
    return [name for node in read_model(source).proto.graph.node for name in node.output if name]


def with_outputs(source: Any, names: Sequence[str]) -> onnx.ModelProto:
    """The whole model with other outputs, and with its weights inside."""
    model: Model = read_model(source)
    proto = onnx.ModelProto()
    proto.CopyFrom(model.proto)
    graph = proto.graph
    for field in (graph.initializer, graph.node, graph.output):
        del field[:]
    graph.initializer.extend(map(model.tensors.with_data, model.proto.graph.initializer))
    graph.node.extend(_with_data(node, model.tensors) for node in model.proto.graph.node)
    graph.output.extend(ValueInfoProto(name=name) for name in names)
    return proto


def _inlined(model: Model) -> Model:
    """The model with its own functions inlined, so that their bodies can be cut."""
    if not model.functions:
        return model
    try:
        proto = onnx.inliner.inline_local_functions(model.proto)
    except Exception:  # the binding raises several kinds: a call is then a node like another
        return model
    return replace(model, proto=proto, functions={})


def _is_fixed(node: Any) -> bool:
    """Whether equal operands always give an equal result; random operators are not repeatable."""
    return not node.op_type.startswith("Random") and node.op_type not in (
        "Bernoulli",
        "Multinomial",
    )


def _with_data(node: Any, tensors: TensorReader) -> Any:
    """The node with the data of its tensors inside, instead of references to files."""
    copy = NodeProto()
    copy.CopyFrom(node)
    for attribute in copy.attribute:
        if attribute.t.data_location == TensorProto.EXTERNAL:
            attribute.t.CopyFrom(tensors.with_data(attribute.t))
        for graph in subgraphs(attribute):
            held = list(map(tensors.with_data, graph.initializer))
            inner = [_with_data(one, tensors) for one in graph.node]
            del graph.initializer[:], graph.node[:]
            graph.initializer.extend(held)
            graph.node.extend(inner)
    return copy

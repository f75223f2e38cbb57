"""Graphs of ONNX in the common form. A node's attributes are its proto."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import AttributeProto

from ...ir.types import NoneType
from ..common.graph import Graph, relative_names
from ..common.graph import Node as GraphNode
from ..common.inputs import Input
from .inputs import dimensions, initializers
from .model import Model


class ProtoNode(GraphNode):
    """A node with a label as ONNX users know it."""

    @property
    def label(self) -> str:
        """The node's name in messages."""
        if self.name:
            return f"node '{self.name}' ({self.kind})"
        first = next((name for name in self.outputs if name), "")
        return f"node of output '{first}' ({self.kind})"


class Tensors(Mapping[str, np.ndarray]):
    """The initializers of a graph, each read on first use."""

    def __init__(self, model: Model, graph: Any) -> None:
        self._model = model
        self._protos: dict[str, Any] = {}
        for name, tensor in initializers(graph):
            if name in self._protos:
                raise model.error(f"initializer '{name}' is defined twice")
            self._protos[name] = tensor

    def __getitem__(self, name: str) -> np.ndarray:
        return self._model.tensors.array(self._protos[name])

    def __contains__(self, name: object) -> bool:
        return name in self._protos

    def __iter__(self) -> Iterator[str]:
        return iter(self._protos)

    def __len__(self) -> int:
        return len(self._protos)


def graph_of(model: Model, proto: Any, inputs: Sequence[Input] | None = None) -> Graph:
    """The graph; by default its inputs have any type, as those of nested graphs do.

    Raises NncError if two initializers have one name.
    """
    if inputs is None:
        inputs = [Input(value.name, NoneType()) for value in proto.input]
    return Graph(
        inputs,
        [node_of(model, node) for node in proto.node],
        [(value.name, value.name) for value in proto.output],
        Tensors(model, proto),
        dimensions(proto.output),
    )


SCOPES = "pkg.torch.onnx.name_scopes"
"""The entry of a node's metadata that names the modules around it."""
_MOST_SCOPES = 10_000
"""The most characters of such an entry."""
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")


def function_of(model: Model, proto: Any) -> Graph:
    """The body of a function."""
    inputs = [Input(name, NoneType()) for name in proto.input]
    nodes = [node_of(model, node) for node in proto.node]
    return Graph(inputs, nodes, [(name, name) for name in proto.output])


def node_of(model: Model, proto: Any) -> GraphNode:
    """The node; its nested graphs are named by their attributes."""
    graphs = {}
    for attribute in proto.attribute:
        for i, graph in enumerate(subgraphs(attribute)):
            graphs[f"{attribute.name}.{i}" if i else attribute.name] = graph_of(model, graph)
    return ProtoNode(
        proto.op_type,
        proto.name,
        list(proto.input),
        list(proto.output),
        proto,
        graphs,
        scopes=_scopes_of(proto),
    )


def _scopes_of(proto: Any) -> tuple[str, ...]:
    """The paths of the modules that a node is in, from PyTorch exporters' metadata: a list in
    Python syntax, which ends with the node's own name.
    """
    for entry in proto.metadata_props:
        if entry.key == SCOPES and len(entry.value) <= _MOST_SCOPES:
            paths = [single or double for single, double in _QUOTED.findall(entry.value)]
            return relative_names(paths[:-1], ".")
    return ()


def subgraphs(attribute: Any) -> Sequence[Any]:
    """The graphs in an attribute."""
    if attribute.type == AttributeProto.GRAPH:
        return [attribute.g]
    return attribute.graphs if attribute.type == AttributeProto.GRAPHS else ()

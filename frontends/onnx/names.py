"""Names in a model must be text: protobuf gives bytes where a string is not UTF-8."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnx import AttributeProto


def undecodable_name(model: Any) -> bytes | None:
    """A name in the model that is not UTF-8 text, or None."""
    for name in _names(model):
        if isinstance(name, bytes):
            return name
    return None


def _names(model: Any) -> Iterator[Any]:
    for opset in model.opset_import:
        yield opset.domain
    yield from _names_of_graph(model.graph)
    for function in model.functions:
        yield from (function.name, function.domain, function.overload)
        yield from function.input
        yield from function.output
        yield from function.attribute
        for opset in function.opset_import:
            yield opset.domain
        for node in function.node:
            yield from _names_of_node(node)
        for attribute in function.attribute_proto:
            yield from _names_of_attribute(attribute)


def _names_of_graph(graph: Any) -> Iterator[Any]:
    for values in (graph.input, graph.output):
        for value in values:
            yield value.name
            if value.type.HasField("tensor_type"):
                for dim in value.type.tensor_type.shape.dim:
                    yield dim.dim_param
    for tensor in graph.initializer:
        yield from _names_of_tensor(tensor)
    for sparse in graph.sparse_initializer:
        yield sparse.values.name
    for node in graph.node:
        yield from _names_of_node(node)


def _names_of_node(node: Any) -> Iterator[Any]:
    yield from (node.name, node.op_type, node.domain, node.overload)
    yield from node.input
    yield from node.output
    for attribute in node.attribute:
        yield from _names_of_attribute(attribute)


def _names_of_attribute(attribute: Any) -> Iterator[Any]:
    yield from (attribute.name, attribute.ref_attr_name)
    if attribute.type == AttributeProto.GRAPH:
        yield from _names_of_graph(attribute.g)
    elif attribute.type == AttributeProto.TENSOR:
        yield from _names_of_tensor(attribute.t)


def _names_of_tensor(tensor: Any) -> Iterator[Any]:
    yield tensor.name
    for entry in tensor.external_data:
        yield from (entry.key, entry.value)

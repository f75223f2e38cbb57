"""Operators that are imported by their definition: a function of other operators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import onnx
from onnx import FunctionProto, NodeProto, TypeProto

from ...dialects import nn
from ...ir.core import Value
from ...ir.diagnostics import NncError
from ...ir.types import NoneType, TensorType
from ..common.order import needed_nodes
from ..common.scope import Scope
from .context import Context
from .model import Model, domain, function_opsets
from .registry import rows
from .schema import find_schema
from .tensors import element_type_code

if TYPE_CHECKING:
    from .node import Node

DEEPEST = 50

MOST_NODES = 200_000
"""The most nodes of a model after its function calls are inlined."""


def check_calls(model: Model) -> None:
    """Raise NncError if the calls of a model's functions expand to too many nodes.

    Forty functions that each call the next one twice expand to 2^40.
    """
    counts: dict[Any, int] = {}

    def count(nodes: Iterable[Any], depth: int) -> int:
        found = 0
        for node in nodes:
            key = (domain(node.domain), node.op_type, node.overload)
            body = model.functions.get(key)
            if body is not None and key not in counts and depth <= DEEPEST:
                counts[key] = count(body.node, depth + 1)
            inner = (g for a in node.attribute for g in (a.g, *a.graphs))
            found += counts.get(key, 1) + sum(count(g.node, depth) for g in inner if g.node)
        return found

    if model.functions and count(model.proto.graph.node, 0) > MOST_NODES:
        text = f"the calls of its functions stand for more than {MOST_NODES} nodes"
        raise NncError(text, model.loc)


def fixed_body(node: Any, domain_name: str, opset: int) -> tuple[Any | None, bool]:
    """(the operator's function body, None without one; whether its body depends on input types)."""
    schema = find_schema(domain_name, node.op_type, opset)
    if schema is None:
        return None, False
    if schema.has_function:
        versions = [v for v in schema.function_opset_versions if v <= opset]
        if versions:
            return _parsed(schema.get_function_with_opset_version(max(versions))), False
    return None, bool(schema.has_context_dependent_function)


@rows.takes_any_rank
def expand_call(node: Node, *inputs: Any) -> list[Any]:
    """The outputs of a node, by importing the body of the function it calls."""
    body = node.local if node.local is not None else _body_of(node, inputs)
    importer, context = node.builder, node.context
    depth = importer.scope.depth + 1
    if depth > DEEPEST:
        raise node.error(f"function calls are nested more than {DEEPEST} deep")
    if len(inputs) > len(body.input) or len(node.outputs) > len(body.output):
        raise node.error(
            f"{len(inputs)} inputs and {len(node.outputs)} outputs, but function "
            f"'{body.name}' has {len(body.input)} and {len(body.output)}"
        )
    if node.local is not None:
        known = {*body.attribute, *(proto.name for proto in body.attribute_proto)}
        for name in node.given:
            if name not in known:
                raise node.error(f"function '{body.name}' has no attribute '{name}'")
    node.attributes.read_all()
    outputs = list(body.output)[: len(node.outputs)]
    ranks = ((name, node.declared_rank(i)) for i, name in enumerate(outputs) if node.wants(i))
    inner = Context(
        function_opsets(importer.model, body),
        _bindings(node, body),
        node.loc,
        context.call_label or node.label,
        {name: rank for name, rank in ranks if rank is not None},
        context.may_fail,
    )
    graph = importer.function(node, body)
    scope = Scope(graph, None, inner, depth)
    scope.values.update(zip_longest(body.input, inputs))
    wanted = [name for name, own in zip(outputs, node.outputs, strict=True) if own]
    try:
        nodes = needed_nodes(graph.nodes, body.input, wanted)
    except NncError as error:
        raise node.error(f"in the body of function '{body.name}': {error.message}") from None
    importer.survey.check(nodes, inner)
    importer.import_nodes(nodes, scope)
    return [scope.values.get(name) for name in outputs]


def _bindings(node: Node, body: Any) -> dict[str, Any]:
    """The values of the body's attribute references: the call's attributes and defaults."""
    bindings = {proto.name: proto for proto in body.attribute_proto}
    if node.schema is not None:
        for name, declared in node.schema.attributes.items():
            if declared.default_value.type:
                bindings[name] = declared.default_value
    return bindings | node.given


def _body_of(node: Node, inputs: Sequence[Any]) -> Any:
    name = domain(node.proto.domain)
    body, depends = fixed_body(node.proto, name, node.opset)
    if body is None and depends:
        body = _dependent_body(node, inputs)
    if body is None:
        raise node.error("not supported")
    return body


def _dependent_body(node: Node, inputs: Sequence[Any]) -> Any | None:
    """The body for the types of these inputs."""
    schema = node.schema
    versions = [v for v in schema.context_dependent_function_opset_versions if v <= node.opset]
    if not versions:
        return None
    proto = NodeProto()
    proto.CopyFrom(node.proto)
    del proto.attribute[:]
    proto.attribute.extend(node.given.values())
    types = [_type_proto(value).SerializeToString() for value in inputs]
    try:
        data = schema.get_context_dependent_function_with_opset_version(
            max(versions), proto.SerializeToString(), types
        )
    except Exception as error:  # the binding raises several kinds
        raise node.error(f"its definition cannot be made: {error}") from None
    return _parsed(data) if data else None


def _type_proto(value: Value | tuple | None) -> TypeProto:
    if value is None:
        return TypeProto()
    if isinstance(value, tuple):  # a sequence
        return onnx.helper.make_sequence_type_proto(_type_proto(next(iter(value), None)))
    return value_proto(value.type)


def value_proto(type: Any) -> TypeProto:
    """ONNX's description of a type."""
    match type:
        case nn.SequenceType():
            return onnx.helper.make_sequence_type_proto(value_proto(type.element))
        case nn.OptionalType():
            return onnx.helper.make_optional_type_proto(value_proto(type.element))
        case nn.MapType():
            held = value_proto(TensorType((), type.value))
            return onnx.helper.make_map_type_proto(element_type_code(type.key), held)
        case NoneType():
            return TypeProto()
    shape = getattr(type, "shape", None)
    return onnx.helper.make_tensor_type_proto(
        element_type_code(type.element_type), None if shape is None else list(shape)
    )


def _parsed(data: bytes) -> FunctionProto:
    body = FunctionProto()
    body.ParseFromString(data)
    return body

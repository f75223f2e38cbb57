"""A converter's view of an ONNX node: its inputs, attributes, and where new ops are inserted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from onnx import AttributeProto, helper

from ...ir.diagnostics import NncError
from ...ir.location import CallSiteLoc
from ..common.fields import Fields
from ..common.graph import Node as GraphNode
from ..common.importer import NodeLayer
from ..common.rows import fault_of_call, fault_of_ranks
from .context import Context
from .registry import rows
from .schema import (
    attribute_kind,
    fault_of_attributes,
    fault_of_kinds,
    fault_of_presence,
    fault_of_signature,
    fault_of_types,
)

A: Any = AttributeProto
_FIELDS = {
    A.INT: "i",
    A.FLOAT: "f",
    A.STRING: "s",
    A.TENSOR: "t",
    A.GRAPH: "g",
    A.INTS: "ints",
    A.FLOATS: "floats",
    A.STRINGS: "strings",
    A.SPARSE_TENSOR: "sparse_tensor",
    A.TYPE_PROTO: "tp",
}


class Node(NodeLayer):
    """A node that is being imported. `node(op)` inserts an nn op and returns the op's result."""

    builder: Any
    """The import that the node is part of: an `OnnxImporter`, which needs this file."""
    field = "attribute "

    def __init__(self, importer: Any, node: GraphNode) -> None:
        super().__init__(importer, node)
        proto, context = node.attributes, importer.scope.context
        self.proto: Any = proto
        self.context: Context = context
        self.op_type = node.kind
        self.kind = f"{proto.domain}.{node.kind}".removeprefix("ai.onnx.").lstrip(".")
        self.given: dict[str, Any] = context.resolve_attributes(proto)
        self.attributes = Fields(self.given)
        """The attributes in `given`, which record whether a converter has read them."""
        self.opset = context.opset_of(proto)
        self.schema = context.schema_of(proto)
        self.local = importer.survey.local_function(proto)
        """The model's own function that the node calls, or None."""
        if context.caller is not None:
            self.loc = CallSiteLoc(self.loc, context.caller)

    @property
    def outputs(self) -> Sequence[str]:
        """The names of the outputs; "" for an unused one."""
        return self.node.outputs

    def error(self, message: str) -> NncError:
        """An error that names the model and the node (and the call it was inlined from)."""
        return NncError(f"{self.context.place_of(self.node)}: {message}", self.builder.loc)

    # -- checks -------------------------------------------------------------------------------

    def fault(self) -> str | None:
        """How the node violates the operator's declaration; None if it does not."""
        if self.schema is None or self.local is not None:
            return None
        fault = fault_of_signature(self.schema, len(self.node.inputs), len(self.node.outputs))
        return fault or fault_of_attributes(self.schema, self.given)

    def fault_of(self, convert: Callable[..., Any], inputs: list[Any]) -> str | None:
        """What is wrong with the inputs, by the declaration if there is one; None if nothing is."""
        if self.local is not None:
            return None
        if self.schema is None:
            fault = fault_of_call(convert, inputs)
        else:
            fault = fault_of_presence(self.schema, inputs) or fault_of_kinds(self.schema, inputs)
            types = [getattr(v, "type", None) for v in inputs]
            fault = fault or fault_of_types(self.schema, types)
        if fault or convert in rows.of_any_rank:
            return fault
        return fault_of_ranks(inputs, self.schema is not None)

    def unread(self) -> Iterator[tuple[str, Any]]:
        """The attributes that no converter has read, except those with the operator's default."""
        for name, proto in self.attributes.unread():
            if not self._is_default(name, value := _value(proto)):
                yield name, value

    def _is_default(self, name: str, value: Any) -> bool:
        """Whether the value equals the operator's default."""
        if self.schema is None or name not in self.schema.attributes:
            return False
        default = self.schema.attributes[name].default_value
        return bool(default.type) and _value(default) == value

    # -- attributes ---------------------------------------------------------------------------

    def attribute(self, name: str, kind: int) -> Any:
        """The attribute's value, else the operator's default, else None."""
        proto = self._proto(name)
        if proto is None:
            return None
        if proto.type != kind:
            raise self.error(
                f"attribute '{name}' is of type {attribute_kind(proto.type)}, "
                f"expected {attribute_kind(kind)}"
            )
        return getattr(proto, _FIELDS[kind])

    def value(self, name: str) -> Any:
        """The attribute as a Python value, else the operator's default, else None."""
        proto = self._proto(name)
        return None if proto is None else _plain(helper.get_attribute_value(proto))

    def _proto(self, name: str) -> Any:
        """The attribute's proto, else the operator's default, else None."""
        proto = self.attributes.get(name)
        if proto is not None or self.schema is None or name not in self.schema.attributes:
            return proto
        default = self.schema.attributes[name].default_value
        return default if default.type else None

    def int(self, name: str, default: int = 0) -> int:
        value = self.attribute(name, A.INT)
        return default if value is None else value

    def float(self, name: str, default: float = 0.0) -> float:
        value = self.attribute(name, A.FLOAT)
        return default if value is None else value

    def string(self, name: str, default: str = "", choices: Sequence[str] = ()) -> str:
        """A text attribute; one of `choices` if there are any. Raises NncError for others."""
        value = self.attribute(name, A.STRING)
        text = default if value is None else value.decode("utf-8", "replace")
        if choices and text not in choices:
            raise self.error(f"attribute '{name}' is '{text}', expected {' or '.join(choices)}")
        return text

    def ints(self, name: str) -> tuple[int, ...] | None:
        value = self.attribute(name, A.INTS)
        return None if value is None else tuple(value)

    def floats(self, name: str) -> tuple[float, ...] | None:
        value = self.attribute(name, A.FLOATS)
        return None if value is None else tuple(value)

    def strings(self, name: str) -> tuple[str, ...] | None:
        value = self.attribute(name, A.STRINGS)
        return None if value is None else tuple(v.decode("utf-8", "replace") for v in value)

    def tensor(self, name: str) -> np.ndarray | None:
        """The elements of a tensor attribute, dense or sparse; None if it is missing."""
        proto = self._proto(name)
        is_sparse = proto is not None and proto.type == A.SPARSE_TENSOR
        value = self.attribute(name, A.SPARSE_TENSOR if is_sparse else A.TENSOR)
        try:
            return None if value is None else self.builder.model.tensors.array(value)
        except NncError as error:
            raise self.error(error.message) from None

    def has(self, name: str) -> bool:
        return name in self.attributes

    def declared_rank(self, output: int) -> int | None:
        """The rank that the model declares for an output of a node of its main graph, or None.

        In the body of a function, only values that are outputs of the call have one.
        """
        if self.context.caller is not None:
            return self.context.ranks.get(self.outputs[output])
        if self.builder.scope.parent is not None:
            return None
        graph = self.builder.model.proto.graph
        for declared in (*graph.output, *graph.value_info):
            type = declared.type.tensor_type
            if declared.name == self.outputs[output] and type.HasField("shape"):
                return len(type.shape.dim)
        return None


def _value(proto: Any) -> Any:
    """The value of an attribute, with bytes as text."""
    value = helper.get_attribute_value(proto)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _plain(value: Any) -> Any:
    """Bytes as text, lists as tuples, other values unchanged."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return tuple(map(_plain, value)) if isinstance(value, list) else value

"""What a converter sees: one node with its inputs and attributes, and a place for new ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import AttributeProto, helper

from ...ir.diagnostics import NncError
from ...ir.location import CallSiteLoc, Location, NameLoc
from ..common.fields import Fields
from ..common.layer import Layer
from .schema import attribute_kind
from .scope import Scope

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


class Node(Layer):
    """A node that is being imported. Called with an nn op, it inserts it and gives its value."""

    def __init__(self, importer: Any, proto: Any, scope: Scope) -> None:
        super().__init__(importer, node_label(proto), _place(importer, proto, scope))
        self.importer = importer
        self.proto = proto
        self.scope = scope
        self.op_type: str = proto.op_type
        self.given: dict[str, Any] = scope.resolve_attributes(proto)
        self.attributes = Fields(self.given)
        """The same, which remember whether a converter has read them."""
        self.opset = scope.opset_of(proto)
        self.schema = scope.schema_of(proto)
        self.inputs: list[Any] = []
        self.outputs: list[str] = list(proto.output)

    def error(self, message: str) -> NncError:
        """An error that names the model and the node (and the call it was inlined from)."""
        label = self.label
        if self.scope.call_label:
            label = f"{self.scope.call_label}, in its body {label}"
        return NncError(f"{label}: {message}", self.importer.loc)

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
        """The attribute as Python has it, else the operator's default, else None."""
        proto = self._proto(name)
        return None if proto is None else _plain(helper.get_attribute_value(proto))

    def _proto(self, name: str) -> Any:
        """The attribute, else the operator's default, else None."""
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
        """The text; one of `choices` where they are given."""
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
        """The elements, also of a sparse tensor."""
        proto = self._proto(name)
        is_sparse = proto is not None and proto.type == A.SPARSE_TENSOR
        value = self.attribute(name, A.SPARSE_TENSOR if is_sparse else A.TENSOR)
        return None if value is None else self.importer.read_tensor(value, self)

    def has(self, name: str) -> bool:
        return name in self.attributes

    def wants(self, output: int) -> bool:
        """Whether the output is there and named, so that somebody may use it."""
        return output < len(self.outputs) and bool(self.outputs[output])

    def declared_rank(self, output: int) -> int | None:
        """The rank that the model declares for an output of a node of its main graph, if any.

        In the body of a function, that of the call's output, where it is one.
        """
        if self.scope.caller is not None:
            return self.scope.declared_ranks.get(self.outputs[output])
        if self.scope.parent is not None:
            return None
        graph = self.importer.model.proto.graph
        for declared in (*graph.output, *graph.value_info):
            type = declared.type.tensor_type
            if declared.name == self.outputs[output] and type.HasField("shape"):
                return len(type.shape.dim)
        return None


def node_label(proto: Any) -> str:
    """How messages name a node."""
    if proto.name:
        return f"node '{proto.name}' ({proto.op_type})"
    first = next((name for name in proto.output if name), "")
    return f"node of output '{first}' ({proto.op_type})"


def _place(importer: Any, proto: Any, scope: Scope) -> Location:
    """The node's place in the model; below it, the call that it was inlined from."""
    first = next((name for name in proto.output if name), "")
    own = NameLoc(f"{proto.name or first} ({proto.op_type})", importer.loc)
    return own if scope.caller is None else CallSiteLoc(own, scope.caller)


def _plain(value: Any) -> Any:
    """Text as such, lists as tuples."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return tuple(map(_plain, value)) if isinstance(value, list) else value

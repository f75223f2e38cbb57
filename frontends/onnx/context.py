"""The state that all nodes of a graph or function body share, besides the visible values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from onnx import AttributeProto

from ...ir.location import Location
from ..common.graph import Node
from .model import domain
from .schema import find_schema


@dataclass(frozen=True)
class Context:
    """The versions of operators; for a function's body, also its call."""

    opsets: dict[str, int]
    bindings: dict[str, Any] = field(default_factory=dict)
    """The attributes of the call, to which nodes of the body may refer."""
    caller: Location | None = None
    call_label: str = ""
    ranks: dict[str, int] = field(default_factory=dict)
    """The ranks of the body's outputs, which the model declares for the outputs of the call."""
    may_fail: bool = False
    """Whether the nodes are in a branch of an If, which may fail if the other branch fits."""

    def place_of(self, node: Node) -> str:
        """A node's name in messages, with the call that it was inlined from."""
        return f"{self.call_label}, in its body {node.label}" if self.call_label else node.label

    def opset_of(self, node: Any) -> int:
        """The version of the node's operator set; 1 if the model does not give it."""
        return self.opsets.get(domain(node.domain), 1)

    def schema_of(self, node: Any) -> Any:
        """The operator's declaration, or None."""
        return find_schema(domain(node.domain), node.op_type, self.opset_of(node))

    def resolve_attributes(self, node: Any) -> dict[str, Any]:
        """The node's attributes by name, with references to the call's attributes resolved."""
        found: dict[str, Any] = {}
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                bound = self.bindings.get(attribute.ref_attr_name)
                if bound is None:
                    continue  # the call leaves it out, so the operator's default holds
                attribute = renamed(bound, attribute.name)
            found[attribute.name] = attribute
        return found


def renamed(attribute: Any, name: str) -> Any:
    """The attribute under another name."""
    if attribute.name == name:
        return attribute
    copy = AttributeProto()
    copy.CopyFrom(attribute)
    copy.name = name
    return copy

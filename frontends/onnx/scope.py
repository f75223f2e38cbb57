"""The names that nodes of one graph or function body see."""

from __future__ import annotations

from typing import Any

from onnx import AttributeProto

from ...ir.location import Location
from .model import domain
from .schema import find_schema


class Scope:
    """Values by name, the initializers, and what holds for all nodes of one body.

    An If's branch has the scope around it as `parent`. A function body has none; its
    `bindings` are the call's attributes, which its nodes may refer to.
    """

    def __init__(
        self,
        opsets: dict[str, int],
        *,
        parent: Scope | None = None,
        bindings: dict[str, Any] | None = None,
        caller: Location | None = None,
        call_label: str = "",
    ) -> None:
        self.opsets = opsets
        self.parent = parent
        self.values: dict[str, Any] = {}
        self.initializers: dict[str, Any] = {}
        self.bindings = bindings
        self.caller = caller
        self.call_label = call_label
        self.declared_ranks: dict[str, int] = {}
        """Of a function body's outputs, what the model says of the call's."""
        self.depth = 0 if parent is None else parent.depth + 1
        self.may_fail = parent is not None and parent.may_fail
        """Whether the scope is inside one of two branches, of which one may not fit."""

    def nested(self, *, may_fail: bool = False) -> Scope:
        """A scope for a graph inside this one, which sees its names."""
        inner = Scope(
            self.opsets,
            parent=self,
            bindings=self.bindings,
            caller=self.caller,
            call_label=self.call_label,
        )
        inner.may_fail |= may_fail
        return inner

    def opset_of(self, node: Any) -> int:
        """The version of the node's operator set; 1 where the model does not name it."""
        return self.opsets.get(domain(node.domain), 1)

    def schema_of(self, node: Any) -> Any:
        """The operator's declaration, or None."""
        return find_schema(domain(node.domain), node.op_type, self.opset_of(node))

    def resolve_attributes(self, node: Any) -> dict[str, Any]:
        """The node's attributes by name, references to the call's attributes resolved."""
        found: dict[str, Any] = {}
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                bound = (self.bindings or {}).get(attribute.ref_attr_name)
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

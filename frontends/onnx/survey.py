"""Finds a model's unsupported operators before the import, and reports them all at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..common.graph import Node
from ..common.importer import listed
from ..common.rows import Convert
from .calls import fixed_body
from .context import Context
from .model import Model, domain, function_opsets
from .registry import rows
from .schema import find_schema, has_operator

EXPERIMENTAL = ("LayerNormalization", "MeanVarianceNormalization", "ThresholdedRelu", "Upsample")
"""Operators that occur in files of older opsets than the one that standardized them."""


class Survey:
    """The way each operator of a model is imported: a converter, a function body, or not at all."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._lacking: dict[Any, list[str]] = {}

    def local_function(self, node: Any) -> Any | None:
        """The model's own function that the node calls, or None."""
        return self.model.functions.get((domain(node.domain), node.op_type, node.overload))

    def converter(self, node: Any, context: Context) -> Convert | None:
        """The node's converter; None if there is none, or its opset lacks the operator."""
        return _converter(domain(node.domain), node.op_type, context.opset_of(node))

    def check(self, nodes: Iterable[Node], context: Context) -> None:
        """Raise one NncError that lists all nodes that cannot be imported."""
        faults = [
            f"{node.label}: {fault}"
            for node in nodes
            if (fault := self.fault_of(node.attributes, context))
        ]
        if faults:
            where = f" in the body of {context.call_label}" if context.call_label else ""
            raise self.model.error(listed(faults, "node", where))

    def fault_of(self, node: Any, context: Context) -> str | None:
        """A message on an unsupported operator, and on what its body lacks; None if supported."""
        lacking = self._lacking_of(node, context.opsets, ())
        if lacking is None:
            return None
        text = operator_text(node, context)
        if lacking:
            text += f", whose body needs {', '.join(dict.fromkeys(lacking))}"
        return text

    def _lacking_of(
        self, node: Any, opsets: dict[str, int], calls: tuple[Any, ...]
    ) -> list[str] | None:
        """None if the node can be imported, else the unsupported operators in its body, if any."""
        key = (domain(node.domain), node.op_type, node.overload)
        local = self.model.functions.get(key)
        opset = opsets.get(key[0])
        if local is not None:
            if key in calls:
                raise self.model.error(f"function '{local.name}' calls itself")
            return self._lacking_in(local, (*calls, key))
        if opset is None:
            return []
        if _converter(key[0], node.op_type, opset) is not None:
            return None

        body, depends = fixed_body(node, key[0], opset)
        if body is None:
            return None if depends else []
        if key in calls:
            return []
        return self._lacking_in(body, (*calls, key))

    def _lacking_in(self, body: Any, calls: tuple[Any, ...]) -> list[str] | None:
        memo = calls[-1]
        if memo not in self._lacking:
            opsets = function_opsets(self.model, body)
            found: list[str] = []
            for node in body.node:
                lacking = self._lacking_of(node, opsets, calls)
                if lacking is not None:
                    found += lacking or [node.op_type]
            self._lacking[memo] = found
        return self._lacking[memo] or None


def _converter(domain_name: str, op_type: str, opset: int) -> Convert | None:
    is_declared = domain_name or find_schema("", op_type, opset) is not None
    if not is_declared and has_operator(op_type) and op_type not in EXPERIMENTAL:
        return None  # only in other opsets; names unknown to ONNX may be onnxruntime's own
    return rows.find(op_type, domain_name, opset)


def operator_text(node: Any, context: Context) -> str:
    """The operator's name in messages: `Loop of ai.onnx, opset 13`."""
    name = domain(node.domain)
    version = context.opsets.get(name)
    if version is None:
        return f"{node.op_type} of {name}, a domain that the model does not import"
    return f"{node.op_type} of {name or 'ai.onnx'}, opset {version}"

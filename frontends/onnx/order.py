"""ONNX's nodes as `common/order` looks at them, and the names that nodes use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from onnx import AttributeProto

from ..common import order
from .node import node_label


class _View:
    """The nodes of a graph or function."""

    def label(self, node: Any) -> str:
        """How messages name the node."""
        return node_label(node)

    def outputs(self, node: Any) -> Iterable[str]:
        """The names that it defines."""
        return node.output

    def used(self, node: Any) -> Iterable[str]:
        """The names that it uses, also inside its graphs."""
        return used_names(node)


def needed_nodes(
    nodes: Iterable[Any],
    given: Iterable[str],
    outputs: Iterable[str],
    is_outer: Callable[[str], bool],
) -> list[Any]:
    """The nodes that `outputs` depend on, in order; see `common/order`. Raises NncError."""
    return order.needed_nodes(nodes, given, outputs, is_outer, _View())


def used_names(node: Any) -> list[str]:
    """The names that a node uses, also inside its graphs, in order and without repeats."""
    names = dict.fromkeys(name for name in node.input if name)
    for attribute in node.attribute:
        for graph in subgraphs(attribute):
            names.update(dict.fromkeys(_free_names(graph)))
    return list(names)


def subgraphs(attribute: Any) -> list[Any]:
    """The graphs in an attribute."""
    if attribute.type == AttributeProto.GRAPH:
        return [attribute.g]
    return list(attribute.graphs) if attribute.type == AttributeProto.GRAPHS else []


def _free_names(graph: Any) -> list[str]:
    """The names that a nested graph takes from around it."""
    own = {value.name for value in graph.input} | {t.name for t in graph.initializer}
    own |= {name for node in graph.node for name in node.output}
    used = [name for node in graph.node for name in used_names(node)]
    used += [value.name for value in graph.output]
    return [name for name in used if name not in own]

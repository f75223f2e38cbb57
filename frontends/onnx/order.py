"""The order in which nodes are imported: those that the outputs need, operands first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from onnx import AttributeProto

from ...ir.diagnostics import NncError
from .node import node_label


def needed_nodes(
    nodes: Iterable[Any],
    given: Iterable[str],
    outputs: Iterable[str],
    is_outer: Callable[[str], bool],
) -> list[Any]:
    """The nodes that `outputs` depend on, each behind those that it uses.

    `given` are the names of inputs and initializers, `is_outer` tells those of the graphs
    around. Raises NncError for a name that is defined twice or nowhere, and for a cycle.
    """
    nodes = list(nodes)
    makers: dict[str, int] = {}
    given = set(given)
    for i, node in enumerate(nodes):
        for name in node.output:
            if not name:
                continue
            if name in makers:
                raise NncError(
                    f"'{name}' is defined twice: by {node_label(nodes[makers[name]])} "
                    f"and by {node_label(node)}"
                )
            if name in given:
                raise NncError(f"{node_label(node)} defines '{name}', which is an input already")
            makers[name] = i
    order: list[Any] = []
    state: dict[int, int] = {}  # 1: its operands are being visited, 2: it is in the order
    for output in outputs:
        if output in makers:
            _visit(makers[output], nodes, makers, state, order, given, is_outer)
        elif output not in given and not is_outer(output):
            raise NncError(f"output '{output}' is not defined: no node or input has this name")
    return order


def _visit(root, nodes, makers, state, order, given, is_outer) -> None:
    """Depth first, without recursion: models are deep."""
    stack: list[tuple[int, Any]] = []

    def enter(i: int) -> None:
        state[i] = 1
        stack.append((i, iter(used_names(nodes[i]))))

    if state.get(root) != 2:
        enter(root)
    while stack:
        i, names = stack[-1]
        for name in names:
            maker = makers.get(name)
            if maker is None:
                if name not in given and not is_outer(name):
                    raise NncError(
                        f"{node_label(nodes[i])}: input '{name}' is not defined: "
                        "no node, input or initializer has this name"
                    )
                continue
            if state.get(maker) == 1:
                cycle = [nodes[j] for j, _ in stack]
                cycle = cycle[cycle.index(nodes[maker]) :]
                names_text = " -> ".join(node_label(node) for node in cycle[:8])
                raise NncError(f"the graph has a cycle: {names_text}")
            if state.get(maker) is None:
                enter(maker)
                break
        else:
            state[i] = 2
            order.append(nodes[i])
            stack.pop()


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

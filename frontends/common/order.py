"""The order in which nodes are imported: those that the outputs need, operands first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ...ir.diagnostics import NncError
from .graph import Graph, Node


def used_names(node: Node) -> list[str]:
    """The names that a node uses, also in its nested graphs, in order and without duplicates."""
    names = dict.fromkeys(name for name in (*node.after, *node.inputs) if name)
    for graph in node.graphs.values():
        names.update(dict.fromkeys(_free_names(graph)))
    return list(names)


def _free_names(graph: Graph) -> list[str]:
    """The names that a nested graph uses from the enclosing graphs."""
    own = {value.name for value in graph.inputs} | set(graph.constants)
    own |= {name for node in graph.nodes for name in node.outputs}
    used = [name for node in graph.nodes for name in used_names(node)]
    used += [value for _, value in graph.outputs]
    return [name for name in used if name not in own]


def needed_nodes(
    nodes: Iterable[Node],
    given: Iterable[str],
    outputs: Iterable[str],
    is_outer: Callable[[str], bool] = lambda name: False,
) -> list[Node]:
    """The nodes that `outputs` depend on, each after the nodes that it depends on.

    `given` are the names of inputs and constants; `is_outer` tells whether a name is one of an
    enclosing graph. Raises NncError for a name that is defined twice or nowhere, and for a cycle.
    """
    return _Order(list(nodes), set(given), is_outer).run(outputs)


class _Order:
    def __init__(self, nodes: list[Node], given: set[str], is_outer: Callable[[str], bool]) -> None:
        self.nodes, self.given, self.is_outer = nodes, given, is_outer
        self.makers: dict[str, int] = {}
        self.order: list[Node] = []
        self.state: dict[int, int] = {}  # 1: its operands are being visited, 2: it is in the order
        for i, node in enumerate(nodes):
            for name in node.outputs:
                if name:
                    self._define(name, i)

    def _define(self, name: str, i: int) -> None:
        if name in self.makers:
            raise NncError(
                f"'{name}' is defined twice: by {self.nodes[self.makers[name]].label} "
                f"and by {self.nodes[i].label}"
            )
        if name in self.given:
            node = self.nodes[i].label
            raise NncError(f"{node} defines '{name}', which is an input or a constant already")
        self.makers[name] = i

    def run(self, outputs: Iterable[str]) -> list[Node]:
        for output in outputs:
            if output in self.makers:
                self._visit(self.makers[output])
            elif output not in self.given and not self.is_outer(output):
                raise NncError(f"output '{output}' is not defined: no node or input has this name")
        return self.order

    def _visit(self, root: int) -> None:
        """Append the nodes that `root` needs, then `root`: depth first, without recursion."""
        stack: list[tuple[int, Iterator[str]]] = []

        def enter(i: int) -> None:
            self.state[i] = 1
            stack.append((i, iter(used_names(self.nodes[i]))))

        if self.state.get(root) != 2:
            enter(root)
        while stack:
            i, names = stack[-1]
            for name in names:
                maker = self.makers.get(name)
                if maker is None:
                    self._check_given(name, i)
                elif self.state.get(maker) == 1:
                    raise self._cycle([j for j, _ in stack], maker)
                elif self.state.get(maker) is None:
                    enter(maker)
                    break
            else:
                self.state[i] = 2
                self.order.append(self.nodes[i])
                stack.pop()

    def _check_given(self, name: str, i: int) -> None:
        if name not in self.given and not self.is_outer(name):
            raise NncError(
                f"{self.nodes[i].label}: input '{name}' is not defined: "
                "no node, input or initializer has this name"
            )

    def _cycle(self, path: list[int], maker: int) -> NncError:
        cycle = path[path.index(maker) :][:8]
        names = " -> ".join(self.nodes[i].label for i in cycle)
        return NncError(f"the graph has a cycle: {names}")

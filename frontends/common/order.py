"""The order in which nodes are imported: those that the outputs need, operands first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from ...ir.diagnostics import NncError


class NodeView(Protocol):
    """How the nodes of a format are looked at."""

    def label(self, node: Any) -> str:
        """How messages name the node."""
        ...

    def outputs(self, node: Any) -> Iterable[str]:
        """The names that it defines; "" for an output that nobody asks for."""
        ...

    def used(self, node: Any) -> Iterable[str]:
        """The names that it uses, also inside its graphs."""
        ...


def needed_nodes(
    nodes: Iterable[Any],
    given: Iterable[str],
    outputs: Iterable[str],
    is_outer: Callable[[str], bool],
    view: NodeView,
) -> list[Any]:
    """The nodes that `outputs` depend on, each after those that it uses.

    `given` are the names of inputs and constants, `is_outer` tells those of the graphs
    around. Raises NncError for a name that is defined twice or nowhere, and for a cycle.
    """
    return _Order(list(nodes), set(given), is_outer, view).run(outputs)


class _Order:
    def __init__(
        self, nodes: Sequence[Any], given: set[str], is_outer: Callable[[str], bool], view: NodeView
    ) -> None:
        self.nodes, self.given, self.is_outer, self.view = nodes, given, is_outer, view
        self.makers: dict[str, int] = {}
        self.order: list[Any] = []
        self.state: dict[int, int] = {}  # 1: its operands are being visited, 2: it is in the order
        for i, node in enumerate(nodes):
            for name in view.outputs(node):
                if name:
                    self._define(name, i)

    def _define(self, name: str, i: int) -> None:
        label = self.view.label
        if name in self.makers:
            raise NncError(
                f"'{name}' is defined twice: by {label(self.nodes[self.makers[name]])} "
                f"and by {label(self.nodes[i])}"
            )
        if name in self.given:
            node = label(self.nodes[i])
            raise NncError(f"{node} defines '{name}', which is an input or a constant already")
        self.makers[name] = i

    def run(self, outputs: Iterable[str]) -> list[Any]:
        for output in outputs:
            if output in self.makers:
                self._visit(self.makers[output])
            elif output not in self.given and not self.is_outer(output):
                raise NncError(f"output '{output}' is not defined: no node or input has this name")
        return self.order

    def _visit(self, root: int) -> None:
        """Depth first, without recursion: models are deep."""
        stack: list[tuple[int, Iterator[str]]] = []

        def enter(i: int) -> None:
            self.state[i] = 1
            stack.append((i, iter(self.view.used(self.nodes[i]))))

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
                f"{self.view.label(self.nodes[i])}: input '{name}' is not defined: "
                "no node, input or initializer has this name"
            )

    def _cycle(self, path: list[int], maker: int) -> NncError:
        cycle = path[path.index(maker) :][:8]
        names = " -> ".join(self.view.label(self.nodes[i]) for i in cycle)
        return NncError(f"the graph has a cycle: {names}")

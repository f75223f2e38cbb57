"""The tree of a model's scopes, each with its boxes in layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .graph import Graph, Node
from .layout import Layers, layers_of


@dataclass
class Scope:
    """A scope. In `boxes`, a node is its number, a nested scope `-1 - number`; `edges` are pairs of
    indices in `boxes`.
    """

    name: str
    parent: int
    boxes: list[int] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    layers: Layers = field(default_factory=lambda: Layers([], {}))

    def as_json(self) -> dict[str, Any]:
        """The scope as JSON data for the page."""
        return {
            "name": self.name,
            "parent": self.parent,
            "boxes": self.boxes,
            "edges": [[*edge, *self.layers.routes.get(edge, ())] for edge in self.edges],
            "layers": self.layers.layers,
        }


def scopes_in(graph: Graph) -> list[Scope]:
    """The scopes of a graph; the first is the whole model. A scope of one box is dropped.

    Nodes are named relative to their scope.
    """
    root = _Part("")
    for number, node in enumerate(graph.nodes):
        at = root
        for name in node.scopes:
            at = at.inner(name)
        at.boxes.append(number)
    scopes: list[Scope] = []
    homes = _Homes(scopes, [0] * len(graph.nodes))
    homes.add(root, graph.nodes)
    for source, target in graph.edges:
        if source != target:
            homes.join(source, target)
    for scope in scopes:
        scope.layers = layers_of(len(scope.boxes), scope.edges)
    return scopes


class _Part:
    """A scope under construction: its nodes, and scopes by name, in order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.boxes: list[int | _Part] = []
        self.parts: dict[str, _Part] = {}

    def inner(self, name: str) -> _Part:
        found = self.parts.get(name)
        if found is None:
            found = self.parts[name] = _Part(name)
            self.boxes.append(found)
        return found


class _Homes:
    """The scope of each node, and the path from there to the top."""

    def __init__(self, scopes: list[Scope], homes: list[int]) -> None:
        self.scopes, self.homes = scopes, homes
        self.place: dict[int, int] = {}
        """The index of each box in its scope."""
        self.known: set[tuple[int, int, int]] = set()

    def add(self, root: _Part, nodes: Sequence[Node]) -> None:
        """Number a scope and its contents, without recursion: names may be deeply nested."""
        self.scopes.append(Scope(root.name, -1))
        waiting = [(root, 0)]
        while waiting:
            part, number = waiting.pop()
            for box in part.boxes:
                prefix = ""
                while isinstance(box, _Part) and len(box.boxes) == 1:
                    prefix += f"{box.name}/"
                    (box,) = box.boxes
                if isinstance(box, _Part):
                    self.scopes.append(Scope(prefix + box.name, number))
                    waiting.append((box, len(self.scopes) - 1))
                    self._put(number, -len(self.scopes))
                else:
                    nodes[box].name = prefix + nodes[box].name
                    self.homes[box] = number
                    self._put(number, box)

    def _put(self, scope: int, box: int) -> None:
        boxes = self.scopes[scope].boxes
        self.place[box] = len(boxes)
        boxes.append(box)

    def join(self, source: int, target: int) -> None:
        """Add an edge to the innermost scope that contains both ends."""
        left, right = self._way(source), self._way(target)
        while len(left) > 1 and len(right) > 1 and left[-2:] == right[-2:]:
            left.pop()
            right.pop()
        # Both lists now end with the innermost scope of both nodes, after the edge's ends in it.
        scope = -1 - left[-1]
        edge = (self.place[left[-2]], self.place[right[-2]])
        if edge[0] != edge[1] and (scope, *edge) not in self.known:
            self.known.add((scope, *edge))
            self.scopes[scope].edges.append(edge)

    def _way(self, node: int) -> list[int]:
        """The node and its enclosing scopes, as boxes, up to the whole model."""
        way, at = [node], self.homes[node]
        while at >= 0:
            way.append(-1 - at)
            at = self.scopes[at].parent
        return way

"""The names that are visible to the nodes of a graph, and graphs nested in nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .graph import Graph, Node
from .words import *

if TYPE_CHECKING:
    from .importer import NodeLayer


class Scope:
    """The values of one graph by name; an NncError in place of a value that no node can use.

    A nested graph has the enclosing scope as `parent`; the body of a function has none. `context`
    is format-specific state for the nodes, by default that of the parent.
    """

    def __init__(
        self, graph: Graph, parent: Scope | None = None, context: Any = None, depth: int = 0
    ) -> None:
        self.graph = graph
        self.parent = parent
        self.context = parent.context if parent is not None and context is None else context
        self.depth = depth
        self.constants: Mapping[str, np.ndarray] = graph.constants
        self.values: dict[str, Any] = {}

    def __contains__(self, name: str) -> bool:
        """Whether a node may use the name, be it of this graph or of an enclosing one."""
        at: Scope | None = self
        while at is not None:
            if name in at.values or name in at.constants:
                return True
            at = at.parent
        return False


@dataclass
class Body:
    """A graph nested in the node `n`. Calling it imports the nodes and returns its outputs.

    The scope has the constants, which all calls share.
    """

    n: NodeLayer
    scope: Scope
    nodes: Sequence[Node]

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs."""
        return [one.name for one in self.scope.graph.inputs]

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs' values."""
        return [value for _, value in self.scope.graph.outputs]

    def __call__(self, *arguments: Value | Any) -> list[Any]:
        names = self.inputs
        if len(arguments) != len(names):
            raise self.n.error(f"{len(arguments)} inputs, expected {len(names)}")
        scope = Scope(self.scope.graph, self.scope, depth=self.scope.depth)
        scope.constants = {}
        scope.values.update(zip(names, arguments, strict=True))
        return self.n.builder.import_nodes(self.nodes, scope, self.outputs)

"""The names that are visible to the nodes of a graph."""

from __future__ import annotations

from .graph import Graph
from .words import *


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

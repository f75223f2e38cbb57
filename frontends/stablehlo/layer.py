"""A converter's view of a StableHLO operation: its attributes, types and regions."""

from __future__ import annotations

from ...ir.core import Operation
from ..common.graph import Graph, Node
from ..common.importer import NodeLayer
from ..common.rows import Rows
from ..common.vocabulary import *
from .quantized import expressed, quantized, stored, works_on_integers

rows = Rows(__package__ or "")


class HloLayer(NodeLayer):
    """An operation that is being imported: `op`, with its attributes, types and regions."""

    @property
    def op(self) -> Any:
        """The operation."""
        return self.attributes

    def out(self, i: int = 0) -> TensorType:
        """The type of a result, which must be a tensor.

        A quantized one has integers or real numbers, whichever the operation is computed on.
        """
        type = self.op.results[i].type
        if quantized(type) is not None:
            type = stored(type) if works_on_integers(self.op) else expressed(type)
        if not isinstance(type, TensorType):
            raise self.error(f"result {i} is '{type}', expected a tensor of known rank")
        return type

    def region(self, at: int, *arguments: Any) -> list[Any]:
        """What a region of the operation returns for these arguments."""
        return self.graph(str(at), *arguments)

    def region_graph(self, at: int) -> Graph:
        """A region of the operation as a graph."""
        return self.node.graphs[str(at)]

    def region_node(self, at: int, op: Any) -> Node:
        """The node of the operation `op` in the graph of a region."""
        return next(node for node in self.region_graph(at).nodes if node.attributes is op)

    def last(self, at: int) -> Operation:
        """The terminator of a region."""
        return list(self.op.regions[at].blocks[0].ops)[-1]

    def integer(self, x: Value) -> bool:
        """Whether a tensor has integers."""
        return x.type.element_type.__class__.__name__ == "IntegerType"

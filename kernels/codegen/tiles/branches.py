"""Code that runs where a condition holds."""

from __future__ import annotations

from ....dialects import scf
from ....ir.core import Block, Region, Value
from ....ir.types import VectorType
from ..code import Code, Scope, make


class Branch:
    """An `scf.if` whose body is written inside `with`; its results are 0 if the body does not run.

    with Branch(code, condition) as branch:
        branch.yields = [code.value(..)]
    .. branch.results
    """

    def __init__(self, code: Code, condition: Value) -> None:
        self.code = code
        self.condition = condition
        self.yields: list[Value] = []
        self.results: list[Value] = []

    def __enter__(self) -> Branch:
        code, self.outside = self.code, self.code.scope
        self.op = code.put(scf.If.of(self.condition))
        self.anchor, self.outside.anchor = self.outside.anchor, self.op
        code.scope = Scope(self.op.regions[0].block, self.outside)
        return self

    def __exit__(self, *error: object) -> None:
        self.code.scope = self.outside
        self.outside.anchor = self.anchor
        self.op.regions[0].block.append(make(scf.Yield, self.yields))
        if self.yields:
            self._give_results()

    def _give_results(self) -> None:
        """Replace the operation by one that has results."""
        types = [value.type for value in self.yields]
        other = [
            self.code.splat_number(0, type)
            if isinstance(type, VectorType)
            else self.code.number(0, type)
            for type in types
        ]
        op = make(scf.If, (self.condition,), types)
        blocks = Block([]), Block([])
        op.regions = tuple(Region([block]) for block in blocks)
        for region in op.regions:
            region.parent = op
        for inner in list(self.op.regions[0].block):
            inner.detach()
            blocks[0].append(inner)
        blocks[1].append(make(scf.Yield, other))
        self.op.erase()
        self.code.put(op)
        self.results = list(op.results)
        for result in self.results:
            self.code.depths[result] = self.outside.depth

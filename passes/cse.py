"""Common subexpression elimination."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ..ir.core import Operation
from ..ir.dominance import DominanceInfo
from ..ir.passes import Pass, PassContext
from ..ir.traits import Commutative, IsolatedFromAbove, NoMemoryEffect, Pure, is_erasable


@dataclass(frozen=True)
class Cse(
    Pass,
    name="cse",
    title="CSE",
    statistics={
        "num-cse'd": "Number of operations CSE'd",
        "num-dce'd": "Number of operations DCE'd",
    },
):
    """Replace a pure operation by an equal one that dominates it.

        %a = arith.addi %x, %y          %a = arith.addi %x, %y
        %b = arith.addi %y, %x    ->    use(%a, %a)
        use(%a, %b)

    As in upstream's pass, operations whose results are unused are erased too.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        """Walk the operations in order; only those without regions are compared."""
        dominance = DominanceInfo()
        # A scope per isolated region: nothing outside is visible there.
        stack: list[tuple[Operation, dict[Hashable, Operation]]] = [(op, {})]
        while stack:
            parent, known = stack.pop()
            for region in parent.regions:
                for block in region.blocks:
                    for inner in block:
                        if inner.results and not inner.has_used_results and is_erasable(inner):
                            self._erase(inner, context)
                        elif inner.regions:
                            isolated = inner.has_trait(IsolatedFromAbove)
                            stack.append((inner, {} if isolated else dict(known)))
                        elif inner.results and (
                            inner.has_trait(Pure) or inner.has_trait(NoMemoryEffect)
                        ):
                            self._visit(inner, known, dominance, context)

    @staticmethod
    def _erase(op: Operation, context: PassContext) -> None:
        if context.trace is not None:
            context.trace.start(op)
        op.erase()
        if context.trace is not None:
            context.trace.fired("dead code", op)
        context.statistic("num-dce'd")

    @staticmethod
    def _visit(
        op: Operation,
        known: dict[Hashable, Operation],
        dominance: DominanceInfo,
        context: PassContext,
    ) -> None:
        key = _key(op)
        earlier = known.get(key)
        if earlier is None or not dominance.value_dominates(earlier.results[0], op):
            known[key] = op
            return
        if context.trace is not None:
            context.trace.replacement("common subexpression", op, earlier.results)
        op.replace_with(*earlier.results)
        context.statistic("num-cse'd")


def _key(op: Operation) -> Hashable:
    operands = [id(v) for v in op._operands]
    if op.has_trait(Commutative):
        operands.sort()
    properties, attributes = op.properties, op.attributes
    return (
        op.name,
        tuple(operands),
        frozenset(properties.items()) if properties else None,
        frozenset(attributes.items()) if attributes else None,
        tuple([result.type for result in op.results]),
    )

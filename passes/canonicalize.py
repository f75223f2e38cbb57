"""Canonical form: folds, simplifying patterns and dead-code removal until nothing changes."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.core import Operation
from ..ir.passes import Pass, PassContext, option
from ..ir.rewriting import apply_greedily
from .canonicalization import patterns_of


@dataclass(frozen=True)
class Canonicalize(
    Pass,
    name="canonicalize",
    title="Canonicalizer",
):
    """Fold constants, simplify and remove dead code, greedily, to a fixed point.

    Nothing may rely on this pass for correctness.
    """

    max_rewrites: int = option(
        0, help="stop with an error after so many rewrites; 0: automatic", least=0
    )

    def run(self, op: Operation, context: PassContext) -> None:
        """Apply every fold and the canonicalization patterns of the dialects in the IR."""
        dialects = {inner.name.partition(".")[0] for inner in op.walk()}
        apply_greedily(
            op,
            patterns_of(dialects),
            max_rewrites=self.max_rewrites or None,
            trace=context.trace,
        )

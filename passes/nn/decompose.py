"""Composite ops taken apart into simpler ones that have tensor comprehensions."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.core import Operation
from ...ir.passes import Pass, PassContext, option
from ...ir.rewriting import Pattern, apply_greedily
from . import (
    decompose_conv_transpose,
    decompose_graph,
    decompose_normalization,
    decompose_reductions,
    decompose_windows,
)

GRAPH: tuple[Pattern, ...] = (*decompose_graph.PATTERNS, *decompose_conv_transpose.PATTERNS)
"""What is best taken apart before fusion: the parts are constant-folded, or fuse apart."""

KERNEL: tuple[Pattern, ...] = (
    *decompose_normalization.PATTERNS,
    *decompose_reductions.PATTERNS,
    *decompose_windows.PATTERNS,
)
"""What is best fused whole, and taken apart inside its kernel."""


@dataclass(frozen=True)
class Decompose(Pass, name="decompose"):
    """Replace composite ops by simpler ones.

    nn.softmax %x      ->    %m = nn.reduce_max %x     %e = nn.exp (%x - %m)
                             %s = nn.reduce_sum %e     %e * nn.reciprocal %s
    """

    numerics = "rounding"

    level: str = option(
        "all",
        help="graph: only what fusion should see in parts; all: everything",
        choices=("graph", "all"),
    )

    def run(self, op: Operation, context: PassContext) -> None:
        """Rewrite everything inside `op`, also what decompositions make."""
        patterns = GRAPH if self.level == "graph" else (*GRAPH, *KERNEL)
        apply_greedily(op, patterns, fold=False, dce=False, trace=context.trace)

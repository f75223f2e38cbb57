"""Decomposition of composite ops into simpler ones that have tensor comprehensions."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.core import Operation
from ...ir.passes import Pass, PassContext, option
from ...ir.rewriting import Pattern, apply_greedily
from . import (
    decompose_conv_transpose,
    decompose_graph,
    decompose_normalization,
    decompose_open,
    decompose_packed,
    decompose_reductions,
    decompose_windows,
)

GRAPH: tuple[Pattern, ...] = (
    *decompose_graph.PATTERNS,
    *decompose_conv_transpose.PATTERNS,
    *decompose_open.PATTERNS,
)
"""Patterns to apply before fusion, because the parts can be constant-folded or fused separately."""

LAYOUT: tuple[Pattern, ...] = (*decompose_graph.LAYOUT, decompose_windows.max_pool_padding_apart)
"""Patterns to apply after layouts have been chosen."""

KERNEL: tuple[Pattern, ...] = (
    *decompose_graph.KERNEL,
    *decompose_normalization.PATTERNS,
    *decompose_packed.PATTERNS,
    *decompose_reductions.PATTERNS,
    *decompose_windows.PATTERNS,
)
"""Patterns for ops that are fused as a whole, and decomposed inside their kernel."""


@dataclass(frozen=True)
class Decompose(Pass, name="decompose"):
    """Replace composite ops by simpler ones.

    nn.softmax %x      ->    %m = nn.reduce_max %x     %e = nn.exp (%x - %m)
                             %s = nn.reduce_sum %e     %e * nn.reciprocal %s
    """

    numerics = "rounding"

    level: str = option(
        "all",
        help="graph: ops whose parts are folded or fused separately; layout: ops decomposed after "
        "layouts are chosen; all: these, and ops that are fused as a whole",
        choices=("graph", "layout", "all"),
    )

    def run(self, op: Operation, context: PassContext) -> None:
        """Rewrite all ops inside `op`, and those that the patterns make."""
        whole = (*decompose_graph.WHOLE, *GRAPH)
        levels = {"graph": whole, "layout": LAYOUT, "all": (*GRAPH, *LAYOUT, *KERNEL)}
        patterns = levels[self.level]
        apply_greedily(op, patterns, fold=False, dce=False, trace=context.trace)

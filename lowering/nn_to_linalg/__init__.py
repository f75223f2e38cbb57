"""Lower nn ops on tensors to linalg ops on memrefs that are passed as destinations.

`functions` converts functions, calls and returns; `comprehensions` lowers the ops that have a
tensor comprehension; the other modules lower the other ops, by kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import func
from ...ir.core import Operation
from ...ir.passes import Pass, PassContext
from ...ir.rewriting import apply_greedily
from ...passes.nn.decompose import Decompose
from ...passes.nn.outline_regions import OutlineRegions
from . import (  # noqa: F401 - they fill LOWERINGS
    bits,
    creation,
    indexing,
    matrices,
    movement,
    ordering,
    padding,
    positions,
    reshaping,
    resizing,
    scattering,
    searching,
    sorting,
    strassen,
    suppression,
    trees,
    windows,
    winograd,
)
from .functions import convert_function
from .globals import Globals
from .signature import Signature


@dataclass(frozen=True)
class LowerToLinalg(
    Pass,
    name="lower-to-linalg",
    anchor="builtin.module",
    statistics={"functions": "Number of functions lowered"},
):
    """Lower nn operations on tensors to linalg operations on memrefs.

    Functions write their results to arguments. An op with a comprehension becomes a fill and a
    `linalg.generic`, another one copies, generics and loops. What they compute from constants is
    folded.
    """

    numerics = "rounding"

    def run(self, op: Operation, context: PassContext) -> None:
        """Convert every function; regions are outlined and composite ops taken apart before."""
        OutlineRegions().run(op, context)
        Decompose("all").run(op, context)
        globals_ = Globals(op)
        functions = [f for f in op.regions[0].ops if isinstance(f, func.FuncOp)]
        signatures = {f.sym_name: Signature.of_function(f) for f in functions}
        for function in functions:
            convert_function(function, globals_, signatures)
            apply_greedily(function, ())
            context.statistic("functions")

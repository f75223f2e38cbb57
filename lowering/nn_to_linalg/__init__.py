"""nn on tensors -> linalg on memrefs, destination passing.

`functions` converts functions, calls and what they return; `comprehensions` lowers the ops
that are tensor comprehensions; the others have a lowering of their own, by kind of op.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import func
from ...ir.core import Operation
from ...ir.passes import Pass, PassContext
from ...passes.nn.decompose import Decompose
from . import (  # noqa: F401 - they fill LOWERINGS
    creation,
    indexing,
    movement,
    padding,
    reshaping,
    resizing,
    searching,
    sorting,
    windows,
    winograd,
)
from .functions import convert_function
from .globals import Globals


@dataclass(frozen=True)
class LowerToLinalg(
    Pass,
    name="lower-to-linalg",
    anchor="builtin.module",
    statistics={"functions": "Number of functions lowered"},
):
    """Lower nn operations on tensors to linalg operations on memrefs.

    Functions write their results to arguments. Each operation becomes one or several stages:
    a comprehension a fill and a `linalg.generic`, the others copies, generics and loops.
    """

    numerics = "rounding"

    def run(self, op: Operation, context: PassContext) -> None:
        """Convert every function of the module, composite ops taken apart first."""
        Decompose("all").run(op, context)
        globals_ = Globals(op)
        for function in [f for f in op.regions[0].ops if isinstance(f, func.FuncOp)]:
            convert_function(function, globals_)
            context.statistic("functions")

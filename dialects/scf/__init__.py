"""The scf dialect: loops and branches as operations with regions."""

from ...ir.dialect import registry
from .branches import ExecuteRegion, If, IndexSwitch, Yield
from .loops import Condition, For, While, enclosing_loops
from .parallel import Forall, InParallel, Parallel, Reduce, ReduceReturn

registry.dialect("scf").doc = __doc__ or ""

__all__ = [
    "Condition",
    "ExecuteRegion",
    "For",
    "Forall",
    "If",
    "InParallel",
    "IndexSwitch",
    "Parallel",
    "Reduce",
    "ReduceReturn",
    "While",
    "Yield",
    "enclosing_loops",
]

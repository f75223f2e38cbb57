"""The affine dialect: loops and accesses whose bounds and indices are affine, as upstream.

`maps` computes indices, `access` reads and writes, `loops` is control flow.
"""

from ...ir.dialect import registry
from .access import (
    DmaStart,
    DmaWait,
    Load,
    Prefetch,
    Store,
    VectorLoad,
    VectorStore,
)
from .loops import For, If, Parallel, Yield
from .maps import Apply, DelinearizeIndex, LinearizeIndex, Max, Min

registry.dialect("affine").doc = __doc__ or ""

__all__ = [
    "Apply",
    "DelinearizeIndex",
    "DmaStart",
    "DmaWait",
    "For",
    "If",
    "LinearizeIndex",
    "Load",
    "Max",
    "Min",
    "Parallel",
    "Prefetch",
    "Store",
    "VectorLoad",
    "VectorStore",
    "Yield",
]

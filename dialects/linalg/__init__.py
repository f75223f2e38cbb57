"""The linalg dialect: loop nests described by indexing maps, and some named ones, as upstream.

`structured` is what they share, `generic` the general op, `named` those with a fixed body,
`interpretation` runs them on NumPy arrays.
"""

from ...ir.dialect import registry
from .attributes import BinaryFn, IteratorType, TypeFn, UnaryFn
from .generic import Generic, Index, Yield, iterators_attribute, maps_attribute
from .named import BatchMatmul, Broadcast, Copy, Fill, Map, Matmul, Reduce, Transpose
from .structured import StructuredOp, static_ranges

registry.dialect("linalg").doc = __doc__ or ""
registry.dialect("linalg").is_subset = True

__all__ = [
    "BatchMatmul",
    "BinaryFn",
    "Broadcast",
    "Copy",
    "Fill",
    "Generic",
    "Index",
    "IteratorType",
    "Map",
    "Matmul",
    "Reduce",
    "StructuredOp",
    "Transpose",
    "TypeFn",
    "UnaryFn",
    "Yield",
    "iterators_attribute",
    "maps_attribute",
    "static_ranges",
]

"""The linalg dialect: loop nests described by indexing maps, and some named ones, as upstream.

`structured` is what they share, `generic` the general op, `named` those with a fixed body,
`table` the many that differ by maps and function alone, `mapped` those whose body or
dimensions are given, `relayout` and `aggregates` the ops that are no loop nests of one body,
`interpretation` runs them on NumPy arrays.
"""

from ...ir.dialect import registry
from .aggregates import (
    Softmax,
    WinogradFilterTransform,
    WinogradInputTransform,
    WinogradOutputTransform,
)
from .attributes import BinaryFn, ElementwiseKind, IteratorType, TernaryFn, TypeFn, UnaryFn
from .elementwise import Elementwise
from .generic import Generic, Index, Yield, iterators_attribute, maps_attribute
from .mapped import Broadcast, Map, Reduce, Transpose
from .named import BatchMatmul, BatchReduceMatmul, Contract, Copy, Fill, Matmul
from .relayout import Pack, UnPack
from .structured import StructuredOp, static_ranges
from .table import CONTRACTIONS, POINTWISE, POOLINGS

registry.dialect("linalg").doc = __doc__ or ""

__all__ = [
    "CONTRACTIONS",
    "POINTWISE",
    "POOLINGS",
    "BatchMatmul",
    "BatchReduceMatmul",
    "BinaryFn",
    "Broadcast",
    "Contract",
    "Copy",
    "Elementwise",
    "ElementwiseKind",
    "Fill",
    "Generic",
    "Index",
    "IteratorType",
    "Map",
    "Matmul",
    "Pack",
    "Reduce",
    "Softmax",
    "StructuredOp",
    "TernaryFn",
    "Transpose",
    "TypeFn",
    "UnPack",
    "UnaryFn",
    "WinogradFilterTransform",
    "WinogradInputTransform",
    "WinogradOutputTransform",
    "Yield",
    "iterators_attribute",
    "maps_attribute",
    "static_ranges",
]

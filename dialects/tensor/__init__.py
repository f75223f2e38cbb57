"""The tensor dialect: immutable arrays as values, as upstream.

`elements` makes tensors and reads single elements, `slices` takes parts and changes shapes,
`gather` takes slices at indices, `parallel` puts parts into tensors from the iterations of
scf.forall.
"""

from ...ir.dialect import registry
from .elements import (
    Bitcast,
    Cast,
    Dim,
    Empty,
    Extract,
    FromElements,
    Generate,
    Insert,
    Rank,
    Splat,
    Yield,
)
from .gather import Gather, Scatter
from .parallel import ParallelInsertSlice
from .slices import (
    CollapseShape,
    Concat,
    ExpandShape,
    ExtractSlice,
    InsertSlice,
    Pad,
    Reshape,
)

registry.dialect("tensor").doc = __doc__ or ""

__all__ = [
    "Bitcast",
    "Cast",
    "CollapseShape",
    "Concat",
    "Dim",
    "Empty",
    "ExpandShape",
    "Extract",
    "ExtractSlice",
    "FromElements",
    "Gather",
    "Generate",
    "Insert",
    "InsertSlice",
    "Pad",
    "ParallelInsertSlice",
    "Rank",
    "Reshape",
    "Scatter",
    "Splat",
    "Yield",
]

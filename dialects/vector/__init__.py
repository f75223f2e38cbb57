"""The vector dialect: values of several elements that a machine handles at once, as upstream.

`memory` and `transfers` move them, `compute` multiplies and reduces, `elements`, `shapes` and
`masks` make and rearrange them.
"""

from ...ir.dialect import registry
from .attributes import CombiningKind, IteratorType, PrintPunctuation
from .casts import ScalableExtract, ScalableInsert, TypeCast
from .compute import Contract, Fma, MultiReduction, OuterProduct, Reduction, Scan
from .debugging import Print, Vscale
from .elements import Broadcast, Extract, FromElements, Insert, ToElements
from .masks import ConstantMask, CreateMask, Mask, Step, Yield
from .memory import (
    CompressStore,
    ExpandLoad,
    Gather,
    Load,
    MaskedLoad,
    MaskedStore,
    Scatter,
    Store,
)
from .shapes import (
    Bitcast,
    Deinterleave,
    ExtractStridedSlice,
    InsertStridedSlice,
    Interleave,
    ShapeCast,
    Shuffle,
    Transpose,
)
from .transfers import TransferRead, TransferWrite

registry.dialect("vector").doc = __doc__ or ""

__all__ = [
    "Bitcast",
    "Broadcast",
    "CombiningKind",
    "CompressStore",
    "ConstantMask",
    "Contract",
    "CreateMask",
    "Deinterleave",
    "ExpandLoad",
    "Extract",
    "ExtractStridedSlice",
    "Fma",
    "FromElements",
    "Gather",
    "Insert",
    "InsertStridedSlice",
    "Interleave",
    "IteratorType",
    "Load",
    "Mask",
    "MaskedLoad",
    "MaskedStore",
    "MultiReduction",
    "OuterProduct",
    "Print",
    "PrintPunctuation",
    "Reduction",
    "ScalableExtract",
    "ScalableInsert",
    "Scan",
    "Scatter",
    "ShapeCast",
    "Shuffle",
    "Step",
    "Store",
    "ToElements",
    "TransferRead",
    "TransferWrite",
    "Transpose",
    "TypeCast",
    "Vscale",
    "Yield",
]

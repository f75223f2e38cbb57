"""The memref dialect: buffers with a shape, strides and an element type, as upstream.

`buffers` makes and frees them, `access` reads and writes them, `atomics` in one step,
`transfers` without waiting; `views`, `reshapes` and `casts`
look at the same memory in another way. While interpreting, a memref is a NumPy array that
shares storage.
"""

from ...ir.dialect import registry
from .access import Copy, Load, Prefetch, Store
from .aliasing import ViewLike, base_buffer
from .atomics import AtomicRMW, AtomicYield, GenericAtomicRMW
from .buffers import (
    Alloc,
    Alloca,
    AllocaScope,
    AllocaScopeReturn,
    AssumeAlignment,
    Dealloc,
    Dim,
    DistinctObjects,
    GetGlobal,
    Global,
    Rank,
    Realloc,
)
from .casts import (
    Cast,
    ExtractAlignedPointerAsIndex,
    ExtractStridedMetadata,
    MemorySpaceCast,
    Transpose,
)
from .reshapes import CollapseShape, ExpandShape, Reshape
from .transfers import DmaStart, DmaWait
from .views import ReinterpretCast, SubView, View

registry.dialect("memref").doc = __doc__ or ""

__all__ = [
    "Alloc",
    "Alloca",
    "AllocaScope",
    "AllocaScopeReturn",
    "AssumeAlignment",
    "AtomicRMW",
    "AtomicYield",
    "Cast",
    "CollapseShape",
    "Copy",
    "Dealloc",
    "Dim",
    "DistinctObjects",
    "DmaStart",
    "DmaWait",
    "ExpandShape",
    "ExtractAlignedPointerAsIndex",
    "ExtractStridedMetadata",
    "GenericAtomicRMW",
    "GetGlobal",
    "Global",
    "Load",
    "MemorySpaceCast",
    "Prefetch",
    "Rank",
    "Realloc",
    "ReinterpretCast",
    "Reshape",
    "Store",
    "SubView",
    "Transpose",
    "View",
    "ViewLike",
    "base_buffer",
]

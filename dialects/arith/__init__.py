"""The arith dialect: numbers, and elementwise arithmetic on scalars, vectors and tensors.

Integers are signless: an operation says how it reads the bits, where that matters.
"""

from ...ir.dialect import registry
from .attributes import FASTMATH, OVERFLOW, FastMathAttr, IntegerOverflowAttr
from .cast import (
    Bitcast,
    ExtF,
    ExtSI,
    ExtUI,
    FPToSI,
    FPToUI,
    IndexCast,
    IndexCastUI,
    SIToFP,
    TruncF,
    TruncI,
    UIToFP,
)
from .compare import CmpF, CmpI, Select, bool_like
from .constant import Constant, materialize_constant
from .division import CeilDivSI, CeilDivUI, DivSI, DivUI, FloorDivSI, RemSI, RemUI
from .extended import AddUIExtended, MulSIExtended, MulUIExtended
from .float import (
    AddF,
    DivF,
    MaximumF,
    MaxNumF,
    MinimumF,
    MinNumF,
    MulF,
    NegF,
    RemF,
    SubF,
)
from .integer import (
    AddI,
    AndI,
    MaxSI,
    MaxUI,
    MinSI,
    MinUI,
    MulI,
    OrI,
    ShLI,
    ShRSI,
    ShRUI,
    SubI,
    XOrI,
)
from .scaling import ScalingExtF, ScalingTruncF

registry.dialect("arith").doc = __doc__ or ""

__all__ = [
    "FASTMATH",
    "OVERFLOW",
    "AddF",
    "AddI",
    "AddUIExtended",
    "AndI",
    "Bitcast",
    "CeilDivSI",
    "CeilDivUI",
    "CmpF",
    "CmpI",
    "Constant",
    "DivF",
    "DivSI",
    "DivUI",
    "ExtF",
    "ExtSI",
    "ExtUI",
    "FPToSI",
    "FPToUI",
    "FastMathAttr",
    "FloorDivSI",
    "IndexCast",
    "IndexCastUI",
    "IntegerOverflowAttr",
    "MaxNumF",
    "MaxSI",
    "MaxUI",
    "MaximumF",
    "MinNumF",
    "MinSI",
    "MinUI",
    "MinimumF",
    "MulF",
    "MulI",
    "MulSIExtended",
    "MulUIExtended",
    "NegF",
    "OrI",
    "RemF",
    "RemSI",
    "RemUI",
    "SIToFP",
    "ScalingExtF",
    "ScalingTruncF",
    "Select",
    "ShLI",
    "ShRSI",
    "ShRUI",
    "SubF",
    "SubI",
    "TruncF",
    "TruncI",
    "UIToFP",
    "XOrI",
    "bool_like",
    "materialize_constant",
]

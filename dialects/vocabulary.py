"""The names that most declarations of ops need; a file of a dialect begins by importing them all:

    from ..vocabulary import *

A name that few files need is not here: they import it from its file in `ir/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..ir.affine import AffineConstant, AffineDim, AffineExpr, AffineMap
from ..ir.attributes import (
    AffineMapAttr,
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    DenseElements,
    DenseResource,
    DictAttr,
    EnumAttr,
    FloatAttr,
    IndexAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    attribute_class,
)
from ..ir.constraints import (
    I1,
    AnyMemRef,
    AnyRankedOrUnrankedMemRef,
    AnyRankedTensor,
    AnyTensor,
    AnyType,
    AnyVector,
    Constraint,
    Exactly,
    Index,
    Same,
    SignlessIntegerLike,
    element_of,
)
from ..ir.core import Block, BlockArgument, Operation, OpResult, Region, UnregisteredOp, Value
from ..ir.declare import (
    ANY,
    ARRAY,
    BOOL,
    F32,
    I32,
    I32_ARRAY,
    I64,
    INT_ARRAY,
    STRING,
    SYMBOL,
    SYMBOL_NAME,
    UNIT,
    AttrKind,
    Op,
    Operand,
    Operands,
    OpMeta,
    OptionalOperand,
    OptionalResult,
    RegionField,
    Result,
    Results,
    ValueLike,
    as_value,
    attribute,
    instance,
    int_enum,
    operand,
    operands,
    optional_operand,
    optional_result,
    region,
    result,
    results,
    successor,
)
from ..ir.diagnostics import NncError, VerifyError
from ..ir.dialect import registry
from ..ir.lazy import np
from ..ir.location import UNKNOWN, Location
from ..ir.numpy_types import type_to_numpy
from ..ir.traits import (
    Commutative,
    ConstantLike,
    HasParent,
    Idempotent,
    Involution,
    IsolatedFromAbove,
    NoMemoryEffect,
    NoTerminator,
    Pure,
    ReadsMemory,
    RecursiveEffects,
    SingleBlock,
    SingleBlockImplicitTerminator,
    SymbolTable,
    Terminator,
    WritesMemory,
)
from ..ir.types import (
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    ShapedType,
    TensorType,
    TupleType,
    Type,
    UnrankedTensorType,
    VectorType,
    element_type,
    i1,
    i32,
    i64,
    index,
    with_shape_of,
)

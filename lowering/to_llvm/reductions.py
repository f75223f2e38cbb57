"""Lowering of vector reductions."""

from __future__ import annotations

from ...dialects import llvm, vector
from ...ir.attributes import Attribute
from ...ir.core import Operation, Value
from ...ir.types import FloatType, lane_type
from .conversion import FunctionLowering, lowers
from .elementwise import fastmath, float_op
from .small_floats import narrowed, widened

Properties = dict[str, Attribute] | None

COMBINE: dict[str, tuple[type[Operation], type[Operation]]] = {
    "add": (llvm.Add, llvm.IntrVectorReduceAdd),
    "mul": (llvm.Mul, llvm.IntrVectorReduceMul),
    "minui": (llvm.IntrUMin, llvm.IntrVectorReduceUMin),
    "minsi": (llvm.IntrSMin, llvm.IntrVectorReduceSMin),
    "maxui": (llvm.IntrUMax, llvm.IntrVectorReduceUMax),
    "maxsi": (llvm.IntrSMax, llvm.IntrVectorReduceSMax),
    "and": (llvm.And, llvm.IntrVectorReduceAnd),
    "or": (llvm.Or, llvm.IntrVectorReduceOr),
    "xor": (llvm.Xor, llvm.IntrVectorReduceXor),
    "minnumf": (llvm.IntrMinNum, llvm.IntrVectorReduceFMin),
    "maxnumf": (llvm.IntrMaxNum, llvm.IntrVectorReduceFMax),
    "minimumf": (llvm.IntrMinimum, llvm.IntrVectorReduceFMinimum),
    "maximumf": (llvm.IntrMaximum, llvm.IntrVectorReduceFMaximum),
}
"""For each kind the op that combines two values and the op that combines a row;
floats are below.
"""

COMBINE_FLOATS: dict[str, tuple[type[Operation], type[Operation], float]] = {
    "add": (llvm.FAdd, llvm.IntrVectorReduceFAdd, -0.0),
    "mul": (llvm.FMul, llvm.IntrVectorReduceFMul, 1.0),
}
"""For sums and products of floats also the start value; -0.0 changes no sum."""


def combine(f: FunctionLowering, kind: str, a: Value, b: Value, flags: Properties) -> Value:
    """Combine two scalars, or two rows element by element."""
    if isinstance(lane_type(a.type), FloatType):
        cls = COMBINE_FLOATS[kind][0] if kind in COMBINE_FLOATS else COMBINE[kind][0]
        return float_op(f, cls, [a, b], flags)
    return f.emit(COMBINE[kind][0], [a, b], a.type)


def reduce_row(
    f: FunctionLowering, kind: str, row: Value, acc: Value | None, flags: Properties
) -> Value:
    """Combine `acc`, if there is one, and the elements of a row to a scalar.

    Numerics: floats are added and multiplied in order, unless `flags` allow another order.
    """
    scalar = lane_type(row.type)
    if isinstance(scalar, FloatType) and kind in COMBINE_FLOATS:
        _, cls, identity = COMBINE_FLOATS[kind]
        start = acc if acc is not None else f.number(identity, scalar)
        return f.emit(cls, [start, row], scalar, flags)
    properties = flags if isinstance(scalar, FloatType) else None
    total = f.emit(COMBINE[kind][1], [row], scalar, properties)
    return total if acc is None else combine(f, kind, acc, total, flags)


@lowers(vector.Reduction)
def _reduction(f: FunctionLowering, op: vector.Reduction) -> None:
    """Elements without arithmetic (`is_computed`) are reduced in f32, and rounded once."""
    element = op.vector.type.element_type
    row = widened(f, f.value(op.vector), element)
    acc = None if op.acc is None else widened(f, f.value(op.acc), element)
    total = reduce_row(f, op.kind, row, acc, fastmath(op))
    f.bind(op.results[0], narrowed(f, total, element))

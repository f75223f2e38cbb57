"""How much one iteration of a loop does, roughly: by it, parallel loops are cut into pieces."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from ..dialects import func, memref, scf, vector
from ..dialects.linalg.structured import StructuredOp
from ..ir.core import Operation, Value
from ..ir.rewriting import constant_int
from ..ir.types import IndexType, MemRefType, Type, VectorType

UNKNOWN_TRIPS = 64
"""Iterations of a loop whose bounds are no constants."""

UNKNOWN_WORK = 1 << 20
"""Work of what cannot be looked into: a call, a copy, a loop until a condition holds."""

SERIES = 16
"""Work of a function of `math`, which becomes a polynomial."""

VECTOR_BYTES = 64
"""Wider vectors are several."""


def work_of(ops: Iterable[Operation]) -> int:
    """Machine operations of the ops, with those inside them as often as they run.

    A load, a store, or an operation on a vector is 1; on integers that are addresses, 0.
    """
    return sum(_work(op) for op in ops)


def _work(op: Operation) -> int:
    match op:
        case scf.For():
            return _trips(*op.operands[:3]) * work_of(op.body_block)
        case scf.Parallel():
            work, rank = work_of(op.body_block), len(op.body_block.args)
            for i in range(rank):
                work *= _trips(*(op.operands[i + k * rank] for k in range(3)))
            return work
        case scf.If():
            return max(work_of(region.ops) for region in op.regions)
        case func.Call() | func.CallIndirect() | scf.While() | memref.Copy() | StructuredOp():
            return UNKNOWN_WORK
        case memref.Store() | vector.Store():
            return _vectors(op.operands[0].type)
    dialect, _, name = op.name.partition(".")
    type = op.results[0].type if op.results else None
    if type is None or isinstance(type, IndexType | MemRefType) or name == "constant":
        return 0
    weight = SERIES if dialect == "math" and name not in ("fma", "sqrt", "absf") else 1
    return weight * _vectors(type)


def _trips(lower: Value, upper: Value, step: Value) -> int:
    numbers = [constant_int(value) for value in (lower, upper, step)]
    if None in numbers:
        return UNKNOWN_TRIPS
    low, high, by = numbers
    return max(0, -((low - high) // by)) if by > 0 else 0  # type: ignore[operator]


def _vectors(type: Type) -> int:
    """How many vectors of the machine a value is."""
    if not isinstance(type, VectorType):
        return 1
    return max(
        1, -(-prod(type.shape) * getattr(type.element_type, "byte_width", 8) // VECTOR_BYTES)
    )

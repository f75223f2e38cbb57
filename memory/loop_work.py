"""A rough estimate of the work of an iteration, by which parallel loops are divided into pieces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from ..dialects import func, memref, scf, vector
from ..dialects.linalg.structured import StructuredOp
from ..ir.core import Operation, Value
from ..ir.rewriting import constant_int
from ..ir.types import IndexType, MemRefType, Type, VectorType
from ..targets.processor import Processor

UNKNOWN_WORK = 1 << 20
"""The work assumed for a call, a copy or a `while` loop. Units: machine operations."""


def work_of(ops: Iterable[Operation], machine: Processor) -> int:
    """The machine operations of the ops; those in loops count as often as they run.

    A load, a store or an operation on a vector counts 1; arithmetic on integers for addresses 0.
    """
    return sum(_work(op, machine) for op in ops)


def _work(op: Operation, machine: Processor) -> int:
    match op:
        case scf.For():
            return _trips(op.operands[:3], machine) * work_of(op.body_block, machine)
        case scf.Parallel():
            work, rank = work_of(op.body_block, machine), len(op.body_block.args)
            for i in range(rank):
                work *= _trips([op.operands[i + k * rank] for k in range(3)], machine)
            return work
        case scf.If() | scf.IndexSwitch():
            return max(work_of(region.ops, machine) for region in op.regions)
        case func.Call() | func.CallIndirect() | scf.While() | memref.Copy() | StructuredOp():
            return UNKNOWN_WORK
        case memref.Store() | vector.Store():
            return _vectors(op.operands[0].type, machine)
    dialect, _, name = op.name.partition(".")
    type = op.results[0].type if op.results else None
    if type is None or isinstance(type, IndexType | MemRefType) or name == "constant":
        return 0
    is_series = dialect == "math" and name not in ("fma", "sqrt", "absf")
    weight = machine.costs.threads.function_operations if is_series else 1
    return weight * _vectors(type, machine)


def _trips(bounds: Sequence[Value], machine: Processor) -> int:
    numbers = [constant_int(value) for value in bounds]
    if None in numbers:
        return machine.costs.threads.unknown_trips
    low, high, by = numbers
    return max(0, -((low - high) // by)) if by > 0 else 0  # type: ignore[operator]


def _vectors(type: Type, machine: Processor) -> int:
    """The number of the machine's vectors that a value fills."""
    if not isinstance(type, VectorType):
        return 1
    lanes = machine.lanes(getattr(type.element_type, "byte_width", 8))
    return max(1, -(-prod(type.shape) // lanes))

"""What a kernel has to do at least: operations, and bytes that come in and go out."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..dialects import func
from ..dialects.linalg.structured import StructuredOp
from ..ir.core import Operation
from ..ir.types import MemRefType

# Operations on elements that move or convert a value; all others of arith and math count.
_FREE = ("constant", "select", "bitcast", "extf", "truncf", "extsi", "extui", "trunci", "cast")


@dataclass(frozen=True)
class Cost:
    """`operations` on elements, a multiply-add as two; `bytes` of arguments, each moved once.

    None where a shape is not known.
    """

    operations: int | None
    bytes: int | None


def kernel_cost(kernel: func.FuncOp) -> Cost:
    """The cost of one call of a kernel whose body is linalg on memrefs."""
    operations: int | None = 0
    for op in kernel.walk():
        if isinstance(op, StructuredOp) and operations is not None:
            ranges = op.ranges
            if any(not isinstance(size, int) for size in ranges):
                operations = None
            else:
                operations += prod(ranges) * _arithmetic(op)  # type: ignore[arg-type]
    types = [t for t in kernel.function_type.inputs if isinstance(t, MemRefType)]
    known = all(t.has_static_shape for t in types)
    return Cost(operations, sum(t.num_bytes for t in types) if known else None)


def _arithmetic(op: StructuredOp) -> int:
    """Operations that one iteration takes."""
    return sum(_weight(inner) for region in op.regions for inner in region.ops)


def _weight(op: Operation) -> int:
    dialect, _, name = op.name.partition(".")
    if dialect not in ("arith", "math") or any(word in name for word in _FREE):
        return 0
    return 2 if name == "fma" else 1

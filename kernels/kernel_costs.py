"""A lower bound on a kernel's work: its operations, and the bytes of its arguments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from ..dialects import func, packed
from ..dialects.linalg.structured import StructuredOp
from ..ir.core import Operation
from ..ir.types import MemRefType

# Operations on elements that move or convert a value; all others of arith and math count.
_FREE = ("constant", "select", "bitcast", "extf", "truncf", "extsi", "extui", "trunci", "cast")


@dataclass(frozen=True)
class Cost:
    """`operations` on elements, a multiply-add as two; `bytes` of arguments, each moved once.

    A multiply-add of words, which hold several numbers, also counts as two; `in_words` is the part
    of the operations that belongs to these. Operations and bytes are None where a shape is not
    known.
    """

    operations: int | None
    bytes: int | None
    in_words: int = 0


def kernel_cost(kernel: func.FuncOp, unknown: int | None = None) -> Cost:
    """The cost of one call of a kernel whose body is linalg on memrefs.

    Unknown extents count as `unknown`; without it, what depends on them is None.
    """
    operations: int | None = 0
    in_words = 0
    for op in kernel.walk():
        if isinstance(op, StructuredOp) and operations is not None:
            points = _product(op.ranges, unknown)
            operations = None if points is None else operations + points * _arithmetic(op)
            in_words += 2 * (points or 0) * _word_products(op)
    types = [t for t in kernel.function_type.inputs if isinstance(t, MemRefType)]
    sizes = [buffer_bytes(t, unknown) for t in types]
    known = [size for size in sizes if size is not None]
    return Cost(operations, sum(known) if len(known) == len(sizes) else None, in_words)


def buffer_bytes(type: MemRefType, unknown: int | None = None) -> int | None:
    """Bytes of a buffer's elements; None where they are not known."""
    count = _product(type.shape, unknown)
    return None if count is None else count * type.element_type.byte_width


def _product(sizes: Iterable[object], unknown: int | None) -> int | None:
    known = [size if isinstance(size, int) else unknown for size in sizes]
    return None if None in known else prod(known)  # type: ignore[type-var]


def _arithmetic(op: StructuredOp) -> int:
    """The number of operations in one iteration; a multiply-add counts as two."""
    return sum(_weight(inner) for region in op.regions for inner in region.ops)


def _word_products(op: StructuredOp) -> int:
    """The number of products of words in one iteration."""
    return sum(isinstance(inner, packed.Dot | packed.DotF) for r in op.regions for inner in r.ops)


def _weight(op: Operation) -> int:
    if isinstance(op, packed.Dot | packed.DotF):
        return 1
    dialect, _, name = op.name.partition(".")
    if dialect not in ("arith", "math") or any(word in name for word in _FREE):
        return 0
    return 2 if name == "fma" else 1

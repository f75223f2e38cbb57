"""How well threads that step together use the lines of memory that they ask for.

It depends on how the elements of a tile are distributed over the threads of a group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import gcd, prod

from ..codegen.shares.layouts import square_parts
from .operands import Operand


def threads_along(sizes: Mapping[int, int], threads: int) -> Mapping[int, int]:
    """How many threads divide each dimension of a tile, so that their parts are nearly square."""
    return dict(zip(sizes, _square_parts(tuple(sizes.values()), threads), strict=True))


_square_parts = lru_cache(1 << 12)(square_parts)


def first_threads(counts: Mapping[int, int], lane_dim: int | None, together: int) -> dict[int, int]:
    """How many of `together` threads that step together lie along each dimension, lanes first."""
    found = dict[int, int]()
    for d in sorted(counts, key=lambda d: (d != lane_dim, -d)):
        found[d] = min(together, counts[d])
        together //= found[d]
    return found


def alignment(operand: Operand, extents: Sequence[int], line_bytes: int) -> int:
    """A divisor of the addresses where rows of an operand begin, at most a line. Units: bytes."""
    bytes = operand.access.element_bytes
    found = line_bytes
    for stride, extent in zip(operand.strides, extents, strict=True):
        if extent > 1 and stride != 1:
            found = gcd(found, stride * bytes)
    return found


def alignment_of_copies(
    operand: Operand, part: Mapping[int, int], extents: Sequence[int], line_bytes: int
) -> int:
    """What divides where rows of a part of an operand begin, which is copied as a whole.

    Along dimensions of which a row has all, no row begins but with the first element.
    """
    row, found = adjoining(operand, part), line_bytes
    for d, (stride, extent) in enumerate(zip(operand.strides, extents, strict=True)):
        own = part.get(d, 1) if stride < row else 1
        if stride and own < extent:
            found = gcd(found, stride * own * operand.access.element_bytes)
    return found


def waste(row_bytes: int, rows: int, aligned: int, line_bytes: int) -> float:
    """How many more lines rows touch, on average, than their bytes would fill: 1 or more.

    `aligned` divides the addresses at which rows begin. Units: bytes.
    """
    each = max(1.0, (row_bytes - aligned) / line_bytes + 1)
    return max(1.0, rows * each / -(-rows * row_bytes // line_bytes))


def unit_dims(operand: Operand, extents: Sequence[int]) -> list[int]:
    """The dimensions along which an operand's elements lie side by side."""
    return [d for d, stride in enumerate(operand.strides) if stride == 1 and extents[d] > 1]


def rows_among(operand: Operand, threads: Mapping[int, int], beside: Iterable[int]) -> int:
    """How many rows of an operand threads need, of which so many lie along each dimension.

    `beside` are the dimensions along the rows.
    """
    own = set(beside)
    return prod(n for d, n in threads.items() if operand.strides[d] and d not in own)


def adjoining(operand: Operand, part: Mapping[int, int]) -> int:
    """How many elements of a part of an operand are contiguous in memory.

    `part` has the extent of the part along each dimension of the stage.
    """
    access, found = operand.access, 1
    for linear, extent in zip(reversed(access.linear), reversed(access.shape), strict=True):
        if linear is None:
            break
        reach = 1 + sum(abs(factor) * (part.get(d, 1) - 1) for d, factor in linear.terms)
        found *= reach
        if reach != extent:
            break
    return found

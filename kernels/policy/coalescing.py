"""How much of the lines that threads ask for together they need, by how a tile is dealt out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd, prod

from .operands import Operand


def dealt_counts(sizes: Mapping[int, int], threads: int) -> dict[int, int]:
    """How many threads there are along each side of a tile, for shares as long as wide."""
    counts = dict.fromkeys(sizes, 1)
    while prod(counts.values()) < threads:
        each = {d: -(-n // counts[d]) for d, n in sizes.items()}
        longest = max(each, key=lambda d: each[d], default=None)
        if longest is None or each[longest] == 1:
            break
        counts[longest] *= 2
    return counts


def first_threads(counts: Mapping[int, int], lane_dim: int | None, together: int) -> dict[int, int]:
    """How many of the threads that step together there are along each side: lanes first."""
    found = dict[int, int]()
    for d in sorted(counts, key=lambda d: (d != lane_dim, -d)):
        found[d] = min(together, counts[d])
        together //= found[d]
    return found


def alignment(
    operand: Operand, steps: Mapping[int, int], extents: Sequence[int], line_bytes: int
) -> int:
    """What divides where rows of an operand begin; neighbours in a row are `steps` apart."""
    bytes = operand.access.element_bytes
    found = line_bytes
    for d, stride in enumerate(operand.strides):
        if extents[d] > 1 and stride:
            found = gcd(found, stride * bytes * (steps.get(d, 1) if stride == 1 else 1))
    return found


def waste(row_bytes: int, rows: int, aligned: int, line_bytes: int) -> float:
    """Lines that rows lie in, on average, over those that they would fill."""
    each = max(1.0, (row_bytes - aligned) / line_bytes + 1)
    return max(1.0, rows * each / -(-rows * row_bytes // line_bytes))


def unit_dims(operand: Operand, extents: Sequence[int]) -> list[int]:
    """The dimensions along which an operand's elements lie side by side."""
    return [d for d, stride in enumerate(operand.strides) if stride == 1 and extents[d] > 1]


def rows_among(operand: Operand, threads: Mapping[int, int], beside: Iterable[int]) -> int:
    """How many rows of an operand so many threads along each side need."""
    own = set(beside)
    return prod(n for d, n in threads.items() if operand.strides[d] and d not in own)


def adjoining(operand: Operand, part: Mapping[int, int]) -> int:
    """How many elements of a part of an operand follow one another: rows that are whole adjoin."""
    access, found = operand.access, 1
    for linear, extent in zip(reversed(access.linear), reversed(access.shape), strict=True):
        if linear is None:
            break
        reach = 1 + sum(abs(factor) * (part.get(d, 1) - 1) for d, factor in linear.terms)
        found *= reach
        if reach != extent:
            break
    return found

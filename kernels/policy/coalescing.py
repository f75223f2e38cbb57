"""How much of the lines that threads ask for together they need, by how a tile is dealt out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import gcd, prod

from .operands import Operand


def dealt_counts(sizes: Mapping[int, int], threads: int) -> Mapping[int, int]:
    """How many threads there are along each side of a tile, for shares as long as wide."""
    return _dealt(tuple(sizes.items()), threads)


@lru_cache(1 << 12)
def _dealt(sizes: tuple[tuple[int, int], ...], threads: int) -> Mapping[int, int]:
    counts, each, left = {d: 1 for d, _ in sizes}, dict(sizes), threads
    while left > 1 and each:
        longest = max(each, key=each.__getitem__)
        if each[longest] == 1:
            break
        counts[longest] *= 2
        each[longest] = -(-dict(sizes)[longest] // counts[longest])
        left = -(-left // 2)
    return counts


def first_threads(counts: Mapping[int, int], lane_dim: int | None, together: int) -> dict[int, int]:
    """How many of the threads that step together there are along each side: lanes first."""
    found = dict[int, int]()
    for d in sorted(counts, key=lambda d: (d != lane_dim, -d)):
        found[d] = min(together, counts[d])
        together //= found[d]
    return found


def alignment(operand: Operand, extents: Sequence[int], line_bytes: int) -> int:
    """What divides where rows of an operand begin, as far as its other dimensions tell."""
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

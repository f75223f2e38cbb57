"""How much of the lines that threads ask for together they need, by how a tile is dealt out.

Sizes and numbers of threads are those of one tile, or arrays of many tiles' (`tile_batches.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

import numpy as np

from .operands import Operand
from .tile_batches import Numbers, Sizes, parts_of, product


def dealt_counts(sizes: Sizes, threads: Numbers) -> dict[int, np.ndarray]:
    """How many threads there are along each side of a tile, for shares as long as wide."""
    if not sizes:
        return {}
    left, *sides = np.broadcast_arrays(threads, *sizes.values())
    left, whole = np.array(left, ndmin=1), np.array(np.stack(sides, axis=-1), ndmin=2)
    counts, each = np.ones_like(whole), whole.copy()
    while True:
        longest = each.argmax(axis=1)
        open_rows = np.flatnonzero((left > 1) & (each.max(axis=1) > 1))
        if not len(open_rows):
            return {d: counts[:, i] for i, d in enumerate(sizes)}
        at = open_rows, longest[open_rows]
        counts[at] *= 2
        each[at] = parts_of(whole[at], counts[at])
        left[open_rows] = parts_of(left[open_rows], 2)


def dealt(sizes: Sizes, threads: Numbers) -> dict[int, Numbers]:
    """The sides of each thread's share, as long as wide."""
    counts = dealt_counts(sizes, threads)
    return {d: parts_of(n, counts[d]) for d, n in sizes.items()}


def first_threads(counts: Sizes, lane_dim: int | None, together: int) -> dict[int, Numbers]:
    """How many of the threads that step together there are along each side: lanes first."""
    found, left = dict[int, Numbers](), together
    for d in sorted(counts, key=lambda d: (d != lane_dim, -d)):
        found[d] = np.minimum(left, counts[d])
        left = left // found[d]
    return found


def alignment(operand: Operand, extents: Sequence[int], line_bytes: int) -> int:
    """What divides where rows of an operand begin, as far as its other dimensions tell."""
    bytes = operand.access.element_bytes
    found = line_bytes
    for stride, extent in zip(operand.strides, extents, strict=True):
        if extent > 1 and stride != 1:
            found = gcd(found, stride * bytes)
    return found


def waste(row_bytes: Numbers, rows: Numbers, aligned: Numbers, line_bytes: int) -> Numbers:
    """Lines that rows lie in, on average, over those that they would fill."""
    each = np.maximum(1.0, (row_bytes - aligned) / line_bytes + 1)
    return np.maximum(1.0, rows * each / parts_of(rows * row_bytes, line_bytes))


def unit_dims(operand: Operand, extents: Sequence[int]) -> list[int]:
    """The dimensions along which an operand's elements lie side by side."""
    return [d for d, stride in enumerate(operand.strides) if stride == 1 and extents[d] > 1]


def rows_among(operand: Operand, threads: Sizes, beside: Iterable[int]) -> Numbers:
    """How many rows of an operand so many threads along each side need."""
    own = set(beside)
    return product(n for d, n in threads.items() if operand.strides[d] and d not in own)


def adjoining(operand: Operand, part: Sizes) -> Numbers:
    """How many elements of a part of an operand follow one another: rows that are whole adjoin."""
    access, found, goes_on = operand.access, np.float64(1.0), np.bool_(True)
    for linear, extent in zip(reversed(access.linear), reversed(access.shape), strict=True):
        if linear is None:
            break
        reach: Numbers = 1.0
        for d, factor in linear.terms:
            reach = reach + abs(factor) * (part.get(d, 1) - 1)
        found = np.where(goes_on, found * reach, found)
        goes_on = goes_on & (reach == extent if isinstance(extent, int) else False)
        if not np.any(goes_on):
            break
    return found

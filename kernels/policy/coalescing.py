"""How well threads that run in lockstep use the memory lines that they request.

It depends on how the elements of a tile are distributed over the threads of a group. Sizes and
numbers of threads are those of one tile, or arrays of many tiles' (`tile_batches.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

import numpy as np

from .operands import Operand
from .tile_batches import Numbers, Sizes, parts_of, product


def threads_along(sizes: Sizes, threads: Numbers) -> dict[int, np.ndarray]:
    """How many threads divide each dimension of a tile, so that their parts are nearly square."""
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


def thread_extents(sizes: Sizes, threads: Numbers) -> dict[int, Numbers]:
    """The extents of each thread's part of a tile, which is nearly square."""
    counts = threads_along(sizes, threads)
    return {d: parts_of(n, counts[d]) for d, n in sizes.items()}


def first_threads(counts: Sizes, lane_dim: int | None, together: int) -> dict[int, Numbers]:
    """Threads along each dimension, of `together` that run in lockstep; `lane_dim` fills first."""
    found, left = dict[int, Numbers](), together
    for d in sorted(counts, key=lambda d: (d != lane_dim, -d)):
        found[d] = np.minimum(left, counts[d])
        left = left // found[d]
    return found


def alignment(operand: Operand, extents: Sequence[int], line_bytes: int) -> int:
    """A divisor, in bytes, of the offsets of an operand's rows: at most a line."""
    bytes = operand.access.element_bytes
    found = line_bytes
    for stride, extent in zip(operand.strides, extents, strict=True):
        if extent > 1 and stride != 1:
            found = gcd(found, stride * bytes)
    return found


def alignment_of_copies(
    operand: Operand, part: Sizes, extents: Sequence[int], line_bytes: int
) -> Numbers:
    """A divisor, in bytes, of the offsets of the rows of a copied part of an operand.

    Dimensions that lie wholly within one row do not count: no row begins in the middle of them.
    """
    row: Numbers = adjoining(operand, part)
    found: Numbers = line_bytes
    for d, (stride, extent) in enumerate(zip(operand.strides, extents, strict=True)):
        if not stride:
            continue
        own = np.where(stride < row, part.get(d, 1), 1).astype(np.int64)
        begins = np.gcd(found, stride * own * operand.access.element_bytes)
        found = np.where(own < extent, begins, found)
    return found


def waste(row_bytes: Numbers, rows: Numbers, aligned: Numbers, line_bytes: int) -> Numbers:
    """The average ratio of the lines that rows touch to the lines their bytes would fill; >= 1.

    `aligned` divides the addresses at which rows begin. Units: bytes.
    """
    each = np.maximum(1.0, (row_bytes - aligned) / line_bytes + 1)
    return np.maximum(1.0, rows * each / parts_of(rows * row_bytes, line_bytes))


def unit_dims(operand: Operand, extents: Sequence[int]) -> list[int]:
    """The dimensions of more than one element along which an operand has stride 1."""
    return [d for d, stride in enumerate(operand.strides) if stride == 1 and extents[d] > 1]


def rows_among(operand: Operand, threads: Sizes, beside: Iterable[int]) -> Numbers:
    """How many rows of an operand are read by threads, given their number along each dimension.

    `beside` has the dimensions that run along a row.
    """
    own = set(beside)
    return product(n for d, n in threads.items() if operand.strides[d] and d not in own)


def adjoining(operand: Operand, part: Sizes) -> Numbers:
    """How many elements of a part of an operand are contiguous in memory.

    `part` has the extent of the part along each dimension of the stage.
    """
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

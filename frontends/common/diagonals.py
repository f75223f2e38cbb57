"""Diagonals of matrices, as NumPy and PyTorch count them: above the main one by `offset`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import i64
from .layer import Layer
from .movement import padded_by, transposed
from .terms import Term, constant


def diagonal_places(shape: Sequence[int], offset: int) -> np.ndarray:
    """Rows and columns of the elements of a diagonal: [count, 2]."""
    rows, columns = shape
    first = max(-offset, 0), max(offset, 0)
    count = max(min(rows - first[0], columns - first[1]), 0)
    return np.arange(count)[:, None] + np.array(first)


def diagonal(n: Layer, x: Value, offset: int = 0, first: int = 0, second: int = 1) -> Value:
    """The diagonals of the matrices that two dimensions make, as the last dimension."""
    rest = [i for i in range(x.type.rank) if i not in (first, second)]
    shape = n.extent(x, first), n.extent(x, second)
    places = n.constant(diagonal_places(shape, offset), i64)
    found = n(nn.GatherNd(transposed(n, x, [first, second, *rest]), places))
    return transposed(n, found, [*range(1, len(rest) + 1), 0])


def on_diagonal(
    n: Layer, x: Value, offset: int = 0, first: int = -2, second: int = -1, fill: float = 0
) -> Value:
    """x [.., N] on diagonals of square matrices, whose dimensions are these, and `fill` else."""
    rank, size = x.type.rank + 1, n.extent(x, -1) + abs(offset)
    lead = (0,) * (x.type.rank - 1)
    rows = padded_by(n, x, (*lead, max(-offset, 0), *lead, max(offset, 0)))
    mask = constant(n, np.eye(size, k=offset, dtype=np.bool_))
    made = mask.choose(Term(n, rows).spread(0, 1), fill).value
    rest = iter(range(rank - 2))
    ends = {first % rank: rank - 2, second % rank: rank - 1}
    return transposed(n, made, [ends[i] if i in ends else next(rest) for i in range(rank)])

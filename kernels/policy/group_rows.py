"""Where the groups that run at the same time lie in a grid, in blocks of some rows of groups."""

from __future__ import annotations

import numpy as np

from .tile_batches import Numbers, Sizes


def most_rows(counts: Sizes, running: Numbers) -> Numbers:
    """The largest number of rows of groups that can run at once."""
    found: Numbers = 1.0
    columns: Numbers = 0
    for n in reversed(list(counts.values())):
        rows = (columns > 0) * (found == 1) * (n > 1)
        found = np.where(rows, np.minimum(n, running), found)
        columns = columns + (n > 1)
    return np.maximum(1.0, found)


def spans_of(counts: Sizes, running: Numbers, rows: int) -> dict[int, Numbers]:
    """How many of the `running` groups lie along each dimension.

    If `rows` > 1, they lie along the second to last dimension that has several groups.
    """
    spans: dict[int, Numbers] = {**dict.fromkeys(counts, 1.0)}
    left, several = np.maximum(1, running // rows), np.zeros_like(running)
    for d, n in reversed(list(counts.items())):
        span = np.minimum(n, left)
        if rows > 1:
            span = np.where(several == 0, span, np.where(several == 1, rows, 1.0))
        spans[d] = np.where(n > 1, span, 1.0)
        left = np.maximum(1, left // np.maximum(1, spans[d]))
        several = several + (n > 1)
    return spans

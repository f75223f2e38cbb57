"""The rank correlation of two lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rank correlation: 1 for the same order, -1 for the opposite one; NaN for fewer
    than three.

    Of equal numbers the earlier one has the lower rank.
    """
    if len(one) < 3:
        return float("nan")
    return float(np.corrcoef(_ranks(one), _ranks(other))[0, 1])


def _ranks(values: Sequence[float]) -> np.ndarray:
    found = np.empty(len(values))
    found[np.argsort(values, kind="stable")] = np.arange(len(values))
    return found

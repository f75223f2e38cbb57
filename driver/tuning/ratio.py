"""What a candidate takes beside the default, from pairs of blocks that were run in turns."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True)
class Ratio:
    """The median of a candidate's time over the default's, and where it lies with 95 %.

    The bounds are ranks of the sorted samples, which asks nothing of how they are distributed.
    """

    median: float
    low: float
    high: float

    @staticmethod
    def of(pairs: Sequence[tuple[float, float]]) -> Ratio:
        """From pairs of the default's time and the candidate's."""
        found = sorted(candidate / max(default, 1.0) for default, candidate in pairs)
        count = len(found)
        rank = max(0, int((count - 1.96 * sqrt(count)) / 2))
        return Ratio(statistics.median(found), found[rank], found[count - 1 - rank])

    @property
    def gain(self) -> float:
        """The part of the default's time that is saved; negative where it is slower."""
        return 1 - self.median

    @property
    def spread(self) -> float:
        """Half of the distance between the bounds."""
        return (self.high - self.low) / 2

    @property
    def is_faster(self) -> bool:
        """Whether the candidate is faster beyond the spread."""
        return self.high < 1

    def __str__(self) -> str:
        return f"{self.gain:+.1%} (+- {self.spread:.1%})"

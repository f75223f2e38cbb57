"""A candidate's time relative to the default, from pairs of blocks run in turns."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt


@dataclass(frozen=True)
class Ratio:
    """The median of a candidate's time over the default's, with its 95 % confidence interval.

    The bounds are two of the sorted samples, chosen by rank, so that no distribution is assumed.
    """

    median: float
    low: float
    high: float
    samples: tuple[float, ...] = field(default=(), compare=False, repr=False)
    """The sorted ratios of all pairs of runs; empty if only the bounds are known."""

    @staticmethod
    def of(pairs: Sequence[tuple[float, float]]) -> Ratio:
        """The ratio from pairs (the default's time, the candidate's time) of one unit."""
        return Ratio._of_samples([candidate / max(default, 1.0) for default, candidate in pairs])

    @staticmethod
    def _of_samples(samples: Sequence[float]) -> Ratio:
        found = tuple(sorted(samples))
        count = len(found)
        rank = max(0, int((count - 1.96 * sqrt(count)) / 2))
        return Ratio(statistics.median(found), found[rank], found[count - 1 - rank], found)

    def with_more(self, other: Ratio) -> Ratio:
        """Both measurements combined; if samples are unknown, with the wider bounds."""
        if self.samples and other.samples:
            return Ratio._of_samples(self.samples + other.samples)
        middle = (self.median + other.median) / 2
        return Ratio(middle, min(self.low, other.low), max(self.high, other.high))

    def times(self, other: Ratio) -> Ratio:
        """The ratio of one change made after another, from the ratio of each."""
        return Ratio(self.median * other.median, self.low * other.low, self.high * other.high)

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
        """Whether the candidate is faster than the default beyond the spread."""
        return self.high < 1

    def seems_below(self, bound: float) -> bool:
        """Whether the ratio is below a bound by half of the spread: likely, not sure."""
        return self.median < bound - self.spread / 2

    def __str__(self) -> str:
        return f"{self.gain:+.1%} (+- {self.spread:.1%})"
